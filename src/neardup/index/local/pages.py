"""Reads the documents of a damaged database page by page, including those that SQLite cannot reach any more.

If a page of the tree is zeroed, SQL cannot reach the pages below it, although the leaves with the documents are
intact. Leaves are recognised by their own header (https://www.sqlite.org/fileformat2.html), so this module looks at
each page. Sizes and positions are checked before they are used, because a page may hold anything.
docs/inside/decisions/0044-recovery.md says why SQLite's own recovery is not used.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["COLUMNS", "PAGE", "salvage"]

PAGE = 8192  # page size of every index
LEAF = 0x0D
# Of documents: row, id, keeper, distance, similarity, added, expires, print, meta, content; from version 2 on also the
# two digests.
COLUMNS = (10, 12)
LARGEST = 1 << 30
WAL_HEAD, FRAME_HEAD = 32, 24


class _Page(NamedTuple):
    number: int
    data: bytes


def salvage(database: Path) -> Iterator[tuple[Any, ...]]:
    """Every document in a leaf of the table, as (row, id, keeper, ...), in no particular order; a row may occur twice.

    Pages on the free list are left out. If the free list is damaged, the result may include removed documents.
    """
    pages = _pages(database)
    free = _free(pages)
    for number in sorted(pages):
        if number not in free:
            yield from _documents(_Page(number, pages[number]), pages)


def _pages(database: Path) -> dict[int, bytes]:
    """The newest version of each page, by number from 1."""
    data = database.read_bytes()
    pages = {at // PAGE + 1: data[at : at + PAGE] for at in range(0, len(data) - PAGE + 1, PAGE)}
    log = database.with_name(database.name + "-wal")
    if log.exists():
        pages |= _logged(log.read_bytes())
    return pages


def _logged(data: bytes) -> dict[int, bytes]:
    """The pages of committed transactions in a log."""
    found: dict[int, bytes] = {}
    waiting: dict[int, bytes] = {}
    salts = data[16:24]
    for at in range(WAL_HEAD, len(data) - FRAME_HEAD - PAGE + 1, FRAME_HEAD + PAGE):
        number, size = struct.unpack_from(">II", data, at)
        if data[at + 8 : at + 16] != salts:
            break  # the frame is from an earlier use of the log
        waiting[number] = data[at + FRAME_HEAD : at + FRAME_HEAD + PAGE]
        if size:
            found |= waiting
            waiting = {}
    return found


def _free(pages: dict[int, bytes]) -> set[int]:
    """The pages on the free list."""
    found: set[int] = set()
    head = pages.get(1, b"")
    trunk = struct.unpack_from(">I", head, 32)[0] if len(head) == PAGE else 0
    while trunk in pages and trunk not in found:
        following, count = struct.unpack_from(">II", pages[trunk])
        found.add(trunk)
        if count > PAGE // 4 - 2:
            break
        found |= set(struct.unpack_from(f">{count}I", pages[trunk], 8))
        trunk = following
    return found


def _documents(page: _Page, pages: dict[int, bytes]) -> Iterator[tuple[Any, ...]]:
    data, start = page.data, 100 if page.number == 1 else 0
    if data[start] != LEAF:
        return
    cells = struct.unpack_from(">H", data, start + 3)[0]
    if start + 8 + 2 * cells > PAGE:
        return
    for place in struct.unpack_from(f">{cells}H", data, start + 8):
        try:
            size, at = _number(data, place)
            row, at = _number(data, at)
            values = _values(_payload(data, at, size, pages))
        except (IndexError, ValueError, struct.error):
            continue
        if len(values) in COLUMNS:
            # SQLite stores a whole number in a column of REAL as an integer.
            share = float(values[4]) if isinstance(values[4], int) else values[4]
            yield (row, *values[1:4], share, *values[5:])


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of 1 to 9 bytes, and the position of its end."""
    value = 0
    for length in range(8):
        byte = data[at + length]
        value = value << 7 | byte & 127
        if byte < 128:
            return value, at + length + 1
    return value << 8 | data[at + 8], at + 9


def _payload(data: bytes, at: int, size: int, pages: dict[int, bytes]) -> bytes:
    """A record; all but its first part may be on overflow pages."""
    if size > LARGEST:
        raise ValueError("the size of a record is impossible")
    most, least = PAGE - 35, (PAGE - 12) * 32 // 255 - 23
    if size <= most:
        if at + size > PAGE:
            raise ValueError("a record ends outside of its page")
        return data[at : at + size]
    local = least + (size - least) % (PAGE - 4)
    local = local if local <= most else least
    parts = [data[at : at + local]]
    left, following = size - local, struct.unpack_from(">I", data, at + local)[0]
    passed: set[int] = set()
    while left > 0:
        if following not in pages or following in passed:
            raise ValueError("a record continues on a page that does not exist")
        passed.add(following)
        more = pages[following]
        parts.append(more[4 : 4 + min(left, PAGE - 4)])
        left -= len(parts[-1])
        following = struct.unpack_from(">I", more)[0]
    return b"".join(parts)


def _values(record: bytes) -> list[Any]:
    end, at = _number(record, 0)
    kinds = []
    while at < end:
        kind, at = _number(record, at)
        kinds.append(kind)
        if len(kinds) > max(COLUMNS):
            return []
    values: list[Any] = []
    for kind in kinds:
        size = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind] if kind < 10 else (kind - 12) // 2
        if kind in (10, 11) or at + size > len(record):
            raise ValueError("a value ends outside of its record")
        part = record[at : at + size]
        at += size
        if kind == 0:
            values.append(None)
        elif kind == 7:
            values.append(struct.unpack(">d", part)[0])
        elif kind < 10:
            values.append(kind - 8 if kind > 7 else int.from_bytes(part, "big", signed=True))
        else:
            values.append(part.decode("utf-8", "strict") if kind % 2 else part)
    return values
