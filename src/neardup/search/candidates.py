"""Candidates of a join in which only the first of rows with equal fingerprints is joined with others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.search.collapse import Groups
from neardup.search.pair_runs import PairRuns, pack_pairs, unpack_pairs
from neardup.search.report import SearchReport

__all__ = ["CAP", "SPREAD", "Columns", "Joined", "best_first", "implied_pairs", "no_groups"]

CAP = (
    1000  # the most rows of a bucket of which all pairs are made; a larger one is counted and paired in part
)
SPREAD = 32  # the most pairs listed for each group, or pair of groups, of equal fingerprints; the others are implied

Columns = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass
class Joined:
    """Pairs of first rows in `runs`, and the `groups` of rows with equal fingerprints.

    For a group or a pair of groups at most `spread` pairs are listed. `implied` counts those that are not; it is known
    after all chunks have been read. `capped` buckets were too large to pair all their rows, and `skipped` of their
    pairs were not made. `report` is what a search of codes says about itself.
    """

    groups: Groups
    runs: PairRuns
    spread: int
    implied: int = 0
    capped: int = 0
    skipped: int = 0
    report: SearchReport | None = None

    def chunks(self, most: int = 1 << 22, *, inner: bool = True) -> Iterator[Columns]:
        """All candidates as columns of rows, `left < right`, a part at a time, each sorted. A pair of rows
        in groups may occur in two chunks. Without `inner`, pairs inside groups are left out."""
        self.implied = 0
        for packed in self.runs.chunks(most):
            left, right = unpack_pairs(packed)
            yield (left, right) if len(self.groups) == 0 else self._spelled(left, right)
        if inner and len(self.groups):
            yield from self._inner(most)

    def _spelled(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> Columns:
        """Pairs of first rows; for small groups also the pairs of all their other rows."""
        groups = self.groups
        size = np.ones(groups.rows, dtype=np.int64)
        size[groups.heads] = np.diff(groups.offsets)
        between = size[left] * size[right]
        small = (between > 1) & (between <= self.spread)
        self.implied += int((between - 1)[~small].sum())
        parts = [(left[~small], right[~small])]
        zeros = np.zeros(int(small.sum()), dtype=np.uint8)
        parts += [(a, b) for a, b, _ in groups.expand((left[small], right[small], zeros))]
        return _sorted(np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts]))

    def _inner(self, most: int) -> Iterator[Columns]:
        """Pairs inside groups: all pairs of a small group; in a large one each row with the first."""
        groups = self.groups
        sizes = np.diff(groups.offsets)
        inner = sizes * (sizes - 1) // 2
        few = np.repeat(inner <= self.spread, sizes)
        offsets = np.concatenate([[0], np.cumsum(sizes[inner <= self.spread])])
        small = Groups(groups.repeats, groups.empty, groups.members[few], offsets)
        for a, b, _ in small.pairs(batch=most):
            yield _sorted(a, b)
        large, heads = groups.members[~few], np.repeat(groups.heads, sizes)[~few]
        self.implied += int((inner - sizes + 1)[inner > self.spread].sum())
        if len(large):
            yield _sorted(heads[large != heads], large[large != heads])


def no_groups(empty: NDArray[np.bool_]) -> Groups:
    """No groups: all fingerprints are different."""
    return Groups(np.zeros(len(empty), np.bool_), empty, np.empty(0, np.int64), np.zeros(1, np.int64))


def implied_pairs(groups: Groups, keeper: NDArray[np.int64]) -> Columns:
    """More candidates where pairs were left implied: each row of a group with the keeper of the group's first row,
    given each row's keeper. When they are verified and added to the pairs, the keeper can take these rows too."""
    rows = np.flatnonzero(groups.repeats)
    first = groups.labels()[rows]
    taker = keeper[first]
    apart = (taker != first) & (taker != rows)
    return _sorted(taker[apart], rows[apart])


def best_first(groups: Groups, rank: NDArray[np.int64]) -> Groups:
    """The same groups, each with its best-ranked row first, sorted by these rows."""
    sizes = np.diff(groups.offsets)
    group = np.repeat(np.arange(len(sizes)), sizes)
    members = groups.members[np.lexsort((rank[groups.members], group))]
    heads = members[groups.offsets[:-1]]
    by_head = np.argsort(heads)
    place = np.empty(len(sizes), np.int64)
    place[by_head] = np.arange(len(sizes))
    members = members[np.argsort(place[group], kind="stable")]
    repeats = groups.repeats.copy()
    repeats[members] = True
    repeats[heads] = False
    return Groups(repeats, groups.empty, members, np.concatenate([[0], np.cumsum(sizes[by_head])]))


def _sorted(left: NDArray[np.int64], right: NDArray[np.int64]) -> Columns:
    return unpack_pairs(pack_pairs(left, right))
