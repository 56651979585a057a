"""`neardup calibrate`: what every setting would do on a corpus, and which one to take."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

import neardup as nd
from neardup.cli.documents import stream
from neardup.cli.inputs import check_read, reading_of
from neardup.cli.options import json_option, page_options, threads_option
from neardup.cli.outputs import WritingCommand, output_option, overwrite_option
from neardup.cli.questions import ask_about
from neardup.values.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from neardup.evaluate import Calibrator, CorpusCalibration, Outcome, Tuned
    from neardup.evaluate.labels import Label

__all__ = ["calibrate"]


@click.command(cls=WritingCommand)
@click.argument("inputs", metavar="CORPUS...", nargs=-1, required=True)
@page_options
@click.option(
    "--similarity",
    type=click.Choice(["jaccard", "cosine"]),
    default="jaccard",
    show_default=True,
    help="The similarity that defines a duplicate.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0.1, 1),
    help="Smallest similarity of a duplicate [default: 0.8, cosine 0.9].",
)
@click.option(
    "--cosine",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.9,
    show_default=True,
    help="Smallest cosine of a duplicate, for P(h) and R(h).",
)
@click.option(
    "--width", type=click.IntRange(1, 1024), default=5, show_default=True, help="Words per shingle."
)
@click.option(
    "--documents",
    type=click.IntRange(2),
    default=100_000,
    show_default=True,
    help="Most documents to hold in memory.",
)
@click.option(
    "--queries",
    type=click.IntRange(2),
    default=5000,
    show_default=True,
    help="How many documents are compared with the others.",
)
@click.option(
    "--pairs",
    type=click.IntRange(1000),
    default=100_000,
    show_default=True,
    help="How many pairs are compared exactly.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Another seed draws other pairs."
)
@click.option(
    "--labels",
    type=click.Path(),
    help="Labelled pairs: answers so far, and the file for new ones; or a findings folder with decisions.",
)
@click.option("--label", "interactive", is_flag=True, help="Show borderline pairs and ask; needs --labels.")
@click.option(
    "--questions", type=click.IntRange(1), default=20, show_default=True, help="Most questions to ask."
)
@click.option(
    "--borderline", type=click.IntRange(0, 1000), default=5, show_default=True, help="How many pairs to show."
)
@output_option("--plot", help="Draw precision and recall here: a name in .svg or .png.")
@overwrite_option
@threads_option(1)
@json_option("Everything as one JSON object.")
def calibrate(
    inputs: tuple[str, ...],
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
    **reading: Any,
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
    reader = nd.read(list(inputs), **reading_of(reading))

    def documents_by(method: Literal["main", "whole", "none"]) -> Iterator[nd.Document]:
        again = nd.read(list(inputs), **reading_of(reading))
        return (document for batch in stream(again, method, {}, threads) for document in batch)

    def corpus() -> Iterator[nd.Document]:
        for batch in stream(reader, html, {}, threads):
            yield from batch
        check_read(reader, reading)

    whole: dict[str, str] = {}
    if (given or interactive) and html == "main" and "-" not in inputs:  # a pipe is read once
        whole = _whole_pages(documents_by)
    measured = measure_documents(
        corpus(),
        similarity=similarity,
        threshold=threshold,
        cosine=cosine,
        width=width,
        limit=documents,
        queries=queries,
        pairs=pairs,
        whole=whole,
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
        answer = found.to_json() | {"account": reader.account.to_json()}
        click.echo(json.dumps(answer, ensure_ascii=False))
    else:
        _show(found)
        for line in reader.account.exceptions():
            click.echo(line)


def _whole_pages(documents_by: Callable[[Any], Iterator[nd.Document]]) -> dict[str, str]:
    """The texts of whole pages by id; empty if no document is a page."""
    from itertools import islice

    def heads(method: str) -> list[str]:
        return [document.text for document in islice(documents_by(method), 100)]

    if heads("main") == heads("none"):  # no page among them
        return {}
    return {document.id: document.text for document in documents_by("whole")}


def _ask(measured: Calibrator, given: list[Label], path: str, questions: int) -> list[Label]:
    """Ask until the questions are used up, nothing is in doubt, or the user stops."""
    from neardup.evaluate.labels import append_label

    answers = {"y": 1, "n": 0, "?": None}
    for number in range(1, questions + 1):
        pair = measured.question(measured.known(given)[0])
        if pair is None:
            click.echo("No pair is in doubt any more.", err=True)
            break
        click.echo(
            f"\n{number} of {questions}: {pair.left} and {pair.right}, similarity {pair.similarity:.3f}",
            err=True,
        )
        texts = measured.text(pair.left), measured.text(pair.right)
        answer = ask_about(texts, "Duplicates?", answers)
        if answer is None:
            break
        label = answers[answer]
        append_label(path, pair.left, pair.right, label, pair.similarity)
        given = [*given, (pair.left, pair.right, math.nan if label is None else float(label))]
    click.echo(f"\nAnswers are in {path}; another run continues from there.\n", err=True)
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
        f"{counted(found.exact, 'document')} with the same words as another, dropped in any case",
        soft_wrap=True,
    )
    rows = [row for row in found.outcomes if row.setting.method == "minhash"]
    mark = "<- recommended" if found.tuned is None else "<- best of these tables"
    _table(
        console,
        "MinHash",
        [f"least {name}", "bands x rows", "precision", "recall", "pairs", "removed", ""],
        [
            [
                f"{row.setting.threshold:g}" if row.setting.verified else "unverified",
                f"{row.setting.bands} x {row.setting.rows}",
                *_cells(row, circular=found.begins is None and row.setting.verified),
                mark if row == found.recommended else "",
            ]
            for row in rows
        ],
    )
    for bits in (64, 128):
        _show_simhash(console, found, bits, name)
    if found.tuned is not None:
        _show_tuned(console, found.tuned)
    elif found.recommended is not None:
        console.print(f"\nRecommended: {found.recommended.setting}", style="bold", soft_wrap=True)
        console.print(found.reason, soft_wrap=True)
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


def _show_tuned(console: Console, tuned: Tuned) -> None:
    """What the labels choose among all rules, and how far to trust it."""
    console.print(f"\nRecommended: {tuned}", style="bold", soft_wrap=True)
    console.print(f"  neardup scan CORPUS {tuned.options}", soft_wrap=True)
    console.print(
        f"By {tuned.answers} answers it finds {tuned.recall} of the duplicates with precision {tuned.precision}. "
        f"Rule and threshold that the other answers choose predict {tuned.agrees} of the answers; the default rule "
        f"predicts {tuned.usual}.",
        soft_wrap=True,
    )
    console.print(
        "People do not always agree with each other: on pairs that people judged, no rule or model tried reached more "
        "than about .88 to .92 F1 on pairs it had not seen.",
        style="dim",
        soft_wrap=True,
    )


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
                ("<- recommended" if found.tuned is None else "<- best of these tables") if best else "",
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


def _cells(row: Outcome, *, circular: bool = False) -> list[str]:
    """Precision, recall, pairs and removals. If a threshold defines the duplicates, what a threshold finds of them says
    nothing about it."""
    return [
        "-" if circular else _measure(row.precision),
        "-" if circular else _measure(row.recall),
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
