"""`neardup radius`: judge pairs at every distance of codes, and learn precision and recall by radius."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Literal

import click

import neardup as nd
from neardup.cli.documents import stream
from neardup.cli.inputs import check_read, reading_of
from neardup.cli.options import json_option, page_options, threads_option
from neardup.cli.questions import ask_about
from neardup.values.wording import printable

if TYPE_CHECKING:
    from neardup.evaluate.radii import DistanceSample, RadiusScore

__all__ = ["radius"]

Answers = dict[tuple[str, str], float]


@click.command()
@click.argument("inputs", metavar="CORPUS...", nargs=-1, required=True)
@page_options
@click.option(
    "--labels", type=click.Path(), required=True, help="The file of answers; or findings with decisions."
)
@click.option(
    "--kind",
    type=click.Choice(["simhash", "bits"]),
    default="simhash",
    show_default=True,
    help="Simhash of TF-IDF words, or 1-bit MinHash of shingles.",
)
@click.option(
    "--bits", type=click.Choice(["32", "64", "128"]), default="64", show_default=True, help="Bits of a code."
)
@click.option("--widest", type=click.IntRange(0, 32), default=10, show_default=True, help="Largest distance.")
@click.option("--each", type=click.IntRange(1), default=10, show_default=True, help="Pairs at each distance.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Draws other pairs.")
@click.option("--no-ask", is_flag=True, help="Only say what the answers so far mean.")
@threads_option(1)
@json_option("The scores as one JSON object.")
def radius(
    inputs: tuple[str, ...],
    html: Literal["main", "whole", "none"],
    labels: str,
    kind: str,
    bits: str,
    widest: int,
    each: int,
    seed: int,
    no_ask: bool,
    threads: int,
    as_json: bool,
    **reading: Any,
) -> None:
    """Draw equal numbers of pairs of CORPUS at each distance of their codes, ask whether they are duplicates, and say
    what precision and recall every radius has.

    Each answer counts for all pairs of its distance; connected pairs count as one case. Answers are kept in the
    --labels file as you go; another run with the same seed continues from there.
    """
    from neardup.evaluate.labels import read_labels
    from neardup.evaluate.radii import draw_by_distance, score_radii

    reader = nd.read(list(inputs), **reading_of(reading))
    documents = [document for batch in stream(reader, html, {}, threads) for document in batch]
    check_read(reader, reading)
    ids, texts = [document.id for document in documents], [document.text for document in documents]
    drawn = draw_by_distance(
        _codes(texts, kind, int(bits), threads), widest=widest, each=each, seed=seed, threads=threads
    )
    known: Answers = {(a, b): label for a, b, label in read_labels(labels, missing_ok=True)}
    if not no_ask:
        _ask(drawn, ids, texts, known, labels)
    pairs = [(ids[a], ids[b]) for a, b in zip(drawn.left.tolist(), drawn.right.tolist(), strict=True)]
    scores = score_radii(drawn, [known.get((a, b), known.get((b, a), -1.0)) for a, b in pairs])
    if as_json:
        click.echo(json.dumps({"documents": len(ids), "radii": [score.to_json() for score in scores]}))
    else:
        _show(scores)


def _codes(texts: list[str], kind: str, bits: int, threads: int) -> nd.fingerprints.Codes:
    if kind == "bits":
        return nd.fingerprint(texts, nd.Shingles(), nd.BitMinHash(bits), threads=threads)
    words = nd.Words(weights=nd.Idf.fit(texts, threads=threads))
    return nd.fingerprint(texts, words, nd.Simhash(bits), threads=threads)


def _ask(drawn: DistanceSample, ids: list[str], texts: list[str], known: Answers, path: str) -> None:
    from neardup.evaluate.labels import append_label

    answers = {"y": 1, "n": 0, "?": None}
    columns = zip(drawn.left.tolist(), drawn.right.tolist(), drawn.distance.tolist(), strict=True)
    for number, (left, right, distance) in enumerate(columns, 1):
        pair = ids[left], ids[right]
        if pair in known or pair[::-1] in known:
            continue
        names = f"{printable(pair[0])} and {printable(pair[1])}"
        click.echo(f"\n{number} of {len(drawn)}: {names}, distance {distance}", err=True)
        answer = ask_about((texts[left], texts[right]), "Duplicates?", answers)
        if answer is None:
            break
        label = answers[answer]
        # What is written is a similarity too, for `neardup calibrate` reads the same file.
        same = nd.Jaccard().of_texts(nd.Shingles(), texts[left], texts[right])
        append_label(path, *pair, label, same)
        known[pair] = math.nan if label is None else float(label)


def _show(scores: list[RadiusScore]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("radius", "pairs", "judged here", "right", "unsure", "precision", "recall"):
        table.add_column(name, justify="right", no_wrap=True)
    for score in scores:
        numbers = (score.pairs, score.judged, score.right, score.unsure)
        shares = (_share(score.precision), _share(score.recall))
        table.add_row(str(score.radius), *(f"{number:,}" for number in numbers), *shares)
    Console(highlight=False).print(table)


def _share(share: tuple[float, float, float] | None) -> str:
    return "no answers" if share is None else f"{share[0]:.2f} ({share[1]:.2f} to {share[2]:.2f})"
