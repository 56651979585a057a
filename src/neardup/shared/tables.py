"""Entries in buckets on the server: put there, taken out, and fetched by the thousand to be checked here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import FormatError
from neardup.index.tables import Near
from neardup.search.base import Mode
from neardup.shared.connection import Command, Connection
from neardup.shared.layout import Layout
from neardup.shared.scripts import APPEND, DROP

__all__ = ["FOLLOWERS", "KEEPERS", "SharedTables"]

KEEPERS, FOLLOWERS = b"k", b"f"
MOST_FOLLOWERS = (
    1 << 20
)  # bytes of a bucket of followers: a page copied a million times is not listed in full
PAIRS_AT_ONCE = 1 << 22
Rows = NDArray[np.int64]
Keys = NDArray[np.uint64]
Flags = NDArray[np.bool_]


class SharedTables:
    """The tables of one index."""

    def __init__(self, connection: Connection, layout: Layout) -> None:
        self._connection, self.layout = connection, layout

    def added(self, kind: bytes, keys: Keys, empty: Flags, rows: Rows) -> list[Command]:
        """Commands that put rows into their buckets; the replies are how many places there were not. Empty rows have
        none."""
        names, values = self._grouped(kind, keys, empty, rows, whole=True)
        most = MOST_FOLLOWERS if kind == FOLLOWERS else 0
        return self._connection.total(APPEND, names, values, most)

    def dropped(self, kind: bytes, keys: Keys, empty: Flags, rows: Rows) -> list[Command]:
        """Commands that take rows out of their buckets."""
        names, values = self._grouped(kind, keys, empty, rows, whole=False)
        return self._connection.total(DROP, names, values, self.layout.width)

    def _grouped(
        self, kind: bytes, keys: Keys, empty: Flags, rows: Rows, whole: bool
    ) -> tuple[list[bytes], list[tuple[bytes]]]:
        """The buckets of rows, and the entries, or the rows alone, that belong in each."""
        there = np.flatnonzero(~empty)
        keys, rows = keys[there], rows[there]
        homes = self.layout.homes(keys)
        names: list[bytes] = []
        values: list[tuple[bytes]] = []
        width = self.layout.width if whole else 8
        for table in range(len(self.layout.tables) if len(rows) else 0):
            order = np.argsort(homes[:, table], kind="stable")
            entries = self.layout.entries(keys, rows, table) if whole else rows.astype(np.uint64)
            data = entries[order].astype("<u8").tobytes()
            ordered = homes[order, table]
            starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
            names += self.layout.buckets(kind, table, ordered[starts].tolist())
            bounds = [*(starts * width).tolist(), len(data)]
            values += [(data[first:last],) for first, last in pairwise(bounds)]
        return names, values

    def search(
        self, keys: Keys, empty: Flags, *, followers: bool, mode: Mode = "all", most: int | None = None
    ) -> Near:
        """The rows near each query, whatever state they are in; of rows with one and the same key at most so many."""
        return self.find(keys, empty, (KEEPERS, FOLLOWERS) if followers else (KEEPERS,), most)

    def find(self, keys: Keys, empty: Flags, kinds: Sequence[bytes], most: int | None = None) -> Near:
        """The same in tables of some kinds; all probes of a batch go in one pipeline to each server."""
        there = np.flatnonzero(~empty)
        asked = np.ascontiguousarray(keys[there])
        names: list[bytes] = []
        pairs: list[tuple[Rows, Rows]] = []  # lines of keys, and buckets
        tables = len(self.layout.tables)
        banded = self.layout.tables[0][0] is not None
        for table, probes in self.layout.probes(asked):
            buckets, place = np.unique(probes, return_inverse=True)
            query = np.repeat(np.arange(len(asked)), probes.shape[1])
            line = query * tables + table if banded else query
            for kind in kinds:
                pairs.append((line, place.reshape(-1) + len(names)))
                names += self.layout.buckets(kind, table, buckets.tolist())
        entries, counts = self._fetched(names)
        lines = asked.reshape(-1, 1) if banded else asked
        found = list(self._within(lines, pairs, entries, counts))
        line = np.concatenate([np.empty(0, np.int64), *(part[0] for part in found)])
        entry = np.concatenate([np.empty(0, np.int64), *(part[1] for part in found)])
        far = np.concatenate([np.empty(0, np.int64), *(part[2] for part in found)])
        if most is not None and len(line):
            kept = _at_most(line, entries, entry, most)
            line, entry, far = line[kept], entry[kept], far[kept]
        query, row = there[line // tables if banded else line], entries[entry, -1].astype(np.int64)
        order = np.lexsort((row, query))
        query, row, far = query[order], row[order], far[order]
        # A row met in several tables, or written twice, is one hit.
        fresh = np.ones(len(query), bool)
        fresh[1:] = (query[1:] != query[:-1]) | (row[1:] != row[:-1])
        return Near(query[fresh], row[fresh], far[fresh])

    def _fetched(self, names: Sequence[bytes]) -> tuple[Keys, Rows]:
        """All entries of buckets, and how many each has."""
        values = [value or b"" for value in self._connection.values(names)]
        width = self.layout.width
        sizes = np.array([len(value) for value in values], np.int64)
        for at in np.flatnonzero(sizes % width).tolist():
            name = names[at].decode()
            raise FormatError(
                f"{self._connection.address.shown} {name}", f"entries of {width} bytes", f"{sizes[at]} bytes"
            )
        whole = np.frombuffer(b"".join(values), "<u8").astype(np.uint64, copy=False)
        return whole.reshape(-1, self.layout.words + 1), sizes // width

    def rows_in(self, names: Sequence[bytes]) -> list[Rows]:
        """The rows in each bucket."""
        entries, counts = self._fetched(names)
        ends = np.cumsum(counts)
        rows = entries[:, -1].astype(np.int64)
        return [rows[end - count : end] for end, count in zip(ends.tolist(), counts.tolist(), strict=True)]

    def missing(self, kind: bytes, keys: Keys, rows: Rows) -> Rows:
        """In how many tables each row has no entry; full buckets of followers do not count."""
        none = np.zeros(len(rows), np.int64)
        homes = self.layout.homes(keys)
        for table in range(len(self.layout.tables) if len(rows) else 0):
            buckets, place = np.unique(homes[:, table], return_inverse=True)
            names = self.layout.buckets(kind, table, buckets.tolist())
            held = self.rows_in(names)
            full = [kind == FOLLOWERS and len(part) * self.layout.width >= MOST_FOLLOWERS for part in held]
            inside = [set(part.tolist()) for part in held]
            for at, (row, home) in enumerate(zip(rows.tolist(), place.reshape(-1).tolist(), strict=True)):
                none[at] += not (full[home] or row in inside[home])
        return none

    def _within(
        self, lines: Keys, pairs: Sequence[tuple[Rows, Rows]], entries: Keys, counts: Rows
    ) -> Iterator[tuple[Rows, Rows, Rows]]:
        """Lines, entries and distances of those within the radius: one native call for some millions of them."""
        if not pairs or not len(entries):
            return
        codes = np.ascontiguousarray(entries[:, :-1])
        line = np.concatenate([pair[0] for pair in pairs])
        bucket = np.concatenate([pair[1] for pair in pairs])
        full = counts[bucket] > 0
        line, bucket = line[full], bucket[full]
        many, starts = counts[bucket], np.concatenate([[0], np.cumsum(counts)[:-1]])[bucket]
        ends = np.cumsum(many)
        first = 0
        while first < len(line):
            before = ends[first - 1] if first else 0
            last = max(first + 1, int(np.searchsorted(ends, before + PAIRS_AT_ONCE, "right")))
            size, part = many[first:last], slice(first, last)
            within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
            entry = np.repeat(starts[part], size) + within
            query = np.repeat(line[part], size)
            far = _core.distances_at(lines, codes, query, entry)
            near = far <= self.layout.radius
            yield query[near], entry[near], far[near].astype(np.int64)
            first = last


def _at_most(line: Rows, entries: Keys, entry: Rows, most: int) -> Rows:
    """Places of hits, of which at most so many have one line and one and the same key: those of the lowest rows."""
    many = np.bincount(line)
    if many.max(initial=0) <= most:
        return np.arange(len(line))
    columns = [entries[entry, -1], *(entries[entry, word] for word in range(entries.shape[1] - 1)), line]
    order = np.lexsort(columns)
    same = np.ones(len(order), bool)
    same[0] = False
    for column in columns[1:]:
        same[1:] &= column[order[1:]] == column[order[:-1]]
    starts = np.flatnonzero(~same)
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    return np.sort(order[rank < most])
