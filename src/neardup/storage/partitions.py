"""More rows than memory holds: kept up to a bound, beyond it in files, partition by partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Spill"]

Columns = tuple[NDArray[Any], ...]
PARTITIONS = 256


class Spill:
    """Columns of 8 bytes a row. `part` says which of 256 partitions each row belongs to, from 0 to 255.

    Iterating gives each partition's columns, in the order of partitions; what never outgrew `memory` bytes is one
    partition. Rows of a partition stand in the order they were added. `bytes_written` counts what went to files.
    """

    def __init__(
        self,
        dtypes: tuple[type, ...],
        part: Callable[[Columns], NDArray[np.integer[Any]]],
        folder: Path,
        memory: int,
    ) -> None:
        self._dtypes, self._part, self._folder, self._memory = dtypes, part, folder, memory
        self._held: list[Columns] = []
        self._rows = 0
        self.bytes_written = 0
        folder.mkdir()

    def add(self, *columns: NDArray[Any]) -> None:
        if not len(columns[0]):
            return
        self._held.append(columns)
        self._rows += len(columns[0])
        if self._rows * 8 * len(self._dtypes) > self._memory:
            self._write()

    def __iter__(self) -> Iterator[Columns]:
        if not self.bytes_written:
            yield self._joined()
            return
        if self._held:
            self._write()
        for partition in range(PARTITIONS):
            path = self._folder / f"{partition}"
            if path.exists():
                yield self._read(path)

    def _joined(self) -> Columns:
        if not self._held:
            return tuple(np.empty(0, dtype) for dtype in self._dtypes)
        joined = tuple(np.concatenate(columns) for columns in zip(*self._held, strict=True))
        self._held = [joined]
        return joined

    def _write(self) -> None:
        columns = self._joined()
        partitions = self._part(columns).astype(np.uint8)  # one byte: numpy then sorts by counting
        order = np.argsort(partitions, kind="stable")
        bounds = np.searchsorted(partitions[order], np.arange(PARTITIONS + 1))
        columns = tuple(column[order] for column in columns)
        for partition in range(PARTITIONS):
            rows = slice(bounds[partition], bounds[partition + 1])
            if rows.start == rows.stop:
                continue
            # One block is all of its columns, one after another, behind the number of its rows.
            with open(self._folder / f"{partition}", "ab") as file:
                file.write(np.int64(rows.stop - rows.start).tobytes())
                for column in columns:
                    self.bytes_written += file.write(column[rows].tobytes())
        self._held, self._rows = [], 0

    def _read(self, path: Path) -> Columns:
        blocks: list[Columns] = []
        with open(path, "rb") as file:
            while head := file.read(8):
                rows = int.from_bytes(head, "little")
                blocks.append(tuple(np.fromfile(file, dtype, rows) for dtype in self._dtypes))
        return tuple(np.concatenate(columns) for columns in zip(*blocks, strict=True))
