"""`neardup apply`: do what the findings of a scan say."""

from __future__ import annotations

import json
import shlex
import sys
from typing import Any

import click

from neardup.cli.again import full_command, given_arguments
from neardup.cli.options import (
    allow_mass_removal_option,
    cut_options,
    json_option,
    no_decisions_option,
    quiet_option,
    threshold_option,
)
from neardup.cli.outputs import (
    OUT_FORMAT,
    WritingCommand,
    may_overwrite,
    out_encoding_option,
    output_option,
    overwrite_option,
)
from neardup.cli.progress import progress_shown
from neardup.cli.settings import guards_of, keep_of
from neardup.values.wording import counted

__all__ = ["apply", "show_alarms"]


@click.command(cls=WritingCommand)
@click.argument("findings", type=click.Path(exists=True, file_okay=False))
@output_option(
    "--out",
    "-o",
    folders=True,
    help="A file, or a folder/ with one file for each input; - is standard output.",
)
@click.option(
    "--write",
    type=click.Choice(["kept", "dropped", "annotated"]),
    default="kept",
    show_default=True,
    help="The kept documents, the dropped ones, or all with notes; to a .ids file only the ids.",
)
@click.option("--out-format", "--format", "format_", help=OUT_FORMAT)
@out_encoding_option
@output_option("--pairs", help="Write all verified pairs here (JSONL, CSV, Parquet, XLSX).")
@click.option(
    "--implied",
    is_flag=True,
    help="With --pairs: also write the pairs of all documents that have the same words.",
)
@output_option("--clusters", help="Write all documents in clusters here.")
@overwrite_option
@threshold_option
@cut_options
@no_decisions_option
@allow_mass_removal_option
@quiet_option
@json_option()
def apply(findings: str, out: str | None, **given: Any) -> None:
    """Write the kept documents. The inputs are read again and never changed; if one is not what was scanned,
    nothing is written.

    Decisions of `neardup review` are applied. Stops, with examples, when more than half of a source would be dropped or
    one cluster holds over 1% of the documents.
    """
    from neardup.findings import (
        Decisions,
        Findings,
        alarms,
        decided_cut,
        read_decisions,
        summarize,
        write_clusters,
        write_pairs,
    )
    from neardup.findings.apply import apply as run
    from neardup.findings.summary import unranked_line

    if not (out or given["pairs"] or given["clusters"]):
        raise click.UsageError("Say what to write: --out, --pairs or --clusters.")
    found = Findings(findings)
    decisions = Decisions() if given["no_decisions"] else read_decisions(found)
    keep = keep_of(given, found.config.keep)
    guards = guards_of(given, found.config.protect)
    cut = decided_cut(found, given["threshold"], keep, decisions=decisions, protect=guards)
    summary = summarize(found, cut, given["threshold"], decisions, guards, keep)
    reasons = alarms(found, cut)
    if reasons and out and not given["allow_mass_removal"]:
        show_alarms(reasons, findings)
        sys.exit(1)
    answer: dict[str, Any] = {
        "findings": findings,
        "threshold": summary.threshold,
        "dropped": summary.dropped,
        "filtered": summary.filtered,
        "protected": summary.protected,
        "lossless": summary.lossless,
        "account": summary.balance.to_json(),
        "unranked": summary.unranked,
        "decisions": len(decisions),
    }
    if out:
        done = run(
            found,
            out,
            cut=cut,
            write=given["write"],
            format=given["format_"],
            encoding=given["out_encoding"],
            overwrite=may_overwrite(),
            allow_mass_removal=True,
            progress=progress_shown(given["quiet"]),
        )
        answer |= {"out": out, "written": done.written, "documents": done.documents}
    if given["pairs"]:
        answer["pairs"] = write_pairs(
            found,
            given["pairs"],
            threshold=given["threshold"],
            implied=given["implied"],
            decisions=decisions,
            overwrite=may_overwrite(),
        )
    if given["clusters"]:
        answer["clusters"] = write_clusters(found, cut, given["clusters"], overwrite=may_overwrite())
    if given["as_json"]:
        click.echo(json.dumps(answer, ensure_ascii=False))
        return
    if out:
        click.echo(f"{answer['written']:,} of {counted(answer['documents'], 'document')} written to {out}")
        for line in summary.balance.lines():
            click.echo(f"  {line}")
        for name, count in summary.unranked.items():
            click.echo(f"  {unranked_line(name, count)}")
        for reason, count in summary.protected.items():
            click.echo(f"  kept although similar to another: {count:,} ({reason})")
    if len(decisions):
        click.echo(
            f"applied with {counted(len(decisions), 'decision')} of a review; --no-decisions leaves them out"
        )
    if given["pairs"]:
        click.echo(f"{counted(answer['pairs'], 'pair')} written to {given['pairs']}")
    if given["clusters"]:
        click.echo(f"{counted(answer['clusters'], 'document')} in clusters written to {given['clusters']}")


def show_alarms(reasons: list[str], findings: str | None) -> None:
    """Print why nothing was written, and what to type next. `findings` is None if they are not kept."""
    click.echo("neardup: very many documents would be dropped, so nothing was written:", err=True)
    for reason in reasons:
        click.echo(f"  {reason}", err=True)
    arguments = given_arguments()
    look = (
        shlex.join(["neardup", "clusters", findings])
        if findings
        else full_command(arguments, ["--findings", "FOLDER"])
    )
    click.echo(f"To see the clusters: {look}", err=True)
    click.echo(f"If this is right: {full_command(arguments, ['--allow-mass-removal'])}", err=True)
