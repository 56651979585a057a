"""Pairs sampled by distance: near ones are rare among all pairs, so each distance is drawn on its own and weighed by
how many pairs it represents. Sums of weights are then unbiased estimates of counts over all pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.fingerprints import Codes
from neardup.search.hamming.scan import count_distances
from papers.bits import bit_count

__all__ = ["Strata", "crossing", "mean_by_distance", "precision_recall", "sample_pairs"]


@dataclass(frozen=True)
class Strata:
    """Sampled pairs of rows with their distance and weight; `counts[d]` is how many pairs of all lie at distance d."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    distance: NDArray[np.int64]
    weight: NDArray[np.float64]
    counts: NDArray[np.int64]


def sample_pairs(
    codes: Codes, rows: NDArray[np.int64], *, nearest: int, each: int, far: int, seed: int
) -> Strata:
    """At most `each` pairs at every distance from 0 to `nearest`, and at most `far` of all others together. Rows have a
    code."""
    part = codes.take(rows)
    words = np.ascontiguousarray(part.codes)
    both_ways = count_distances(part, part, threads=2)
    both_ways[0] -= len(rows)
    counts = both_ways // 2
    generator = np.random.default_rng(seed)
    query, row, distance = _core.scan(words, words, 64, nearest, False, 2)
    ahead = query < row
    query, row, distance = query[ahead], row[ahead], distance[ahead]
    picked = []
    for stratum in range(nearest + 1):
        inside = np.flatnonzero(distance == stratum)
        picked.append(np.sort(generator.permutation(inside)[:each]))
    kept = np.concatenate(picked)
    weight = np.concatenate([np.full(len(p), counts[d] / max(len(p), 1)) for d, p in enumerate(picked)])
    left, right = (generator.integers(0, len(rows), 2 * far) for _ in range(2))
    apart = bit_count(words[left, 0] ^ words[right, 0])
    beyond = np.flatnonzero(apart > nearest)[:far]
    more = counts[nearest + 1 :].sum() / max(len(beyond), 1)
    return Strata(
        rows[np.concatenate([query[kept], left[beyond]])],
        rows[np.concatenate([row[kept], right[beyond]])],
        np.concatenate([distance[kept], apart[beyond]]).astype(np.int64),
        np.concatenate([weight, np.full(len(beyond), more)]),
        counts,
    )


def precision_recall(
    distance: NDArray[np.int64],
    weight: NDArray[np.float64],
    positive: NDArray[np.bool_],
    radii: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P(h) and R(h), SL equations 24 and 25: of pairs within each radius the share that is positive, and of positive
    pairs the share within. Not a number where there are no such pairs."""
    within = np.array([weight[distance <= h].sum() for h in radii])
    right = np.array([weight[(distance <= h) & positive].sum() for h in radii])
    total = weight[positive].sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        return right / within, right / total


def mean_by_distance(
    distance: NDArray[np.int64],
    weight: NDArray[np.float64],
    value: NDArray[np.float64],
    at: NDArray[np.int64],
) -> NDArray[np.float64]:
    """The weighted mean of a value of pairs at each distance; not a number where none was sampled."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.array([(weight * value)[distance == d].sum() / weight[distance == d].sum() for d in at])


def crossing(radii: NDArray[np.int64], precision: NDArray[np.float64], recall: NDArray[np.float64]) -> int:
    """The radius at which precision and recall are closest."""
    return int(radii[np.nanargmin(np.abs(precision - recall))])
