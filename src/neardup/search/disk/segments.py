"""Segment files: sorted codes and their row numbers, mapped and checked as they are used.

docs/reference/format.md, "Segment file", has the bytes. segment_writer.py makes segments larger than memory.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError, DataError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.codes import check_radius, check_scheme, rows_and_words, to_codes
from neardup.search.interface import Hits
from neardup.storage.column_file import BLOCK, Closing, ColumnFile, pieces
from neardup.storage.column_writer import ColumnFileWriter
from neardup.values.checks import checked, checked_methods
from neardup.values.threads import check_threads

__all__ = [
    "Chunk",
    "Segment",
    "SortedSegment",
    "StoredCodes",
    "prefix_range",
    "sort_chunk",
    "sorted_hits",
    "words_of",
    "write_segment",
]


class Chunk(NamedTuple):
    """Some codes of a stored set, ascending, and their row numbers: uint64[n, words] and int64[n]."""

    codes: NDArray[np.uint64]
    rows: NDArray[np.int64]


def words_of(bits: int) -> int:
    """64-bit words of a code."""
    return (bits + 63) // 64


def sorted_hits(query: NDArray[np.int64], row: NDArray[np.int64], distance: NDArray[np.uint8]) -> Hits:
    """Hits from columns in any order."""
    order = np.lexsort((row, query))
    return Hits(query[order], row[order], distance[order])


def sort_chunk(codes: NDArray[np.uint64], rows: NDArray[np.int64], bits: int) -> Chunk:
    """Codes in any order as a sorted chunk, their shape, type and width checked."""
    check_radius(0, bits)
    words = rows_and_words(to_codes(np.asarray(codes), bits), bits)[1]
    numbers = np.ascontiguousarray(rows)
    if numbers.dtype != np.int64 or numbers.shape != (len(words),):
        raise DataError(f"rows must be int64[{len(words)}], not {numbers.dtype}{list(numbers.shape)}")
    return Chunk(*_core.sort_codes(words, numbers))


@checked_methods
class StoredCodes(Closing):
    """Ascending codes of one scheme in a file, opened: a Segment or a CompressedSegment."""

    path: Path
    bits: int
    scheme: str
    _file: ColumnFile
    _count: int

    def __init__(self, file: ColumnFile) -> None:
        header = file.header
        self._file, self._count = file, header.count
        self.path, self.bits, self.scheme = file.path, header.bits, header.scheme

    def __len__(self) -> int:
        return self._count

    def close(self) -> None:
        """Close the file; arrays taken from it remain valid."""
        self._file.close()

    @property
    def nbytes(self) -> int:
        """Size of the file."""
        return self.path.stat().st_size

    @abstractmethod
    def verify(self, *, threads: int = 1) -> None:
        """Read and check the whole file; FormatError when anything is amiss."""

    @abstractmethod
    def read(self, start: int, stop: int, *, threads: int = 1) -> Chunk:
        """A checked copy of places start to stop."""

    def chunks(self, size: int, *, threads: int = 1) -> Iterator[Chunk]:
        """The whole file in order, `size` codes at a time."""
        if size < 1:
            raise ConfigError(f"a chunk must have at least one code, not {size}")
        for start in range(0, self._count, size):
            yield self.read(start, min(start + size, self._count), threads=threads)

    def _check_places(self, start: int, stop: int) -> None:
        if not 0 <= start <= stop <= self._count:
            raise ConfigError(f"this segment has {self._count} codes, not {start} to {stop}")

    def _words_asked(
        self, queries: Codes, radius: int, prefix: int
    ) -> tuple[NDArray[np.int64] | None, NDArray[np.uint64]]:
        """The rows and words of queries, after all arguments of a search are checked."""
        check_radius(radius, self.bits)
        if not 0 <= prefix <= self.bits:
            raise ConfigError(f"prefix must be from 0 to {self.bits} bits, not {prefix}")
        check_scheme(queries, self.scheme)
        return rows_and_words(queries, self.bits)


class SortedSegment:
    """Writes a segment from chunks already in order, `count` codes in all; to be used in a `with`."""

    def __init__(self, path: str | os.PathLike[str], count: int, scheme: str, bits: int) -> None:
        width = 8 * words_of(bits)
        self._count, self._step, self._done = count, BLOCK // width, 0
        columns = [
            ("fences", BLOCK, pieces(count * width, BLOCK) * width),
            ("codes", BLOCK, count * width),
            ("rows", BLOCK, count * 8),
        ]
        self._file = ColumnFileWriter(
            path, magic=Segment.MAGIC, flags=0, bits=bits, scheme=scheme, parameter=0, columns=columns
        )
        self._last: NDArray[np.uint64] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._file.finish(self._count)
        finally:
            self._file.__exit__(kind, error, trace)

    def add(self, chunk: Chunk, threads: int = 1) -> None:
        """The next codes; DataError when they are not in order."""
        if not len(chunk.codes):
            return
        seam = chunk.codes[:1] if self._last is None else np.concatenate([self._last, chunk.codes[:1]])
        if not _core.is_ascending(seam) or not _core.is_ascending(chunk.codes):
            raise DataError("the codes of a segment must ascend")
        self._file.append("fences", chunk.codes[-self._done % self._step :: self._step])
        self._file.append("codes", chunk.codes, threads)
        self._file.append("rows", chunk.rows, threads)
        self._done += len(chunk.codes)
        self._last = chunk.codes[-1:].copy()


@checked
def write_segment(
    path: str | os.PathLike[str],
    codes: NDArray[np.uint64],
    rows: NDArray[np.int64],
    scheme: str,
    bits: int,
    *,
    threads: int = 1,
) -> None:
    """Sort codes (uint64[n] or uint64[n, words]) with their rows and save them as one segment file.

    Sorting takes twice the columns' size beside them; SegmentWriter does with less.
    """
    check_threads(threads)
    chunk = sort_chunk(codes, rows, bits)
    with SortedSegment(path, len(chunk.rows), scheme, bits) as segment:
        segment.add(chunk, threads)


@checked_methods
class Segment(StoredCodes):
    """A segment file, opened. Opening reads only the header and the fences, about 1/4,000 of the file."""

    MAGIC = b"\x89NDseg\r\n"

    @checked
    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(ColumnFile(path, self.MAGIC))
        self._width = 8 * words_of(self.bits)
        self._step = BLOCK // self._width
        fences = pieces(self._count, self._step) * self._width
        self._file.expect(
            {
                "fences": (fences, BLOCK),
                "codes": (self._count * self._width, BLOCK),
                "rows": (self._count * 8, BLOCK),
            }
        )
        if parameter := self._file.header.parameter:
            raise self._file.damage("parameter 0", f"{parameter}")
        self._fences = self._as_codes(self._file.column("fences"))

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Segment:
        """Open a file that write_segment or SegmentWriter made; FormatError when it is anything else."""
        return cls(path)

    @property
    def codes(self) -> NDArray[np.uint64]:
        """All codes, ascending: a read-only view of the file, checked on first use."""
        return self._as_codes(self._file.column("codes"))

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row number of each code: a read-only view of the file, checked on first use."""
        return self._file.column("rows").view(np.int64)

    def read(self, start: int, stop: int, *, threads: int = 1) -> Chunk:
        """A checked copy of places start to stop; it needs no other memory."""
        self._check_places(start, stop)
        codes = self._file.read("codes", start * self._width, stop * self._width, threads)
        rows = self._file.read("rows", start * 8, stop * 8, threads)
        return Chunk(self._as_codes(codes), rows.view(np.int64))

    def search(self, queries: Codes, radius: int, prefix: int, *, threads: int = 1) -> Hits:
        """The stored rows that share a query's top `prefix` bits and are at most `radius` bits away.

        Only the blocks that can hold the prefix are read and checked. With prefix 0 this is a full scan.
        """
        asked, words = self._words_asked(queries, radius, prefix)
        first, last = self._blocks_of(words, prefix)
        marks = np.zeros(len(self._fences) + 1, np.int64)
        np.add.at(marks, first, 1)
        np.add.at(marks, last, -1)
        self._file.check("codes", np.flatnonzero(np.cumsum(marks) > 0), threads)
        codes = self._as_codes(self._file.unchecked("codes"))
        starts, stops = first * self._step, np.minimum(last * self._step, self._count)
        query, place, distance = _core.search_prefix(
            codes, words, starts, stops, self.bits, prefix, radius, threads
        )
        self._file.check("rows", place * 8 // BLOCK, threads)
        row = self._file.unchecked("rows").view(np.int64)[place]
        return sorted_hits(query if asked is None else asked[query], row, distance)

    def verify(self, *, threads: int = 1) -> None:
        """Read and check the whole file: checksums, order, fences; FormatError when anything is amiss."""
        self._file.verify(threads)
        codes = self.codes
        if not _core.is_ascending(codes) or not np.array_equal(codes[:: self._step], self._fences):
            raise self._file.damage("ascending codes and their fences", "codes out of order")

    def _blocks_of(
        self, words: NDArray[np.uint64], prefix: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The blocks, first to last - 1, that can hold codes with the queries' prefixes."""
        low, high = prefix_range(words, self.bits, prefix)
        # A fence is its block's first code, so the block before the first one not below `low` counts too.
        first = np.maximum(_core.bounds(self._fences, low)[0] - 1, 0)
        last = _core.bounds(self._fences, high, after=True)[0]
        return first, np.maximum(first, last)

    def _as_codes(self, data: NDArray[np.uint8]) -> NDArray[np.uint64]:
        return data.view(np.uint64).reshape(-1, words_of(self.bits))


def prefix_range(
    words: NDArray[np.uint64], bits: int, prefix: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The lowest and the highest code that share each code's top `prefix` bits."""
    below = (1 << (bits - prefix)) - 1
    mask = np.array([below >> (64 * i) & (2**64 - 1) for i in range(words_of(bits))], np.uint64)
    return words & ~mask, words | mask
