"""The records of documents on the server, and the rows of their ids."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import FormatError
from neardup.index.matching import Items
from neardup.index.recipe import Recipe
from neardup.shared.connection import Command, Connection
from neardup.shared.layout import FIELDS, ROWS_A_RECORD, Layout
from neardup.shared.records import KEEPER, Record
from neardup.shared.scripts import CLAIM, LEAD, READ, SWITCH, WRITE

__all__ = ["Documents", "Fetched"]

Rows = NDArray[np.int64]
DIGEST = 12  # bytes of an id's digest: among 10**9 ids two agree with a chance of 10**-11


class Documents:
    """Records, contents and ids of one index."""

    def __init__(self, connection: Connection, layout: Layout, recipe: Recipe) -> None:
        self.connection, self.layout, self.recipe = connection, layout, recipe
        self._seed = recipe.seed.value.to_bytes(8, "little")
        self.apart = recipe.kind == "sketches"  # fingerprints of hundreds of bytes are with the contents
        self.texts = recipe.contents == "text"

    # Rows of ids

    def digests(self, ids: Sequence[str]) -> list[bytes]:
        return [hashlib.blake2b(id.encode(), digest_size=DIGEST, key=self._seed).digest() for id in ids]

    def asked(self, ids: Sequence[str]) -> tuple[list[bytes], list[bytes]]:
        """Keys and fields of ids."""
        places = [self.layout.id(digest) for digest in self.digests(ids)]
        return [key for key, _ in places], [field for _, field in places]

    def rows_of(self, ids: Sequence[str]) -> list[int | None]:
        """The row of each id, whatever state it is in."""
        if not ids:
            return []
        keys, fields = self.asked(ids)
        return [self._row(v, k) for v, k in zip(self._read(keys, fields), keys, strict=True)]

    def claim(self, ids: Sequence[str], rows: Sequence[int]) -> list[int | None]:
        """Give ids to rows; the rows that had them. Most ids are new, so that is what is tried first."""
        keys, fields = self.asked(ids)
        before = [b""] * len(ids)
        left = list(range(len(ids)))
        while left:
            words = [(fields[at], before[at], rows[at].to_bytes(6, "little")) for at in left]
            replies = self.connection.each(CLAIM, [keys[at] for at in left], words)
            failed = [(at, reply) for at, reply in zip(left, replies, strict=True) if reply != 1]
            for at, reply in failed:
                before[at] = reply
            left = [at for at, _ in failed]
        return [self._row(value or None, key) for value, key in zip(before, keys, strict=True)]

    def hand_back(self, ids: Sequence[str], rows: Sequence[int], before: Sequence[int]) -> None:
        """Give ids of rows that still have them to the rows before."""
        if ids:
            keys, fields = self.asked(ids)
            columns = zip(fields, rows, before, strict=True)
            words = [
                (field, row.to_bytes(6, "little"), old.to_bytes(6, "little")) for field, row, old in columns
            ]
            self.connection.each(SWITCH, keys, words)

    def release(self, ids: Sequence[str], rows: Sequence[int]) -> None:
        """Take ids from rows that still have them."""
        if ids:
            keys, fields = self.asked(ids)
            words = [(field, row.to_bytes(6, "little"), b"") for field, row in zip(fields, rows, strict=True)]
            self.connection.each(SWITCH, keys, words)

    def _row(self, value: Any, key: bytes) -> int | None:
        if value is None:
            return None
        if len(value) != 6:
            raise FormatError(self._where(key), "the row of an id in 6 bytes", repr(value)[:50])
        return int.from_bytes(value, "little")

    # Records

    def read(self, rows: Iterable[int]) -> dict[int, Record]:
        """The records of rows, for those that have one."""
        wanted = list(rows)
        places = [self.layout.record(row) for row in wanted]
        values = self._read([key for key, _ in places], [field for _, field in places])
        return {
            row: self.unpack(value, key)
            for row, value, (key, _) in zip(wanted, values, places, strict=True)
            if value is not None
        }

    def unpack(self, value: bytes, key: bytes) -> Record:
        return Record.from_bytes(value, self.recipe.width, self._where(key))

    def written(self, records: dict[int, Record]) -> list[Command]:
        """Commands that write the records of new rows."""
        pages: dict[int, list[bytes]] = {}
        for row, record in records.items():
            pages.setdefault(row // ROWS_A_RECORD, []).extend(
                (FIELDS[row % ROWS_A_RECORD], record.to_bytes())
            )
        keys = [(self.layout.page(page), words) for page, words in pages.items()]
        return [Command(key, ("EVAL", WRITE, 1, key, *words)) for key, words in keys]

    def switch(self, changes: Sequence[tuple[int, bytes, bytes]]) -> list[Record | bool]:
        """Rows, what their records must begin with, and the new records: True where it was so, else the record there
        is, or False for none."""
        if not changes:
            return []
        places = [self.layout.record(row) for row, _, _ in changes]
        words = [(field, *change[1:]) for (_, field), change in zip(places, changes, strict=True)]
        keys = [key for key, _ in places]
        replies = self.connection.each(SWITCH, keys, words)
        return [
            bool(reply) if isinstance(reply, int) else self.unpack(reply, key)
            for reply, key in zip(replies, keys, strict=True)
        ]

    def lead(self, rows: Sequence[int], before: bytes) -> dict[int, Record | bool]:
        """Make keepers of rows whose records begin like this; gives the others, with the record there is, or False."""
        pages: dict[int, bytearray] = {}
        for row in rows:
            pages.setdefault(row // ROWS_A_RECORD, bytearray()).append(row % ROWS_A_RECORD)
        first = {self.layout.page(page): page * ROWS_A_RECORD for page in pages}
        words = [(bytes(fields),) for fields in pages.values()]
        commands = [
            Command(made.key, (*made.words, KEEPER + bytes(6)))
            for made in self.connection.total(LEAD, list(first), words, before)
        ]
        failed: dict[int, Record | bool] = {}
        for reply in self.connection.run(commands):
            for key, field, value in zip(reply[::3], reply[1::3], reply[2::3], strict=True):
                failed[first[key] + int(field)] = self.unpack(value, key) if value else False
        return failed

    def pages(self, last: int) -> Iterator[dict[int, Record]]:
        """All records below a row, some thousands at a time, by row."""
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
        prints, contents = items.blobs(), items.stored()
        if self.recipe.contents == "none" and not self.apart:
            return []
        pages: dict[bytes, list[bytes]] = {}
        for row, print, content in zip(rows, prints, contents, strict=True):
            value = ((print or b"") if self.apart else b"") + (content or b"")
            key, field = self.layout.content(row)
            pages.setdefault(key, []).extend((field, value))
        return [Command(key, ("HSET", key, *words)) for key, words in pages.items()]

    def contents(self, records: dict[int, Record]) -> dict[int, tuple[bytes | None, bytes | None]]:
        """Fingerprint and content of rows; those that have lost theirs are left out."""
        if self.recipe.contents == "none" and not self.apart:
            return {row: (record.print, None) for row, record in records.items()}
        rows = list(records)
        places = [self.layout.content(row) for row in rows]
        values = self._read([key for key, _ in places], [field for _, field in places])
        found: dict[int, tuple[bytes | None, bytes | None]] = {}
        for row, value in zip(rows, values, strict=True):
            if value is None:
                continue
            record, print = records[row], records[row].print
            if self.apart:
                print = None if record.empty else value[: self.recipe.width]
                value = value if record.empty else value[self.recipe.width :]
            found[row] = (print, None if self.recipe.contents == "none" else value)
        return found

    def erased(self, rows: Sequence[int]) -> list[Command]:
        """Commands that delete records and contents."""
        pages: dict[bytes, list[bytes]] = {}
        for row in rows:
            for key, field in (self.layout.record(row), self.layout.content(row)):
                pages.setdefault(key, []).append(field)
        return [Command(key, ("HDEL", key, *fields)) for key, fields in pages.items()]

    def _read(self, keys: Sequence[bytes], fields: Sequence[bytes]) -> list[Any]:
        return self.connection.each(READ, keys, [(field,) for field in fields]) if keys else []

    def _where(self, key: bytes) -> str:
        return f"{self.connection.address.shown} {key.decode('ascii', 'replace')}"


class Fetched:
    """Records that were read, as what a Matcher reads from; their contents are fetched when they are asked for."""

    def __init__(self, documents: Documents, records: dict[int, Record]) -> None:
        self._documents, self._records = documents, records
        self._held: dict[int, tuple[bytes | None, bytes | None]] = {}

    def of_rows(self, columns: str, rows: Rows) -> list[Any]:
        """Columns "row" or "row, print, content" of those rows that are there and whole."""
        wanted = [row for row in rows.tolist() if row in self._records]
        self._held |= self._documents.contents({r: self._records[r] for r in wanted if r not in self._held})
        if columns == "row":
            return [(row,) for row in wanted if row in self._held]
        return [(row, *self._held[row]) for row in wanted if row in self._held]
