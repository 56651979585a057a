"""How many flips PSM needs for a recall, measured on a sample of the user's own codes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, comb

import numpy as np
from numpy.typing import NDArray

from neardup.errors import DataError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.hamming.tables import Compact
from neardup.search.interface import Mode
from neardup.values.intervals import wilson

__all__ = ["Calibration", "calibrate"]

MOST_FLIPS = 4096
FEWEST = 60
"""With fewer pairs (or queries) than this a recall is not measured."""
_AT_ONCE = 512


@dataclass(frozen=True)
class Calibration:
    """`flips` sets a query reach `recall`, between `low` and `high` with 95% confidence, on the half of the
    sample that did not choose them.

    Relative recall R': with mode `all` the share of `counted` pairs found, with `first` the share of `counted` queries
    that have a neighbour and find one. Neighbours are distinct codes at distance 1 or more: equal codes are always
    found, so they would make the recall look better. `curve[k]` is the recall with k flips, on the whole sample."""

    flips: int
    recall: float
    low: float
    high: float
    counted: int
    mode: Mode
    header_bits: int
    curve: NDArray[np.float64]

    def __str__(self) -> str:
        what = "pairs" if self.mode == "all" else "queries"
        return (
            f"{self.flips} flips of a {self.header_bits}-bit header: recall {self.recall:.3f} "
            f"({self.low:.3f} to {self.high:.3f}, {self.counted} {what})"
        )


def calibrate(
    codes: Codes,
    *,
    radius: int,
    target: float,
    header: int,
    masks: Callable[[NDArray[np.int64], int], NDArray[np.uint32]],
    mode: Mode,
    sample: int,
    threads: int,
) -> Calibration:
    """Search a sample of rows exactly, and see at which flip PSM finds each pair; `masks(rows, flips)` are
    the flip sets of those rows. The codes have no empty rows."""
    rows = _sampled(len(codes), sample)
    exact = Compact(radius, bits=codes.bits).index(codes, threads=threads)
    asked = Codes(
        codes.scheme, np.zeros(len(rows), bool), codes.bits, np.ascontiguousarray(codes.codes[rows])
    )
    hits, _ = exact.search_groups(asked, threads=threads)
    near = hits.distance > 0
    query, row = hits.query[near], hits.row[near]
    top = (32 if codes.bits == 32 else 64) - header
    flipped = (codes.codes[rows[query], -1] ^ codes.codes[row, -1]) >> np.uint64(top)
    most = min(MOST_FLIPS, sum(comb(header, size) for size in range(1, radius + 1)))
    step = _steps(query, flipped, rows, lambda picked: masks(picked, most))
    if mode == "first":
        unit, start = np.unique(query, return_index=True)
        step = np.minimum.reduceat(step, start) if len(unit) else step
    else:
        unit = query
    # The pairs of one query are not independent, so all of them go to the same half.
    choosing = unit % 2 == 0
    if min(choosing.sum(), (~choosing).sum()) < FEWEST // 2:
        raise DataError(
            f"{len(unit)} neighbours within radius {radius} in a sample of {len(rows)} codes are too few to "
            f"calibrate on (at least {FEWEST}): give flips, or use an exact method"
        )
    ordered = np.sort(step[choosing])
    flips = int(ordered[ceil(target * len(ordered)) - 1])
    if flips > most:
        raise DataError(
            f"recall {target} needs more than {most} flips here: use an exact method, or a smaller header"
        )
    held = step[~choosing]
    found = int((held <= flips).sum())
    low, high = wilson(found / len(held), len(held))
    curve = np.searchsorted(np.sort(step), np.arange(most + 1), side="right") / len(step)
    return Calibration(flips, found / len(held), low, high, len(held), mode, header, curve)


def _sampled(count: int, sample: int) -> NDArray[np.int64]:
    """Evenly spread rows, the same ones every time."""
    if count <= sample:
        return np.arange(count)
    return (np.arange(sample) * count) // sample


def _steps(
    query: NDArray[np.int64],
    flipped: NDArray[np.uint64],
    rows: NDArray[np.int64],
    masks: Callable[[NDArray[np.int64]], NDArray[np.uint32]],
) -> NDArray[np.int64]:
    """The flip at which each pair is found: 0 when the headers are equal, 2**62 when never. Queries
    ascend."""
    step = np.full(len(query), 2**62)
    step[flipped == 0] = 0
    need = np.flatnonzero(flipped != 0)
    asking = np.unique(query[need])
    for start in range(0, len(asking), _AT_ONCE):
        some = asking[start : start + _AT_ONCE]
        sets = masks(rows[some])
        pairs = need[
            np.searchsorted(query[need], some[0]) : np.searchsorted(query[need], some[-1], side="right")
        ]
        equal = sets[np.searchsorted(some, query[pairs])] == flipped[pairs, None]
        hit = equal.any(axis=1)
        step[pairs[hit]] = equal[hit].argmax(axis=1) + 1
    return step
