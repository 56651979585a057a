"""The general join on keys: rows that share a key in a table are candidates, for the keys of any method."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.search.candidates import CAP, Joined
from neardup.search.crowds import Crowds, Verified, poor_keys, salt_of
from neardup.search.pair_runs import unpack_pairs
from neardup.values.distinct import distinct
from neardup.values.order import stable_order
from neardup.values.parts import WHOLE, Part

__all__ = ["KeyColumn", "Probing", "join_keys", "with_probes"]

Rows = NDArray[np.int64]
Flags = NDArray[np.bool_]
KeyColumn = tuple[NDArray[np.uint64], Flags | None]
"""The keys of all rows in one table, and which rows have one; None if all do."""
Probing = tuple[Rows, NDArray[np.int32], NDArray[np.uint64]]
"""Probes as columns: places of rows, tables and keys."""
WAITING = 1 << 22  # rows of tables, each of up to 34 bytes, that wait for their samples
Check = Callable[[Rows, Rows], Flags | None]


def join_keys(
    columns: Iterator[KeyColumn],
    rows: Rows,
    joined: Joined,
    *,
    rank: Rows | None = None,
    cap: int = CAP,
    probing: Probing | None = None,
    check: Check | None = None,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
    part: Part = WHOLE,
    verified: Verified | None = None,
) -> None:
    """Add to `joined` the pairs of `rows` (ascending) that share a key: `columns` has the keys table by table.

    In a bucket of more than `cap` rows each row is paired with the first four by rank, and with its eight neighbours
    in the order of the next table's keys. With `probing`, rows also ask for other keys; a pair is then a candidate if
    one of the two is stored under the key. `check` gets places in `rows`, `progress` the number of tables done. Only
    the tables of the `part` are joined. With `verified`, large buckets of which almost no pair is similar enough list
    few pairs (`crowds`).
    """
    order = None if rank is None else _places_by_rank(rank[rows])
    first = following = next(columns, None)
    salt = 0 if first is None else salt_of(first[0])
    adding, waiting = _Adding(rows, joined, cap, check), list[tuple[_KeyTable, Crowds]]()
    number = 0
    while following is not None:
        (keys, present), last = following, first
        following = next(columns, None)
        if not part.takes(number):
            number += 1
            continue
        then = (last if following is None else following) or (keys, None)
        places, stored = None if present is None else np.flatnonzero(present), None
        if places is not None:
            keys = keys[places]
        if probing is not None:
            places, keys, stored = with_probes(probing, number, keys, places)
        near, ranks = then[0], order
        if places is not None:
            near, ranks = near[places], None if order is None else order[places]
        table = _KeyTable(_core.KeyBuckets(keys, threads), near, ranks, places, stored)
        crowds = None
        if verified is not None:
            here = rows if places is None else rows[places]
            crowds = Crowds.of(table.buckets, here, cap, salt)
        if crowds is None:
            adding.add(table)
        else:
            waiting.append((table, crowds))
            if len(waiting) * len(rows) > WAITING:
                adding.add_waiting(waiting, verified)
        del table
        number += 1
        if progress is not None:
            progress(number)
    adding.add_waiting(waiting, verified)


def _places_by_rank(rank: Rows) -> NDArray[np.uint32]:
    """How many rows have a better rank."""
    places = np.empty(len(rank), np.uint32)
    places[stable_order(rank)] = np.arange(len(rank), dtype=np.uint32)
    return places


@dataclass(frozen=True)
class _KeyTable:
    """One table. `near` and `ranks` order its rows; `places` are theirs among all rows, and `stored` says which of its
    entries are no probes."""

    buckets: _core.KeyBuckets
    near: NDArray[np.uint64]
    ranks: NDArray[np.uint32] | None
    places: Rows | None
    stored: Flags | None


@dataclass(frozen=True)
class _Adding:
    """Adds the pairs of tables to what was joined."""

    rows: Rows
    joined: Joined
    cap: int
    check: Check | None

    def add_waiting(self, waiting: list[tuple[_KeyTable, Crowds]], verified: Verified | None) -> None:
        """The same for tables with large buckets, whose samples are verified together: they share documents."""
        if not waiting:
            return
        assert verified is not None
        thin = poor_keys([crowds for _, crowds in waiting], verified)
        for (table, _), keys in zip(waiting, thin, strict=True):
            self.add(table, keys)
        waiting.clear()

    def add(self, table: _KeyTable, thin: NDArray[np.uint64] | None = None) -> None:
        found, capped, skipped = table.buckets.pairs(table.near, table.ranks, self.cap, thin)
        self.joined.capped += capped
        self.joined.skipped += skipped
        rows, places = self.rows, table.places
        # Rows ascend: if the last one is its own place, all are.
        if places is not None or self.check is not None or (len(rows) and int(rows[-1]) >= len(rows)):
            found = _of_rows(found, rows, places, table.stored, self.check)
        self.joined.runs.add(found)


def _of_rows(
    found: NDArray[np.uint64], rows: Rows, places: Rows | None, stored: Flags | None, check: Check | None
) -> NDArray[np.uint64]:
    """Packed pairs of places as packed pairs of rows, without those of two probes or that the check refuses."""
    left, right = unpack_pairs(found)
    if stored is not None:
        known = stored[left] | stored[right]
        left, right = left[known], right[known]
    if places is not None:
        left, right = places[left], places[right]
    if check is not None and (passed := check(left, right)) is not None:
        left, right = left[passed], right[passed]
    # Rows ascend, so pairs of places and pairs of rows have the same order. A probe can repeat a pair.
    pairs = rows[left].astype(np.uint64) << np.uint64(32) | rows[right].astype(np.uint64)
    return pairs if stored is None else distinct(pairs)


def with_probes(
    probing: Probing, table: int, keys: NDArray[np.uint64], places: Rows | None
) -> tuple[Rows, NDArray[np.uint64], Flags]:
    """The keys and probes of one table, each once, sorted by row: rows, keys, and which of them are stored keys."""
    row, number, key = probing
    mine = number == table
    if places is None:
        places = np.arange(len(keys))
    every = np.concatenate([places, row[mine]]), np.concatenate([keys, key[mine]])
    asks = np.repeat([False, True], [len(places), int(mine.sum())])
    order = np.lexsort((asks, every[1], every[0]))
    places, keys, asks = every[0][order], every[1][order], asks[order]
    fresh = np.ones(len(places), np.bool_)
    fresh[1:] = (places[1:] != places[:-1]) | (keys[1:] != keys[:-1])
    return places[fresh], keys[fresh], ~asks[fresh]
