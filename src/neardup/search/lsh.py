"""Locality-sensitive hashing of sketches: documents whose sketches agree on a whole band are candidates.

A sketch of MinHash values is cut into `bands` bands of `rows` values. Documents of Jaccard similarity s agree on
one band with probability s**rows, on at least one with 1 - (1 - s**rows)**bands: an S-curve, steep near the
threshold the bands are made for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neardup import _core
from neardup.errors import ConfigError, DataError
from neardup.fingerprints.base import Sketches
from neardup.search.base import Keyed
from neardup.search.collapse import Groups
from neardup.threads import check_threads

__all__ = ["LSH", "BandCandidates"]

Columns = tuple[NDArray[np.int64], NDArray[np.int64]]

# One-permutation sketches of short documents borrow values and so stray further than the S-curve says: the bands
# are chosen to miss this part only of what the recall allows.
MARGIN = 0.25


@dataclass(frozen=True)
class BandCandidates:
    """Pairs of rows that agree on a band, not yet verified: `left < right`, sorted, each pair once, int64.

    `groups` are the rows with equal sketches. A group met others through its first row alone: pairs with few rows
    behind them are spelled out in the columns, of the rest the columns hold the pair of first rows and one pair
    for each further row of a group with its first; `implied` counts the pairs left unspelled, and `every` streams
    them too. `capped` buckets were too large to pair all their rows, and `skipped` of their pairs were not looked at
    there (counted in each band again, so an upper bound).
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    groups: Groups
    implied: int = 0
    capped: int = 0
    skipped: int = 0

    def __len__(self) -> int:
        return len(self.left)

    def every(self, *, batch: int = 1 << 20) -> Iterator[Columns]:
        """All pairs of rows, those of collapsed groups too, at most `batch` at a time and each once."""
        labels = self.groups.labels()
        first = (labels[self.left] == self.left) & (labels[self.right] == self.right)
        left, right = self.left[first], self.right[first]
        zeros = np.zeros(len(left), dtype=np.uint8)
        for a, b, _ in self.groups.expand((left, right, zeros), batch=batch):
            yield a, b
        for a, b, _ in self.groups.pairs(batch=batch):
            yield np.minimum(a, b), np.maximum(a, b)  # a ranked group may stand in any order

    def behind(self, keeper: NDArray[np.int64]) -> Columns:
        """Pairs worth a second look where some were left implied: each row of a group with the keeper that took the
        group's first row, given each row's keeper. Verified and added to the pairs, they let it take the others too.
        """
        rows = np.flatnonzero(self.groups.repeats)
        taker = keeper[self.groups.labels()[rows]]
        apart = (taker != self.groups.labels()[rows]) & (taker != rows)
        return _sorted(taker[apart], rows[apart])


