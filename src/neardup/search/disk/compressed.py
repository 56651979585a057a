"""Compressed segment files: sorted codes in Huffman-coded blocks, searched without unpacking the rest.

Manku, Jain and Das Sarma 2007, section 3.2; docs/reference/format.md, "Compressed segment file", has the bytes. On
uniform codes a code of f bits among 2^d takes f - d + 3.6 bits in the blocks; their directory adds 2.3 %.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.codes import check_radius
from neardup.search.disk.segments import Chunk, StoredCodes, sort_chunk, sorted_hits, words_of
from neardup.search.interface import Hits
from neardup.storage.column_file import BLOCK, ColumnFile, pieces
from neardup.storage.column_writer import ColumnFileWriter
from neardup.values.checks import checked, checked_methods
from neardup.values.threads import check_threads

__all__ = ["CompressedSegment", "PrefixMatches", "compress_segment", "write_compressed"]

_HAS_ROWS = 1
_CHUNK = 1 << 20


class PrefixMatches(NamedTuple):
    """Stored codes with a query's prefix: query `query[i]`, place in the order, code uint64[n, words]."""

    query: NDArray[np.int64]
    place: NDArray[np.int64]
    codes: NDArray[np.uint64]


@checked
def write_compressed(
    path: str | os.PathLike[str],
    codes: NDArray[np.uint64],
    rows: NDArray[np.int64] | None,
    scheme: str,
    bits: int,
    *,
    block: int = 1024,
) -> None:
    """Sort codes (uint64[n] or uint64[n, words]) and save them compressed, in blocks of `block` bytes.

    Without rows the file holds only codes, as in the paper: a code's row number is its place in the order.
    """
    held = np.arange(len(codes)) if rows is None else rows
    chunk = sort_chunk(codes, held, bits)
    _write(path, lambda: [chunk], len(held), scheme, bits, block, rows is not None)


@checked
def compress_segment(
    segment: StoredCodes, path: str | os.PathLike[str], *, block: int = 1024, rows: bool = True
) -> None:
    """Save a stored segment compressed, with or without its rows; reads it twice, a chunk at a time."""

    def chunks() -> Iterator[Chunk]:
        return segment.chunks(_CHUNK)

    _write(path, chunks, len(segment), segment.scheme, segment.bits, block, rows)


def _write(
    path: str | os.PathLike[str],
    chunks: Callable[[], Iterable[Chunk]],
    count: int,
    scheme: str,
    bits: int,
    block: int,
    rows: bool,
) -> None:
    check_radius(0, bits)
    if not 64 <= block <= 65536 or block % 8:
        raise ConfigError(f"a block must have 64 to 65,536 bytes, in multiples of 8, not {block}")
    lengths = _core.huffman_lengths(_leading_counts(chunks(), bits))
    columns: list[tuple[str, int, int | None]] = [("lengths", BLOCK, bits + 1)]
    columns += [("rows", BLOCK, 8 * count)] if rows else []
    columns += [("blocks", block, None), ("keys", BLOCK, None), ("starts", BLOCK, None)]
    encoder = _core.BlockEncoder(bits, block, lengths)
    with ColumnFileWriter(
        path,
        magic=CompressedSegment.MAGIC,
        flags=_HAS_ROWS if rows else 0,
        bits=bits,
        scheme=scheme,
        parameter=block,
        columns=columns,
    ) as file:
        file.append("lengths", lengths)
        for chunk in chunks():
            if rows:
                file.append("rows", chunk.rows)
            _append_blocks(file, *encoder.add(chunk.codes))
        _append_blocks(file, *encoder.finish())
        file.finish(count)


def _append_blocks(
    file: ColumnFileWriter, blocks: NDArray[np.uint8], keys: NDArray[np.uint64], starts: NDArray[np.uint64]
) -> None:
    file.append("blocks", blocks)
    file.append("keys", keys)
    file.append("starts", starts)


def _leading_counts(chunks: Iterable[Chunk], bits: int) -> NDArray[np.uint64]:
    """How often each place is that of the highest differing bit of two successive codes, across chunks."""
    total = np.zeros(bits + 1, np.uint64)
    last = np.empty((0, words_of(bits)), np.uint64)
    for chunk in chunks:
        total += _core.leading_counts(chunk.codes, bits)
        total += _core.leading_counts(np.concatenate([last, chunk.codes[:1]]), bits)
        last = chunk.codes[-1:] if len(chunk.codes) else last
    return total


