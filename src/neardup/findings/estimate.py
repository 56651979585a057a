"""A share of a finite population, from a stratified sample whose members may come from the same clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.values.intervals import wilson

__all__ = ["JudgedCase", "Share", "estimate"]


@dataclass(frozen=True)
class JudgedCase:
    """One judged member of the population."""

    stratum: int
    cluster: int
    right: bool


@dataclass(frozen=True)
class Share:
    """A share with its 95% interval. `cases` is the number of independent cases that would give the same interval."""

    value: float
    low: float
    high: float
    cases: float


def estimate(sizes: Mapping[int, int], cases: Sequence[JudgedCase]) -> Share | None:
    """The share of right members in a population of strata of these sizes; None without cases.

    Each case counts for as many members as its stratum has for each judged one; strata without cases are taken to be
    like the others. Three things change how much the cases say: unequal weights (Kish's design effect); cases of one
    cluster, which are often right or wrong together (an intraclass correlation, estimated from the cases; 1 if all
    cases agree, because then it cannot be estimated); and that the population is finite. Then the interval is Wilson's.
    """
    if not cases:
        return None
    judged = Counter(case.stratum for case in cases)
    weights = np.array([sizes[case.stratum] / judged[case.stratum] for case in cases])
    right = np.array([case.right for case in cases], np.float64)
    many, population = len(cases), sum(sizes.values())
    value = float((weights * right).sum() / weights.sum())
    if many >= population:
        return Share(value, value, value, float("inf"))
    unequal = many * float((weights**2).sum()) / float(weights.sum()) ** 2
    _, cluster = np.unique([case.cluster for case in cases], return_inverse=True)
    together = np.bincount(cluster)
    clustered = 1 + (float((together**2).sum()) / many - 1) * _correlation(right, cluster, together)
    finite = (population - 1) / (population - many)
    effective = many / (unequal * clustered) * finite
    return Share(value, *wilson(value, effective), effective)


def _correlation(right: NDArray[np.float64], cluster: NDArray[np.int64], sizes: NDArray[np.int64]) -> float:
    """The intraclass correlation by the analysis of variance, between 0 and 1."""
    many, clusters = len(right), len(sizes)
    if right.min() == right.max() or clusters == 1:
        return 1.0
    if clusters == many:
        return 0.0
    means = np.bincount(cluster, right) / sizes
    between = float((sizes * (means - right.mean()) ** 2).sum()) / (clusters - 1)
    within = float(((right - means[cluster]) ** 2).sum()) / (many - clusters)
    usual = (many - float((sizes**2).sum()) / many) / (clusters - 1)
    spread = between + (usual - 1) * within
    return min(1.0, max(0.0, (between - within) / spread)) if spread > 0 else 0.0
