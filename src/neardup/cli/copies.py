"""`neardup copies`: documents that share passages with others, those that share most first."""

from __future__ import annotations

import json
from typing import Any

import click

import neardup as nd
from neardup.cli.inputs import check_read, reading_of
from neardup.cli.options import fold_digits_option, json_option, page_options, threads_option
from neardup.values.wording import counted, printable

__all__ = ["copies"]


@click.command()
@click.argument("inputs", nargs=-1, required=True)
@click.option(
    "--words",
    type=click.IntRange(1, 1000),
    default=12,
    show_default=True,
    help="Length in words; every common passage of this length is found.",
)
@click.option(
    "--width",
    type=click.IntRange(1, 1000),
    default=5,
    show_default=True,
    help="Words per shingle; shorter runs of words are ignored.",
)
@click.option(
    "--rewritten",
    is_flag=True,
    help="Find rewritten texts: --words 4 --width 3 --least 0.2, unless they are given.",
)
@click.option(
    "--least",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Only pairs with this share of the smaller document in passages.",
)
@click.option(
    "--by",
    type=click.Choice(["share", "words"]),
    default="share",
    show_default=True,
    help="Which pairs come first: largest share of the smaller document in passages, or most words in passages.",
)
@fold_digits_option
@click.option(
    "--cap",
    type=click.IntRange(2),
    default=100,
    show_default=True,
    help="Largest number of documents with a passage; a more frequent one is a template.",
)
@click.option("--top", type=click.IntRange(0), default=20, show_default=True, help="How many pairs to show.")
@page_options
@threads_option()
@json_option("The pairs shown as one JSON object, passages included.")
def copies(
    inputs: tuple[str, ...],
    words: int,
    width: int,
    rewritten: bool,
    least: float,
    by: Any,
    fold_digits: bool,
    cap: int,
    top: int,
    html: Any,
    threads: int,
    as_json: bool,
    **given: Any,
) -> None:
    """Find documents of INPUTS (files, folders, globs) that share passages: quotes, excerpts, copied parts.

    It lists the pairs that have --words successive words in common. The pair with the largest share of the smaller
    document in passages comes first. No pair is missed, except those of passages that occur in more than --cap
    documents: these are templates, and the summary counts them.
    """
    from neardup.cli.documents import stream

    if rewritten:
        words = 4 if _is_default("words") else words
        width = 3 if _is_default("width") else width
        least = 0.2 if _is_default("least") else least
    reader = nd.read(list(inputs), **reading_of(given))
    failed: dict[str, int] = {}
    documents = [document for batch in stream(reader, html, failed, threads) for document in batch]
    check_read(reader, given)
    found = nd.passages.find_copies(
        documents,
        words=words,
        width=width,
        by=by,
        least=least,
        normalize=nd.Normalize(digits="fold" if fold_digits else "keep"),
        cap=cap,
        threads=threads,
    )
    if as_json:
        click.echo(
            json.dumps(
                found.to_json(top) | {"failed": failed, "account": reader.account.to_json()},
                ensure_ascii=False,
            )
        )
        return
    share = "shares" if len(found) == 1 else "share"
    click.echo(
        f"{counted(found.documents, 'document')}: {counted(len(found), 'pair')} {share} a passage "
        f"of {words:,} words or more ({counted(found.candidates, 'candidate')})"
    )
    for line in reader.account.exceptions():
        click.echo(f"  {line}")
    if found.capped:
        click.echo(
            f"  {counted(found.capped, 'group')} of more than {cap:,} documents share passages; up to "
            f"{found.skipped:,} pairs of them were not looked at"
        )
    if not found or not top:
        return
    click.echo(f"\n{'words':>7} {'of it':>6} {'longest':>7}  the longest passage, and where it occurs")
    for pair in found[:top]:
        best = max(pair.spans, key=lambda span: span.words)
        passage = best.text if len(best.text) <= 70 else f"{best.text[:69]}…"
        names = f"[{printable(pair.part, 40)} in {printable(pair.whole, 40)}]"
        click.echo(f"{pair.words:>7,} {pair.share:>6.0%} {pair.longest:>7,}  {passage}  {names}")


def _is_default(option: str) -> bool:
    """Whether an option of this command was left out."""
    source = click.get_current_context().get_parameter_source(option)
    return source is click.core.ParameterSource.DEFAULT
