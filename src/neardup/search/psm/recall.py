"""How many flips PSM needs for a recall, measured on a sample of the user's own codes.

The bound of the recall is one-sided. The pairs of one query are not independent, so queries are what is resampled: the
jackknife leaves out the pairs of one query at a time. It works on the log-odds of the recall, with the quantile of
Student's distribution for as many degrees of freedom as the spread of the queries' influence leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import comb, exp, inf, log, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup.errors import DataError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.hamming.tables import Compact

__all__ = [
    "Calibration",
    "Counted",
    "NearPairs",
    "TooFewPairs",
    "calibrate",
    "flip_count",
    "lower_bound",
    "near_pairs",
]

MOST_FLIPS = 4096
FEWEST = 60
"""With fewer pairs (or queries) than this a recall is not measured."""
_AT_ONCE = 512  # queries whose flip sets are made at a time, and pairs looked up in them
_FEW, _MOST_PAIRS = 64, 1 << 20
_NEVER = inf
_LEVEL = 1.7507
"""The normal quantile of 96%. The number of flips is chosen on the same sample, which costs about one in a hundred: so
95 of 100 bounds hold. `papers/psm_bound.py` counts them."""

Counted = Literal["all", "first", "pairs"]
"""What a recall counts: `all` pairs of a query and a stored code; queries that find their `first` neighbour; or `pairs`
of rows in a join, which are found if one of the two finds the other."""


class TooFewPairs(DataError):
    """The codes have too few near pairs to calibrate on."""


@dataclass(frozen=True)
class Calibration:
    """With `flips` sets a query, PSM finds the share `recall` of the sample, and of all with 95% confidence at least
    `low`. If every code was in the sample, `low` is the recall itself.

    Relative recall R': with mode `all` the share of `counted` pairs found, with `first` the share of `counted` queries
    that have a neighbour and find one, with `pairs` the share of pairs of rows of which one finds the other.
    `queries` have these pairs. Neighbours are distinct codes at distance 1 or more: equal codes are always found, so
    they would make the recall look better. `curve[k]` is the recall with k flips. With `limit` a query continues until
    its next set costs more."""

    flips: int
    recall: float
    low: float
    counted: int
    queries: int
    mode: Counted
    header_bits: int
    curve: NDArray[np.float64]
    limit: float = inf

    def __str__(self) -> str:
        what = "queries" if self.mode == "first" else "pairs"
        most = f"up to {self.flips}" if self.limit < inf else str(self.flips)
        return (
            f"{most} flips of a {self.header_bits}-bit header: recall {self.recall:.3f} "
            f"(at least {self.low:.3f}, {self.counted} {what})"
        )


@dataclass(frozen=True)
class NearPairs:
    """What an exact search finds for sampled `rows` of a set of `total`: query `query[i]`, a place in `rows`, has a
    neighbour whose header differs from its own in the bits of `flipped[i]`; `row[i]` is that neighbour's row, or -1 if
    its margins are not at hand. Queries ascend."""

    rows: NDArray[np.int64]
    total: int
    query: NDArray[np.int64]
    row: NDArray[np.int64]
    flipped: NDArray[np.uint64]

    def only(self, wanted: NDArray[np.bool_]) -> NearPairs:
        """Some of the pairs, of the same queries."""
        return replace(self, query=self.query[wanted], row=self.row[wanted], flipped=self.flipped[wanted])


def near_pairs(
    codes: Codes, *, radius: int, header: int, sample: int, seed: int = 0, threads: int = 1
) -> NearPairs:
    """Neighbours at distance 1 to radius of sampled rows, by an exact search. The codes have no empty rows."""
    rows = _sampled(len(codes), sample, seed)
    exact = Compact(radius, bits=codes.bits).index(codes, threads=threads)
    parts, asked, size = [], 0, _FEW
    # Where every code has thousands of neighbours, fewer queries are enough. They are in random order until the end.
    while asked < len(rows):
        some = rows[asked : asked + size]
        queries = Codes(codes.scheme, np.zeros(len(some), bool), codes.bits, codes.codes[some].copy())
        hits, _ = exact.search_groups(queries, threads=threads)
        near = hits.distance > 0
        parts.append((asked + hits.query[near], hits.row[near]))
        asked += len(some)
        pairs = sum(len(part) for part, _ in parts)
        if pairs >= _MOST_PAIRS:
            break
        size = min(4 * size, max(_FEW, _MOST_PAIRS * asked // max(pairs, 1)))
    rows = rows[:asked]
    order = np.argsort(rows)
    place = np.empty(asked, np.int64)
    place[order] = np.arange(asked)
    query = place[np.concatenate([part for part, _ in parts])] if parts else np.empty(0, np.int64)
    row = np.concatenate([part for _, part in parts]) if parts else np.empty(0, np.int64)
    by_query = np.argsort(query, kind="stable")
    rows, query, row = rows[order], query[by_query], row[by_query]
    top = (32 if codes.bits == 32 else 64) - header
    flipped = (codes.codes[rows[query], -1] ^ codes.codes[row, -1]) >> np.uint64(top)
    return NearPairs(rows, len(codes), query, row, flipped)


def calibrate(
    found: NearPairs,
    *,
    radius: int,
    target: float,
    header: int,
    masks: Callable[[NDArray[np.int64], int], NDArray[np.uint32]],
    mode: Counted,
    costs: Callable[[NDArray[np.int64]], NDArray[np.float32]] | None = None,
) -> Calibration:
    """The fewest flips whose lower bound is the target. `masks(rows, flips)` are the flip sets of rows. With `costs`
    of the header's bits the answer is a limit of the cost instead, and `flips` are all that there are."""
    most = flip_count(header, radius)
    if costs is None:
        most = min(MOST_FLIPS, most)
    value = _values(
        found, lambda rows, query, flipped: _steps(rows, query, flipped, masks, most, costs), mode
    )
    unit, value = _units(found.query, value, mode)
    if len(value) < FEWEST or len(np.unique(unit)) < FEWEST // 2:
        raise TooFewPairs(
            f"{len(value)} neighbours within radius {radius} in a sample of {len(found.rows)} codes are too few to "
            f"calibrate on (at least {FEWEST})"
        )
    share = len(found.rows) / found.total
    places = np.unique(value[value < _NEVER])
    least = _first_place(places, lambda limit: lower_bound(unit, value <= limit, share), target)
    if least is None:
        raise DataError(
            f"recall {target} needs more than {most} flips here: use an exact method, or a smaller header"
        )
    reached = value <= least
    curve = np.searchsorted(np.sort(value), np.arange(most + 1), side="right") / len(value)
    if costs is not None:
        curve = curve[:0]
    return Calibration(
        flips=int(least) if costs is None else most,
        recall=float(reached.mean()),
        low=lower_bound(unit, reached, share),
        counted=_distinct(found) if mode == "pairs" else len(value),
        queries=len(np.unique(unit)),
        mode=mode,
        header_bits=header,
        curve=curve,
        limit=inf if costs is None else float(least) * (1 + 1e-6),
    )


