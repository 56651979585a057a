"""`neardup find`: documents that contain a passage."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

import neardup as nd
from neardup.cli.documents import stream
from neardup.cli.inputs import check_read, reading_of
from neardup.cli.options import fold_digits_option, json_option, page_options, threads_option
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
    help="Smallest share of the passage's shingles that a document must contain close together.",
)
@click.option(
    "--width",
    type=click.IntRange(1, 1024),
    default=5,
    show_default=True,
    help="Words per shingle; fewer in a short passage.",
)
@fold_digits_option
@click.option(
    "--top", type=click.IntRange(0), default=20, show_default=True, help="How many documents to show."
)
@page_options
@threads_option()
@json_option()
def find(passage: str, inputs: tuple[str, ...], **given: Any) -> None:
    """Find the documents of CORPUS (files, folders, globs; - is standard input) that contain PASSAGE.

    Documents with all words of the passage in order come first; case, punctuation and spaces do not count. Then come
    those that contain a large share of it, with their best place. The place is in characters of the document's text.
    Exit code 1 if there is none and 2 if too much of CORPUS could not be read, as with grep.
    """
    unread: dict[str, int] = {}
    reader = nd.read(list(inputs), **reading_of(given))
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
        more = {"failed": unread, "account": reader.account.to_json()}
        click.echo(json.dumps(found.to_json() | more, ensure_ascii=False))
    else:
        _show(found, reader)
    check_read(reader, given)
    if not found.exact + found.near:
        sys.exit(1)


def _show(found: nd.passages.PassageHits, reader: nd.Reader) -> None:
    click.echo(
        f"{counted(found.words, 'word')} in {counted(found.documents, 'document')}: "
        f"{counted(found.exact, 'contains', 'contain')} the passage, "
        f"{counted(found.near, 'contains', 'contain')} a large part of it"
    )
    for line in reader.account.exceptions():
        click.echo(f"  {line}")
    for hit in found.hits:
        how = "exact" if hit.exact else f"{hit.share:.0%}"
        times = f", {counted(hit.exact, 'time')}" if hit.exact > 1 else ""
        click.echo(f"{how:>6}  {printable(hit.id)}  characters {hit.begin:,} to {hit.end:,}{times}")
        click.echo(click.style(f"        {printable(' '.join(hit.text[:2000].split()), 100)}", dim=True))
    hidden = found.exact + found.near - len(found.hits)
    if hidden > 0:
        click.echo(f"{counted(hidden, 'more document')}; --top {found.exact + found.near} shows all")
