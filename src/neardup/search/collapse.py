"""Equal codes are collapsed before a search, so that 100,000 codes of empty pages cost no more than one.

Every search and join sees each code once, at the first row that has it. It gives pairs of first rows and the groups of
equal codes; `expand` and `pairs` stream the pairs of all rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.codes import WIDTHS, check_codes, width_for
from neardup.values.threads import check_threads

__all__ = ["Batch", "Groups", "collapse"]

Batch = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]
"""Pairs as columns: left rows, right rows, distances."""


@dataclass(frozen=True)
class Groups:
    """Which rows of a set have equal codes.

    `repeats[i]`: an earlier row has the code of row i. `empty[i]`: row i has no code. Groups of two rows or
    more are listed in the order of their first rows: group g is `members[offsets[g]:offsets[g + 1]]`,
    ascending. All other rows with a code are in no group.
    """

    repeats: NDArray[np.bool_]
    empty: NDArray[np.bool_]
    members: NDArray[np.int64]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        """How many groups have two rows or more."""
        return len(self.offsets) - 1

    @property
    def rows(self) -> int:
        """How many rows the set has."""
        return len(self.repeats)

    @property
    def skip(self) -> NDArray[np.bool_]:
        """Rows that a search of first rows leaves out: repeats and empty ones."""
        return self.repeats | self.empty if self.empty.any() else self.repeats

    @property
    def first_rows(self) -> NDArray[np.int64]:
        """The first row of every code, ascending."""
        return np.flatnonzero(~self.skip)

    @cached_property
    def heads(self) -> NDArray[np.int64]:
        """The first row of each group of two or more, ascending."""
        return self.members[self.offsets[:-1]]

    def labels(self) -> NDArray[np.int64]:
        """For each row the first row with its code (itself for an empty row)."""
        labels = np.arange(self.rows, dtype=np.int64)
        labels[self.members] = np.repeat(self.heads, np.diff(self.offsets))
        return labels

    def _members_of(self, first: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where the groups of these first rows begin in `members` (-1 for a row in no group), and their sizes."""
        if len(self) == 0:
            return np.full(len(first), -1, dtype=np.int64), np.ones(len(first), dtype=np.int64)
        group = np.searchsorted(self.heads, first)
        inside = np.minimum(group, len(self) - 1)
        grouped = self.heads[inside] == first
        begin = np.where(grouped, self.offsets[inside], -1)
        return begin, np.where(grouped, np.diff(self.offsets)[inside], 1)

    def _pick(
        self, first: NDArray[np.int64], begin: NDArray[np.int64], place: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        if len(self.members) == 0:
            return first
        return np.where(begin < 0, first, self.members[np.maximum(begin, 0) + place])

    def expand(self, pairs: Batch, right: Groups | None = None, *, batch: int = 1 << 20) -> Iterator[Batch]:
        """Pairs of first rows as pairs of all their rows, at most `batch` at a time.

        `right` holds the groups of the right rows if they are of another set; in one set each pair is ordered so
        that left < right. Rows of one group are not paired with each other here: see `pairs`.
        """
        left_first, right_first, distance = pairs
        other = self if right is None else right
        left_begin, left_size = self._members_of(left_first)
        right_begin, right_size = other._members_of(right_first)
        for pair, place in _positions(left_size * right_size, batch):
            a, b = np.divmod(place, right_size[pair])
            left_rows = self._pick(left_first[pair], left_begin[pair], a)
            right_rows = other._pick(right_first[pair], right_begin[pair], b)
            if right is None:
                left_rows, right_rows = np.minimum(left_rows, right_rows), np.maximum(left_rows, right_rows)
            yield left_rows, right_rows, distance[pair]

    def pairs(self, *, batch: int = 1 << 20) -> Iterator[Batch]:
        """Every pair of rows with equal codes, at most `batch` at a time: m (m - 1) / 2 for a group of m."""
        later = np.repeat(self.offsets[1:], np.diff(self.offsets)) - np.arange(1, len(self.members) + 1)
        for member, place in _positions(later, batch):
            zeros = np.zeros(len(member), dtype=np.uint8)
            yield self.members[member], self.members[member + 1 + place], zeros

    def links(self) -> Batch:
        """One pair for each repeat, with the first row of its group: enough to connect the whole group."""
        rows = np.flatnonzero(self.repeats)
        return self.labels()[rows], rows, np.zeros(len(rows), dtype=np.uint8)


def _positions(
    counts: NDArray[np.int64], batch: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Counts to (item, place) columns, item i with places 0 to counts[i] - 1, in order, `batch` at a time."""
    if batch < 1:
        raise ConfigError(f"a batch needs at least one pair, not {batch}")
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    for start in range(0, total, batch):
        position = np.arange(start, min(start + batch, total), dtype=np.int64)
        item = np.searchsorted(ends, position, side="right")
        yield item, position - (ends[item] - counts[item])


def collapse(codes: Codes, *, threads: int = 1) -> Groups:
    """The groups of rows with equal codes; empty rows are in none. O(rows), with about 13 bytes of memory a row."""
    words = check_codes(codes, width_for(codes, None))
    skip = codes.empty if codes.empty.any() else None
    width = next(width for width in WIDTHS if codes.bits <= width)
    repeats, members, offsets = _core.collapse(words, skip, width, check_threads(threads))
    return Groups(repeats.view(np.bool_), codes.empty, members, offsets)
