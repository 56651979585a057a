"""`neardup clusters`: look at what a scan found."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from neardup.cli.options import cut_options, json_option, no_decisions_option, threshold_option
from neardup.cli.outputs import WritingCommand, may_overwrite, output_option, overwrite_option
from neardup.cli.settings import guards_of, keep_of
from neardup.values.wording import counted, printable

__all__ = ["clusters"]


@click.command(cls=WritingCommand)
@click.argument("findings", type=click.Path(exists=True, file_okay=False))
@click.option("--id", "id_", help="The cluster of this document.")
@click.option(
    "--by",
    type=click.Choice(["size", "borderline", "span", "change", "sample"]),
    help="The largest, those with the least similar member, with the longest copied passages, with other "
    "titles, numbers or names than their keeper, or some at random.  "
    "[default: size; of a scan for passages (--preset plagiarism): span]",
)
@click.option("--most", type=click.IntRange(1), default=10, show_default=True, help="How many to list.")
@click.option(
    "--members",
    type=click.IntRange(2),
    default=8,
    show_default=True,
    help="How many members of each cluster to list.",
)
@click.option(
    "--min-size",
    type=click.IntRange(2),
    default=2,
    show_default=True,
    help="List only clusters of at least this size.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the random sample.")
@threshold_option
@cut_options
@no_decisions_option
@output_option("--out", "-o", help="Write all documents in clusters here (JSONL, CSV, Parquet, XLSX).")
@output_option("--pairs", help="Write all verified pairs here.")
@overwrite_option
@click.option(
    "--protected", is_flag=True, help="List the documents that guards keep instead, with the reason."
)
@json_option()
def clusters(findings: str, id_: str | None, **given: Any) -> None:
    """List the clusters of FINDINGS: the keeper first, then its members by their similarity to it."""
    from neardup.findings import (
        Decisions,
        Findings,
        by_passages,
        decided_cut,
        list_clusters,
        list_protected,
        read_decisions,
        write_clusters,
        write_pairs,
    )

    found = Findings(findings)
    decisions = Decisions() if given["no_decisions"] else read_decisions(found)
    keep = keep_of(given, found.config.keep)
    guards = guards_of(given, found.config.protect)
    cut = decided_cut(found, given["threshold"], keep, decisions=decisions, protect=guards)
    if given["protected"]:
        _show_protected(
            list_protected(found, cut, given["most"]),
            0 if cut.protected is None else len(cut.protected),
            given["as_json"],
        )
        return
    order: Any = given["by"] or ("span" if by_passages(found) else "size")
    listed = list_clusters(
        found,
        cut,
        order=order,
        containing=id_,
        smallest=given["min_size"],
        most=given["most"],
        members=given["members"],
        seed=given["seed"],
    )
    written: dict[str, Any] = {}
    if given["out"]:
        written["out"] = write_clusters(found, cut, given["out"], overwrite=may_overwrite())
    if given["pairs"]:
        written["pairs"] = write_pairs(
            found,
            given["pairs"],
            threshold=given["threshold"],
            decisions=decisions,
            overwrite=may_overwrite(),
        )
    _, sizes = cut.clusters.sizes()
    if given["as_json"]:
        answer = {"clusters": len(sizes), "decisions": len(decisions)}
        rows = [asdict(cluster) | {"least": cluster.least} for cluster in listed]
        click.echo(json.dumps(answer | {"by": order, "listed": rows, **written}, ensure_ascii=False))
        return
    if id_ is not None and not listed:
        click.echo(f"{printable(id_)} has no duplicate at this threshold")
        return
    for cluster in listed:
        click.echo(click.style(f"{cluster.size:,} documents, least similar {cluster.least:.3f}", bold=True))
        for member in cluster.members:
            mark = click.style("keep", fg="green") if member.kept else click.style("drop", fg="red")
            score = "  via" if member.similarity is None else f"{member.similarity:.3f}"
            words = ""
            if member.words is not None and member.row != cluster.members[0].row:
                words = click.style(f"  {counted(member.words, 'word')} in passages", dim=True)
            if member.changes:
                words += click.style(f"  {', '.join(member.changes)}", dim=True)
            if member.template is not None and member.row != cluster.members[0].row:
                words += click.style(f"  {member.template:.0%} template", dim=True)
            click.echo(f"  {mark} {score}  {printable(member.id)}{words}")
            if member.row == cluster.members[0].row and found.has_text(member.row):
                words = " ".join(found.text(member.row)[:400].split())
                click.echo(click.style(f"              {printable(words, 90)}", dim=True))
        if cluster.size > len(cluster.members):
            click.echo(f"  ... and {cluster.size - len(cluster.members):,} more")
        click.echo()
    how = ", those with most words in shared passages first" if order == "span" and id_ is None else ""
    click.echo(
        f"{len(listed):,} of {counted(len(sizes), 'cluster')}{how}. "
        f"Why two are similar: neardup explain -f {findings} ID ID"
    )
    if len(decisions):
        click.echo(f"With {counted(len(decisions), 'decision')} of a review.")
    for name, count in written.items():
        click.echo(f"{counted(count, 'row')} written to {given[name]}")


def _show_protected(listed: list[Any], count: int, as_json: bool) -> None:
    if as_json:
        rows = [asdict(document) for document in listed]
        click.echo(json.dumps({"protected": count, "listed": rows}, ensure_ascii=False))
        return
    for one in listed:
        click.echo(
            f"  kept: {one.reason}  {one.similarity:.3f}  {printable(one.id)} ~ {printable(one.similar_to)}"
        )
    click.echo(f"{len(listed):,} of {counted(count, 'document')} that guards keep.")
