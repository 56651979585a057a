"""Lists in Parquet columns: which pages hold a row, and how many values the longest row has.

A row of a column with lists is all its values: it may begin in one page and end many pages later. Where rows begin is
in the repetition levels at the beginning of each page: a value of level 0 begins a row. Levels are runs of one value,
or groups of eight packed values (the RLE / bit-packing hybrid of the specification).
"""

from __future__ import annotations

from dataclasses import replace
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from neardup.readers.arrow_sizes import OBJECT
from neardup.readers.parquet_footer import ColumnChunk
from neardup.readers.parquet_pages import DICTIONARY, PageHeader, Pages, headers_of

__all__ = ["RowLengths", "list_pages"]

_RLE = 3  # the encoding of levels
_SECOND = 3  # the kind of a page of version 2
_CODECS = {"LZ4": "lz4_raw"}


def list_pages(file: BinaryIO, chunk: ColumnChunk, pages: Pages, levels: int, most: int) -> Pages:
    """The pages of a column with lists, by the rows that begin in each. If that is not known, one page as large as all.
    A column of at most so many bytes is one page, too: it does not matter where its rows begin."""
    values = int(pages.values.sum())
    whole = int(pages.sizes.sum()) + pages.dictionary + values * (OBJECT + pages.longest)
    if whole <= most:
        return Pages.one(whole, 1)
    if pages.largest > most:
        return pages
    rows, begun, longest = RowLengths(levels), list[int](), 0
    for header in headers_of(file, chunk) or ():
        if header.kind == DICTIONARY:
            longest = _longest(file, chunk, header)
        else:
            found = rows.add(_levels(file, chunk, header), header.values)
            if found is None:
                return Pages.one(whole, 1)
            begun.append(found)
    # A value of a dictionary counts for each place that has it.
    return replace(
        pages, values=np.array(begun, np.int64), longest=rows.longest * (OBJECT + longest), lists=True
    )


class RowLengths:
    """The values of the longest row, from the levels of one page after the other."""

    def __init__(self, levels: int) -> None:
        self._width = max(levels, 1).bit_length()
        self._now = 0
        self.longest = 0

    def add(self, data: bytes | None, values: int) -> int | None:
        """How many rows begin in a page with these levels. None if they are damaged."""
        if data is None:
            return None
        begun, at = 0, 0
        while values > 0:
            head = shift = 0
            while True:
                if at >= len(data) or shift > 35:
                    return None
                head |= (data[at] & 127) << shift
                at, shift = at + 1, shift + 7
                if data[at - 1] < 128:
                    break
            many = head >> 1
            if many == 0:
                return None
            if head & 1:
                packed = data[at : at + many * self._width]
                at += many * self._width
                level = self._unpacked(packed)[:values]
                if not len(level):
                    return None
                begun += self._gaps(np.flatnonzero(level == 0), len(level))
                values -= len(level)
            else:
                size = (self._width + 7) // 8
                zero = not any(data[at : at + size])
                at, many = at + size, min(many, values)
                if zero:
                    begun += self._gaps(np.zeros(1, np.int64), 1) + many - 1
                else:
                    self._gaps(np.zeros(0, np.int64), many)
                values -= many
        return begun

    def _gaps(self, begins: NDArray[np.int64], many: int) -> int:
        """Rows begin at these places among so many values."""
        if not len(begins):
            self._now += many
        else:
            longest = max(self._now + int(begins[0]), int(np.diff(begins).max(initial=0)))
            self.longest, self._now = max(self.longest, longest), many - int(begins[-1])
        self.longest = max(self.longest, self._now)
        return len(begins)

    def _unpacked(self, packed: bytes) -> NDArray[np.int64]:
        bits = np.unpackbits(np.frombuffer(packed, np.uint8), bitorder="little")
        levels = bits[: len(bits) // self._width * self._width].reshape(-1, self._width)
        return np.asarray((levels.astype(np.int64) << np.arange(self._width)).sum(axis=1))


def _levels(file: BinaryIO, chunk: ColumnChunk, page: PageHeader) -> bytes | None:
    """The repetition levels of a page; None if they are unknown."""
    if page.kind == _SECOND:
        file.seek(page.begin)
        return file.read(page.counts.get(6, 0))  # never compressed
    if page.counts.get(4, _RLE) != _RLE:
        return None
    data = _decompressed(file, chunk, page)
    if data is None:
        return None
    return data[4 : 4 + int.from_bytes(data[:4], "little")]


def _longest(file: BinaryIO, chunk: ColumnChunk, page: PageHeader) -> int:
    """The longest value of a dictionary; at most the whole page."""
    if chunk.physical_type != "BYTE_ARRAY":
        return 16
    data = _decompressed(file, chunk, page)
    if data is None:
        return page.size
    at = longest = 0
    for _ in range(page.values):
        size = int.from_bytes(data[at : at + 4], "little")
        longest, at = max(longest, size), at + 4 + size
        if at >= len(data):
            break
    return min(longest, page.size)


def _decompressed(file: BinaryIO, chunk: ColumnChunk, page: PageHeader) -> bytes | None:
    """The bytes of a page; None if its compression is not known, or it is damaged."""
    import pyarrow as pa

    file.seek(page.begin)
    data = file.read(page.stored)
    if chunk.compression == "UNCOMPRESSED":
        return data
    try:
        codec = _CODECS.get(chunk.compression, chunk.compression.lower())
        return bytes(pa.decompress(data, decompressed_size=page.size, codec=codec, asbytes=True))
    except (pa.ArrowException, OSError, ValueError):
        return None
