"""`neardup dedup`: scan and apply in one command."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import ExitStack, redirect_stdout
from typing import Any

import click

from neardup.cli.apply import show_alarms
from neardup.cli.help import BriefCommand
from neardup.cli.inputs import reading_of, scanning_of, standard_input_saved
from neardup.cli.options import (
    allow_mass_removal_option,
    config_options,
    no_decisions_option,
    reading_options,
    reject_options,
    running_options,
)
from neardup.cli.outputs import (
    may_overwrite,
    out_encoding_option,
    out_format_option,
    output_option,
    overwrite_option,
)
from neardup.cli.progress import progress_shown
from neardup.cli.scan import show_summary
from neardup.cli.settings import config_of
from neardup.storage.output import check_outputs, is_stream
from neardup.values.wording import counted

__all__ = ["dedup"]


@click.command(
    cls=BriefCommand,
    common=(
        "--out",
        "--findings",
        "--text",
        "--id",
        "--format",
        "--threshold",
        "--preset",
        "--keep",
        "--overwrite",
        "--json",
    ),
)
@click.argument("inputs", nargs=-1, required=True)
@output_option(
    "--out",
    "-o",
    folders=True,
    help="Write the kept documents here; - is standard output. By default only the summary is printed.",
)
@out_format_option
@out_encoding_option
@overwrite_option
@click.option("--findings", type=click.Path(), help="The findings folder.  [default: OUT.findings]")
@click.option(
    "--against", multiple=True, help="A corpus, or findings of one, to compare with; it is never changed."
)
@no_decisions_option
@allow_mass_removal_option
@click.option("--sha256", is_flag=True, help="Keep the SHA-256 of the inputs too, not only a fast digest.")
@config_options
@reading_options
@reject_options
@running_options
def dedup(inputs: tuple[str, ...], out: str | None, findings: str | None, **given: Any) -> None:
    """Find the duplicates and near-duplicates in INPUTS (files, folders, globs, URLs) and write the documents to keep.

    An input - is standard input: JSON, CSV with a header, one text a line, or what --format says. If it is the only
    input and neither --out nor --json is given, the kept documents are written to standard output and the summary to
    standard error, so that `zcat x.jsonl.gz | neardup dedup - > kept.jsonl` works.

    This is the same as `neardup scan` and then `neardup apply`. The inputs are never changed. Rows that cannot be read
    are listed in documents.rejects.jsonl in the findings folder. `neardup clusters` and `explain` read the findings. If
    the command is stopped, the same command resumes it. Decisions made in `neardup review` of these findings are
    applied if the inputs are the same.
    """
    from neardup.findings import Decisions, alarms, check_output, decided_cut, read_decisions, summarize
    from neardup.findings.apply import apply
    from neardup.findings.scan import scan
    from neardup.readers import read

    if out is None and inputs == ("-",) and not given["as_json"]:
        out = "-"
        click.get_current_context().with_resource(redirect_stdout(sys.stderr))
    streams = out is not None and is_stream(out)
    if out:
        check_output(out, given["out_format"], overwrite=may_overwrite())
    progress = progress_shown(given["quiet"])
    with ExitStack() as stack:
        place = findings or (f"{out.rstrip('/')}.findings" if out and not streams else None)
        if place is None:
            place = stack.enter_context(tempfile.TemporaryDirectory(prefix="neardup-"))
        places = stack.enter_context(standard_input_saved(inputs, place, given["format_"]))
        if out and os.path.isfile(out):  # better now than after a long scan
            files = read(places, **reading_of(given)).files or ()
            check_outputs({"--out": out}, (file.path for file in files if "://" not in file.path))
        found = scan(
            places,
            place,
            config_of(given),
            **scanning_of(given),
            against=given["against"],
            overwrite="finished",
            progress=progress,
        )
        decisions = Decisions() if given["no_decisions"] else read_decisions(found)
        cut = decided_cut(found, decisions=decisions)
        summary = summarize(found, cut, decisions=decisions)
        reasons = alarms(found, cut)
        stops = bool(reasons) and not given["allow_mass_removal"]
        done = None
        if out and not stops:
            done = apply(
                found,
                out,
                cut=cut,
                format=given["out_format"],
                encoding=given["out_encoding"],
                overwrite=may_overwrite(),
                allow_mass_removal=True,
                progress=progress,
            )
        if given["as_json"]:
            answer = summary.to_json() | {
                "findings": place if findings or (out and not streams) else None,
                "out": out,
                "written": done.written if done else None,
                "alarms": reasons,
            }
            click.echo(json.dumps(answer, ensure_ascii=False))
        else:
            show_summary(summary.lines())
            if done is not None:
                where = "standard output" if out == "-" else out
                rest = "" if streams and not findings else f"; the findings are in {place}"
                click.echo(f"\n{counted(done.written, 'document')} written to {where}{rest}")
        if stops and out:
            show_alarms(reasons, place if findings or not streams else None)
            sys.exit(1)
