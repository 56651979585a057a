"""The pages of a Parquet column, from their headers: a page is decoded whole, so a reader must know how large one is,
and how many rows may be decoded at a time.

A header is a Thrift structure in the compact protocol (parquet.thrift, PageHeader). Its first field is the kind of
page, its second and third are the page's size decompressed and as stored, and the first field of one of its structures
is the number of values. The rest is only walked over, to find where the page begins. Sizes in the footer of the file
are not used: they could be forged, while a page whose header does not fit cannot be decoded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from neardup.readers.parquet_footer import ColumnChunk
from neardup.readers.thrift import STRUCTURE, WHOLE, CompactReader

__all__ = ["DICTIONARY", "PageHeader", "Pages", "headers_of", "pages_of", "rows_at_a_time"]

_HEADERS = (
    1 << 10,
    1 << 16,
    1 << 20,
    1 << 24,
)  # bytes of a header that are read; Arrow reads up to the last, too
_MOST_PAGES = 100_000
DICTIONARY = 2  # a kind of page
_COUNTED = {0: 5, DICTIONARY: 7, 3: 8}  # the structure that has the number of values, by the kind of page


@dataclass(frozen=True)
class Pages:
    """The pages of values of one column chunk: decompressed bytes and values of each. `dictionary` is the size of the
    dictionary page, decompressed, and `longest` that of its longest value. In a column with `lists`, `values` are the
    rows that begin in a page, and `longest` is the size of the longest row."""

    sizes: NDArray[np.int64]
    values: NDArray[np.int64]
    dictionary: int = 0
    longest: int = 0
    lists: bool = False

    @classmethod
    def one(cls, size: int, values: int) -> Pages:
        """A single page."""
        return cls(np.array([size], np.int64), np.array([values], np.int64))

    @property
    def largest(self) -> int:
        return max(int(self.sizes.max(initial=0)), self.dictionary)

    def bytes_of(self, rows: int) -> int:
        """The most bytes that so many rows in sequence can hold once they are decoded: all pages that they touch, and a
        value of the dictionary for each."""
        ends = np.cumsum(self.values)
        before = np.concatenate([[0], np.cumsum(self.sizes)])
        # The rows begin at the last value of one page, and end `rows - 1` values behind it; with lists, the last one
        # ends where the next begins.
        behind = rows - 1 if self.lists else rows - 2
        last = np.minimum(np.searchsorted(ends, ends + behind, side="right"), max(len(ends) - 1, 0))
        touched = before[last + 1] - before[:-1]
        return int(touched.max(initial=0)) + rows * self.longest


def rows_at_a_time(columns: Sequence[Pages], most: int, batch: int) -> tuple[int, int]:
    """How many rows of some columns can be decoded at once, at most `batch`, and what the largest page takes: no column
    may take more than `most` bytes, and all together no more than twice as much. 0 if that is too much for one row."""
    largest = max((pages.largest for pages in columns), default=0)
    if largest > most:
        return 0, largest
    while batch:
        sizes = [pages.bytes_of(batch) for pages in columns]
        if max(sizes, default=0) <= most and sum(sizes) <= 2 * most:
            return batch, largest
        batch //= 2
    return 0, largest


@dataclass(frozen=True, slots=True)
class PageHeader:
    """The header of a page: its kind, its size decompressed and as stored, its number of values, and where its bytes
    begin. `counts` are the whole numbers of the structure of its kind."""

    kind: int
    size: int
    stored: int
    values: int
    begin: int
    counts: dict[int, int]


def headers_of(file: BinaryIO, chunk: ColumnChunk) -> list[PageHeader] | None:
    """The headers of the pages of a column chunk. None if they are damaged, or there are too many. The position of the
    file is not kept."""
    starts = [chunk.data_page_offset]
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        starts.append(chunk.dictionary_page_offset)
    at = min(starts)
    end = at + chunk.total_compressed_size
    found: list[PageHeader] = []
    for _ in range(_MOST_PAGES):
        if at >= end:
            return found
        header = _header(file, at, end)
        if header is None:
            return None
        if header.kind in _COUNTED:
            found.append(header)
        at = header.begin + header.stored
    return None


def pages_of(file: BinaryIO, chunk: ColumnChunk) -> Pages | None:
    """The pages of a column chunk. None if its headers are damaged, or there are too many. The position of the file is
    not kept."""
    headers = headers_of(file, chunk)
    if headers is None:
        return None
    found = [(header.size, header.values) for header in headers if header.kind != DICTIONARY]
    sizes, values = np.array(found, np.int64).reshape(-1, 2).T
    dictionary = max((header.size for header in headers if header.kind == DICTIONARY), default=0)
    shared = "DELTA_BYTE_ARRAY" in chunk.encodings  # a value may repeat the one before it without its bytes
    return Pages(sizes, values, dictionary, max(dictionary, int(sizes.max(initial=0)) if shared else 0))


def _header(file: BinaryIO, at: int, end: int) -> PageHeader | None:
    """The header of the page at a place."""
    for most in _HEADERS:
        file.seek(at)
        header = CompactReader(file.read(min(most, end - at)))
        try:
            fields, inner = _numbers(header)
        except (IndexError, ValueError, RecursionError):
            continue
        kind, size, stored = (fields.get(field, -1) for field in (1, 2, 3))
        counts = inner.get(_COUNTED.get(kind, 0), {})
        many = counts.get(1, 0)
        if min(kind, size, stored, many) < 0:
            return None
        return PageHeader(kind, size, stored, many, at + header.at, counts)
    return None


def _numbers(header: CompactReader) -> tuple[dict[int, int], dict[int, dict[int, int]]]:
    """The whole numbers among the fields of a structure, by their numbers, and those of the structures in it."""
    found: dict[int, int] = {}
    inner: dict[int, dict[int, int]] = {}
    for number, kind in header.fields():
        if kind == STRUCTURE:
            inner[number] = _numbers(header)[0]
        elif kind in WHOLE:
            found[number] = header.whole()
        else:
            header.skip(kind)
    return found, inner