def flip_count(header: int, radius: int) -> int:
    """How many sets of 1 to `radius` bits a header has: with all of them nothing within the radius is missed."""
    return sum(comb(header, size) for size in range(1, min(radius, header) + 1))


def lower_bound(unit: NDArray[np.int64], found: NDArray[np.bool_], share: float) -> float:
    """The 95% lower bound of the share found, where cases of the same unit depend on each other and the units are a
    random `share` of all."""
    if share >= 1:
        return float(found.mean())
    _, place = np.unique(unit, return_inverse=True)
    many = len(np.bincount(place))
    hit = np.bincount(place, found).astype(np.float64)
    missed = np.bincount(place) - hit
    if not hit.any():
        return 0.0
    if not missed.any():  # the rule of three, for any number of units
        return float(0.05 ** (1 / many))
    # Half a case where one unit alone has all that were found, or all that were missed: the odds must be finite.
    odds = np.log(np.maximum(hit.sum() - hit, 0.5) / np.maximum(missed.sum() - missed, 0.5))
    moves = odds - odds.mean()
    squares = float((moves**2).sum())
    if squares == 0:
        return float(found.mean())
    spread = many * float((moves**4).sum()) / squares**2
    error = sqrt((many - 1) / many * squares * (1 - share))
    odds_low = log(hit.sum() / missed.sum()) - _student(2 * many / max(spread - 1, 1e-9)) * error
    return float(1 / (1 + exp(-odds_low)))


