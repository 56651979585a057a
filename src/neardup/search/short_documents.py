"""An exact join of small feature sets, for documents that are too short for a useful sketch.

Two sets of Jaccard similarity t or more share at least the part t of each. So, if both are sorted in one order, they
share a feature among the first size - ceil(t size) + 1 of each. Rare features come first in that order, so few sets
share one by chance. Pairs are missed only in buckets beyond the cap, which are counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError
from neardup.features.features import Features
from neardup.search.candidates import CAP, Columns
from neardup.search.pair_runs import PairRuns, unpack_pairs
from neardup.values.distinct import distinct
from neardup.values.order import stable_order
from neardup.values.threads import check_threads

__all__ = ["ShortJoin"]

# Features are counted by their leading bits. Any fixed order gives the right pairs; rare first is only faster.
_COUNTED_BITS = 22
_ENTRY_BYTES = 40  # of memory for each (feature, row) in the join


@dataclass
class ShortJoin:
    """Pairs of sets of Jaccard `least` or more of which one has at most `most` features.

    A bucket of more than `cap` sets is paired only in part, as in LSH, and counted in `capped` and `skipped`.
    """

    least: float
    most: int
    cap: int = CAP
    capped: int = 0
    skipped: int = 0

    BINS: ClassVar[int] = 1 << _COUNTED_BITS

    def __post_init__(self) -> None:
        if not 0 < self.least <= 1:
            raise ConfigError(f"a threshold is above 0 and at most 1, not {self.least}")

    @property
    def largest(self) -> int:
        """A set with more features than this is similar to no short one."""
        return math.floor(self.most / self.least + 1e-9)

    def pairs(
        self,
        rows: NDArray[np.int64],
        features: Callable[[], Iterator[Features]],
        rank: NDArray[np.int64] | None = None,
        *,
        runs: PairRuns | None = None,
        memory: int = 1 << 30,
        threads: int = 1,
    ) -> PairRuns:
        """The pairs among `rows`. Each call of `features` gives the features of these rows again, in order, in batches.

        Features are read once to count them, and again for each part of the keys that fits into `memory`. `rank`,
        by row, orders the rows of a large bucket.
        """
        check_threads(threads)
        found = runs if runs is not None else PairRuns()
        counts = np.zeros(self.BINS, np.uint32)
        entries = 0
        sizes = []
        for batch in features():
            self.count(batch, counts)
            sizes.append(batch.sizes)
            entries += int(self._prefix(batch.sizes).sum())
        size = np.concatenate([np.empty(0, np.int64), *sizes])
        parts = max(1, -(-entries * _ENTRY_BYTES // memory))
        for part in range(parts):
            keys, places = self._keys(features(), counts, part, parts)
            ranks = None if rank is None else _dense(rank[rows[places]])
            pairs, capped, skipped = _core.key_pairs(keys, None, ranks, self.cap, threads)
            self.capped += capped
            self.skipped += skipped
            left, right = (places[side] for side in unpack_pairs(pairs))
            small, large = np.minimum(size[left], size[right]), np.maximum(size[left], size[right])
            fit = (small <= self.most) & (small >= self.least * large * (1 - 1e-9))
            low, high = rows[left[fit]].astype(np.uint64), rows[right[fit]].astype(np.uint64)
            found.add(distinct(np.minimum(low, high) << np.uint64(32) | np.maximum(low, high)))
        return found

    def _prefix(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many of a set's first features are its keys."""
        needed = np.ceil(self.least * sizes - 1e-9).astype(np.int64)
        return np.where((sizes == 0) | (sizes > self.largest), 0, sizes - needed + 1)

    @staticmethod
    def count(sets: Features, counts: NDArray[np.uint32]) -> None:
        """Count the features of these sets in `counts`, which has BINS numbers."""
        np.add.at(counts, sets.hashes >> np.uint64(64 - _COUNTED_BITS), np.uint32(1))

    def keys(
        self, sets: Features, counts: NDArray[np.uint32]
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The first features of every set, of which similar sets share one, and the places of their sets."""
        row = np.repeat(np.arange(len(sets)), sets.sizes)
        often = counts[sets.hashes >> np.uint64(64 - _COUNTED_BITS)]
        # The hashes of a set ascend, and the order is stable.
        order = stable_order(row << int(often.max(initial=0)).bit_length() | often)
        place = np.arange(len(order)) - np.repeat(sets.offsets[:-1], sets.sizes)
        first = order[place < np.repeat(self._prefix(sets.sizes), sets.sizes)]
        return sets.hashes[first], row[first]

    def _keys(
        self, batches: Iterator[Features], counts: NDArray[np.uint32], part: int, parts: int
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The keys of all sets that belong to one part."""
        keys, places = [], []
        before = 0
        for batch in batches:
            found, row = self.keys(batch, counts)
            here = found % np.uint64(parts) == part if parts > 1 else slice(None)
            keys.append(found[here])
            places.append(before + row[here])
            before += len(batch)
        return (
            np.concatenate([np.empty(0, np.uint64), *keys]),
            np.concatenate([np.empty(0, np.int64), *places]),
        )


def _dense(rank: NDArray[np.int64]) -> NDArray[np.uint32]:
    return np.unique(rank, return_inverse=True)[1].astype(np.uint32)


def columns_of(runs: PairRuns, most: int) -> Iterator[Columns]:
    """The pairs of runs as columns of rows, about `most` at a time."""
    for packed in runs.chunks(most):
        yield unpack_pairs(packed)
