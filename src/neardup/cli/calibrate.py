"""`neardup calibrate`: what every setting would do on a corpus, and which one to take."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

import neardup as nd
from neardup.cli.documents import stream
from neardup.cli.outputs import WritingCommand, output_option, overwrite_option
from neardup.values.wording import counted

if TYPE_CHECKING:
    from rich.console import Console

    from neardup.evaluate import Calibrator, CorpusCalibration, Outcome
    from neardup.evaluate.labels import Label

__all__ = ["calibrate"]


@click.command(cls=WritingCommand)
@click.argument("inputs", metavar="CORPUS...", nargs=-1, required=True)
@click.option("--text", help="The column with the text, if it is not obvious.")
@click.option("--id", "id_", help="The column with the id, if it is not obvious.")
@click.option("--format", "format_", help="Of CORPUS, if its name does not tell it.")
@click.option("--html", type=click.Choice(["main", "whole", "none"]), default="main", show_default=True)
@click.option(
    "--similarity",
    type=click.Choice(["jaccard", "cosine"]),
    default="jaccard",
    show_default=True,
    help="By which a duplicate is defined.",
)
@click.option("--threshold", type=click.FloatRange(0.1, 1), help="Of a duplicate [default: 0.8, cosine 0.9].")
@click.option(
    "--cosine",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.9,
    show_default=True,
    help="For P(h), R(h).",
)
@click.option(
    "--width", type=click.IntRange(1, 1024), default=5, show_default=True, help="Words per shingle."
)
@click.option("--documents", type=click.IntRange(2), default=100_000, show_default=True, help="Most to hold.")
@click.option(
    "--queries", type=click.IntRange(2), default=5000, show_default=True, help="Documents to ask for."
)
@click.option(
    "--pairs", type=click.IntRange(1000), default=100_000, show_default=True, help="To compare exactly."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option(
    "--labels",
    type=click.Path(),
    help="Labelled pairs: answers so far, and where new ones go; or a findings folder with what was decided there.",
)
@click.option("--label", "interactive", is_flag=True, help="Show borderline pairs and ask; needs --labels.")
@click.option("--questions", type=click.IntRange(1), default=20, show_default=True, help="To ask at most.")
@click.option(
    "--borderline", type=click.IntRange(0, 1000), default=5, show_default=True, help="Pairs to show."
)
@output_option("--plot", help="Draw precision and recall here: a name in .svg or .png.")
@overwrite_option
@click.option("--threads", type=click.IntRange(1, 1024), default=1, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Everything as one JSON object.")
def calibrate(
    inputs: tuple[str, ...],
    text: str | None,
    id_: str | None,
    format_: str | None,
    html: Literal["main", "whole", "none"],
    similarity: Literal["jaccard", "cosine"],
    threshold: float | None,
    cosine: float,
    width: int,
    documents: int,
    queries: int,
    pairs: int,
    seed: int,
    labels: str | None,
    interactive: bool,
    questions: int,
    borderline: int,
    plot: str | None,
    threads: int,
    as_json: bool,
) -> None:
    """Measure on CORPUS itself (files, folders, globs) what each method and setting would find, miss and remove.

    Pairs are drawn at random with known chances, near ones often, and compared exactly. With --label you answer y or n
    on pairs near the edge; answers are kept in the --labels file as you go, and every run uses them.
    """
    from neardup.evaluate import measure_documents
    from neardup.evaluate.labels import read_labels
    from neardup.findings.decisions import is_log

    if interactive and labels is None:
        raise click.UsageError("--label needs --labels FILE, where your answers are kept")
    if interactive and labels is not None and (Path(labels).is_dir() or is_log(Path(labels))):
        raise click.UsageError(
            "decisions of a review are made there: neardup review; name another --labels FILE"
        )
    given: list[Label] = read_labels(labels, missing_ok=interactive) if labels else []
    unread: dict[str, int] = {}
    batches = stream(nd.read(list(inputs), text=text, id=id_, format=format_), html, unread, threads)
    measured = measure_documents(
        (document for batch in batches for document in batch),
        similarity=similarity,
        threshold=threshold,
        cosine=cosine,
        width=width,
        limit=documents,
        queries=queries,
        pairs=pairs,
        seed=seed,
        threads=threads,
    )
    if interactive and labels is not None:
        given = _ask(measured, given, labels, questions)
    found = measured.calibrated(given, borderline=borderline)
    if plot:
        from neardup.evaluate.plot import plot_calibration

        plot_calibration(found, plot)
    if as_json:
        click.echo(json.dumps(found.to_json(), ensure_ascii=False))
    else:
        _show(found)


def _ask(measured: Calibrator, given: list[Label], path: str, questions: int) -> list[Label]:
    """Ask until the questions are used up, nothing is in doubt, or the user has had enough."""
    from neardup.compare.diff import differences
    from neardup.evaluate.labels import append_label

    place = {id: row for row, id in reversed(list(enumerate(measured.ids)))}
    answers = {"y": 1, "n": 0, "?": None}
    for number in range(1, questions + 1):
        pairs = measured.ask(measured.known(given)[0])
        if not pairs:
            click.echo("No pair is in doubt any more.", err=True)
            break
        pair = pairs[0]
        click.echo(
            f"\n{number} of {questions}: {pair.left} and {pair.right}, similarity {pair.similarity:.3f}",
            err=True,
        )
        texts = measured.texts[place[pair.left]], measured.texts[place[pair.right]]
        for left, right in differences(*texts):
            click.secho(f"  - {left}", fg="red", err=True)
            click.secho(f"  + {right}", fg="cyan", err=True)
        try:
            said = click.prompt(
                "Duplicates? y, n, ? (cannot tell), q (enough)",
                type=click.Choice([*answers, "q"]),
                show_choices=False,
                err=True,
            )
        except click.Abort:  # the end of the answers is an end like any other
            break
        if said == "q":
            break
        label = answers[said]
        append_label(path, pair.left, pair.right, label, pair.similarity)
        given = [*given, (pair.left, pair.right, math.nan if label is None else float(label))]
    click.echo(f"\nAnswers are in {path}; another run goes on from there.\n", err=True)
    return given


def _show(found: CorpusCalibration) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console = Console(highlight=False, width=120)  # a file has room for the whole table
    name = {"jaccard": "Jaccard", "cosine": "cosine"}[found.similarity]
    how = (
        "every pair compared"
        if found.census
        else f"{found.pairs:,} pairs of {found.queries:,} of them compared exactly"
    )
    console.print(f"{counted(found.documents, 'document')}, {how}", style="bold", soft_wrap=True)
    if found.begins is not None:
        middle, low, high = found.begins
        truth = (
            f"duplicates begin at {name} {middle:.2f} ({low:.2f} to {high:.2f}), as {found.labels} labels say"
        )
    else:
        truth = f"no labels yet: here a duplicate is {name} >= {found.threshold:g}"
    console.print(
        f"{truth}; about {found.duplicates:,.0f} pairs are, among documents of different words",
        soft_wrap=True,
    )
    console.print(
        f"{found.exact:,} documents have the same words as another and go in any case", soft_wrap=True
    )
    rows = [row for row in found.outcomes if row.setting.method == "minhash"]
    _table(
        console,
        "MinHash",
        [f"least {name}", "bands x rows", "precision", "recall", "pairs", "removed", ""],
        [
            [
                f"{row.setting.threshold:g}" if row.setting.verified else "unverified",
                f"{row.setting.bands} x {row.setting.rows}",
                *_cells(row),
                "<- recommended" if row == found.recommended else "",
            ]
            for row in rows
        ],
    )
    for bits in (64, 128):
        _show_simhash(console, found, bits, name)
    if found.recommended is not None:
        console.print(f"\nRecommended: {found.recommended.setting}", style="bold", soft_wrap=True)
    else:
        console.print("\nNo recommendation", style="bold")
    console.print(found.reason, soft_wrap=True)
    if found.borderline:
        console.print("\nPairs to look at", style="bold")
        for pair in found.borderline:
            console.print(f"{pair.similarity:.3f}  {pair.left}  {pair.right}", markup=False, soft_wrap=True)
            console.print(f"  - {pair.left_snippet}", style="red", markup=False, soft_wrap=True)
            console.print(f"  + {pair.right_snippet}", style="cyan", markup=False, soft_wrap=True)
    for note in found.notes:
        console.print(f"\nnote: {note}", style="dim", markup=False, soft_wrap=True)


def _show_simhash(console: Console, found: CorpusCalibration, bits: int, name: str) -> None:
    mine = [row for row in found.outcomes if row.setting.bits == bits]
    by_radius = {(row.setting.radius, row.setting.verified): row for row in mine}
    rows = []
    for row in (row for row in found.radii if row.bits == bits):
        raw, verified = by_radius[(row.radius, False)], by_radius[(row.radius, True)]
        psm = (
            [f"{row.flips}", _share(row.relative_recall), _share(row.total_recall)]
            if row.flips is not None
            else ["-"] * 3
        )
        best = found.recommended in (raw, verified)
        rows.append(
            [
                f"{row.radius}",
                _share(row.precision.value),
                _share(row.recall.value),
                *(psm if bits == 64 else []),
                *_cells(raw),
                _share(verified.recall.value),
                f"{verified.removed.value:,.0f}",
                "<- recommended" if best else "",
            ]
        )
    _table(
        console,
        f"Simhash of {bits} bits: P(h) and R(h) of cosine >= {found.cosine:g}, then {name} unverified and verified",
        [
            "radius",
            "P(h)",
            "R(h)",
            *(["flips", "R'", "R(h)R'"] if bits == 64 else []),
            "precision",
            "recall",
            "pairs",
            "removed",
            "verified recall",
            "removed",
            "",
        ],
        rows,
    )


def _cells(row: Outcome) -> list[str]:
    return [
        _measure(row.precision),
        _measure(row.recall),
        f"{row.pairs:,.0f}",
        f"{row.removed.value:,.0f}"
        + (
            f" ±{(row.removed.high - row.removed.low) / 2:,.0f}" if row.removed.low < row.removed.high else ""
        ),
    ]


def _measure(measure: Any) -> str:
    reach = (measure.high - measure.low) / 2
    return _share(measure.value) + (f" ±{reach:.3f}" if reach >= 0.0005 else "")


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _table(console: Console, title: str, head: list[str], rows: list[list[str]]) -> None:
    from rich.table import Table

    console.print(f"\n{title}", style="bold", soft_wrap=True)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in head:
        table.add_column(
            column, justify="right" if column else "left", no_wrap=bool(column) and " " not in column
        )
    for row in rows:
        table.add_row(*row)
    console.print(table)