def _student(freedom: float) -> float:
    """The quantile of Student's distribution at our level, by its expansion around the normal one."""
    z, freedom = _LEVEL, max(freedom, 2.0)
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def _first_place(places: NDArray[np.float64], bound: Callable[[float], float], target: float) -> float | None:
    """The first place whose bound is the target or more; bounds almost never fall from one place to the next."""
    low, high = 0, len(places)
    while low < high:
        middle = (low + high) // 2
        if bound(float(places[middle])) >= target:
            high = middle
        else:
            low = middle + 1
    return float(places[low]) if low < len(places) else None


def _sampled(count: int, sample: int, seed: int) -> NDArray[np.int64]:
    """A random sample of rows without repetition, in random order; the same for the same seed."""
    return np.random.default_rng(seed).permutation(count)[:sample]


def _values(
    found: NearPairs,
    steps: Callable[[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]], NDArray[np.float64]],
    mode: Counted,
) -> NDArray[np.float64]:
    """When each pair is found: from the query's side or, in a join, from whichever side finds it first."""
    value = steps(found.rows, found.query, found.flipped)
    if mode == "pairs":
        others, place = np.unique(found.row, return_inverse=True)
        order = np.argsort(place, kind="stable")
        back = np.empty(len(place))
        back[order] = steps(others, place[order], found.flipped[order])
        value = np.minimum(value, back)
    return value


def _units(
    query: NDArray[np.int64], value: NDArray[np.float64], mode: Counted
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """What is counted: pairs, each with its query; or queries, each with the pair that it finds first."""
    if mode != "first" or not len(query):
        return query, value
    unit, start = np.unique(query, return_index=True)
    return unit, np.minimum.reduceat(value, start)


def _distinct(found: NearPairs) -> int:
    """Pairs of rows, each once: if both rows are in the sample, both of them find it."""
    one, two = found.rows[found.query], found.row
    return len(np.unique(np.minimum(one, two) * found.total + np.maximum(one, two)))


def _steps(
    rows: NDArray[np.int64],
    query: NDArray[np.int64],
    flipped: NDArray[np.uint64],
    masks: Callable[[NDArray[np.int64], int], NDArray[np.uint32]],
    most: int,
    costs: Callable[[NDArray[np.int64]], NDArray[np.float32]] | None,
) -> NDArray[np.float64]:
    """The flip at which each pair is found, or with `costs` what its set costs: 0 when the headers are equal, infinity
    when never. Queries ascend."""
    step = np.full(len(query), _NEVER)
    step[flipped == 0] = 0
    need = np.flatnonzero(flipped != 0)
    asking = np.unique(query[need])
    for start in range(0, len(asking), _AT_ONCE):
        some = asking[start : start + _AT_ONCE]
        first, last = np.searchsorted(query[need], some[0]), np.searchsorted(query[need], some[-1], "right")
        pairs = need[first:last]
        place = np.searchsorted(some, query[pairs])
        if costs is not None:
            price = np.abs(costs(rows[some]).astype(np.float64))
            bits = flipped[pairs, None] >> np.arange(price.shape[1], dtype=np.uint64) & np.uint64(1)
            step[pairs] = np.where(bits == 1, price[place], 0.0).sum(axis=1)
            continue
        sets = masks(rows[some], most)
        for part in range(0, len(pairs), _AT_ONCE):
            these = slice(part, part + _AT_ONCE)
            equal = sets[place[these]] == flipped[pairs[these], None]
            hit = equal.any(axis=1)
            step[pairs[these][hit]] = equal[hit].argmax(axis=1) + 1
    return step
