"""`neardup evaluate`: pairs or clusters compared with the truth."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from neardup.cli.options import json_option
from neardup.values.wording import counted

if TYPE_CHECKING:
    from rich.console import Console

    from neardup.evaluate import Evaluation, Measure

__all__ = ["evaluate"]


@click.command()
@click.argument("found", metavar="PAIRS")
@click.option("--truth", required=True, help="Labelled pairs, labelled clusters, or exact similarities.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help="Smallest similarity of a duplicate, where the truth or --similarity lists similarities.",
)
@click.option(
    "--positive",
    type=float,
    default=1,
    show_default=True,
    help="Smallest label that means duplicates.",
)
@click.option(
    "--similarity",
    help="Exact similarities in addition to labels: they separate similar pairs from wrong ones.",
)
@click.option("--column", help="The column with the similarity, if it is not obvious.")
@click.option(
    "--floor", type=click.FloatRange(0, 1), help="The similarity from which on the file lists every pair."
)
@click.option(
    "--format",
    "format_",
    help="Format of PAIRS: csv, tsv, jsonl, parquet or arrow; by default its name decides.",
)
@click.option(
    "--bootstrap", type=click.IntRange(10, 1_000_000), help="Compute intervals from this number of resamples."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the resamples.")
@json_option("Everything as one JSON object.")
def evaluate(
    found: str,
    truth: str,
    threshold: float | None,
    positive: float,
    similarity: str | None,
    column: str | None,
    floor: float | None,
    format_: str | None,
    bootstrap: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Precision, recall and F1 of PAIRS, a file of pairs or of clusters (CSV, TSV, JSONL or Parquet).

    The columns of a file say what it holds: id_a, id_b or left, right for pairs, with a label or a similarity; id,
    cluster or id, keeper for clusters. Pairs the truth says nothing about are never counted as wrong.
    """
    from neardup.evaluate import Intervals, score

    scored = score(
        found,
        truth,
        threshold=threshold,
        positive=positive,
        similarity=similarity,
        column=column,
        floor=floor,
        format=format_,
        intervals=Intervals("bootstrap", bootstrap, seed) if bootstrap else None,
    )
    if as_json:
        click.echo(json.dumps(scored.to_json()))
    else:
        _show(scored)


def _show(scored: Evaluation) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    kinds = {"pairs": "labelled pairs", "clusters": "labelled clusters", "similarity": "exact similarities"}
    console.print(f"{counted(scored.found, 'pair')} found, against {kinds[scored.truth]}", style="bold")
    console.print()
    _table(
        console,
        ["", "share", "95% interval", ""],
        [
            ("precision", *_measure(scored.precision), f"{scored.right:,} right, {scored.wrong:,} wrong"),
            *(
                [("strict", *_measure(scored.strict_precision), "similar but apart counted as wrong")]
                if scored.apart
                else []
            ),
            ("recall", *_measure(scored.recall), f"{scored.missed:,} of {scored.recall.of:,.0f} missed"),
            ("F1", *_measure(scored.f1), ""),
        ],
    )
    if scored.apart or scored.unlabelled:
        console.print()
    if scored.apart:
        console.print(
            f"{scored.apart:,} pairs are similar but labelled apart: counted neither right nor wrong"
        )
    if scored.unlabelled:
        console.print(f"{scored.unlabelled:,} pairs are unlabelled: not counted")
    if scored.by_label:
        console.print()
        rows = [
            (f"{label:g}", f"{hit:,}", f"{of:,}", f"{hit / of:.3f}") for label, hit, of in scored.by_label
        ]
        _table(console, ["label", "found", "of", "share"], rows)
    if scored.bands:
        console.print()
        rows = [
            (_band(low, high), f"{hit:,}", f"{of:,}", f"{hit / of:.3f}")
            for low, high, hit, of in scored.bands
        ]
        _table(console, ["similarity", "found", "of", "recall"], rows)
    if scored.clusters is not None:
        clusters = scored.clusters
        console.print()
        console.print(
            f"{counted(clusters.found, 'cluster')} found, "
            f"{clusters.true:,} true ones, {clusters.documents:,} documents labelled"
        )
        _table(
            console,
            ["", "precision", "recall", "F1"],
            [
                ("pairs", *(f"{m.value:.3f}" for m in (clusters.precision, clusters.recall, clusters.f1))),
                (
                    "B-cubed",
                    f"{clusters.bcubed_precision.value:.3f}",
                    f"{clusters.bcubed_recall.value:.3f}",
                    f"{clusters.bcubed_f1:.3f}",
                ),
            ],
        )
    _show_sweep(console, scored)
    for note in scored.notes:
        console.print(f"\nnote: {note}", style="dim", markup=False, soft_wrap=True)


def _show_sweep(console: Console, scored: Evaluation) -> None:
    sweep = scored.sweep
    if sweep is None or not len(sweep.threshold):
        return
    console.print()
    sign = "<=" if sweep.name.startswith(("distance", "hamming")) else ">="
    columns = zip(sweep.threshold, sweep.found, sweep.precision, sweep.recall, sweep.f1, strict=True)
    rows = [
        (
            f"{cut:g}",
            f"{found:,}",
            *(_share(value) for value in shares),
            "best F1" if i == sweep.best else "",
        )
        for i, (cut, found, *shares) in enumerate(columns)
    ]
    _table(console, [f"{sweep.name} {sign}", "found", "precision", "recall", "F1", ""], rows)


def _measure(measure: Measure) -> tuple[str, str]:
    if math.isnan(measure.value):
        return "-", "nothing to count"
    return f"{measure.value:.3f}", f"{measure.low:.3f} to {measure.high:.3f}"


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _band(low: float, high: float) -> str:
    return "not listed" if math.isnan(low) else f"{low:g} to {high:g}"


def _table(console: Console, head: list[str], rows: Sequence[tuple[str, ...]]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for i, name in enumerate(head):
        table.add_column(
            name, justify="left" if i == 0 or not name or "interval" in name else "right", no_wrap=True
        )
    for row in rows:
        table.add_row(*row)
    console.print(table)
