"""`neardup report`: what a scan found, as one file to send to a colleague."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from neardup.cli.options import json_option, no_decisions_option, threshold_option
from neardup.cli.outputs import WritingCommand, output_option, overwrite_option
from neardup.values.wording import counted

__all__ = ["report"]


@click.command(cls=WritingCommand)
@click.argument("findings", type=click.Path(exists=True, file_okay=False))
@output_option("--out", "-o", default="report.html", show_default=True, help="The file to write.")
@overwrite_option
@threshold_option
@click.option(
    "--clusters",
    type=click.IntRange(0, 20),
    default=5,
    show_default=True,
    help="How many clusters of each kind to show.",
)
@no_decisions_option
@json_option()
def report(
    findings: str,
    out: str,
    threshold: float | None,
    clusters: int,
    no_decisions: bool,
    as_json: bool,
) -> None:
    """Write FINDINGS as one HTML file: numbers, plots, the most useful clusters, settings and how to repeat it.

    The file is under 2 MB, needs no network and no other file, and holds parts of documents' texts.
    """
    import neardup as nd
    from neardup.findings import Decisions
    from neardup.storage.output import is_stream

    said = Decisions() if no_decisions else None
    summary = nd.report(findings, out, threshold=threshold, clusters=clusters, decisions=said)
    size = 0 if is_stream(out) else Path(out).stat().st_size
    if as_json:
        answer = summary.to_json() | _trust(findings, threshold, no_decisions)
        answer |= {"out": out, "out_bytes": size, "findings": findings}
        click.echo(json.dumps(answer, ensure_ascii=False))
        return
    from neardup.values.sizes import size_text

    click.echo(
        f"{out}: {size_text(size)}; {summary.dropped:,} of {counted(summary.documents, 'document')} dropped"
    )
    if summary.decisions:
        click.echo(
            f"with {counted(summary.decisions, 'decision')} of a review; --no-decisions leaves them out"
        )


def _trust(findings: str, threshold: float | None, no_decisions: bool) -> dict[str, Any]:
    """The estimate of an audit, the most doubtful removals, and who decided what."""
    from neardup.findings import Decisions, Findings, decided_cut, read_decisions
    from neardup.findings.trust import trust_of

    found = Findings(findings)
    decisions = Decisions() if no_decisions else read_decisions(found)
    return {"trust": trust_of(found, decided_cut(found, threshold, decisions=decisions), decisions).to_json()}
