"""Column files: the checksummed format that all segment files use, and its reader.

docs/reference/format.md, "Column file", describes the format.
"""

from __future__ import annotations

import mmap
import os
import struct
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError, FormatError
from neardup.storage.regular_file import open_regular
from neardup.values.distinct import distinct
from neardup.values.posix import require
from neardup.values.threads import check_threads

__all__ = [
    "BLOCK",
    "MOST_SCHEME",
    "PAGE",
    "Closing",
    "Column",
    "ColumnFile",
    "Header",
    "aligned",
    "pieces",
    "xxh3",
]

BLOCK = 65536
"""Bytes under one checksum in large columns: checking 64 KiB takes microseconds and one page fault."""

PAGE = 4096
MOST_SCHEME = 3072
VERSION = 1
_ALIGN, _MOST_COLUMNS = 64, 16
_HEAD = struct.Struct("<8sIIIIQQQQII")
_COLUMN = struct.Struct("<8sQQQ")
_TABLE_SEED = 2**64 - 1


def xxh3(data: bytes | NDArray[np.uint8], seed: int) -> int:
    """The checksum of some bytes."""
    flat: NDArray[np.uint8] = np.frombuffer(data, np.uint8)
    if not len(flat):
        return 0
    return int(_core.block_checksums(flat, len(flat), seed, np.zeros(1, np.int64))[0])


