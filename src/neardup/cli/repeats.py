"""`neardup repeats`: lines, paragraphs and passages that occur more than once in a corpus."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

import neardup as nd
from neardup.cli.inputs import reading_of
from neardup.cli.options import document_options, fold_digits_option, json_option, threads_option
from neardup.cli.outputs import WritingCommand, may_overwrite, output_option, overwrite_option
from neardup.storage.output import is_stream
from neardup.values.wording import printable

__all__ = ["repeats"]

PRINTED = 10
WIDTH = 60


@click.command(cls=WritingCommand)
@click.argument("inputs", nargs=-1, required=True)
@click.option(
    "--unit",
    type=click.Choice(["line", "paragraph", "passage"]),
    default="passage",
    show_default=True,
    help="What is repeated. A passage is any run of words.",
)
@click.option(
    "--min-length",
    type=click.IntRange(1),
    help="Smallest length in words; by default 8 for lines, 20 for paragraphs, 50 for passages.",
)
@click.option(
    "--least",
    type=click.IntRange(2),
    default=2,
    show_default=True,
    help="Fewest occurrences of a repeated part.",
)
@click.option(
    "--most",
    type=click.IntRange(1),
    help="Cut the first occurrence too if a part occurs more often than this.",
)
@click.option(
    "--within",
    type=click.Choice(["corpus", "document"]),
    default="corpus",
    show_default=True,
    help="Where repeats are looked for: across all documents, or in each by itself.",
)
@output_option("--out", "-o", help="Write the documents without their repeated parts here.")
@click.option("--drop-empty", is_flag=True, help="Do not write documents that have no words left.")
@output_option("--report", help="Write the repeated parts here, one JSON object a line.")
@overwrite_option
@click.option(
    "--top",
    type=click.IntRange(0),
    default=1000,
    show_default=True,
    help="How many repeated parts to report.",
)
@click.option(
    "--examples",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="How many occurrences of each part to report.",
)
@document_options
@fold_digits_option
@click.option(
    "--memory",
    default="2GB",
    show_default=True,
    help="How much memory to use, about; the rest is kept in files.",
)
@click.option("--scratch", type=click.Path(exists=True, file_okay=False), help="Folder for scratch files.")
@threads_option()
@json_option("Everything as one JSON object.")
def repeats(
    inputs: tuple[str, ...],
    unit: str,
    min_length: int | None,
    least: int,
    most: int | None,
    within: str,
    out: str | None,
    drop_empty: bool,
    report: str | None,
    top: int,
    examples: int,
    fold_digits: bool,
    memory: str,
    scratch: str | None,
    threads: int,
    as_json: bool,
    **given: Any,
) -> None:
    """Find parts that occur more than once in INPUTS (files, folders, globs), and write the documents without them.

    The first occurrence is kept, in the order of files and rows. The inputs are never changed. Texts are taken as they
    are: turn HTML into text first. Rows that cannot be read are listed in OUT.rejects.jsonl.
    """
    strategy: Any = {
        "line": nd.passages.Lines,
        "paragraph": nd.passages.Paragraphs,
        "passage": nd.passages.Passages,
    }[unit]
    settings: dict[str, Any] = {"least": least, "most": most, "within": within}
    settings["normalize"] = nd.Normalize(digits="fold" if fold_digits else "keep")
    if min_length is not None:
        settings["min_length"] = min_length
    rejects = f"{out}.rejects.jsonl" if out and not is_stream(out) else None
    reader = nd.read(list(inputs), **reading_of(given), rejects=rejects)
    found: nd.passages.Repeats = strategy(**settings).find(
        reader,
        out=out,
        drop_empty=drop_empty,
        top=top,
        examples=examples,
        memory=memory,
        scratch=scratch,
        threads=threads,
        strict=given["strict"],
        allow_rejects=given["allow_rejects"],
    )
    if report is not None:
        with nd.readers.open_writer(report, format="jsonl", overwrite=may_overwrite()) as writer:
            writer.write_all(asdict(repeat) for repeat in found.top)
    rejected = dict(reader.rejects.counts)
    if as_json:
        more = {"rejected": rejected, "report": report, "account": reader.account.to_json()}
        click.echo(json.dumps(found.to_json() | more, ensure_ascii=False))
        return
    click.echo(found.summary())
    for line in reader.account.exceptions():
        click.echo(f"  {line}")
    if report is not None:
        click.echo(f"  {len(found.top):,} of them described in {report}")
    _show(found)


def _show(found: nd.passages.Repeats) -> None:
    """The first few as a table, without those that are mostly part of one shown above."""
    shown: list[nd.passages.Repeat] = []
    for one in found.top:
        if len(shown) < PRINTED and not any(_overlap(one, other) for other in shown):
            shown.append(one)
    if not shown:
        return
    click.echo(
        f"\n{'times':>7} {'documents':>9} {'words':>7} {'bytes':>11}  text, and the document where it occurs first"
    )
    for one in shown:
        text = printable(" ".join(one.text.split()), WIDTH)
        figures = f"{one.count:>7,} {one.documents:>9,} {one.words:>7,} {one.repeated:>11,}"
        click.echo(f"{figures}  {text}  [{printable(one.occurrences[0].id)}]")


def _overlap(one: nd.passages.Repeat, other: nd.passages.Repeat) -> bool:
    """Whether half of one is within the other, where it occurs first."""
    a, b = one.occurrences[0], other.occurrences[0]
    return (a.file, a.row) == (b.file, b.row) and min(a.end, b.end) - max(a.begin, b.begin) > (
        a.end - a.begin
    ) / 2
