"""`neardup dedup`: scan and apply in one go."""

from __future__ import annotations

import json
import sys
import tempfile
from contextlib import ExitStack
from typing import Any

import click

from neardup.cli.apply import show_alarms
from neardup.cli.options import config_options, reading_options, reject_options, running_options
from neardup.cli.progress import progress_shown
from neardup.cli.reading import reading_of, standard_input_saved
from neardup.cli.scan import show_summary
from neardup.cli.settings import config_of
from neardup.values.wording import counted

__all__ = ["dedup"]


@click.command()
@click.argument("inputs", nargs=-1, required=True)
@click.option(
    "--out", "-o", type=click.Path(), help="Write the kept documents here; without it nothing is written."
)
@click.option("--findings", type=click.Path(), help="Where the findings go.  [default: OUT.findings]")
@click.option(
    "--against", multiple=True, help="A corpus, or findings of one, to compare with; it is never touched."
)
@click.option("--no-decisions", is_flag=True, help="Leave what was decided in a review out of account.")
@click.option("--allow-mass-removal", is_flag=True, help="Go on even if it looks like an accident.")
@click.option("--sha256", is_flag=True, help="Keep the SHA-256 of the inputs too, not only a fast digest.")
@config_options
@reading_options
@reject_options
@running_options
def dedup(inputs: tuple[str, ...], out: str | None, findings: str | None, **given: Any) -> None:
    """Find the duplicates and near-duplicates in INPUTS (files, folders, globs, URLs) and write what is worth keeping.

    An input - is standard input: JSON, or one text a line, or what --format says.

    The same as `neardup scan` and then `neardup apply`: the inputs are never changed, what cannot be read goes to
    documents.rejects.jsonl in the findings folder, and the findings stay for `neardup clusters` and `explain`. Stopped,
    the same command goes on where it was. What was decided in `neardup review` of these findings is done, as long as
    the inputs are the same.
    """
    from neardup.findings import Decisions, alarms, check_output, decided_cut, read_decisions, summarize
    from neardup.findings.apply import apply
    from neardup.findings.scan import scan

    if out:
        check_output(out)
    progress = progress_shown(given["quiet"])
    with ExitStack() as stack:
        place = findings or (f"{out.rstrip('/')}.findings" if out else None)
        if place is None:
            place = stack.enter_context(tempfile.TemporaryDirectory(prefix="neardup-"))
        places = stack.enter_context(standard_input_saved(inputs, place, given["format_"]))
        found = scan(
            places,
            place,
            config_of(given),
            **reading_of(given),
            strict=given["strict"],
            allow_rejects=given["allow_rejects"],
            sha256=given["sha256"],
            against=given["against"],
            memory=given["memory"],
            threads=given["threads"],
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
            done = apply(found, out, cut=cut, allow_mass_removal=True, progress=progress)
        if given["as_json"]:
            answer = summary.to_json() | {
                "findings": place if out or findings else None,
                "out": out,
                "written": done.written if done else None,
                "alarms": reasons,
            }
            click.echo(json.dumps(answer, ensure_ascii=False))
        else:
            show_summary(summary.lines())
            if done is not None:
                click.echo(
                    f"\n{counted(done.written, 'document')} written to {out}; the findings are in {place}"
                )
        if stops and out:
            show_alarms(reasons)
            sys.exit(1)