def aligned(at: int) -> int:
    """The first position where the next column or the checksum table may start."""
    return -(-at // _ALIGN) * _ALIGN


def pieces(length: int, block: int) -> int:
    """The number of blocks for this many bytes."""
    return -(-length // block)


class Closing(ABC):
    """An object with open files; a `with` block closes them at its end."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class Column:
    """One column as described in the header: its position, and the size of a block under one checksum, in bytes."""

    name: str
    start: int
    length: int
    block: int


@dataclass(frozen=True)
class Header:
    """The first page of a column file, without the fields that are computed from the rest."""

    magic: bytes
    flags: int
    bits: int
    count: int
    parameter: int
    scheme: str
    columns: tuple[Column, ...]

    def pack(self, length: int, table_at: int, table: NDArray[np.uint64]) -> bytes:
        """The page, for a file of this length with this checksum table."""
        scheme = self.scheme.encode()
        page = _HEAD.pack(
            self.magic, VERSION, self.flags, self.bits, len(self.columns), self.count, length, table_at,
            xxh3(table.view(np.uint8), _TABLE_SEED), self.parameter, len(scheme),
        )  # fmt: skip
        for column in self.columns:
            page += _COLUMN.pack(column.name.encode(), column.start, column.length, column.block)
        page = (page + scheme).ljust(PAGE - 8, b"\0")
        return page + struct.pack("<Q", xxh3(page, 0))


class ColumnFile:
    """A column file, opened for reading. Header and layout are checked at once, columns when they are used.

    The file must not change while it is open; neardup never changes such files, it only replaces them.
    """

    def __init__(self, path: str | os.PathLike[str], magic: bytes, known_flags: int = 0) -> None:
        require(os, "preadv", "the reading of segment files")
        self.path = Path(path)
        self._fd = open_regular(self.path)
        self._close = weakref.finalize(self, os.close, self._fd)
        try:
            self._read_header(magic, known_flags)
        except BaseException:
            self._close()
            raise

    def _read_header(self, magic: bytes, known_flags: int) -> None:
        size = os.fstat(self._fd).st_size
        page = os.pread(self._fd, PAGE, 0) if size >= PAGE else b""
        if len(page) < PAGE:
            raise self.damage(f"a header of {PAGE} bytes", f"a file of {size} bytes")
        found, version, flags, bits, columns, count, length, table, sums, parameter, scheme = (
            _HEAD.unpack_from(page)
        )
        if found != magic:
            raise self.damage(f"magic {magic!r}", repr(found))
        if xxh3(page[: PAGE - 8], 0) != struct.unpack_from("<Q", page, PAGE - 8)[0]:
            raise self.damage("a header that fits its checksum", "a damaged header")
        if version != VERSION:
            raise self.damage(f"version {VERSION}", f"version {version}")
        if flags & ~known_flags:
            raise self.damage("flags this version knows", f"flags {flags:#x}")
        if length != size:
            raise self.damage(f"{length} bytes", f"{size}")
        if bits not in (32, 64, 128) or columns > _MOST_COLUMNS or scheme > MOST_SCHEME:
            got = f"{bits} bits, {columns} columns, a scheme of {scheme} bytes"
            raise self.damage("a header within bounds", got)
        entries, at, checks = [], PAGE, 0
        for index in range(columns):
            name, start, length, block = _COLUMN.unpack_from(page, _HEAD.size + index * _COLUMN.size)
            if start != at or length > size or not 8 <= block <= 2**24:
                got = f"{length} bytes at {start} in blocks of {block}"
                raise self.damage(f"column {index} at {at}", got)
            entries.append(Column(name.rstrip(b"\0").decode("ascii", "replace"), start, length, block))
            at = aligned(at + length)
            checks += pieces(length, block)
        if table != at or at + 8 * checks != size:
            raise self.damage(f"a file of {at + 8 * checks} bytes", f"{size}")
        names = _HEAD.size + columns * _COLUMN.size
        try:
            text = page[names : names + scheme].decode()
        except UnicodeDecodeError:
            raise self.damage("a scheme in UTF-8", "other bytes") from None
        self.seal = page[-8:].hex()  # by way of the table's checksum it covers every byte of the columns
        self.header = Header(magic, flags, bits, count, parameter, text, tuple(entries))
        self._index = {column.name: index for index, column in enumerate(entries)}
        # All sizes fit the file, so the mapping contains every byte that is used from here on.
        self._map = mmap.mmap(self._fd, 0, prot=mmap.PROT_READ)
        self._bytes: NDArray[np.uint8] = np.frombuffer(self._map, np.uint8)
        if xxh3(self._bytes[at:], _TABLE_SEED) != sums:
            raise self.damage("a checksum table that fits its checksum", "a damaged one")
        every = self._bytes[at:].view("<u8").astype(np.uint64, copy=False)
        cuts = np.cumsum([pieces(column.length, column.block) for column in entries])
        self._sums = np.split(every, cuts[:-1]) if columns else []
        self._checked = [np.zeros(len(part), bool) for part in self._sums]

    def damage(self, expected: str, got: str) -> FormatError:
        """The error to raise when this file is damaged."""
        return FormatError(self.path, expected, got)

    def expect(self, sizes: dict[str, tuple[int, int]]) -> None:
        """Raise FormatError unless the columns are these, in this order, with these lengths and blocks."""
        got = {column.name: (column.length, column.block) for column in self.header.columns}
        if got != sizes or list(got) != list(sizes):
            raise self.damage(f"columns (bytes, block) {sizes}", f"{got}")

    def close(self) -> None:
        """Close the file; arrays that were read from it remain valid."""
        self._close()

    def release(self) -> None:
        """Release the memory of mapped pages; the system still caches them, or reads them again."""
        self._map.madvise(mmap.MADV_DONTNEED)

    def has(self, name: str) -> bool:
        """Whether there is such a column."""
        return name in self._index

    def length(self, name: str) -> int:
        """Bytes of a column."""
        return self._column(name)[1].length

    def checksums(self, name: str) -> tuple[NDArray[np.uint64], int]:
        """A column's checksums and the seed of the first one, for kernels that check blocks while they decode."""
        index, _ = self._column(name)
        return self._sums[index], index << 48

    def unchecked(self, name: str) -> NDArray[np.uint8]:
        """A column as stored in the file, unchecked. For callers that check what they use."""
        _, column = self._column(name)
        return self._bytes[column.start : column.start + column.length]

    def check_spans(self, name: str, begins: NDArray[np.int64], ends: NDArray[np.int64]) -> None:
        """Check the blocks of a column of whole blocks of BLOCK bytes in which these spans are."""
        blocks = np.zeros(-(-self.length(name) // BLOCK) + 1, np.int64)
        # How many spans begin in or before each block, less those that ended before it: above 0, it is needed.
        filled = ends > begins
        np.add.at(blocks, begins[filled] // BLOCK, 1)
        np.add.at(blocks, (ends[filled] - 1) // BLOCK + 1, -1)
        self.check(name, np.flatnonzero(np.cumsum(blocks[:-1])))

    def check(self, name: str, blocks: Iterable[int] | NDArray[np.int64], threads: int = 1) -> None:
        """FormatError unless the checksums of these blocks are right; each block is checked only once."""
        index, column = self._column(name)
        which = distinct(np.asarray(blocks, dtype=np.int64))
        which, threads = which[~self._checked[index][which]], check_threads(threads)
        if not len(which):
            return
        got = _core.block_checksums(self.unchecked(name), column.block, index << 48, which, threads)
        self._compare(index, which, got)
        self._checked[index][which] = True

    def column(self, name: str, threads: int = 1) -> NDArray[np.uint8]:
        """A whole column, checked, as a read-only view of the file."""
        index, _ = self._column(name)
        self.check(name, np.arange(len(self._sums[index])), threads)
        return self.unchecked(name)

    def read(self, name: str, start: int, stop: int, threads: int = 1) -> NDArray[np.uint8]:
        """A copy of bytes start to stop of a column, checked; it is read without the mapping, so it uses no more
        memory."""
        index, column = self._column(name)
        threads = check_threads(threads)
        if not 0 <= start <= stop <= column.length:
            raise ConfigError(f"column {name} has {column.length} bytes, not {start} to {stop}")
        if start == stop:
            return np.empty(0, np.uint8)
        first, last = start // column.block, pieces(stop, column.block)
        low, high = first * column.block, min(last * column.block, column.length)
        buffer = np.empty(high - low, np.uint8)
        view, at = buffer.data, column.start + low
        while len(view):
            done = os.preadv(self._fd, [view[: 1 << 30]], at)
            if done == 0:
                raise self.damage(f"{column.length} bytes of {name}", "the end of the file")
            view, at = view[done:], at + done
        seed = (index << 48) + first
        got = _core.block_checksums(buffer, column.block, seed, np.arange(last - first), threads)
        self._compare(index, np.arange(first, last), got)
        return buffer[start - low : stop - low]

    def verify(self, threads: int = 1) -> None:
        """Check every block of every column, and that the gaps between them are empty."""
        end = PAGE
        for column in self.header.columns:
            self.column(column.name, threads)
            if self._bytes[end : column.start].any():
                raise self.damage("zeros between columns", "other bytes")
            end = column.start + column.length

    def _column(self, name: str) -> tuple[int, Column]:
        if name not in self._index:
            raise self.damage(f"a column {name}", f"columns {', '.join(self._index) or 'none'}")
        return self._index[name], self.header.columns[self._index[name]]

    def _compare(self, index: int, which: NDArray[np.int64], got: NDArray[np.uint64]) -> None:
        bad = np.flatnonzero(got != self._sums[index][which])
        if len(bad):
            column = self.header.columns[index]
            at = column.start + int(which[bad[0]]) * column.block
            raise self.damage(f"column {column.name} as written", f"a damaged block at byte {at}")
