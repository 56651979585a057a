"""Near pairs of codes, and how many flips lead from one code of a pair to the other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.fingerprints import Codes
from papers import corpus
from papers.bits import bit_count

__all__ = [
    "NEVER",
    "NearPairs",
    "flips_needed",
    "header_steps",
    "near_pairs",
    "populations",
    "quantile_flips",
    "recall_at",
]

NEVER = 2**31
MOST = 400
"""Header flips looked at: enough for 99% of pairs at 26 bits."""
LARGE = 5 * 1024
"""Bytes of text; Sood and Loguinov left smaller pages out."""
PER_QUERY = 4
"""Pairs one query may add: licence texts come in families of hundreds, and no document may speak for many."""


@dataclass(frozen=True)
class NearPairs:
    """Pairs at distance 1 to a radius: `query[i]` is the row of the asking code, `margins[i]` are its votes, bit j of
    `differing[i]` says that bit j differs. Ascending by query. `capped` marks at most PER_QUERY pairs of a query."""

    name: str
    query: NDArray[np.int64]
    margins: NDArray[np.float32]
    differing: NDArray[np.uint64]
    capped: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.query)

    def where(self, name: str, kept: NDArray[np.bool_]) -> NearPairs:
        """Some of the pairs."""
        return NearPairs(name, self.query[kept], self.margins[kept], self.differing[kept], self.capped[kept])

    @property
    def distance(self) -> NDArray[np.uint8]:
        return bit_count(self.differing)


def near_pairs(name: str, stored: Codes, queries: Codes, radius: int, seed: int = 1) -> NearPairs:
    """All pairs of a query and a stored code at distance 1 to `radius`; equal stored codes count once, for they are
    found or missed together."""
    distinct = np.unique(stored.codes[~stored.empty, 0])
    asking = np.flatnonzero(~queries.empty)
    words = np.ascontiguousarray(queries.codes[asking])
    query, row, distance = _core.scan(np.ascontiguousarray(distinct[:, None]), words, 64, radius, False, 2)
    near = distance > 0
    query, row = query[near], row[near]
    # Which of a query's pairs are kept is drawn by a shuffle, the same every time.
    order = np.random.default_rng(seed).permutation(len(query))
    order = order[np.argsort(query[order], kind="stable")]
    place = np.arange(len(query)) - np.searchsorted(query[order], query[order])
    capped = np.empty(len(query), bool)
    capped[order] = place < PER_QUERY
    assert queries.margins is not None
    differing = words[query, 0] ^ distinct[row]
    return NearPairs(name, asking[query], queries.margins[asking[query]], differing, capped)


@lru_cache(maxsize=1)
def populations(radius: int, documents: int) -> tuple[NearPairs, ...]:
    """The kinds of near pairs that experiments use; the second is closest to the paper's, without small pages."""
    real = corpus.real()
    large = np.array([len(text.encode()) >= LARGE for text in real.texts])
    natural = near_pairs("versions and families of real documents", real.codes, real.codes, radius)
    _, edited = corpus.edited()
    made = corpus.generated(documents).codes
    return (
        natural,
        natural.where("the same, of 5 KB or more", large[natural.query]),
        near_pairs("edited copies of real documents", real.codes, edited, radius),
        near_pairs("generated documents", made, made, radius),
    )


def flips_needed(margins: NDArray[np.float32], differing: NDArray[np.uint64], size: int) -> NDArray[np.int64]:
    """For pairs at distance `size` the place, from 1, of the set of differing bits among all sets of exactly `size`
    bits by ascending sum of |margin|: what the volatility-ordered heap needs. Among equal sums, which short documents
    have, it is the middle place."""
    costs = np.sort(np.abs(margins), axis=1)
    bits = (differing[:, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)).astype(bool)
    sets = np.array(list(combinations(range(margins.shape[1]), size)))
    needed = np.empty(len(margins), np.int64)
    for start in range(0, len(margins), 256):
        part = slice(start, start + 256)
        sums = sum(costs[part][:, sets[:, i]].astype(np.float64) for i in range(size))
        own = np.where(bits[part], np.abs(margins[part]).astype(np.float64), 0.0).sum(axis=1)
        near = own[:, None] * 1e-9
        cheaper = (sums < own[:, None] - near).sum(axis=1)
        equal = (np.abs(sums - own[:, None]) <= near).sum(axis=1)
        needed[part] = cheaper + (equal + 1) // 2
    return needed


def header_steps(pairs: NearPairs, header: int, radius: int, most: int = MOST) -> NDArray[np.int64]:
    """The flip at which PSM with a header of so many bits finds each pair: 0 when the headers are equal, NEVER after
    `most`. Flips come from each query's own heap, as printed."""
    most = min(most, sum(comb(header, size) for size in range(1, radius + 1)))
    wanted = (pairs.differing >> np.uint64(64 - header)).astype(np.uint32)
    step = np.full(len(pairs), NEVER, np.int64)
    step[wanted == 0] = 0
    asking = np.flatnonzero(wanted)
    for start in range(0, len(asking), 4096):
        part = asking[start : start + 4096]
        masks = _core.heap_flips(np.ascontiguousarray(pairs.margins[part]), header, radius, most, 2)
        reached = masks == wanted[part, None]
        hit = reached.any(axis=1)
        step[part[hit]] = reached[hit].argmax(axis=1) + 1
    return step


def recall_at(step: NDArray[np.int64], query: NDArray[np.int64], flips: int, mode: str) -> float:
    """Relative recall R': of pairs found (`all`), or of queries with a pair found (`first`)."""
    if mode == "all":
        return float((step <= flips).mean())
    return float((_first(step, query) <= flips).mean())


def quantile_flips(step: NDArray[np.int64], query: NDArray[np.int64], recall: float, mode: str) -> int:
    """The fewest flips whose relative recall is at least `recall`."""
    ordered = np.sort(step if mode == "all" else _first(step, query))
    return int(ordered[int(np.ceil(recall * len(ordered))) - 1])


def _first(step: NDArray[np.int64], query: NDArray[np.int64]) -> NDArray[np.int64]:
    starts = np.flatnonzero(np.r_[True, query[1:] != query[:-1]])
    return np.minimum.reduceat(step, starts)
