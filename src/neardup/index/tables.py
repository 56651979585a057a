"""The native tables of an index: they find ids and near rows. They are built from the database and never saved."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.index.recipe import Recipe
from neardup.search.hamming.tables import Compact, design_arrays
from neardup.search.interface import Mode, Reach
from neardup.search.key_join import Probing

__all__ = ["Near", "Tables", "equal_pairs", "hash_ids", "with_probes"]

MOST_BEHIND = 3  # full tails that may wait for a merge
Rows = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Near(NamedTuple):
    """Stored rows near queries: query, row and distance, sorted by query and row."""

    query: Rows
    row: Rows
    distance: Rows


def hash_ids(ids: Sequence[str], seed: int) -> NDArray[np.uint64]:
    """64 bits of each id, under the index's own seed."""
    texts = _core.Texts()
    texts.add(tuple(id if id.isascii() else id.encode() for id in ids))  # the core hashes UTF-8 as it is
    return _core.hash_texts(texts, seed, _core.Hash.xxh3)


class Tables:
    """Rows are numbered as in the database; deleted rows and rows without a fingerprint have a number but no entry.
    Followers can be left out of a search. A separate thread merges segments, so that a search usually reads one
    segment and one tail, and writers do not wait for a merge."""

    def __init__(self, recipe: Recipe, threads: int = 1) -> None:
        self._recipe, self._threads = recipe, threads
        bits = 64 * recipe.words // recipe.tables
        reach = recipe.reach or Reach(bits, 0)
        design = reach.tables or Compact(reach.radius, bits=reach.bits).design
        self._near = [
            _core.LiveTables(reach.bits, reach.radius, *design_arrays(design), True)
            for _ in range(recipe.tables)
        ]
        self._ids = _core.LiveTables(64, 0, *design_arrays(Compact(0).design), True)
        self._merging: threading.Thread | None = None
        self.rows = 0

    def load(self, ids: NDArray[np.uint64], keys: NDArray[np.uint64], deleted: Flags, empty: Flags) -> None:
        """Load the first rows: hashed ids, keys, which rows are deleted, and which have no fingerprint."""
        self._ids.load(ids.reshape(-1, 1), _flags(deleted), self._threads)
        for table, column, absent in self._entries(keys, deleted | empty):
            table.load(column, absent, self._threads)
        self.rows = len(ids)

    def add(self, ids: NDArray[np.uint64], keys: NDArray[np.uint64], deleted: Flags, empty: Flags) -> None:
        """Add the next rows."""
        self._ids.add(ids.reshape(-1, 1), _flags(deleted), self._threads)
        for table, column, absent in self._entries(keys, deleted | empty):
            table.add(column, absent, self._threads)
        self.rows += len(ids)

    def remove(self, rows: Rows) -> None:
        for table in (self._ids, *self._near):
            table.remove(rows)

    def hide(self, rows: Rows, hidden: bool) -> None:
        """Mark rows as followers, or as keepers again."""
        for table in self._near:
            table.hide(rows, hidden)

    def find(self, ids: NDArray[np.uint64]) -> tuple[Rows, Rows]:
        """Rows with one of these hashed ids, as columns of positions in `ids` and rows. The ids are almost always
        equal."""
        query, row, _ = self._ids.search(ids.reshape(-1, 1), _core.Mode.all, self._threads)
        return query, row

    def search(
        self,
        keys: NDArray[np.uint64],
        empty: Flags,
        *,
        followers: bool,
        mode: Mode = "all",
        most: int | None = None,
        threads: int | None = None,
        probes: Probing | None = None,
    ) -> Near:
        """The rows near each query; `most` limits the rows with the same key in each segment. `probes` are more keys
        that the queries search for."""
        asked = np.flatnonzero(~empty) if empty.any() else None
        if asked is not None:
            keys = keys[asked]
        threads = self._threads if threads is None else threads
        parts = []
        for number, (table, column) in enumerate(zip(self._near, self._columns(keys), strict=True)):
            place = None
            if self._recipe.sparse:
                place, column = _asked(column, number, asked, probes)
            found = table.search(column, _core.Mode[mode], threads, followers, most)
            parts.append(found if place is None else (place[found[0]], *found[1:]))
        query, row, distance = parts[0]
        if len(parts) > 1 or probes is not None:
            # A row that is found in several tables is one hit.
            width = max(self.rows, 1)
            pairs = np.unique(np.concatenate([query * width + row for query, row, _ in parts]))
            query, row = np.divmod(pairs, width)
            if mode == "first":
                fresh = np.ones(len(query), bool)
                fresh[1:] = query[1:] != query[:-1]
                query, row = query[fresh], row[fresh]
            distance = np.zeros(len(query), np.uint8)
        return Near(query if asked is None else asked[query], row, distance.astype(np.int64))

    def tidy(self) -> None:
        """Start a merge if a tail is full; wait only if merges fall far behind."""
        most = max(table.due() for table in (self._ids, *self._near))
        if not most:
            return
        if self._merging is not None and (most > MOST_BEHIND or not self._merging.is_alive()):
            self.finish_merge()
        if self._merging is None:
            self._merging = threading.Thread(target=self._merge, name="merge")
            self._merging.start()

    def finish_merge(self) -> None:
        """Wait for a running merge."""
        if self._merging is not None:
            self._merging.join()
            self._merging = None

    def _merge(self) -> None:
        with contextlib.suppress(MemoryError):  # rows are still found, only more slowly
            for table in (*self._near, self._ids):
                while table.merge(1):
                    pass

    def compact(self) -> None:
        """Merge everything into one segment each, without deleted rows."""
        for table in (self._ids, *self._near):
            table.compact(self._threads)

    def size(self) -> tuple[int, tuple[int, ...]]:
        """Bytes in memory, and the rows of each segment of keys."""
        states = [table.state() for table in (self._ids, *self._near)]
        return sum(state[4] + state[5] for state in states), tuple(states[1][3])

    def _entries(
        self, keys: NDArray[np.uint64], absent: Flags
    ) -> Iterator[tuple[_core.LiveTables, NDArray[np.uint64], Flags | None]]:
        """Each table, its keys, and which rows have none."""
        flags = _flags(absent)
        for table, column in zip(self._near, self._columns(keys), strict=True):
            yield table, column, _flags(absent | (column[:, 0] == 0)) if self._recipe.sparse else flags

    def _columns(self, keys: NDArray[np.uint64]) -> list[NDArray[np.uint64]]:
        if len(self._near) == 1:
            return [np.ascontiguousarray(keys)]
        return [np.ascontiguousarray(keys[:, band : band + 1]) for band in range(len(self._near))]


