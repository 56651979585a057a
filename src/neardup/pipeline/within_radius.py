"""R(h): which share of the verified pairs of a corpus has codes within the radius of the search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from neardup.compare.verify import Pairs
from neardup.fingerprints.fingerprints import Codes
from neardup.search.chance import safe_radius
from neardup.search.report import SearchReport

__all__ = ["share_within"]

Rows = NDArray[np.int64]
SAMPLE = 1000
MOST_CHANCE = 32.0  # chance hits of a sampled code that may be verified
_AT_ONCE, _MOST_PAIRS = 50, 1 << 17


def share_within(
    report: SearchReport,
    words: NDArray[np.uint64],
    rows: Rows,
    verified: Callable[[Rows, Rows], Pairs],
    threshold: float,
    threads: int = 1,
) -> SearchReport:
    """The report with R(h), measured on a sample of `rows`, whose codes are all different.

    A scan finds all pairs up to a much wider radius, at most a quarter of the bits, and `verified` measures them. Pairs
    beyond that radius are not seen, so the share is an upper bound where there are many of these.
    """
    from neardup.search.hamming.scan import Scan  # for codes alone

    codes = Codes("", np.zeros(len(rows), bool), report.bits, np.ascontiguousarray(words[rows]))
    widest = max(report.radius, min(report.bits // 4, safe_radius(len(rows), report.bits, MOST_CHANCE)))
    searcher = Scan(widest).index(codes)
    sample = np.random.default_rng(0).permutation(len(rows))[:SAMPLE]
    found: list[NDArray[np.int64]] = []
    pairs = 0
    for start in range(0, len(sample), _AT_ONCE):
        some = np.sort(sample[start : start + _AT_ONCE])
        hits = searcher.search(codes.take(some), threads=threads)
        query, other = some[hits.query], hits.row
        apart = query != other
        found.append(np.stack([query[apart], other[apart], hits.distance[apart].astype(np.int64)]))
        pairs += int(apart.sum())
        if pairs >= _MOST_PAIRS:
            break
    query, other, distance = np.concatenate(found, axis=1) if found else np.empty((3, 0), np.int64)
    # Both codes of a pair may be in the sample; then it counts twice, but is measured once.
    low, high = np.minimum(query, other), np.maximum(query, other)
    key, first, count = np.unique(low * len(rows) + high, return_index=True, return_counts=True)
    if not len(key):
        return report
    left, right = rows[low[first]], rows[high[first]]
    measured = verified(np.minimum(left, right), np.maximum(left, right))
    similar = measured.similarity >= threshold
    place = np.searchsorted(rows, np.stack([measured.left[similar], measured.right[similar]]))
    kept = np.searchsorted(key, place.min(axis=0) * len(rows) + place.max(axis=0))
    total = int(count[kept].sum())
    if not total:
        return report
    inside = int(count[kept][distance[first][kept] <= report.radius].sum())
    return replace(report, within=inside / total, verified=len(kept), widest=int(widest))
