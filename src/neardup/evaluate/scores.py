"""score(): precision, recall and F1 of pairs or clusters against any kind of truth."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ConfigError, DataError
from neardup.evaluate.judge import (
    APART,
    MOST_ENUMERATED,
    RIGHT,
    WRONG,
    Counts,
    Truth,
    judge_clusters,
    judge_pairs,
    partition,
)
from neardup.evaluate.metrics import (
    ClusterScores,
    Intervals,
    Measure,
    cluster_scores,
    f1,
    f1_measure,
    share,
)
from neardup.evaluate.truth import Names, PairTable, TruthClusters, distinct_pairs, read_table
from neardup.result import Result
from neardup.values.checks import checked
from neardup.values.plain import plain

__all__ = ["Evaluation", "Sweep", "score"]

Rows = NDArray[np.int64]
BANDS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0)
SWEEP = tuple(round(0.05 * step, 2) for step in range(2, 21))

Source = str | PathLike[str] | Result | Iterable[tuple[Any, ...]]


@dataclass(frozen=True)
class Sweep:
    """The same pairs at other thresholds (for a distance: radii), inclusive; columns of the same length.

    name                        the name of the measure
    threshold                   its values
    found, right, wrong, apart  pairs at each of them, as in `Evaluation`
    precision, recall, f1       shares at each of them

    >>> import neardup as nd
    >>> found = nd.evaluate.score([("a", "b", 0.9), ("a", "c", 0.7)], [("a", "b", 1), ("a", "c", 0)])
    >>> found.sweep.threshold.tolist(), found.sweep.precision.tolist()
    ([0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0], [0.5, 1.0, 1.0, 1.0, 1.0, nan, nan])
    """

    name: str
    threshold: NDArray[np.float64]
    found: Rows
    right: Rows
    wrong: Rows
    apart: Rows
    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f1: NDArray[np.float64]

    @property
    def best(self) -> int:
        """The row with the largest F1, the first if several are equal. It was chosen on this truth, so it is a little
        too good."""
        return int(np.nanargmax(self.f1)) if not np.isnan(self.f1).all() else 0


@dataclass(frozen=True)
class Evaluation:
    """How good the found pairs are. `found` counts them; `right`, `wrong`, `apart` (similar, but labelled apart) and
    `unlabelled` add up to it. `missed` are true pairs that were not found.

    `precision` is right / (right + wrong); `strict_precision` counts the pairs labelled apart as wrong too. Neither
    counts unlabelled pairs. `by_label` has (label, found, all); `bands` has (from, to, found, all) of true pairs by
    exact similarity, the last with its end included, NaN for pairs that the list of similarities does not name.

    truth     what the labels are: pairs, clusters or similarities
    recall    right / (right + missed)
    f1        the harmonic mean of precision and recall
    clusters  the clusters compared with true ones, or None
    sweep     the same pairs at other thresholds, or None
    notes     remarks, a sentence each

    >>> import neardup as nd
    >>> found = nd.evaluate.score([("a", "b"), ("a", "c")], [("a", "b", 1), ("a", "c", 0), ("c", "d", 1)])
    >>> found.right, found.wrong, found.missed
    (1, 1, 1)
    """

    truth: Literal["pairs", "clusters", "similarity"]
    found: int
    right: int
    wrong: int
    apart: int
    unlabelled: int
    missed: int
    precision: Measure
    strict_precision: Measure
    recall: Measure
    f1: Measure
    by_label: tuple[tuple[float, int, int], ...] = ()
    bands: tuple[tuple[float, float, int, int], ...] = ()
    clusters: ClusterScores | None = None
    sweep: Sweep | None = None
    notes: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """Everything as JSON values: NaN becomes null."""
        said = plain(asdict(self))
        if self.sweep is not None:
            said["sweep"]["best"] = self.sweep.best
        assert isinstance(said, dict)
        return said


@checked
def score(
    found: Source,
    truth: str | PathLike[str] | Iterable[tuple[Any, ...]],
    *,
    threshold: float | None = None,
    positive: float = 1,
    similarity: str | PathLike[str] | None = None,
    column: str | None = None,
    floor: float | None = None,
    format: str | None = None,
    intervals: Intervals | None = None,
) -> Evaluation:
    """Score found pairs or clusters against labelled pairs, labelled clusters or exact similarities.

    `found`: a file of pairs (with a similarity or distance, if there is one) or of clusters; the result of `dedup`; or
    tuples (id, id[, similarity]). `truth`: a file, recognised by its columns (see `neardup.evaluate.truth`), or tuples
    (id, id, label). With labels, pairs labelled `positive` or more are duplicates. With exact similarities, pairs with
    at least `threshold` are; `column` is the similarity to use, and `floor` is the similarity from which on the file
    lists every pair, by default its smallest: below it, pairs that are not listed count as unlabelled.

    `similarity`, a file of exact similarities in addition to labels, separates wrong pairs from pairs that are similar
    (`threshold` or more, by default 0.5) but labelled apart, and gives recall by similarity.

    format     of the files, where it does not follow from their names
    intervals  how 95% intervals are computed
    returns    an Evaluation
    raises     DataError if a file does not exist or has other columns

    >>> import neardup as nd
    >>> found = nd.evaluate.score([("a", "b"), ("a", "c")], [("a", "b", 1), ("a", "c", 0), ("c", "d", 1)])
    >>> found.precision.value, found.recall.value
    (0.5, 0.5)
    """
    names = Names()
    predicted = _found(found, names, format)
    gold = (
        read_table(truth, names, similarity=column)
        if isinstance(truth, str | PathLike)
        else _labelled(truth, names)
    )
    listed = _listed(similarity, names, column) if similarity is not None else None
    ids, notes = len(names), [*predicted.notes]
    if isinstance(predicted, PairTable) and predicted.itself:
        notes.append(f"{predicted.itself} rows pair a document with itself and were left out")
    cut = 0.5 if threshold is None else threshold
    similar = None if listed is None or listed.score is None else listed.keys[listed.score >= cut]
    if isinstance(gold, TruthClusters):
        true = Truth.of_clusters(gold, ids, similar)
    elif gold.label is not None:
        true = Truth.of_pairs(gold, ids, positive, similar)
    elif gold.score is not None and not gold.score_name.startswith(("distance", "hamming")):
        if threshold is None:
            raise ConfigError(
                "the truth lists similarities: say from which one on two documents are duplicates (threshold)"
            )
        true = Truth.of_similarity(gold, ids, threshold, floor)
        if not true.rest_is_wrong:
            notes.append(
                f"the truth lists no pair below {gold.score.min():g}, so found pairs it does not list are "
                f"unlabelled at threshold {threshold:g}; say with floor from where on it is complete"
            )
    else:
        raise DataError(f"{truth}: has neither labels nor clusters nor similarities to judge by")
    return _scored(predicted, gold, true, listed, intervals or Intervals(), tuple(notes))


def _scored(
    predicted: PairTable | TruthClusters,
    gold: PairTable | TruthClusters,
    truth: Truth,
    listed: PairTable | None,
    how: Intervals,
    notes: tuple[str, ...],
) -> Evaluation:
    labels: Rows | None = None
    judged = None
    if isinstance(predicted, TruthClusters):
        labels = partition(predicted, truth.ids)
        counts = judge_clusters(truth, labels)
    else:
        counts, judged = judge_pairs(truth, predicted.keys)
    clusters = None
    if isinstance(gold, TruthClusters):
        labels = partition(predicted, truth.ids) if labels is None else labels
        clusters = cluster_scores(labels[gold.id], gold.cluster, how)
    was_found = _finder(predicted, labels)
    sweep = None
    if isinstance(predicted, PairTable) and predicted.score is not None and judged is not None:
        sweep = _sweep(predicted.score, predicted.score_name, judged, counts)
    return Evaluation(
        truth=truth.kind,
        found=counts.found,
        right=round(counts.right.sum()),
        wrong=round(counts.wrong.sum()),
        apart=round(counts.apart.sum()),
        unlabelled=counts.unlabelled,
        missed=round(counts.missed.sum()),
        precision=share(counts.right, counts.right + counts.wrong, how),
        strict_precision=share(counts.right, counts.right + counts.wrong + counts.apart, how),
        recall=share(counts.right, counts.right + counts.missed, how),
        f1=f1_measure(counts.right, counts.wrong, counts.missed, how),
        by_label=_by_label(gold, was_found),
        bands=_by_band(truth, listed, was_found),
        clusters=clusters,
        sweep=sweep,
        notes=notes,
    )


def _finder(predicted: PairTable | TruthClusters, labels: Rows | None) -> Any:
    """Whether each of some pairs, given by keys, was found."""
    if isinstance(predicted, PairTable):
        return lambda keys: np.isin(keys, predicted.keys)
    assert labels is not None
    return lambda keys: labels[keys >> 32] == labels[keys & 0xFFFFFFFF]


def _by_label(gold: PairTable | TruthClusters, was_found: Any) -> tuple[tuple[float, int, int], ...]:
    if isinstance(gold, TruthClusters) or gold.label is None:
        return ()
    hit = was_found(gold.keys)
    known = np.unique(gold.label[~np.isnan(gold.label)])
    return tuple(
        (float(label), int(hit[gold.label == label].sum()), int((gold.label == label).sum()))
        for label in known
    )


def _by_band(
    truth: Truth, listed: PairTable | None, was_found: Any
) -> tuple[tuple[float, float, int, int], ...]:
    if listed is None or listed.score is None:
        return ()
    if truth.positives_by_group().sum() > MOST_ENUMERATED:
        return ()
    keys = truth.positives()
    place = np.minimum(np.searchsorted(listed.keys, keys), max(0, len(listed) - 1))
    there = listed.keys[place] == keys if len(listed) else np.zeros(len(keys), np.bool_)
    known = np.where(there, listed.score[place], np.nan) if len(listed) else np.full(len(keys), np.nan)
    hit = was_found(keys)
    rows = []
    for low, high in pairwise(BANDS):
        inside = (known >= low) & ((known < high) | ((high == 1.0) & (known <= 1.0)))
        if inside.any():
            rows.append((low, high, int(hit[inside].sum()), int(inside.sum())))
    unlisted = np.isnan(known)
    if unlisted.any():
        rows.append((math.nan, math.nan, int(hit[unlisted].sum()), int(unlisted.sum())))
    return tuple(rows)


def _sweep(score: NDArray[np.float64], name: str, judged: NDArray[np.int8], counts: Counts) -> Sweep:
    distance = bool(len(score)) and score.max() <= 0 and name.startswith(("distance", "hamming"))
    if distance:
        cuts = -np.arange(math.floor(-score.max()), math.floor(-score.min()) + 1, dtype=np.float64)
    else:
        cuts = np.array([cut for cut in SWEEP if cut > score.min(initial=np.inf) - 0.0499])
    columns: dict[int, Rows] = {}
    for kind in (RIGHT, WRONG, APART):
        ordered = np.sort(score[judged == kind])
        columns[kind] = len(ordered) - np.searchsorted(ordered, cuts, side="left")
    found = len(score) - np.searchsorted(np.sort(score), cuts, side="left")
    right, wrong = columns[RIGHT], columns[WRONG]
    true = counts.right.sum() + counts.missed.sum()
    with np.errstate(invalid="ignore"):
        precision, recall = right / (right + wrong), right / true
    scores = [f1(p, r) for p, r in zip(precision.tolist(), recall.tolist(), strict=True)]
    cut_column = -cuts if distance else cuts
    return Sweep(
        name, cut_column + 0.0, found, right, wrong, columns[APART], precision, recall, np.array(scores)
    )


def _listed(path: str | PathLike[str], names: Names, column: str | None) -> PairTable:
    table = read_table(path, names, similarity=column)
    if not isinstance(table, PairTable) or table.score is None:
        raise DataError(f"{path}: should list pairs with their similarity")
    return table


def _found(found: Source, names: Names, format: str | None) -> PairTable | TruthClusters:
    if isinstance(found, str | PathLike):
        return read_table(found, names, format=format, strict_pairs=False)
    if isinstance(found, Result):
        rows = names.numbers(found.ids)
        if len(np.unique(rows)) != len(rows):
            raise DataError("two of the documents have the same id; give each document its own id")
        return TruthClusters(np.sort(rows), found.clusters.keeper[np.argsort(rows)])
    return _tuples(found, names, "found", (2, 3))


def _labelled(truth: Any, names: Names) -> PairTable:
    table = _tuples(truth, names, "truth", (3,))
    return PairTable(table.left, table.right, label=table.score)


def _tuples(rows: Iterable[tuple[Any, ...]], names: Names, what: str, widths: tuple[int, ...]) -> PairTable:
    given = list(rows)
    for row in given:
        if not isinstance(row, tuple | list) or len(row) not in widths:
            shape = "(id, id, label)" if what == "truth" else "(id, id) or (id, id, similarity)"
            raise DataError(f"{what}: expected tuples {shape}, not {row!r}")
    apart = [row for row in given if str(row[0]) != str(row[1])]
    scored = bool(apart) and all(len(row) == 3 for row in apart)
    return distinct_pairs(
        names.numbers(str(row[0]) for row in apart),
        names.numbers(str(row[1]) for row in apart),
        np.array([float(row[2]) for row in apart]) if scored else None,
        "similarity" if scored else "",
        itself=len(given) - len(apart),
    )