def _asked(
    column: NDArray[np.uint64], table: int, rows: Rows | None, probes: Probing | None
) -> tuple[Rows, NDArray[np.uint64]]:
    """The keys that queries search for in one table, and the query of each; a key of 0 means no key. Probes number
    the queries as before the empty ones were left out; `rows` are those that remain."""
    place = np.flatnonzero(column[:, 0])
    keys = column[place]
    if probes is not None:
        query, number, key = probes
        if rows is not None:
            inside = np.isin(query, rows)
            query, number, key = np.searchsorted(rows, query[inside]), number[inside], key[inside]
        mine = number == table
        place, keys = np.concatenate([place, query[mine]]), np.concatenate([keys, key[mine, None]])
    return place, np.ascontiguousarray(keys)


def _flags(absent: Flags) -> Flags | None:
    return np.ascontiguousarray(absent) if absent.any() else None


def equal_pairs(keys: NDArray[np.uint64], sparse: bool = False) -> tuple[Rows, Rows]:
    """All pairs of lines with an equal value in some column, left < right, each once. If `sparse`, 0 means no key."""
    found = [np.empty(0, np.int64)]
    count = len(keys)
    for column in keys.T:
        order = np.argsort(column, kind="stable")
        ordered = column[order]
        step = 1
        # Equal lines are adjacent after sorting: compare neighbours at growing distances until none are equal.
        while step < count and (same := ordered[step:] == ordered[:-step]).any():
            if sparse:
                same &= ordered[step:] != 0
            found.append(order[:-step][same] * count + order[step:][same])
            step += 1
    pairs = np.unique(np.concatenate(found))
    return pairs // max(count, 1), pairs % max(count, 1)


def with_probes(keys: NDArray[np.uint64], probes: Probing, left: Rows, right: Rows) -> tuple[Rows, Rows]:
    """The given pairs, and pairs of lines where a probe of one is a key of the other."""
    count = max(len(keys), 1)
    found = [left * count + right]
    query, table, key = probes
    for number, column in enumerate(keys.T):
        mine = table == number
        order = np.argsort(column, kind="stable")
        first, last = (np.searchsorted(column[order], key[mine], side) for side in ("left", "right"))
        many = last - first
        asking = np.repeat(query[mine], many)
        place = np.arange(len(asking)) - np.repeat(np.cumsum(many) - many, many) + np.repeat(first, many)
        other = order[place]
        apart = asking != other
        found.append(np.minimum(asking, other)[apart] * count + np.maximum(asking, other)[apart])
    pairs = np.unique(np.concatenate(found))
    return pairs // count, pairs % count
