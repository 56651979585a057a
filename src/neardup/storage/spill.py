"""Rows that may not fit in memory: kept in memory up to a limit, then written to temporary files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["PARTITIONS", "Columns", "Shelf", "Spill"]

Columns = tuple[NDArray[Any], ...]
PARTITIONS = 256


class Spill:
    """Columns of 8 bytes for each row. `part` returns the partition of each row, from 0 to 255.

    Iteration returns the columns of each partition, in the order of partitions. If the rows never exceeded `memory`
    bytes, or if there is no folder, there is only one partition. Rows of a partition are in the order they were
    added. `bytes_written` is the number of bytes written to files.
    """

    def __init__(
        self,
        dtypes: tuple[type, ...],
        part: Callable[[Columns], NDArray[np.integer[Any]]],
        folder: Path | None,
        memory: int,
    ) -> None:
        self._dtypes, self._part, self._folder, self._memory = dtypes, part, folder, memory
        self._held: list[Columns] = []
        self._rows = 0
        self._sizes = np.zeros(PARTITIONS, np.int64)
        self.bytes_written = 0
        if folder is not None:
            folder.mkdir()

    def add(self, *columns: NDArray[Any]) -> None:
        if not len(columns[0]):
            return
        self._held.append(columns)
        self._rows += len(columns[0])
        if self._folder is not None and self._rows * 8 * len(self._dtypes) > self._memory:
            self._write(self._folder)

    def __iter__(self) -> Iterator[Columns]:
        return map(self.read, self.parts())

    def parts(self, most: int = 1) -> list[list[Path]]:
        """The arguments for `read` that together return all rows: neighbouring partitions are read together if they
        have at most about `most` rows."""
        if self._folder is None or not self.bytes_written:
            return [[]]
        if self._held:
            self._write(self._folder)
        filled = np.flatnonzero(self._sizes)
        group = np.cumsum(self._sizes[filled]) // max(1, most)
        cuts = np.flatnonzero(np.diff(group)) + 1
        return [[self._folder / str(number) for number in part] for part in np.split(filled, cuts)]

    def read(self, files: Sequence[Path]) -> Columns:
        """The rows of some partitions; without files, the rows in memory."""
        if not files:
            return self._joined()
        blocks: list[Columns] = []
        for path in files:
            with open(path, "rb") as file:
                while head := file.read(8):
                    rows = int.from_bytes(head, "little")
                    blocks.append(tuple(np.fromfile(file, dtype, rows) for dtype in self._dtypes))
        return tuple(np.concatenate(columns) for columns in zip(*blocks, strict=True))

    def _joined(self) -> Columns:
        if not self._held:
            return tuple(np.empty(0, dtype) for dtype in self._dtypes)
        joined = tuple(np.concatenate(columns) for columns in zip(*self._held, strict=True))
        self._held = [joined]
        return joined

    def _write(self, folder: Path) -> None:
        columns = self._joined()
        partitions = self._part(columns).astype(np.uint8)  # numpy uses a counting sort for one byte
        order = np.argsort(partitions, kind="stable")
        bounds = np.searchsorted(partitions[order], np.arange(PARTITIONS + 1))
        columns = tuple(column[order] for column in columns)
        for partition in range(PARTITIONS):
            rows = slice(bounds[partition], bounds[partition + 1])
            if rows.start == rows.stop:
                continue
            # A block is the number of its rows, followed by all of its columns.
            with open(folder / str(partition), "ab") as file:
                file.write(np.int64(rows.stop - rows.start).tobytes())
                for column in columns:
                    self.bytes_written += file.write(column[rows].tobytes())
        self._sizes += np.diff(bounds)
        self._held, self._rows = [], 0


class Shelf:
    """Groups of int64 columns, returned in order: in memory, or each column in a file of a folder."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._held: list[Sequence[NDArray[np.int64]]] = []
        self._files: list[list[Path]] = []
        if folder is not None:
            folder.mkdir()

    def put(self, columns: Sequence[NDArray[np.int64]]) -> None:
        if self._folder is None:
            self._held.append(columns)
            return
        files = [self._folder / f"{len(self._files)}-{number}" for number in range(len(columns))]
        for path, column in zip(files, columns, strict=True):
            column.tofile(path)
        self._files.append(files)

    def __iter__(self) -> Iterator[Sequence[NDArray[np.int64]]]:
        yield from self._held
        for files in self._files:
            yield [np.fromfile(path, np.int64) for path in files]
