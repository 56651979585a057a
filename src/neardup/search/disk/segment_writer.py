"""Segments larger than memory: sorted runs on disk, merged under a memory limit."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError, DataError, SchemeError
from neardup.search.codes import check_radius
from neardup.search.disk.segments import Chunk, Segment, SortedSegment, StoredCodes, sort_chunk, words_of
from neardup.storage.column_file import BLOCK
from neardup.values.checks import checked, checked_methods
from neardup.values.sizes import parse_size
from neardup.values.threads import check_threads

__all__ = ["LEAST_MEMORY", "SegmentWriter", "memory_bytes", "merge_segments"]

LEAST_MEMORY = 4_000_000
"""The least memory in bytes: a merge needs some blocks of several runs at once."""


def memory_bytes(memory: int | str) -> int:
    """A memory limit in bytes, as parse_size reads it, that is enough to work in."""
    size = parse_size(memory)
    if size < LEAST_MEMORY:
        raise ConfigError(f"{memory!r} is too little memory; give at least {LEAST_MEMORY // 10**6}MB")
    return size


class _MergeRun:
    """One of the inputs of a merge, and the codes of it that are in memory."""

    def __init__(self, stored: StoredCodes) -> None:
        self._stored, self._place = stored, 0
        self.chunk = stored.read(0, 0)

    def fill(self, size: int) -> None:
        """Have at least size / 2 codes in memory, or all that are left."""
        more = min(size - len(self.chunk.rows), len(self._stored) - self._place)
        if more > 0 and 2 * len(self.chunk.rows) < size:
            fresh = self._stored.read(self._place, self._place + more)
            codes = np.concatenate([self.chunk.codes, fresh.codes])
            self.chunk = Chunk(codes, np.concatenate([self.chunk.rows, fresh.rows]))
            self._place += more

    def limit(self) -> tuple[int, ...] | None:
        """The last code (its high word first) and row in memory; None when the file has no more."""
        if self._place == len(self._stored):
            return None
        return *(int(word) for word in self.chunk.codes[-1, ::-1]), int(self.chunk.rows[-1])

    def take(self, limit: tuple[int, ...] | None) -> Chunk:
        """Remove and return what is not above the limit."""
        codes, rows = self.chunk
        cut = len(rows)
        if limit is not None:
            value = np.array([limit[-2::-1]], np.uint64)
            low = int(_core.bounds(codes, value)[0][0])
            high = int(_core.bounds(codes, value, after=True)[0][0])
            cut = low + int(np.searchsorted(rows[low:high], limit[-1], "right"))
        self.chunk = Chunk(codes[cut:], rows[cut:])
        return Chunk(codes[:cut], rows[:cut])


def _merged(sources: Sequence[StoredCodes], size: int) -> Iterator[Chunk]:
    """All codes of the sources in order, with at most about `size` of each in memory."""
    runs = [_MergeRun(source) for source in sources]
    while True:
        for run in runs:
            run.fill(size)
        runs = [run for run in runs if len(run.chunk.rows)]
        if not runs:
            return
        # No file has further codes up to the least of the runs' limits, so these can be written.
        limits = [limit for run in runs if (limit := run.limit()) is not None]
        parts = [run.take(min(limits) if limits else None) for run in runs]
        codes = np.concatenate([part.codes for part in parts])
        yield Chunk(*_core.sort_codes(codes, np.concatenate([part.rows for part in parts])))


@checked
def merge_segments(
    sources: Sequence[StoredCodes],
    path: str | os.PathLike[str],
    *,
    memory: int | str = "1GB",
    threads: int = 1,
) -> None:
    """Merge stored codes of one scheme into one segment file, in as many passes as `memory` asks for."""
    if not sources:
        raise DataError("there are no segments to merge")
    bits, scheme = sources[0].bits, sources[0].scheme
    for source in sources:
        if (source.bits, source.scheme) != (bits, scheme):
            raise SchemeError(f"{scheme} ({bits} bits)", f"{source.scheme} ({source.bits} bits)")
    limit, threads = memory_bytes(memory), check_threads(threads)
    # A code in memory is in its run, in the joined parts, in both sides of the sort and in the chunk before. The
    # rest is overhead of the allocator.
    share = limit // (8 * (8 * words_of(bits) + 8))
    fan_in = max(2, share // (BLOCK // 8))
    with tempfile.TemporaryDirectory(dir=Path(path).parent, prefix=f".{Path(path).name}.") as folder:
        level: list[StoredCodes] = list(sources)
        made = 0
        while len(level) > fan_in:
            group, level = level[:fan_in], level[fan_in:]
            target = Path(folder, f"{made}.seg")
            _merge_once(group, target, share // len(group), threads)
            level.append(Segment.open(target))
            made += 1
            for source in group:
                if source.path.parent == Path(folder):
                    source.close()
                    source.path.unlink()
        _merge_once(level, path, share // len(level), threads)
        for source in level:
            if source.path.parent == Path(folder):
                source.close()


def _merge_once(
    sources: Sequence[StoredCodes], path: str | os.PathLike[str], size: int, threads: int
) -> None:
    count = sum(len(source) for source in sources)
    with SortedSegment(path, count, sources[0].scheme, sources[0].bits) as segment:
        for chunk in _merged(sources, max(size, 2)):
            segment.add(chunk, threads)


@checked_methods
class SegmentWriter:
    """Writes a segment from batches of codes in any order, holding no more than `memory` at a time.

    To be used in a `with`; the file appears when the block ends without an error. Batches are collected,
    sorted, put aside in a temporary folder beside the target, and merged. With 1 GB of memory each code is
    written twice for up to 15 billion codes of 64 bits; that number grows with the square of the memory.
    """

    @checked
    def __init__(
        self,
        path: str | os.PathLike[str],
        scheme: str,
        bits: int,
        *,
        memory: int | str = "1GB",
        threads: int = 1,
    ) -> None:
        check_radius(0, bits)
        self.path, self.scheme, self.bits = Path(path), scheme, bits
        self._memory, self._threads = memory_bytes(memory), check_threads(threads)
        # A code takes its place here and, while a run is sorted, two more; the rest is overhead.
        room = self._memory // (4 * (8 * words_of(bits) + 8))
        self._codes = np.empty((room, words_of(bits)), np.uint64)
        self._rows = np.empty(room, np.int64)
        self._held = 0
        self._folder = tempfile.TemporaryDirectory(dir=self.path.parent, prefix=f".{self.path.name}.")
        self._runs: list[Segment] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            for run in self._runs:
                run.close()
            self._folder.cleanup()

    def add(self, codes: NDArray[np.uint64], rows: NDArray[np.int64]) -> None:
        """More codes, uint64[n] or uint64[n, words], and their row numbers, int64[n]."""
        words = np.asarray(codes)
        words = words if words.ndim == 2 else words[:, None]
        numbers = np.asarray(rows)
        if words.dtype != np.uint64 or words.shape[1:] != self._codes.shape[1:]:
            shape = f"uint64[n, {self._codes.shape[1]}]"
            raise DataError(f"codes must be {shape}, not {words.dtype}{list(words.shape)}")
        if numbers.dtype != np.int64 or numbers.shape != (len(words),):
            raise DataError(f"rows must be int64[{len(words)}], not {numbers.dtype}{list(numbers.shape)}")
        done = 0
        while done < len(words):
            if self._held == len(self._rows):
                self._add_run()
            take = min(len(words) - done, len(self._rows) - self._held)
            self._codes[self._held : self._held + take] = words[done : done + take]
            self._rows[self._held : self._held + take] = numbers[done : done + take]
            self._held += take
            done += take

    def _add_run(self) -> None:
        path = Path(self._folder.name, f"{len(self._runs)}.seg")
        self._spill(path)
        self._runs.append(Segment.open(path))

    def _spill(self, path: Path) -> None:
        chunk = sort_chunk(self._codes[: self._held], self._rows[: self._held], self.bits)
        with SortedSegment(path, self._held, self.scheme, self.bits) as segment:
            segment.add(chunk, self._threads)
        self._held = 0

    def _finish(self) -> None:
        if not self._runs:
            self._spill(self.path)
            return
        if self._held:
            self._add_run()
        self._codes, self._rows = self._codes[:0].copy(), self._rows[:0].copy()  # the merge needs the room
        merge_segments(self._runs, self.path, memory=self._memory, threads=self._threads)
