"""`neardup find`: documents that contain a passage."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

import neardup as nd
from neardup.cli.documents import stream
from neardup.values.wording import counted, printable

__all__ = ["find"]


@click.command()
@click.argument("passage")
@click.argument("inputs", metavar="CORPUS...", nargs=-1, required=True)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.8,
    show_default=True,
    help="Least share of the passage's shingles that a document contains close together.",
)
@click.option(
    "--width",
    type=click.IntRange(1, 1024),
    default=5,
    show_default=True,
    help="Words per shingle; fewer in a short passage.",
)
@click.option("--fold-digits", is_flag=True, help="Every run of digits counts as one 0.")
@click.option("--top", type=click.IntRange(0), default=20, show_default=True, help="Documents to show.")
@click.option(
    "--html",
    type=click.Choice(["main", "whole", "none"]),
    default="main",
    show_default=True,
    help="What of an HTML page counts.",
)
@click.option("--text", help="The column with the text, if it is not obvious.")
@click.option("--id", "id_", help="The column with the id, if it is not obvious.")
@click.option("--format", "format_", help="Of CORPUS, if its name does not give it.")
@click.option("--threads", type=click.IntRange(1, 1024), default=2, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The answer as one JSON object.")
def find(passage: str, inputs: tuple[str, ...], **given: Any) -> None:
    """Find the documents of CORPUS (files, folders, globs; - is standard input) that contain PASSAGE.

    Documents with all words of the passage in order come first; case, punctuation and spaces do not count. Then come
    those that contain a large share of it, with their best place. The place is in characters of the document's text.
    Exit code 1 if there is none, as with grep.
    """
    unread: dict[str, int] = {}
    reader = nd.read(list(inputs), text=given["text"], id=given["id_"], format=given["format_"])
    batches = stream(reader, given["html"], unread, given["threads"])
    found = nd.passages.find_passage(
        passage,
        (document for batch in batches for document in batch),
        threshold=given["threshold"],
        width=given["width"],
        normalize=nd.Normalize(digits="fold" if given["fold_digits"] else "keep"),
        top=given["top"],
        threads=given["threads"],
    )
    if given["as_json"]:
        click.echo(json.dumps(found.to_json() | {"failed": unread}, ensure_ascii=False))
    else:
        _show(found, unread)
    if not found.exact + found.near:
        sys.exit(1)


def _show(found: nd.passages.PassageHits, unread: dict[str, int]) -> None:
    click.echo(
        f"{counted(found.words, 'word')} in {counted(found.documents, 'document')}: "
        f"{found.exact:,} contain the passage, {found.near:,} contain a large part of it"
    )
    for reason, count in sorted(unread.items()):
        click.echo(f"  {count:,} could not be read: {printable(reason)}")
    for hit in found.hits:
        how = "exact" if hit.exact else f"{hit.share:.0%}"
        times = f", {counted(hit.exact, 'time')}" if hit.exact > 1 else ""
        click.echo(f"{how:>6}  {printable(hit.id)}  characters {hit.begin:,} to {hit.end:,}{times}")
        click.echo(click.style(f"        {printable(' '.join(hit.text[:2000].split()), 100)}", dim=True))
    hidden = found.exact + found.near - len(found.hits)
    if hidden > 0:
        click.echo(f"{counted(hidden, 'more document')}; --top {found.exact + found.near} shows all")
