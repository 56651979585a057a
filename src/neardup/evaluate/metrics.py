"""Shares with 95% intervals, F1, and the measures of clusters: pairwise and B-cubed.

Pairs of one cluster are not independent: a thousand pairs of three clusters prove less than a thousand pairs of a
thousand clusters. So counts are kept by group (documents connected by true pairs), and the width of an interval
depends on the number of groups, not of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neardup.errors import ConfigError
from neardup.values.checks import check_fields
from neardup.values.intervals import wilson

__all__ = [
    "ClusterScores",
    "Intervals",
    "Measure",
    "choose_2",
    "cluster_scores",
    "f1",
    "f1_measure",
    "share",
]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Measure:
    """A share with its 95% interval and its number of cases; NaN if there are none.

    value      the share, 0 to 1
    low, high  the ends of the interval
    of         the number of cases

    >>> import neardup as nd
    >>> recall = nd.evaluate.score([("a", "b")], [("a", "b", 1), ("c", "d", 1)]).recall
    >>> recall.value, recall.of, recall.low < 0.5 < recall.high
    (0.5, 2.0, True)
    """

    value: float
    low: float
    high: float
    of: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True)
class Intervals:
    """How 95% intervals are computed.

    "wilson": Wilson's interval, for the effective number of cases, computed from the variance between groups (if the
    share is 0 or 1 there is no variance, and all cases of a group count as one). "bootstrap": percentiles over
    `resamples` draws of whole groups.

    method  "wilson" or "bootstrap"
    seed    of the draws

    >>> import neardup as nd
    >>> how = nd.evaluate.Intervals("bootstrap", resamples=100)
    >>> nd.evaluate.score([("a", "b")], [("a", "b", 1), ("c", "d", 1)], intervals=how).recall.value
    0.5
    """

    method: Literal["wilson", "bootstrap"] = "wilson"
    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check_fields(self)
        if self.method not in ("wilson", "bootstrap"):
            raise ConfigError(f'intervals are "wilson" or "bootstrap", not {self.method!r}')
        if not 10 <= self.resamples <= 1_000_000:
            raise ConfigError(f"resamples are 10 to 1,000,000, not {self.resamples}")


def share(part: ArrayLike, whole: ArrayLike, how: Intervals | None = None) -> Measure:
    """Sum of `part` divided by sum of `whole`, both by group."""
    how = how or Intervals()
    x, n = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    x, n = x[n > 0], n[n > 0]
    total = float(n.sum())
    if total == 0:
        return Measure(np.nan, np.nan, np.nan, 0)
    value = float(x.sum() / total)
    low, high = _bootstrap(x, n, how) if how.method == "bootstrap" else wilson(value, _effective(x, n))
    return Measure(value, min(low, value), max(high, value), total)


def f1(precision: float, recall: float) -> float:
    """The harmonic mean of the two; 0 if both are 0, NaN if either is NaN."""
    return 0.0 if precision + recall == 0 else 2 * precision * recall / (precision + recall)


def f1_measure(
    right: ArrayLike, wrong: ArrayLike, missed: ArrayLike, how: Intervals | None = None
) -> Measure:
    """F1 of counts by group. It is 2 q / (1 + q), where q is the share of right pairs among the right, wrong and
    missed ones; the interval is computed in the same way."""
    x = np.asarray(right, np.float64)
    q = share(x, x + np.asarray(wrong, np.float64) + np.asarray(missed, np.float64), how)
    value, low, high = (2 * end / (1 + end) for end in (q.value, q.low, q.high))
    return Measure(value, low, high, q.of)


def _effective(x: Floats, n: Floats) -> float:
    """The effective number of independent cases: cases divided by the design effect of the groups, at most all
    cases."""
    total = n.sum()
    value = x.sum() / total
    worst = total * total / (n * n).sum()  # each group counts as one case: Kish
    if len(n) < 2 or value in (0.0, 1.0):
        return float(worst)
    spread = len(n) / (len(n) - 1) * ((x - value * n) ** 2).sum() / total**2
    if spread <= 0:
        return float(total)
    return float(min(total, value * (1 - value) / spread))


def _bootstrap(x: Floats, n: Floats, how: Intervals) -> tuple[float, float]:
    draw = np.random.default_rng(how.seed)
    shares = np.empty(how.resamples)
    for i in range(how.resamples):
        picked = draw.integers(0, len(x), len(x))
        shares[i] = x[picked].sum() / n[picked].sum()
    low, high = np.quantile(shares, [0.025, 0.975])
    return float(low), float(high)


@dataclass(frozen=True)
class ClusterScores:
    r"""Found clusters compared with true ones, only over the labelled documents.

    `right` pairs share a found and a true cluster, `wrong` ones only a found one, `missed` ones only a true one.
    B-cubed averages over documents: the share of its found cluster that is correct, and the share of its true cluster
    that was found.

    documents                                   labelled documents
    found, true                                 the number of found and of true clusters
    precision, recall, f1                       of pairs of documents
    bcubed_precision, bcubed_recall, bcubed_f1  of documents

    >>> import pathlib, tempfile
    >>> import neardup as nd
    >>> truth = pathlib.Path(tempfile.mkdtemp()) / "clusters.csv"
    >>> _ = truth.write_text("id,cluster\na,x\nb,x\nc,x\n")
    >>> scores = nd.evaluate.score([("a", "b")], truth).clusters
    >>> scores.right, scores.missed, scores.bcubed_precision.value
    (1, 2, 1.0)
    """

    documents: int
    found: int
    true: int
    right: int
    wrong: int
    missed: int
    precision: Measure
    recall: Measure
    f1: Measure
    bcubed_precision: Measure
    bcubed_recall: Measure
    bcubed_f1: float


def choose_2(counts: Rows) -> Rows:
    """The number of pairs among each of these numbers of items."""
    return counts * (counts - 1) // 2


def cluster_scores(found: Rows, true: Rows, how: Intervals | None = None) -> ClusterScores:
    """Scores of documents by the labels of their found and true clusters; a single document has its own label."""
    _, found = np.unique(found, return_inverse=True)
    _, true = np.unique(true, return_inverse=True)
    n_found, n_true = np.bincount(found), np.bincount(true)
    cell, cell_of, together = np.unique(
        true.astype(np.int64) * max(1, len(n_found)) + found, return_inverse=True, return_counts=True
    )
    cell_true, cell_found = cell // max(1, len(n_found)), cell % max(1, len(n_found))
    groups = len(n_true)
    right = np.bincount(cell_true, choose_2(together), groups)
    missed = choose_2(n_true) - right
    # A wrong pair is between two true clusters: half of it counts for each.
    wrong = np.bincount(cell_true, together * (n_found[cell_found] - together) / 2, groups)
    precise = np.bincount(true, together[cell_of] / n_found[found], groups)
    complete = np.bincount(true, together[cell_of] / n_true[true], groups)
    bcubed = share(precise, n_true, how), share(complete, n_true, how)
    return ClusterScores(
        documents=len(true),
        found=int((n_found > 1).sum()),
        true=int((n_true > 1).sum()),
        right=int(right.sum()),
        wrong=round(wrong.sum()),
        missed=int(missed.sum()),
        precision=share(right, right + wrong, how),
        recall=share(right, right + missed, how),
        f1=f1_measure(right, wrong, missed, how),
        bcubed_precision=bcubed[0],
        bcubed_recall=bcubed[1],
        bcubed_f1=f1(bcubed[0].value, bcubed[1].value),
    )
