"""`neardup scan`: find the duplicates, write the findings, change nothing."""

from __future__ import annotations

import json
import sys
import textwrap
from glob import has_magic
from pathlib import Path
from typing import Any

import click

from neardup.cli.command_list import help_width
from neardup.cli.help import BriefCommand
from neardup.cli.inputs import scanning_of, standard_input_saved
from neardup.cli.options import config_options, reading_options, reject_options, running_options
from neardup.cli.progress import progress_shown
from neardup.cli.settings import config_of

__all__ = ["scan", "show_summary"]

_CUT = "\N{HORIZONTAL ELLIPSIS}"


@click.command(
    cls=BriefCommand,
    common=(
        "--out",
        "--text",
        "--id",
        "--format",
        "--threshold",
        "--preset",
        "--method",
        "--keep",
        "--overwrite",
        "--json",
    ),
)
@click.argument("inputs", nargs=-1, required=True)
@click.option("--out", "-o", type=click.Path(), help="The findings folder.  [default: INPUT.findings]")
@click.option(
    "--against", multiple=True, help="A corpus, or findings of one, to compare with; it is never changed."
)
@click.option(
    "--reusable",
    is_flag=True,
    help="Keep texts and fingerprints, so that other scans can compare --against them.",
)
@click.option(
    "--overwrite", is_flag=True, help="Replace the findings, or the unfinished scan, that are there."
)
@click.option("--sha256", is_flag=True, help="Keep the SHA-256 of the inputs too, not only a fast digest.")
@config_options
@reading_options
@reject_options
@running_options
def scan(inputs: tuple[str, ...], out: str | None, against: tuple[str, ...], **given: Any) -> None:
    """Find duplicates and near-duplicates in INPUTS (files, folders, globs, URLs) and write what was found to a folder.

    An input - is standard input: JSON, CSV with a header, one text a line, or what --format says. Nothing else is
    changed. `neardup clusters`, `explain` and `apply` use the findings, at any threshold from the floor up, without
    another scan. If the scan is stopped, the same command resumes it. Rows that cannot be read are listed in the
    folder, in documents.rejects.jsonl.
    """
    from neardup.findings import summarize
    from neardup.findings.scan import scan as run

    place = out or _place("stdin" if inputs[0] == "-" else inputs[0])
    with standard_input_saved(inputs, place, given["format_"]) as places:
        found = run(
            places,
            place,
            config_of(given),
            **scanning_of(given),
            against=against,
            reusable=given["reusable"],
            overwrite=given["overwrite"],
            progress=progress_shown(given["quiet"]),
        )
    summary = summarize(found)
    if given["as_json"]:
        click.echo(json.dumps(summary.to_json() | {"findings": place}, ensure_ascii=False))
        return
    show_summary(summary.lines())
    commands = {
        f"neardup clusters {place}": "look at them",
        f"neardup apply {place} --out kept.jsonl": "write what is kept",
    }
    click.echo(f"\nThe findings are in {place}. Next:")
    for command, what in commands.items():
        click.echo(f"  {command:{max(map(len, commands))}}  {click.style(what, dim=True)}")


def show_summary(lines: list[str]) -> None:
    """The lines of a summary, headings marked, not wider than the terminal."""
    for line in lines:
        heading = bool(line) and not line.startswith(" ")
        for part in _fitted(line):
            click.echo(click.style(part, bold=True) if heading else part)


def _fitted(line: str) -> list[str]:
    """A line as wide as the terminal, if there is one: a text that is cut off is cut off more, all else is wrapped."""
    width = help_width() if sys.stdout.isatty() else sys.maxsize
    if len(line) <= width:
        return [line]
    if line.endswith(_CUT):
        return [line[: width - 1] + _CUT]
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(
        line.strip(), width, initial_indent=indent, subsequent_indent=f"{indent}  ", break_long_words=False
    )


def _place(named: str) -> str:
    """Findings beside the reader, named after the first input; a glob's after the folder it looks in."""
    parts = [part for part in Path(named).absolute().parts if not has_magic(part)]
    return f"{parts[-1].strip('/:') or 'corpus'}.findings"
