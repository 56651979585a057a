"""Documents that agree on at least m of k places: the rule of sketch thresholds, super-fingerprints and checksums.

Whoever agrees on m of k places differs on k - m at most, so of k - m + 1 parts at least one agrees wholly: parts are
joined by their keys, and what met is counted. Nothing is missed but in buckets beyond the cap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError, DataError
from neardup.fingerprints.fingerprints import Sketches
from neardup.fingerprints.keyed import Keys, mix
from neardup.search.candidates import CAP, Joined
from neardup.search.collapse import Groups
from neardup.search.interface import Candidates
from neardup.search.pair_runs import PairRuns, unpack_pairs
from neardup.values.threads import check_threads

__all__ = ["Agree", "folded"]

Places = NDArray[Any]


@dataclass(frozen=True)
class Agree:
    """Candidates whose keys or sketch values are equal at `least` places or more; None is most of them.

    90 of a MinHash of 100 values (Mitzenmacher), 160 of 200 (the slides), 2 of 6 super-fingerprints (Broder). Of a
    bucket of more than `cap` rows each row meets the first four by rank and its eight neighbours.
    """

    least: int | None = None
    cap: int = CAP

    def __post_init__(self) -> None:
        if self.least is not None and self.least < 1:
            raise ConfigError(f"agreeing places are 1 or more, not {self.least}")
        if self.cap < 1:
            raise ConfigError(f"a cap is 1 or more, not {self.cap}")

    def needed(self, places: int) -> int:
        """How many of so many places must agree."""
        if self.least is not None and self.least > places:
            raise ConfigError(f"{self.least} places cannot agree of {places}")
        return places // 2 + 1 if self.least is None else self.least

    def parts(self, places: int) -> list[slice]:
        """The parts of which one must agree wholly, as even as can be."""
        many = places - self.needed(places) + 1
        ends = [places * part // many for part in range(many + 1)]
        return [slice(a, b) for a, b in pairwise(ends)]

    def agreement(
        self, values: Places, left: NDArray[np.int64], right: NDArray[np.int64], threads: int = 1
    ) -> NDArray[np.int64]:
        """At how many places each pair agrees."""
        return _core.agreeing_places(values, left, right, threads)

    def candidates(
        self, prints: Keys | Sketches, *, rank: NDArray[np.int64] | None = None, threads: int = 1
    ) -> Candidates:
        """The pairs of rows that agree, with the places they differ at as their distance."""
        values = prints.keys if isinstance(prints, Keys) else prints.values
        joined = self.join(values, prints.empty, rank=rank, threads=threads)
        chunks = list(joined.chunks())
        left = np.concatenate([np.empty(0, np.int64), *(a for a, _ in chunks)])
        right = np.concatenate([np.empty(0, np.int64), *(b for _, b in chunks)])
        differ = values.shape[1] - self.agreement(np.ascontiguousarray(values), left, right, threads)
        return Candidates(left, right, np.minimum(differ, 255).astype(np.uint8))

    def join(
        self,
        values: Places,
        skip: NDArray[np.bool_],
        *,
        rank: NDArray[np.int64] | None = None,
        runs: PairRuns | None = None,
        threads: int = 1,
        told: Callable[[float], None] | None = None,
    ) -> Joined:
        """The same as a join for the pipeline: `values` are keys uint64[n, k] or sketches uint32[n, k]."""
        check_threads(threads)
        if values.ndim != 2 or len(values) != len(skip):
            raise DataError(f"places of {len(skip)} rows expected, not {values.shape}")
        none = Groups(np.zeros(len(skip), np.bool_), skip, np.empty(0, np.int64), np.zeros(1, np.int64))
        joined = Joined(none, runs if runs is not None else PairRuns(), 1)
        values = np.ascontiguousarray(values)
        chosen = np.flatnonzero(~skip)
        order = None if rank is None else np.argsort(np.argsort(rank[chosen])).astype(np.uint32)
        parts, needed = self.parts(values.shape[1]), self.needed(values.shape[1])
        for number, part in enumerate(parts):
            places = values[chosen, part]
            whole = (places != 0).all(axis=1) if values.dtype == np.uint64 else np.ones(len(chosen), np.bool_)
            rows, keys = chosen[whole], folded(places[whole])
            ranks = None if order is None else np.ascontiguousarray(order[whole])
            # In a bucket beyond the cap neighbours are told by the places of the next part.
            then = folded(values[rows, parts[(number + 1) % len(parts)]])
            found, capped, skipped = _core.key_pairs(keys, then, ranks, self.cap, threads)
            joined.capped += capped
            joined.skipped += skipped
            left, right = unpack_pairs(found)
            left, right = rows[left], rows[right]
            enough = self.agreement(values, left, right, threads) >= needed
            packed = left[enough].astype(np.uint64) << np.uint64(32) | right[enough].astype(np.uint64)
            joined.runs.add(packed)
            if told is not None:
                told((number + 1) / len(parts))
        return joined


def folded(places: Places) -> NDArray[np.uint64]:
    """One key for the places of each row, equal for equal ones."""
    keys = np.zeros(len(places), np.uint64)
    for column in range(places.shape[1]):
        keys = mix(keys ^ places[:, column].astype(np.uint64), column)
    return keys
