"""The records of documents on the server, and the rows of their ids."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import FormatError
from neardup.index.match import Items
from neardup.index.recipe import Recipe
from neardup.index.redis.connection import Command, Connection, Packed
from neardup.index.redis.layout import FIELDS, ROWS_A_RECORD, KeyLayout
from neardup.index.redis.records import KEEPER, Record, pack_records
from neardup.index.redis.scripts import CLAIM, LEAD, READ, READ_SMALL, SIZES, SWITCH, WRITE

__all__ = ["SMALL", "Fetched", "RedisDocuments"]

Rows = NDArray[np.int64]
SMALL, _FIRST = 64 << 10, 256  # bytes of contents that come with a record, and of how many rows at most
_ANY, _TOGETHER = (
    -1,
    1 << 20,
)  # no limit, and the bytes that one script returns: the server is blocked meanwhile
DIGEST = 12  # bytes of an id's digest: two of 10**9 ids are equal with probability 10**-11


Switch = tuple[int, bytes, bytes]  # a row, what its record must begin with, and the new one
T = TypeVar("T")


class CommandBatch(NamedTuple, Generic[T]):
    """Commands, and the function that reads their replies."""

    commands: list[Command]
    read: Callable[[Sequence[Any]], T]


class Claims(NamedTuple):
    """Digests of ids that are assigned to rows; `groups` holds the positions in each command on a cluster."""

    digests: list[bytes]
    rows: list[int]
    commands: list[Command]
    groups: list[list[int]] | None


class RedisDocuments:
    """Records, contents and ids of one index."""

    def __init__(self, connection: Connection, layout: KeyLayout, recipe: Recipe) -> None:
        self.connection, self.layout, self.recipe = connection, layout, recipe
        self._seed = recipe.seed.value.to_bytes(8, "little")
        self.apart = not recipe.method.whole_keys  # sketches are large, so they are stored with the contents
        self.texts = recipe.contents == "text"
        self._width, self._name = recipe.width, layout.name.encode()

    # Rows of ids

    def digests(self, ids: Sequence[str]) -> list[bytes]:
        return [hashlib.blake2b(id.encode(), digest_size=DIGEST, key=self._seed).digest() for id in ids]

    def asked(self, ids: Sequence[str]) -> tuple[list[bytes], list[bytes]]:
        """Keys and fields of ids."""
        places = [self.layout.id(digest) for digest in self.digests(ids)]
        return [key for key, _ in places], [field for _, field in places]

    def rows_of(self, ids: Sequence[str]) -> list[int | None]:
        """The row of each id, in any state."""
        if not ids:
            return []
        keys, fields = self.asked(ids)
        return [self.row(v, k) for v, k in zip(self._read(keys, fields), keys, strict=True)]

    def claims(self, ids: Sequence[str], rows: Rows) -> Claims:
        """Commands that assign ids to rows if the ids are new, as most are; `claimed` handles the rest."""
        digests = self.digests(ids)
        if not self.connection.address.cluster:
            packed = _core.id_claims(self._name, b"".join(digests), self.layout.id_buckets, rows)
            return Claims(digests, rows.tolist(), [Command(b"", Packed(*packed))], None)
        places = [self.layout.id(digest) for digest in digests]
        keys = [key for key, _ in places]
        words = [
            (digest, b"", row.to_bytes(6, "little"))
            for digest, row in zip(digests, rows.tolist(), strict=True)
        ]
        groups = self.connection.grouped(keys)
        return Claims(digests, rows.tolist(), self.connection.calls(CLAIM, keys, words, groups), groups)

    def claimed(self, claims: Claims, replies: Sequence[Any]) -> list[int | None]:
        """The rows that owned the ids before, from the replies to the first claim; ids that were not new are claimed
        again."""
        count = len(claims.digests)
        found = replies[0] if claims.groups is None else self.connection.spread(claims.groups, replies, count)
        before: list[int | None] = [None] * count
        left = [at for at, reply in enumerate(found) if reply != 1]
        said = {at: b"" if claims.groups is None else found[at] for at in left}
        while left:
            places = [self.layout.id(claims.digests[at]) for at in left]
            keys = [key for key, _ in places]
            words = [(claims.digests[at], said[at], claims.rows[at].to_bytes(6, "little")) for at in left]
            again = []
            for at, key, reply in zip(left, keys, self.connection.each(CLAIM, keys, words), strict=True):
                if reply == 1:
                    before[at] = self.row(said[at] or None, key)
                else:
                    said[at] = reply
                    again.append(at)
            left = again
        return before

    def claim(self, ids: Sequence[str], rows: Rows) -> list[int | None]:
        """Assign ids to rows. Returns the rows that owned them before."""
        claims = self.claims(ids, rows)
        return self.claimed(claims, self.connection.run(claims.commands))

    def hand_back(self, ids: Sequence[str], rows: Sequence[int], before: Sequence[int]) -> None:
        """Give ids back to the rows before, if these rows still own them."""
        if ids:
            keys, fields = self.asked(ids)
            columns = zip(fields, rows, before, strict=True)
            words = [
                (field, row.to_bytes(6, "little"), old.to_bytes(6, "little")) for field, row, old in columns
            ]
            self.connection.each(SWITCH, keys, words)

    def released(self, ids: Sequence[str], rows: Sequence[int]) -> list[Command]:
        """Commands that release ids, if these rows still own them."""
        keys, fields = self.asked(ids)
        words = [(field, row.to_bytes(6, "little"), b"") for field, row in zip(fields, rows, strict=True)]
        return self.connection.calls(SWITCH, keys, words, self.connection.grouped(keys))

    def row(self, value: Any, key: bytes) -> int | None:
        """The row of an id, from the value under its digest."""
        if value is None:
            return None
        if len(value) != 6:
            raise FormatError(self._where(key), "the row of an id in 6 bytes", repr(value)[:50])
        return int.from_bytes(value, "little")

    # Records

    def read(self, rows: Iterable[int]) -> dict[int, Record]:
        """The records of those rows that have one."""
        asked = self.reads(list(rows))
        return asked.read(self.connection.run(asked.commands))

    def fetched(self, rows: Sequence[int]) -> Fetched:
        """The records of rows. If a comparison needs their contents, small ones come with them, of as many rows as take
        little memory; of the others only the sizes."""
        if not rows or not self.compares_contents:
            return Fetched(self, self.read(rows))
        records = [self.layout.record(row) for row in rows]
        contents = [self.layout.content(row) for row in rows]
        words = [(field, _ANY) for _, field in records]
        words += [(field, SMALL if at < _FIRST else 0) for at, (_, field) in enumerate(contents)]
        values = self.connection.each(READ_SMALL, [key for key, _ in records + contents], words, _TOGETHER)
        return self.came_with(rows, values[: len(rows)], values[len(rows) :])

    @property
    def compares_contents(self) -> bool:
        """Whether the contents of documents decide which of them are duplicates."""
        return self.apart or self.recipe.verifies or self.recipe.compares_words

    def came_with(self, rows: Sequence[int], records: Sequence[Any], contents: Sequence[Any]) -> Fetched:
        """What was read of rows: their records, and their contents or the sizes of those."""
        found = {
            row: self.unpack(value, self.layout.record(row)[0])
            for row, value in zip(rows, records, strict=True)
            if value is not None
        }
        there = [
            (row, value)
            for row, value in zip(rows, contents, strict=True)
            if row in found and value is not None
        ]
        held = {row: self._held(found[row], value) for row, value in there if not isinstance(value, int)}
        return Fetched(self, found, held, {row: size for row, size in there if isinstance(size, int)})

    def unpack(self, value: bytes, key: bytes) -> Record:
        try:
            return Record.from_bytes(value, self._width, "")
        except FormatError:
            return Record.from_bytes(
                value, self._width, self._where(key)
            )  # raises the same error with the key

    def written(self, rows: Sequence[int], records: Sequence[Record]) -> list[Command]:
        """Commands that write the records of new rows; the replies count the rows that already hold other
        documents."""
        values = pack_records(records)
        commands = []
        for page, places in _pages(rows):
            key = self.layout.page(page)
            words: list[bytes] = []
            for at in places:
                words += (FIELDS[rows[at] % ROWS_A_RECORD], values[at])
            commands.append(Command(key, ("EVAL", WRITE, 1, key, *words)))
        return commands

    def switch(self, changes: Sequence[Switch]) -> list[Record | bool]:
        """Replace records, given as row, required beginning and new record. Returns True where the beginning matched,
        else the record that is stored, or False if there is none."""
        switched = self.switches(changes)
        return switched.read(self.connection.run(switched.commands))

    def switches(self, changes: Sequence[Switch]) -> CommandBatch[list[Record | bool]]:
        """The commands of `switch`, and the function that reads their replies."""
        places = [self.layout.record(row) for row, _, _ in changes]
        words = [(field, *change[1:]) for (_, field), change in zip(places, changes, strict=True)]
        keys = [key for key, _ in places]
        groups = self.connection.grouped(keys)

        def read(replies: Sequence[Any]) -> list[Record | bool]:
            found = self.connection.spread(groups, replies, len(keys))
            return [
                bool(reply) if isinstance(reply, int) else self.unpack(reply, key)
                for reply, key in zip(found, keys, strict=True)
            ]

        return CommandBatch(self.connection.calls(SWITCH, keys, words, groups), read)

    def reads(self, rows: Sequence[int]) -> CommandBatch[dict[int, Record]]:
        """The commands of `read`, and the function that reads their replies."""
        places = [self.layout.record(row) for row in rows]
        keys = [key for key, _ in places]
        groups = self.connection.grouped(keys)

        def read(replies: Sequence[Any]) -> dict[int, Record]:
            values = self.connection.spread(groups, replies, len(keys))
            columns = zip(rows, values, keys, strict=True)
            return {row: self.unpack(value, key) for row, value, key in columns if value is not None}

        return CommandBatch(
            self.connection.calls(READ, keys, [(field,) for _, field in places], groups), read
        )

    def leads(self, rows: Sequence[int], before: bytes) -> CommandBatch[dict[int, Record | bool]]:
        """Commands that turn rows into keepers if their records begin with `before`. The replies contain the other
        rows, with the stored record or False."""
        pages: dict[int, bytearray] = {}
        for row in rows:
            pages.setdefault(row // ROWS_A_RECORD, bytearray()).append(row % ROWS_A_RECORD)
        first = {self.layout.page(page): page * ROWS_A_RECORD for page in pages}
        words = [(bytes(fields),) for fields in pages.values()]
        keys = list(first)
        commands = self.connection.calls(
            LEAD, keys, words, self.connection.grouped(keys), before, KEEPER + bytes(6)
        )

        def read(replies: Sequence[Any]) -> dict[int, Record | bool]:
            failed: dict[int, Record | bool] = {}
            for reply in replies:
                for key, field, value in zip(reply[::3], reply[1::3], reply[2::3], strict=True):
                    failed[first[key] + int(field)] = self.unpack(value, key) if value else False
            return failed

        return CommandBatch(commands, read)

    def pages(self, last: int) -> Iterator[dict[int, Record]]:
        """All records below a row number, some thousands at a time, in the order of rows."""
        for first in range(0, last, 32 * ROWS_A_RECORD):
            starts = range(first, min(first + 32 * ROWS_A_RECORD, last), ROWS_A_RECORD)
            keys = [self.layout.record(row)[0] for row in starts]
            found: dict[int, Record] = {}
            replies = self.connection.run([Command(key, ("HGETALL", key)) for key in keys])
            for start, key, reply in zip(starts, keys, replies, strict=True):
                fields = (
                    reply.items() if isinstance(reply, dict) else zip(reply[::2], reply[1::2], strict=True)
                )
                for field, value in fields:
                    if not field.isdigit() or int(field) >= ROWS_A_RECORD:
                        raise FormatError(self._where(key), "records by row", f"a field {field!r:.50}")
                    found[start + int(field)] = self.unpack(value, key)
            yield dict(sorted(found.items()))

    # Contents

    def filled(self, rows: Sequence[int], items: Items) -> list[Command]:
        """Commands that write contents."""
        values = self.values(items)
        if values is None:
            return []
        commands = []
        for page, places in _pages(rows):
            key = self.layout.contents(page)
            words: list[bytes] = []
            for at in places:
                words += (FIELDS[rows[at] % ROWS_A_RECORD], values[at])
            commands.append(Command(key, ("HSET", key, *words)))
        return commands

    def values(self, items: Items) -> list[bytes] | None:
        """The contents of items as they are stored; None if an index of this kind stores none."""
        if self.recipe.contents == "none" and not self.apart:
            return None
        prints, contents = items.blobs(), items.stored()
        if not self.apart:
            return [content or b"" for content in contents]
        return [
            (fingerprint or b"") + (content or b"")
            for fingerprint, content in zip(prints, contents, strict=True)
        ]

    def contents(self, records: dict[int, Record]) -> dict[int, tuple[bytes | None, bytes | None]]:
        """Fingerprint and content of rows; rows whose contents are lost are left out."""
        if self.recipe.contents == "none" and not self.apart:
            return {row: (record.fingerprint, None) for row, record in records.items()}
        rows = list(records)
        places = [self.layout.content(row) for row in rows]
        values = self._read([key for key, _ in places], [field for _, field in places])
        found: dict[int, tuple[bytes | None, bytes | None]] = {}
        for row, value in zip(rows, values, strict=True):
            if value is None:
                continue
            found[row] = self._held(records[row], value)
        return found

    def _held(self, record: Record, value: bytes) -> tuple[bytes | None, bytes | None]:
        """Fingerprint and content, read from the stored contents of a row."""
        fingerprint = record.fingerprint
        if self.apart:
            least = 0 if record.empty else self._width
            if len(value) < least or (self.recipe.contents == "none" and len(value) > least):
                said = f"a fingerprint of {self._width} bytes with the contents of {record.id!r:.100}"
                raise FormatError(self.connection.address.shown, said, f"{len(value)} bytes")
            fingerprint = None if record.empty else value[: self._width]
            value = value if record.empty else value[self._width :]
        return fingerprint, None if self.recipe.contents == "none" else value

    def erased(self, rows: Sequence[int], contents: Sequence[int] = ()) -> list[Command]:
        """Commands that delete the records and contents of `rows`, and only the contents of the rows in
        `contents`."""
        pages: dict[bytes, list[bytes]] = {}
        places = [place for row in rows for place in (self.layout.record(row), self.layout.content(row))]
        for key, field in places + [self.layout.content(row) for row in contents]:
            pages.setdefault(key, []).append(field)
        return [Command(key, ("HDEL", key, *fields)) for key, fields in pages.items()]

    def stored_bytes(self, rows: Sequence[int]) -> int:
        """Bytes of the records and contents of rows, as they are stored; none of them is loaded."""
        places = [place for row in rows for place in (self.layout.record(row), self.layout.content(row))]
        keys = [key for key, _ in places]
        return sum(self.connection.each(SIZES, keys, [(field,) for _, field in places])) if keys else 0

    def _read(self, keys: Sequence[bytes], fields: Sequence[bytes]) -> list[Any]:
        return self.connection.each(READ, keys, [(field,) for field in fields]) if keys else []

    def _where(self, key: bytes) -> str:
        return f"{self.connection.address.shown} {key.decode('ascii', 'replace')}"


class Fetched:
    """Records that were read, as a source for a Matcher. Contents that did not come with them are read on demand, and
    are not kept; `large` are their sizes."""

    def __init__(
        self,
        documents: RedisDocuments,
        records: dict[int, Record],
        held: dict[int, tuple[bytes | None, bytes | None]] | None = None,
        large: dict[int, int] | None = None,
    ) -> None:
        self._documents, self.records = documents, records
        self._held, self._large = held or {}, large or {}

    def only(self, records: dict[int, Record]) -> Fetched:
        """The same for some of the records."""
        return Fetched(self._documents, records, self._held, self._large)

    def sizes(self, rows: Rows) -> Rows:
        """Bytes that the contents of each row take."""
        held = ((row, self._held.get(row, (None, None))[1]) for row in rows.tolist())
        return np.array([len(content or b"") or self._large.get(row, 0) for row, content in held], np.int64)

    def contents(self, rows: Rows) -> dict[int, tuple[bytes | None, bytes | None]]:
        """Fingerprint and content of those rows that exist and are complete."""
        wanted = [row for row in rows.tolist() if row in self.records]
        missing = {row: self.records[row] for row in wanted if row not in self._held}
        found = self._documents.contents(missing) if missing else {}
        return {
            row: found[row] if row in found else self._held[row]
            for row in wanted
            if row in found or row in self._held
        }


def _pages(rows: Sequence[int]) -> Iterator[tuple[int, range]]:
    """Pages of records, and the positions of the (ascending) rows that belong to each page."""
    first = 0
    while first < len(rows):
        page = rows[first] // ROWS_A_RECORD
        last = bisect_left(rows, (page + 1) * ROWS_A_RECORD, first)
        yield page, range(first, last)
        first = last
