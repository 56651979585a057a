"""Tables of buckets on the server: entries are added, removed, and fetched by the thousand to be compared here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import FormatError
from neardup.index.redis.connection import Command, Connection, Packed
from neardup.index.redis.layout import KeyLayout
from neardup.index.redis.scripts import APPEND, CUT, DROP
from neardup.index.tables import Near
from neardup.search.interface import Mode
from neardup.search.key_join import Probing

__all__ = ["FOLLOWERS", "KEEPERS", "BucketEntries", "Question", "SharedTables"]

KEEPERS, FOLLOWERS = b"k", b"f"
MOST_FOLLOWERS = 1 << 20  # bytes of a follower bucket: the list of a page copied a million times is cut off
CUT_AT_ONCE, BYTES_A_SCRIPT = 100, 1 << 20  # buckets, and their bytes, that one script changes
Rows = NDArray[np.int64]
Keys = NDArray[np.uint64]
Flags = NDArray[np.bool_]


class Question(NamedTuple):
    """The commands that search the tables for some queries, and where each probe finds its bucket in the replies.

    `there` are the queries that are not empty, and `keys` their keys. `place` has a column for each probe of a table.
    `order` is the bucket of each value in the replies, if their order differs from that of the buckets.
    """

    there: Rows
    keys: Keys
    place: Rows
    kinds: Sequence[bytes]
    commands: list[Command]
    order: list[int] | None


class BucketEntries(NamedTuple):
    """The entries of the buckets that a question has read; those of bucket b are from starts[b] to starts[b + 1]."""

    question: Question
    entries: Keys
    starts: Rows

    def only(self, rows: Rows) -> BucketEntries:
        """The entries of these rows."""
        return self._where(np.isin(self.entries[:, -1].astype(np.int64), rows))

    def without(self, rows: Rows) -> BucketEntries:
        """All entries but those of these rows."""
        return self._where(np.isin(self.entries[:, -1].astype(np.int64), rows, invert=True))

    def at_most(self, most: int | None) -> BucketEntries:
        """At most so many entries with the same key in each bucket: those with the lowest rows."""
        if most is None or not len(full := np.flatnonzero(np.diff(self.starts) > most)):
            return self
        kept = np.ones(len(self.entries), bool)
        for first, last in zip(self.starts[full].tolist(), self.starts[full + 1].tolist(), strict=True):
            part = self.entries[first:last]
            order = np.lexsort(part.T[::-1])  # by key, then by row
            keys = part[order, :-1]
            fresh = np.ones(len(order), bool)
            fresh[1:] = (keys[1:] != keys[:-1]).any(axis=1)
            begins = np.flatnonzero(fresh)
            rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.append(begins, len(order))))
            kept[first + order[rank >= most]] = False
        return self._where(kept)

    def _where(self, kept: Flags) -> BucketEntries:
        if kept.all():
            return self
        before = np.concatenate([[0], np.cumsum(kept)])
        return BucketEntries(self.question, self.entries[kept], before[self.starts])


class SharedTables:
    """The tables of one index. For one server the core packs the commands; a cluster gets one command for each
    shard."""

    def __init__(self, connection: Connection, layout: KeyLayout) -> None:
        self._connection, self.layout = connection, layout
        self._name, self._cluster = layout.name.encode(), connection.address.cluster
        self._crowded = False  # whether any follower bucket was found full

    def added(self, kind: bytes, keys: Keys, empty: Flags, rows: Rows) -> list[Command]:
        """Commands that add rows to their buckets; `refused` reads their replies. Empty rows have no entries."""
        if self._cluster or self.layout.sparse or (kind == FOLLOWERS and self._crowded):
            names, values = self._grouped(kind, keys, empty, rows, whole=True)
            most = MOST_FOLLOWERS if kind == FOLLOWERS else 0
            return self._connection.total(APPEND, names, values, most)
        keys, rows = _there(keys, empty, rows)
        if not len(rows):
            return []
        homes, layout = self.layout.homes(keys), self.layout
        return _packed(
            *_core.bucket_appends(self._name, kind, homes, keys, layout.firsts, layout.words, rows)
        )

    def refused(self, replies: Sequence[Any]) -> int:
        """How many entries were refused, from the replies for followers. The replied lengths show when a bucket is
        full; from then on the length is checked before each append."""
        for reply in replies:
            self._crowded |= isinstance(reply, list) and max(reply) >= MOST_FOLLOWERS
        return sum(reply for reply in replies if isinstance(reply, int))

    def dropped(self, keys: Keys, empty: Flags, rows: Rows) -> list[Command]:
        """Commands that remove rows from the buckets of keepers, which are short."""
        if self._cluster or self.layout.sparse:
            names, values = self._grouped(KEEPERS, keys, empty, rows, whole=False)
            return self._connection.total(DROP, names, values, self.layout.width)
        keys, rows = _there(keys, empty, rows)
        if not len(rows):
            return []
        last = b"%d" % self.layout.width
        return _packed(
            *_core.bucket_drops(self._name, KEEPERS, self.layout.homes(keys), rows, DROP.encode(), last)
        )

    def cut_followers(self, keys: Keys, empty: Flags, rows: Rows) -> None:
        """Remove rows from the buckets of followers. These may be long, so the entries are found here, and the server
        only cuts them out. Buckets that others change meanwhile are read again."""
        names, values = self._grouped(FOLLOWERS, keys, empty, rows, whole=False)
        for start in range(0, len(names), CUT_AT_ONCE):
            part = slice(start, start + CUT_AT_ONCE)
            left = {name: value for name, (value,) in zip(names[part], values[part], strict=True)}
            while left:
                left = self._cut(left)

    def _cut(self, dead: dict[bytes, bytes]) -> dict[bytes, bytes]:
        """Remove rows from buckets, once. Returns the buckets that have changed meanwhile."""
        found = self._connection.run([Command(name, ("GET", name)) for name in dead])
        names: list[bytes] = []
        places: list[tuple[bytes]] = []
        sizes: list[int] = []
        held, starts = self._entries(found, list(dead).__getitem__)
        for (name, rows), first, last in zip(dead.items(), starts[:-1], starts[1:], strict=True):
            inside = held[first:last, -1]
            at = np.flatnonzero(np.isin(inside, np.frombuffer(rows, "<u8")))
            if len(at):
                cuts = np.empty(len(at), np.dtype([("end", "<u4"), ("row", "<u8")]))
                cuts["end"], cuts["row"] = (at + 1) * self.layout.width, inside[at]
                names.append(name)
                places.append((cuts.tobytes(),))
                sizes.append(len(inside) * self.layout.width)
        groups = [
            some
            for group in self._connection.grouped(names, CUT_AT_ONCE)
            for some in _within(group, sizes, BYTES_A_SCRIPT)
        ]
        calls = self._connection.calls(CUT, names, places, groups, self.layout.width)
        moved = self._connection.spread(groups, self._connection.run(calls), len(names))
        return {name: dead[name] for name, again in zip(names, moved, strict=True) if again}

    def _grouped(
        self, kind: bytes, keys: Keys, empty: Flags, rows: Rows, whole: bool
    ) -> tuple[list[bytes], list[tuple[bytes]]]:
        """The buckets of rows, and the entries, or only the rows, that belong in each."""
        there = np.flatnonzero(~empty)
        keys, rows = keys[there], rows[there]
        homes = self.layout.homes(keys)
        names: list[bytes] = []
        values: list[tuple[bytes]] = []
        width = self.layout.width if whole else 8
        for table in range(len(self.layout.tables) if len(rows) else 0):
            order = np.argsort(homes[:, table], kind="stable")
            if self.layout.sparse:
                order = order[keys[order, table] != 0]
                if not len(order):
                    continue
            entries = self.layout.entries(keys, rows, table) if whole else rows.astype(np.uint64)
            data = entries[order].astype("<u8").tobytes()
            ordered = homes[order, table]
            starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
            names += self.layout.buckets(kind, table, ordered[starts].tolist())
            bounds = [*(starts * width).tolist(), len(data)]
            values += [(data[first:last],) for first, last in pairwise(bounds)]
        return names, values

    def search(
        self,
        keys: Keys,
        empty: Flags,
        *,
        followers: bool,
        mode: Mode = "all",
        most: int | None = None,
        probes: Probing | None = None,
    ) -> Near:
        """The rows near each query, in any state; `most` limits the rows with the same key."""
        return self.find(keys, empty, (KEEPERS, FOLLOWERS) if followers else (KEEPERS,), most, probes)

    def find(
        self,
        keys: Keys,
        empty: Flags,
        kinds: Sequence[bytes],
        most: int | None = None,
        probes: Probing | None = None,
    ) -> Near:
        """The same in the tables of some kinds; all probes of a batch are sent to each server in one pipeline."""
        return self.near(self.fetch(keys, empty, kinds, probes).at_most(most))

    def fetch(
        self, keys: Keys, empty: Flags, kinds: Sequence[bytes], probes: Probing | None = None
    ) -> BucketEntries:
        """The entries of all buckets that queries search."""
        question = self.question(keys, empty, kinds, probes)
        return self.read(question, self._connection.run(question.commands))

    def question(
        self, keys: Keys, empty: Flags, kinds: Sequence[bytes], extra: Probing | None = None
    ) -> Question:
        """The commands of `fetch`; `read` reads the replies. Each `extra` probe is sent as a separate query that has
        no key in the other tables."""
        there = np.flatnonzero(~empty)
        asked = keys if len(there) == len(keys) else keys[there]
        if extra is not None:
            query, of, key = (column[~empty[extra[0]]] for column in extra)
            more = np.zeros((len(query), keys.shape[1]), np.uint64)
            more[np.arange(len(query)), of] = key
            there, asked = np.concatenate([there, query]), np.concatenate([asked, more])
        asked = np.ascontiguousarray(asked)
        probes, places, count = self.layout.probes(asked), [], 0
        commands: list[Command] = []
        names: list[bytes] = []
        order: list[int] | None = None
        for kind in kinds if len(asked) else ():
            if self._cluster:
                places.append(self._places(kind, probes, names))
            else:
                data, many, asking, place = _core.bucket_reads(self._name, kind, probes, self.layout.probed)
                commands += _packed(data, many)
                places.append(place + count)
                count += asking
        if self._cluster:
            groups = self._connection.grouped(names)
            commands = [Command(names[group[0]], ("MGET", *(names[at] for at in group))) for group in groups]
            order = list(chain.from_iterable(groups))
        joined = np.concatenate(places, axis=1) if places else np.empty((0, 0), np.int64)
        return Question(there, asked, joined, kinds, commands, order)

    def _places(self, kind: bytes, probes: Keys, names: list[bytes]) -> Rows:
        """Where each probe finds its bucket among the names, to which those of the buckets are added."""
        place = np.empty(probes.shape, np.int64)
        for table in range(len(self.layout.tables)):
            columns = self.layout.probed == table
            buckets, at = np.unique(probes[:, columns], return_inverse=True)
            place[:, columns] = at.reshape(len(probes), -1) + len(names)
            names += self.layout.buckets(kind, table, buckets.tolist())
        return place

    def one(self, keys: Keys) -> tuple[Question, list[bytes], list[bytes], list[bytes]]:
        """The search for one document among the keepers, which a script makes: the buckets that the document belongs
        to, the key of its entry in each, and the buckets that are searched, if they are others."""
        layout = self.layout
        homes, probes = layout.homes(keys), layout.probes(keys)
        names = [layout.buckets(KEEPERS, table, [home])[0] for table, home in enumerate(homes[0].tolist())]
        entries = [keys[0, first : first + layout.words].tobytes() for first in layout.firsts.tolist()]
        searched: list[bytes] = []
        place = np.arange(len(names))[None]
        if probes.shape != homes.shape:
            place = self._places(KEEPERS, probes, searched)
        question = Question(np.zeros(1, np.int64), keys, place, (KEEPERS,), [], None)
        return question, names, entries, searched

    def read(self, question: Question, replies: Sequence[Any]) -> BucketEntries:
        """The entries of the buckets that a question has read."""
        if not len(question.place):
            return BucketEntries(
                question, np.empty((0, self.layout.words + 1), np.uint64), np.zeros(1, np.int64)
            )
        parts = replies if self._cluster else chain.from_iterable(replies)
        values = list(chain.from_iterable(parts))
        if question.order is not None:
            ordered: list[bytes | None] = [None] * len(values)
            for at, value in zip(question.order, values, strict=True):
                ordered[at] = value
            values = ordered
        return BucketEntries(question, *self._entries(values, lambda at: self._asked(question, at)))

    def rows(self, found: BucketEntries) -> Rows:
        """The rows near any query, ascending, each once."""
        touched = _core.bucket_touched(*self._searched(found)).view(np.bool_)
        return np.unique(found.entries[touched, -1]).astype(np.int64)

    def near(self, found: BucketEntries) -> Near:
        """The rows near each query."""
        query, _, entry, far = _core.bucket_matches(*self._searched(found))
        query, row = found.question.there[query], found.entries[entry, -1].astype(np.int64)
        order = np.lexsort((row, query))
        query, row, far = query[order], row[order], far[order]
        # A row that is found in several tables, or was written twice, is one hit.
        fresh = np.ones(len(query), bool)
        fresh[1:] = (query[1:] != query[:-1]) | (row[1:] != row[:-1])
        return Near(query[fresh], row[fresh], far[fresh])

    def _searched(self, found: BucketEntries) -> tuple[Keys, Rows, int, Rows, Keys, Rows, int]:
        layout, question = self.layout, found.question
        kinds = question.place.shape[1] // len(layout.probed)
        firsts = np.tile(layout.firsts[layout.probed], kinds)
        place = np.ascontiguousarray(question.place)
        return question.keys, firsts, layout.words, place, found.entries, found.starts, layout.radius

    def _asked(self, question: Question, at: int) -> bytes:
        """The name of a bucket that was asked for."""
        query, column = np.argwhere(question.place == at)[0].tolist()
        kind, probe = divmod(column, len(self.layout.probed))
        bucket = int(self.layout.probes(question.keys)[query, probe])
        return self.layout.buckets(question.kinds[kind], int(self.layout.probed[probe]), [bucket])[0]

    def _entries(self, values: list[Any], name: Callable[[int], bytes]) -> tuple[Keys, Rows]:
        """The entries of all buckets, and the range that belongs to each."""
        try:
            return _core.bucket_entries(values, self.layout.words + 1)
        except IndexError as error:
            at, width = int(str(error)), self.layout.width
            raise FormatError(
                f"{self._connection.address.shown} {name(at).decode()}",
                f"entries of {width} bytes",
                f"{len(values[at] or b'')} bytes",
            ) from None

    def rows_in(self, names: Sequence[bytes]) -> list[Rows]:
        """The rows in each bucket."""
        values = self._connection.values(names)
        entries, starts = self._entries(values, names.__getitem__)
        rows = entries[:, -1].astype(np.int64)
        return [rows[first:last] for first, last in pairwise(starts.tolist())]

    def missing(self, kind: bytes, keys: Keys, rows: Rows) -> Rows:
        """In how many tables each row has no entry; full follower buckets do not count."""
        none = np.zeros(len(rows), np.int64)
        homes = self.layout.homes(keys)
        for table in range(len(self.layout.tables) if len(rows) else 0):
            buckets, place = np.unique(homes[:, table], return_inverse=True)
            names = self.layout.buckets(kind, table, buckets.tolist())
            held = self.rows_in(names)
            due = keys[:, table] != 0 if self.layout.sparse else np.ones(len(rows), bool)
            full = [kind == FOLLOWERS and len(part) * self.layout.width >= MOST_FOLLOWERS for part in held]
            inside = [set(part.tolist()) for part in held]
            for at, (row, home) in enumerate(zip(rows.tolist(), place.reshape(-1).tolist(), strict=True)):
                none[at] += bool(due[at]) and not (full[home] or row in inside[home])
        return none


def _packed(data: bytes, replies: int) -> list[Command]:
    return [Command(b"", Packed(data, replies))]


def _within(group: Sequence[int], sizes: Sequence[int], most: int) -> list[list[int]]:
    """A group divided, in order, so that the sizes of each part add up to at most so much, or it is one alone."""
    parts: list[list[int]] = []
    size = 0
    for at in group:
        size += sizes[at]
        if not parts or size > most:
            parts.append([])
            size = sizes[at]
        parts[-1].append(at)
    return parts


def _there(keys: Keys, empty: Flags, rows: Rows) -> tuple[Keys, Rows]:
    """Those that are not empty."""
    if empty.any():
        keys, rows = keys[~empty], rows[~empty]
    return np.ascontiguousarray(keys), np.ascontiguousarray(rows, np.int64)
