"""Precision, recall and F1 of found pairs against labels, with 95% intervals over groups of documents."""

from __future__ import annotations

from typing import Any

import numpy as np
from benchmarks.quality.sets import APART, SAME, LabelledSet
from numpy.typing import ArrayLike, NDArray

from neardup.evaluation.metrics import Measure, f1_measure, share

__all__ = ["best", "interval", "score", "sweep"]

Json = dict[str, Any]


def score(given: LabelledSet, found: NDArray[np.bool_]) -> Json:
    """Scores of the pairs found, a truth value for each of the set's pairs; pairs of unknown label count for nothing."""
    right = _by_group(given, found & (given.label == SAME))
    missed = _by_group(given, ~found & (given.label == SAME))
    wrong = _by_group(given, found & (given.label == APART))
    return {
        "precision": interval(share(right, right + wrong)),
        "recall": interval(share(right, right + missed)),
        "f1": interval(f1_measure(right, wrong, missed)),
        "right": round(right.sum()),
        "wrong": round(wrong.sum()),
        "missed": round(missed.sum()),
        "found": int(found.sum()),
    }


def sweep(
    given: LabelledSet, closeness: NDArray[Any], cuts: ArrayLike, also: NDArray[np.bool_] | None = None
) -> list[Json]:
    """Scores of the pairs at least so close, for each cut; with `also` of those only for which it holds."""
    rows = []
    for cut in np.asarray(cuts).tolist():
        found = closeness >= cut
        rows.append({"cut": cut, **score(given, found if also is None else found & also)})
    return rows


def best(rows: list[Json]) -> Json:
    """The row of the highest F1; the first of equals."""
    return max(rows, key=lambda row: row["f1"][0] or 0.0)


def interval(measure: Measure) -> list[float | None]:
    """Value, low and high, to four places; nothing where there were no cases."""
    return [
        None if np.isnan(x) else round(float(x), 4) for x in (measure.value, measure.low, measure.high)
    ]


def _by_group(given: LabelledSet, pairs: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Pairs by the group of their documents, half for each."""
    at = np.flatnonzero(pairs)
    ends = np.concatenate([given.group[given.left[at]], given.group[given.right[at]]])
    return np.bincount(ends, np.full(len(ends), 0.5), int(given.group.max(initial=0)) + 1)
