"""Files of columns that one stage writes and the next one reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.storage.column_file import BLOCK, ColumnFile
from neardup.storage.column_writer import ColumnFileWriter

__all__ = ["TaskColumns", "write_columns"]

_MAGIC, _SCHEME = b"NDTASK\0\0", "task/v1"


def write_columns(path: Path, columns: Mapping[str, NDArray[Any]]) -> None:
    """Write columns of 8 bytes a value, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    layout = [(name, BLOCK, column.nbytes) for name, column in columns.items()]
    with ColumnFileWriter(
        path, magic=_MAGIC, flags=0, bits=64, scheme=_SCHEME, parameter=0, columns=layout
    ) as writer:
        for name, column in columns.items():
            writer.append(name, column)
        writer.finish(len(columns))


class TaskColumns:
    """The columns of a task, checked as they are read."""

    def __init__(self, path: Path) -> None:
        self._file = ColumnFile(path, _MAGIC)

    def read(self, name: str, kind: str = "<i8", start: int = 0, stop: int | None = None) -> NDArray[Any]:
        """Values of a column, from `start` to before `stop`."""
        end = self._file.length(name) if stop is None else 8 * stop
        return self._file.read(name, 8 * start, end).view(kind)

    def between(self, name: str, low: int, high: int) -> NDArray[np.uint64]:
        """Of an ascending column the values from `low` to before `high`."""
        every = self._file.unchecked(name).view("<u8")
        start, stop = np.searchsorted(every, np.array([low, high], np.uint64))
        return self.read(name, "<u8", int(start), int(stop))