@checked_methods
class CompressedSegment(StoredCodes):
    """A compressed segment, opened. Opening reads its directory; blocks are checked when unpacked."""

    MAGIC = b"\x89NDcmp\r\n"

    @checked
    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(ColumnFile(path, self.MAGIC, _HAS_ROWS))
        header = self._file.header
        self.block = header.parameter
        self.has_rows = bool(header.flags & _HAS_ROWS)
        if not 64 <= self.block <= 65536 or self.block % 8:
            raise self._file.damage("blocks of 64 to 65,536 bytes", f"{self.block}")
        blocks = pieces(self._file.length("blocks"), self.block)
        expected = {"lengths": (self.bits + 1, BLOCK)}
        expected |= {"rows": (8 * self._count, BLOCK)} if self.has_rows else {}
        expected |= {
            "blocks": (blocks * self.block, self.block),
            "keys": (blocks * 8 * words_of(self.bits), BLOCK),
            "starts": (blocks * 8, BLOCK),
        }
        self._file.expect(expected)
        self._keys = self._file.column("keys").view(np.uint64).reshape(-1, words_of(self.bits))
        self._starts = self._file.column("starts").view(np.uint64)
        self._blocks = self._part(0, blocks, self._file.unchecked("blocks"))

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> CompressedSegment:
        """Open a file that write_compressed or compress_segment made; FormatError for anything else."""
        return cls(path)

    @property
    def bits_per_code(self) -> float:
        """Bits a code takes in the blocks, padding included, directory and rows not."""
        return 8 * self._file.length("blocks") / max(self._count, 1)

    @property
    def lengths(self) -> NDArray[np.uint8]:
        """The Huffman code length of each place of the highest differing bit; the last is for equal codes."""
        return self._file.column("lengths")

    def read(self, start: int, stop: int, *, threads: int = 1) -> Chunk:
        """Places start to stop, unpacked and checked."""
        self._check_places(start, stop)
        if start == stop:
            return Chunk(np.empty((0, words_of(self.bits)), np.uint64), np.empty(0, np.int64))
        first = int(np.searchsorted(self._starts, start, "right")) - 1
        last = int(np.searchsorted(self._starts, stop, "left"))
        if first < 0:
            raise self._file.damage("a first block that starts at 0", f"{int(self._starts[0])}")
        # Read, not mapped: a stream of chunks takes the memory of one.
        packed = self._file.read("blocks", first * self.block, last * self.block, threads)
        codes, damaged = self._part(first, last, packed).decode(0, last - first, threads)
        self._check(damaged, first)
        origin = int(self._starts[first])
        if len(codes) < stop - origin:
            raise self._file.damage(f"{stop} codes", f"{origin + len(codes)}")
        return Chunk(codes[start - origin : stop - origin], self._rows(start, stop, threads))

    def matching(self, queries: Codes, prefix: int, *, threads: int = 1) -> PrefixMatches:
        """All stored codes that share a query's top `prefix` bits."""
        query, place, _, codes, asked = self._search(queries, self.bits, prefix, threads)
        return PrefixMatches(query if asked is None else asked[query], place, codes)

    def search(self, queries: Codes, radius: int, prefix: int, *, threads: int = 1) -> Hits:
        """The stored rows that share a query's top `prefix` bits and are at most `radius` bits away.

        Interpolation search on the keys finds the blocks that can hold the prefix; only those are unpacked.
        """
        query, place, distance, _, asked = self._search(queries, radius, prefix, threads)
        if self.has_rows:
            self._file.check("rows", place * 8 // BLOCK, threads)
            place = self._file.unchecked("rows").view(np.int64)[place]
        return sorted_hits(query if asked is None else asked[query], place, distance)

    def verify(self, *, threads: int = 1) -> None:
        """Read, unpack and check the whole file; FormatError when anything is amiss."""
        self._file.verify(threads)
        last = np.empty((0, words_of(self.bits)), np.uint64)
        for chunk in self.chunks(_CHUNK, threads=threads):
            if not _core.is_ascending(np.concatenate([last, chunk.codes])):
                raise self._file.damage("ascending codes", "codes out of order")
            last = chunk.codes[-1:]

    def _search(
        self, queries: Codes, radius: int, prefix: int, threads: int
    ) -> tuple[
        NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8], NDArray[np.uint64], NDArray[np.int64] | None
    ]:
        asked, words = self._words_asked(queries, radius, prefix)
        query, place, distance, codes, _, damaged = self._blocks.search(
            words, prefix, radius, threads=check_threads(threads)
        )
        self._check(damaged)
        return query, place, distance, codes, asked

    def _rows(self, start: int, stop: int, threads: int) -> NDArray[np.int64]:
        if not self.has_rows:
            return np.arange(start, stop)
        return self._file.read("rows", 8 * start, 8 * stop, threads).view(np.int64)

    def _part(self, first: int, last: int, blocks: NDArray[np.uint8]) -> _core.CompressedBlocks:
        """Blocks first to last - 1, with these bytes, for the core."""
        checksums, seed = self._file.checksums("blocks")
        count = self._count if last == len(self._starts) else int(self._starts[last])
        try:
            return _core.CompressedBlocks(
                self.bits,
                self.block,
                count,
                self.lengths,
                blocks,
                self._keys[first:last],
                self._starts[first:last],
                checksums[first:last],
                seed + first,
            )
        except ValueError as error:
            raise self._file.damage("columns that fit each other", str(error)) from None

    def _check(self, damaged: int, first: int = 0) -> None:
        if damaged >= 0:
            raise self._file.damage("blocks as written", f"damage in block {first + damaged}")
