"""`neardup curve`: what a setting does to pairs of each similarity, as numbers and as a picture."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

import neardup as nd
from neardup.cli.options import json_option, threads_option
from neardup.cli.outputs import WritingCommand, output_option, overwrite_option

if TYPE_CHECKING:
    from neardup.evaluate.curves import Curve, Line

__all__ = ["curve"]


@click.group()
def curve() -> None:
    """What a setting does to pairs of each similarity: as numbers, and with --plot as a picture."""


def _shared(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        json_option("Everything as one JSON object."),
        overwrite_option,
        output_option("--plot", help="Draw it here too: a name in .svg or .png."),
        click.option("--at", type=float, multiple=True, help="A point to compute; may be repeated."),
    ):
        command = option(command)
    return command


def _corpus(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        threads_option(1),
        click.option(
            "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of random samples."
        ),
        click.option("--text", help="The corpus's column with the text, if it is not obvious."),
    ):
        command = option(command)
    return command


_RADIUS = click.option(
    "--radius",
    type=click.IntRange(0, 128),
    multiple=True,
    default=(3,),
    show_default=True,
    help="Largest distance, in bits; repeatable.",
)
_BITS = click.option(
    "--bits", type=click.Choice(["32", "64", "128"]), default="64", show_default=True, help="Bits of a code."
)


@curve.command(cls=WritingCommand)
@click.option(
    "--values", type=click.IntRange(1, 65536), default=100, show_default=True, help="Values of a sketch."
)
@click.option(
    "--needed", type=click.IntRange(0), default=90, show_default=True, help="Values that must agree."
)
@_shared
def sketch(values: int, needed: int, at: tuple[float, ...], plot: str | None, as_json: bool) -> None:
    """p(r): documents of resemblance r agree in at least NEEDED of VALUES sketch values."""
    from neardup.evaluate import curve_sketch

    if needed > values:
        raise click.BadParameter(f"at most {values} of {values} values can agree", param_hint="--needed")
    _give(curve_sketch(values, needed, at=at or None), plot, as_json)


@curve.command(cls=WritingCommand)
@click.option(
    "--bands",
    type=click.IntRange(1),
    multiple=True,
    help="Number of bands, with --rows; both may be repeated.",
)
@click.option("--rows", type=click.IntRange(1), multiple=True, help="Number of values in a band.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True),
    help="Bands designed for this Jaccard similarity, instead of --bands and --rows.",
)
@click.option(
    "--recall",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.99,
    show_default=True,
    help="Share of the pairs at the threshold that must be found.",
)
@_shared
def bands(
    bands: tuple[int, ...],
    rows: tuple[int, ...],
    threshold: float | None,
    recall: float,
    at: tuple[float, ...],
    plot: str | None,
    as_json: bool,
) -> None:
    """The S-curve of MinHash bands: a pair of this Jaccard similarity becomes a candidate."""
    from neardup.evaluate import curve_bands

    _give(curve_bands(*_bands(bands, rows, threshold, recall), at=at or None), plot, as_json)


@curve.command(cls=WritingCommand)
@click.argument("corpus", nargs=-1)
@_RADIUS
@_BITS
@_corpus
@_shared
def radius(
    corpus: tuple[str, ...],
    radius: tuple[int, ...],
    bits: str,
    text: str | None,
    seed: int,
    threads: int,
    at: tuple[float, ...],
    plot: str | None,
    as_json: bool,
) -> None:
    """P(H <= RADIUS) by cosine, from the binomial model; with a CORPUS also as measured on its pairs."""
    from neardup.evaluate import curve_radius

    texts = [document.text for document in nd.read(list(corpus), text=text).documents()] if corpus else None
    made = curve_radius(*radius, bits=int(bits), at=at or None, corpus=texts, seed=seed, threads=threads)
    _give(made, plot, as_json)


@curve.command(cls=WritingCommand)
@click.argument("corpus", nargs=-1)
@click.option(
    "--bands",
    type=click.IntRange(1),
    multiple=True,
    help="Number of bands, with --rows; by default designed for Jaccard 0.8.",
)
@click.option("--rows", type=click.IntRange(1), multiple=True, help="Values in a band; as often as --bands.")
@_RADIUS
@_BITS
@click.option(
    "--words", type=click.IntRange(1), help="Words of a document, for the model; by default the median."
)
@click.option(
    "--width", type=click.IntRange(1, 1024), default=5, show_default=True, help="Words per shingle."
)
@_corpus
@_shared
def edits(
    corpus: tuple[str, ...],
    bands: tuple[int, ...],
    rows: tuple[int, ...],
    radius: tuple[int, ...],
    bits: str,
    words: int | None,
    width: int,
    text: str | None,
    seed: int,
    threads: int,
    at: tuple[float, ...],
    plot: str | None,
    as_json: bool,
) -> None:
    """The recall to expect when a share of a document's words is changed (--at 0.02: two in a hundred).

    Measured on edited copies of documents of CORPUS, or of the bundled sample.
    """
    from neardup import sample
    from neardup.evaluate import curve_edits
    from neardup.evaluate.curves import RATES

    reader = nd.read(list(corpus) or sample.path(), text=text)
    made = curve_edits(
        [document.text for document in reader.documents()],
        rates=at or RATES,
        bands=_bands(bands, rows, None, 0.99) if bands or rows else (),
        radii=radius,
        bits=int(bits),
        words=words,
        width=width,
        seed=seed,
        threads=threads,
    )
    _give(made, plot, as_json)


def _bands(
    bands: tuple[int, ...], rows: tuple[int, ...], threshold: float | None, recall: float
) -> list[nd.LSH]:
    if len(bands) != len(rows):
        raise click.UsageError("give --bands and --rows equally often")
    chosen = [nd.LSH(many, width) for many, width in zip(bands, rows, strict=True)]
    if threshold is not None or not chosen:
        least = 0.8 if threshold is None else threshold
        chosen.append(nd.LSH.for_threshold(least, recall, 128 if least >= 0.75 else 512))
    return chosen


def _give(made: Curve, plot: str | None, as_json: bool) -> None:
    if plot:
        from neardup.evaluate.plot import plot_curve

        plot_curve(made, plot)
    if as_json:
        click.echo(json.dumps(made.to_json()))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in (made.x_name, *(line.name for line in made.lines)):
        table.add_column(name, justify="right")
    for row, x in enumerate(made.x.tolist()):
        table.add_row(f"{x:g}", *(_cell(line, row) for line in made.lines))
    console = Console(highlight=False)
    console.print(made.title, style="bold", soft_wrap=True)
    console.print(table)
    for note in made.notes:
        console.print(note, style="dim", soft_wrap=True)


def _cell(line: Line, row: int) -> str:
    value = float(line.y[row])
    if math.isnan(value):
        return "-"
    small = 0 < value < 0.0005 or 0.9995 < value < 1
    if not small:
        return f"{value:.4f}"
    return f"{value:.2e}" if value < 0.5 else f"1-{1 - value:.1e}"
