"""`neardup scan`: find the duplicates, write the findings, change nothing."""

from __future__ import annotations

import json
from glob import has_magic
from pathlib import Path
from typing import Any

import click

from neardup.cli.help import BriefCommand
from neardup.cli.options import config_options, reading_options, reject_options, running_options
from neardup.cli.progress import progress_shown
from neardup.cli.reading import reading_of, standard_input_saved
from neardup.cli.settings import config_of

__all__ = ["scan", "show_summary"]


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
    "--against", multiple=True, help="A corpus, or findings of one, to compare with; it is never touched."
)
@click.option(
    "--reusable", is_flag=True, help="Keep texts and fingerprints, for other scans to go --against."
)
@click.option("--overwrite", is_flag=True, help="Drop the findings, or the unfinished scan, that are there.")
@config_options
@reading_options
@reject_options
@running_options
def scan(inputs: tuple[str, ...], out: str | None, against: tuple[str, ...], **given: Any) -> None:
    """Find duplicates and near-duplicates in INPUTS (files, folders, globs, URLs) and write what was found to a folder.

    An input - is standard input: JSON, or one text a line, or what --format says. Nothing else is changed. `neardup
    clusters`, `explain` and `apply` go on from there, at any threshold from the floor up, without another scan.
    If the scan is stopped, the same command resumes it. Rows that cannot be read are listed in the folder, in
    documents.rejects.jsonl.
    """
    from neardup.findings import summarize
    from neardup.findings.scan import scan as run

    place = out or _place("stdin" if inputs[0] == "-" else inputs[0])
    with standard_input_saved(inputs, place, given["format_"]) as places:
        found = run(
            places,
            place,
            config_of(given),
            **reading_of(given),
            strict=given["strict"],
            allow_rejects=given["allow_rejects"],
            against=against,
            memory=given["memory"],
            threads=given["threads"],
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
    """The lines of a summary, headings marked."""
    for line in lines:
        heading = bool(line) and not line.startswith(" ")
        click.echo(click.style(line, bold=True) if heading else line)


def _place(named: str) -> str:
    """Findings beside the reader, named after the first input; a glob's after the folder it looks in."""
    parts = [part for part in Path(named).absolute().parts if not has_magic(part)]
    return f"{parts[-1].strip('/:') or 'corpus'}.findings"
