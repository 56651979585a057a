"""A log file of all changes of one worker that were acknowledged. `neardup index replay` rebuilds an index from logs.

A line is a checksum and a JSON object: {"op": "put", ...} for a document, {"op": "remove", "ids": [...]}. The key of
the index is in FILE.key. A last line that was cut off is ignored; any other damage is an error.
"""

from __future__ import annotations

import base64
import json
import os
import re
import threading
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.errors import FormatError
from neardup.index.contents import unpack_text
from neardup.index.key import write_key
from neardup.index.match import Items
from neardup.index.recipe import Recipe
from neardup.index.redis.records import Record

__all__ = ["Journal", "JournalEntry", "is_journal", "read_journal"]


class JournalEntry(NamedTuple):
    """A line of a log: a document, or ids that were removed, and its position in the order of all workers'
    changes."""

    row: int
    put: dict[str, Any] | None
    removed: tuple[str, ...]

    @property
    def order(self) -> tuple[int, bool]:
        """A removal comes before the document of the row it names."""
        return self.row, self.put is not None


class Journal:
    """The log of one worker. With `sync`, each change is on the disk before it is acknowledged."""

    def __init__(self, path: str | os.PathLike[str], recipe: Recipe, sync: bool) -> None:
        self._recipe, self._sync, self._lock = recipe, sync, threading.Lock()
        key = Path(f"{path}.key")
        if not key.exists():
            write_key(recipe, key)
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._file = open(file, "ab", buffering=0)  # noqa: SIM115
        if self._file.tell() and Path(path).read_bytes()[-1:] != b"\n":
            self._file.write(b"\n")  # a worker died in the middle of a line

    def put(self, rows: NDArray[np.int64], records: Sequence[Record], items: Items) -> None:
        """Write documents that were added."""
        lines = []
        columns = zip(rows.tolist(), records, items.blobs(), items.stored(), strict=True)
        for row, record, fingerprint, content in columns:
            line: dict[str, Any] = {"op": "put", "added": record.added, "row": row, "id": record.id}
            if record.expires is not None:
                line["expires"] = record.expires
            if record.meta is not None:
                line["meta"] = record.meta
            if fingerprint is not None:
                line["fingerprint"] = fingerprint.hex()
            if content is not None:
                if self._recipe.contents == "text":
                    line["text"] = unpack_text(content)
                else:
                    line["features"] = base64.b64encode(content).decode()
            lines.append(line)
        self._write(lines)

    def remove(self, ids: Sequence[str], row: int) -> None:
        """Write ids that were removed; `row` is the first row number that had not been used at that time."""
        self._write([{"op": "remove", "row": row, "ids": list(ids)}])

    def _write(self, lines: Sequence[dict[str, Any]]) -> None:
        data = b"".join(_line(line) for line in lines)
        with self._lock:
            while data:
                data = data[self._file.write(data) :]
            if self._sync:
                os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def _line(line: dict[str, Any]) -> bytes:
    text = json.dumps(line, ensure_ascii=True).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def read_journal(path: str | os.PathLike[str]) -> Iterator[JournalEntry]:
    """The changes in a log, in its order."""
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            text = line[9:].rstrip(b"\n")
            if line == b"\n":
                continue
            if line[:9] != b"%08x " % zlib.crc32(text):
                if not line.rstrip(b"\n").endswith(b"}"):
                    continue  # a worker died while it wrote this line
                raise FormatError(f"{path}:{number}", "a line of a log, with its checksum", "a damaged one")
            change = json.loads(text)
            if change["op"] == "remove":
                yield JournalEntry(change["row"], None, tuple(change["ids"]))
            else:
                yield JournalEntry(change["row"], change, ())


def is_journal(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a log, and not an export."""
    with open(path, "rb") as file:
        first = file.read(10)
    return re.match(rb"[0-9a-f]{8} \{", first) is not None
