"""The pairs within a batch that decide which of its documents are keepers.

A document follows a keeper, never a follower, so a pair matters only if one of its documents is a keeper. Of a thousand
similar pages, the first is a keeper: then a thousand pairs with it are verified, not the half million of all of them.

The documents that have no earlier candidate among the undecided ones are keepers. Their pairs are verified, and
whatever matches one of them is a follower. This is repeated with the rest, and after ROUNDS of that all pairs that are
left are verified.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["CandidatePairs", "ListedPairs", "PairSource", "SharedKeys", "decide"]

ROUNDS = 32
Rows = NDArray[np.int64]
Flags = NDArray[np.bool_]


class CandidatePairs(NamedTuple):
    """Documents of a batch that may match, and their distance in bits: left < right, each pair once."""

    left: Rows
    right: Rows
    distance: Rows

    def where(self, wanted: Flags) -> CandidatePairs:
        return CandidatePairs(self.left[wanted], self.right[wanted], self.distance[wanted])


class _Matched(Protocol):
    @property
    def left(self) -> Rows: ...
    @property
    def right(self) -> Rows: ...


Found = TypeVar("Found", bound=_Matched)


class PairSource(Protocol):
    """Candidates within a batch. `involved` are the documents that have any, `leading` those of some documents that
    have no earlier candidate among them, and `pairs` the candidate pairs with at least one of some documents."""

    @property
    def involved(self) -> Rows: ...
    def leading(self, undecided: Flags) -> Flags: ...
    def pairs(self, of: Flags) -> CandidatePairs: ...


class ListedPairs:
    """Candidates given as a list of pairs."""

    def __init__(self, found: CandidatePairs) -> None:
        self._found = found

    @property
    def involved(self) -> Rows:
        return np.unique(np.concatenate(self._found[:2]))

    def leading(self, undecided: Flags) -> Flags:
        left, right, _ = self._found
        free = undecided.copy()
        free[right[undecided[left]]] = False
        return free

    def pairs(self, of: Flags) -> CandidatePairs:
        return self._found.where(of[self._found.left] | of[self._found.right])


class SharedKeys:
    """Candidates are documents with an equal key in some column; in sparse keys, 0 means none. The pairs are never
    listed all at once."""

    def __init__(self, keys: NDArray[np.uint64], sparse: bool = False) -> None:
        self._count = len(keys)
        self._columns = [_Column(column, sparse) for column in keys.T]

    @property
    def involved(self) -> Rows:
        inside = np.zeros(self._count, bool)
        for column in self._columns:
            inside[column.order] = True
        return np.flatnonzero(inside)

    def leading(self, undecided: Flags) -> Flags:
        free = undecided.copy()
        for column in self._columns:
            # The order is by key, then by document: of each key, the first one that is undecided is free.
            rows, group = column.order, column.group
            left = undecided[rows]
            rows, group = rows[left], group[left]
            free[rows[1:][group[1:] == group[:-1]]] = False
        return free

    def pairs(self, of: Flags) -> CandidatePairs:
        found = [np.empty(0, np.int64)]
        for column in self._columns:
            asked = column.order[at := np.flatnonzero(of[column.order])]
            first, last = column.bounds[column.group[at]], column.bounds[column.group[at] + 1]
            many = last - first
            one = np.repeat(asked, many)
            place = np.arange(len(one)) - np.repeat(np.cumsum(many) - many - first, many)
            two = column.order[place]
            apart = one != two
            one, two = one[apart], two[apart]
            found.append(np.minimum(one, two) * self._count + np.maximum(one, two))
        pairs = np.unique(np.concatenate(found))
        return CandidatePairs(
            pairs // max(self._count, 1), pairs % max(self._count, 1), np.zeros(len(pairs), np.int64)
        )


class _Column:
    """The documents that share a key with others, by key and then by document; the number of the key of each, and
    where each key begins."""

    def __init__(self, keys: NDArray[np.uint64], sparse: bool) -> None:
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        same = ordered[1:] == ordered[:-1]
        if sparse:
            same &= ordered[1:] != 0
        shared = np.zeros(len(keys), bool)
        shared[1:] |= same
        shared[:-1] |= same
        self.order, ordered = order[shared], ordered[shared]
        fresh = np.ones(len(ordered), bool)
        fresh[1:] = ordered[1:] != ordered[:-1]
        self.group = np.cumsum(fresh) - 1
        self.bounds = np.append(np.flatnonzero(fresh), len(ordered))


def decide(
    source: PairSource,
    verified: Callable[[CandidatePairs], Found],
    undecided: Flags,
    fixed: int,
    repeated: Flags,
) -> list[Found]:
    """The matches among verified pairs, which include all matches that decide about keepers; each pair is verified at
    most once.

    verified    gives the matches among candidate pairs
    undecided   the documents that may become keepers
    fixed       so many documents at the beginning are keepers already
    repeated    the documents that occur again later in the batch, and decide for their repetitions
    """
    undecided, keepers = undecided.copy(), np.zeros(len(undecided), bool)
    undecided[:fixed] = False
    fresh = np.arange(len(undecided)) < fixed
    parts: list[Found] = []
    for _ in range(ROUNDS):
        if fresh.any():
            pairs = source.pairs(fresh)
            left, right = pairs.left, pairs.right
            asked = fresh[left] & ((right >= fixed) | repeated[right])
            # A follower may have an equal later on, for which this keeper is the best one.
            asked |= fresh[right] & repeated[left] & ~keepers[left]
            found = verified(pairs.where(asked))
            parts.append(found)
            undecided[found.right[fresh[found.left]]] = False
        keepers |= fresh
        fresh = source.leading(undecided)
        undecided &= ~fresh
        if not fresh.any():
            return parts
    rest = undecided | fresh
    pairs = source.pairs(rest)
    asked = rest[pairs.left] | (rest[pairs.right] & repeated[pairs.left] & ~keepers[pairs.left])
    return [*parts, verified(pairs.where(asked))]
