"""`neardup copies`: documents that share passages with others, those that share most first."""

from __future__ import annotations

import json
from typing import Any

import click

import neardup as nd
from neardup.values.wording import counted, printable

__all__ = ["copies"]


@click.command()
@click.argument("inputs", nargs=-1, required=True)
@click.option(
    "--words",
    type=click.IntRange(1, 1000),
    default=12,
    show_default=True,
    help="Every passage of so many words is found.",
)
@click.option(
    "--width",
    type=click.IntRange(1, 1000),
    default=5,
    show_default=True,
    help="Shorter runs of words do not count.",
)
@click.option("--fold-digits", is_flag=True, help="Every run of digits counts as one 0.")
@click.option(
    "--cap", type=click.IntRange(2), default=1000, show_default=True, help="See the note on templates."
)
@click.option("--top", type=click.IntRange(0), default=20, show_default=True, help="Pairs to show.")
@click.option(
    "--html",
    type=click.Choice(["main", "whole", "none"]),
    default="main",
    show_default=True,
    help="What of an HTML page counts.",
)
@click.option("--text", help="The column with the text, if it is not obvious.")
@click.option("--id", "id_", help="The column with the id, if it is not obvious.")
@click.option("--format", "format_", help="By default by the name.")
@click.option("--threads", type=click.IntRange(1, 1024), default=2, show_default=True)
@click.option(
    "--json", "as_json", is_flag=True, help="The pairs shown as one JSON object, passages included."
)
def copies(
    inputs: tuple[str, ...],
    words: int,
    width: int,
    fold_digits: bool,
    cap: int,
    top: int,
    html: Any,
    text: str | None,
    id_: str | None,
    format_: str | None,
    threads: int,
    as_json: bool,
) -> None:
    """Find documents of INPUTS (files, folders, globs) that share passages: quotes, excerpts, copied parts.

    Pairs that have --words successive words in common, ranked by all words they have in common. None is missed, but
    for passages that occur in more than --cap documents: templates, which the summary counts.
    """
    from neardup.cli.documents import stream

    reader = nd.read(list(inputs), text=text, id=id_, format=format_)
    failed: dict[str, int] = {}
    documents = [document for batch in stream(reader, html, failed, threads) for document in batch]
    found = nd.passages.find_copies(
        documents,
        words=words,
        width=width,
        normalize=nd.Normalize(digits="fold" if fold_digits else "keep"),
        cap=cap,
        threads=threads,
    )
    if as_json:
        click.echo(json.dumps(found.to_json(top) | {"failed": failed}, ensure_ascii=False))
        return
    share = "shares" if len(found) == 1 else "share"
    click.echo(
        f"{counted(found.documents, 'document')}: {counted(len(found), 'pair')} {share} a passage "
        f"of {words:,} words or more ({counted(found.candidates, 'candidate')})"
    )
    for reason, count in sorted(failed.items()):
        click.echo(f"  {count:,} could not be read: {printable(reason)}")
    if found.capped:
        click.echo(
            f"  {found.capped:,} passages occur in more than {cap:,} documents; up to {found.skipped:,} pairs of "
            "them were not looked at"
        )
    if not found or not top:
        return
    click.echo(f"\n{'words':>7} {'of it':>6} {'longest':>7}  the longest passage, and where it occurs")
    for pair in found[:top]:
        best = max(pair.spans, key=lambda span: span.words)
        passage = best.text if len(best.text) <= 70 else f"{best.text[:69]}…"
        names = f"[{printable(pair.part, 40)} in {printable(pair.whole, 40)}]"
        click.echo(f"{pair.words:>7,} {pair.share:>6.0%} {pair.longest:>7,}  {passage}  {names}")