@dataclass(frozen=True)
class LSH:
    """Candidates by bands of MinHash values: `bands` x `rows` of them, the first of each sketch.

    A bucket (rows with one band key) of more than `cap` rows is not paired whole: each row meets the bucket's first
    four rows and its eight neighbours in an order by the following values. Of equal sketches at most `spread` pairs
    are spelled out for each group or pair of groups.
    """

    bands: int
    rows: int
    cap: int = 1000
    spread: int = 1000

    def __post_init__(self) -> None:
        for name in ("bands", "rows", "spread", "cap"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ConfigError(f"LSH: {name} must be a whole number from 1 up, not {value!r}")
        if self.values > 65536:
            raise ConfigError(
                f"{self.bands} bands of {self.rows} rows need {self.values} values: 65536 at most"
            )

    @classmethod
    def for_threshold(cls, threshold: float = 0.8, recall: float = 0.99, values: int = 128) -> LSH:
        """The most selective bands that find a pair at the threshold with at least this recall.

        They use at most `values` MinHash values, possibly fewer: see `values`. Rows are as many as possible, for each
        one cuts the candidates; then bands are as few as the recall lets them be, with a margin for short documents.
        """
        if not 0 < threshold <= 1:
            raise ConfigError(f"a threshold is above 0 and at most 1, not {threshold}")
        if not 0 < recall < 1:
            raise ConfigError(f"a recall is between 0 and 1, not {recall}")
        miss = math.log(MARGIN * (1 - recall))
        best: LSH | None = None
        rows = 1
        while True:
            agree = threshold**rows
            bands = max(1, math.ceil(miss / math.log1p(-agree))) if agree < 1 else 1
            if bands * rows > values:
                break
            best = cls(bands, rows)
            rows += 1
        if best is None:
            raise ConfigError(
                f"threshold {threshold} at recall {recall} needs {bands} MinHash values, not {values}"
            )
        return best

    @property
    def values(self) -> int:
        """How many MinHash values a sketch must have."""
        return self.bands * self.rows

    def curve(self, similarity: ArrayLike) -> NDArray[np.float64]:
        """P(candidate) for documents of the given Jaccard similarity: 1 - (1 - s**rows)**bands."""
        share = np.asarray(similarity, dtype=np.float64)
        if not np.all((share >= 0) & (share <= 1)):
            raise DataError("a similarity is a number from 0 to 1")
        with np.errstate(divide="ignore"):
            return np.asarray(-np.expm1(self.bands * np.log1p(-(share**self.rows))))

    def keys(self, sketches: Sketches, *, threads: int = 1) -> Keyed:
        """The (band, key) columns of all rows with a sketch, row by row. Rows that share one are candidates, the
        same in a join anywhere."""
        keys = _core.band_keys(self._values_of(sketches), self.bands, self.rows, check_threads(threads))
        rows = np.flatnonzero(~sketches.empty)
        table = np.tile(np.arange(self.bands, dtype=np.int32), len(rows))
        return Keyed(np.repeat(rows, self.bands), table, keys[rows].reshape(-1))

    def probes(self, sketches: Sketches, *, threads: int = 1) -> Keyed:
        """What queries ask for: the same as `keys`."""
        return self.keys(sketches, threads=threads)

    def candidates(
        self, sketches: Sketches, *, rank: NDArray[np.int64] | None = None, threads: int = 1
    ) -> BandCandidates:
        """The pairs of rows that agree on a band; the same for any number of threads.

        `rank` (smaller is better; by default the row) says which rows stand for groups and large buckets. They
        then come first among their like, as they do when clusters choose their keepers.
        Memory beside the pairs: about 40 bytes a row, and a copy of the sketches when there is a rank.
        """
        check_threads(threads)
        values, empty = self._values_of(sketches), sketches.empty
        if rank is None:
            return self._candidates(values, empty, threads)
        if rank.shape != (len(sketches),):
            raise DataError(f"rank must have one number for each of {len(sketches)} rows, not {rank.shape}")
        order = np.argsort(rank, kind="stable")
        found = self._candidates(np.ascontiguousarray(values[order]), empty[order], threads)
        left, right = _sorted(order[found.left], order[found.right])
        # Members of a group stand best first, which `Groups` keeps for `expand` and `labels` alike.
        groups = _reordered(found.groups, order, empty)
        return BandCandidates(left, right, groups, found.implied, found.capped, found.skipped)

    def _values_of(self, sketches: Sketches) -> NDArray[np.uint32]:
        have = sketches.values.shape[1]
        if have < self.values:
            raise ConfigError(
                f"{self.bands} bands of {self.rows} rows need MinHash(values={self.values}), not {have} values"
            )
        return np.ascontiguousarray(sketches.values)

    def _candidates(
        self, values: NDArray[np.uint32], empty: NDArray[np.bool_], threads: int
    ) -> BandCandidates:
        digests = _core.sketch_digests(values, self.bands, self.rows, threads)
        repeats, members, offsets = _core.collapse(digests, empty if empty.any() else None, 128, threads)
        groups = Groups(repeats.view(np.bool_), empty, members, offsets)
        left, right, capped, skipped = _core.band_pairs(
            values, groups.skip, self.bands, self.rows, self.cap, threads
        )
        if len(groups) == 0:
            return BandCandidates(left, right, groups, 0, capped, skipped)
        left, right, implied = self._spelled(left, right, groups)
        return BandCandidates(left, right, groups, implied, capped, skipped)

    def _spelled(
        self, left: NDArray[np.int64], right: NDArray[np.int64], groups: Groups
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """Pairs of first rows, with what stands behind them spelled out where it is little."""
        size = np.ones(groups.rows, dtype=np.int64)
        sizes = np.diff(groups.offsets)
        size[groups.heads] = sizes
        behind = size[left] * size[right]
        small = (behind > 1) & (behind <= self.spread)
        parts = [(left[~small], right[~small])]
        zeros = np.zeros(int(small.sum()), dtype=np.uint8)
        parts += [(a, b) for a, b, _ in groups.expand((left[small], right[small], zeros))]
        inner = sizes * (sizes - 1) // 2
        few = np.repeat(inner <= self.spread, sizes)
        small_groups = Groups(
            groups.repeats,
            groups.empty,
            groups.members[few],
            np.concatenate([[0], np.cumsum(sizes[inner <= self.spread])]),
        )
        parts += [(a, b) for a, b, _ in small_groups.pairs()]
        large = groups.members[~few]
        heads = np.repeat(groups.heads, sizes)[~few]
        parts.append((heads[large != heads], large[large != heads]))
        spelled = _sorted(np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts]))
        return *spelled, int(behind.sum() + inner.sum()) - len(spelled[0])


def _sorted(left: NDArray[np.int64], right: NDArray[np.int64]) -> Columns:
    # Rows are below 2**32, so that one number holds a pair: sorted many times faster than two columns.
    pairs = np.minimum(left, right).astype(np.uint64) << np.uint64(32)
    pairs |= np.maximum(left, right).astype(np.uint64)
    pairs.sort()
    return (pairs >> np.uint64(32)).astype(np.int64), (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)


def _reordered(groups: Groups, order: NDArray[np.int64], empty: NDArray[np.bool_]) -> Groups:
    """Groups of rows numbered by rank, with the rows' own numbers; still in the order of their first rows."""
    repeats = np.zeros_like(groups.repeats)
    repeats[order] = groups.repeats
    members = order[groups.members]
    heads, sizes = members[groups.offsets[:-1]], np.diff(groups.offsets)
    by_head = np.argsort(heads)
    offsets = np.concatenate([[0], np.cumsum(sizes[by_head])])
    group = np.repeat(np.argsort(by_head), sizes)
    return Groups(repeats, empty, members[np.argsort(group, kind="stable")], offsets)
