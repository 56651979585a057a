"""Precision, recall and F1 of found pairs against labels, with 95% intervals over groups of documents."""

from __future__ import annotations

from typing import Any

import numpy as np
from benchmarks.quality.sets import APART, SAME, LabelledSet
from numpy.typing import ArrayLike, NDArray

from neardup.evaluate.metrics import Measure, f1_measure, share

__all__ = ["best", "interval", "score", "sweep"]

Json = dict[str, Any]


def score(given: LabelledSet, found: NDArray[np.int64]) -> Json:
    """Scores of the pairs found, as places among the set's pairs; pairs of unknown label count for nothing."""
    label = given.label[found]
    right = _by_group(given, found[label == SAME])
    wrong = _by_group(given, found[label == APART])
    missed = _by_group(given, np.flatnonzero(given.label == SAME)) - right
    return {
        "precision": interval(share(right, right + wrong)),
        "recall": interval(share(right, right + missed)),
        "f1": interval(f1_measure(right, wrong, missed)),
        "found": len(found),
    }


def sweep(
    given: LabelledSet, closeness: NDArray[Any], cuts: ArrayLike, also: NDArray[np.bool_] | None = None
) -> Json:
    """Columns of scores of the pairs at least so close, one row for each cut; with `also` of those only for which it
    holds."""
    levels = np.asarray(cuts)
    enough = closeness >= levels.min()
    at = np.flatnonzero(enough if also is None else enough & also)
    close = closeness[at]
    rows = [score(given, at[close >= cut]) for cut in levels]
    return {"cuts": levels.tolist(), **{name: [row[name] for row in rows] for name in rows[0]}}


def best(columns: Json) -> int:
    """The place of the highest F1; the first of equals."""
    return int(np.argmax([row[0] or 0.0 for row in columns["f1"]]))


def interval(measure: Measure) -> list[float | None]:
    """Value, low and high, to four places; nothing where there were no cases."""
    return [None if np.isnan(x) else round(float(x), 4) for x in (measure.value, measure.low, measure.high)]


def _by_group(given: LabelledSet, at: NDArray[np.int64]) -> NDArray[np.float64]:
    """Pairs by the group of their documents, half for each."""
    ends = np.concatenate([given.group[given.left[at]], given.group[given.right[at]]])
    return np.bincount(ends, np.full(len(ends), 0.5), int(given.group.max(initial=0)) + 1)
