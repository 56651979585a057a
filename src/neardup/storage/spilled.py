"""Columns that a join puts by and takes up again: in memory, or in a folder where they may be too many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from numpy.typing import NDArray

__all__ = ["Spilled"]

Rows = NDArray[np.int64]
Keys = NDArray[np.uint64]
_PARTS = 64
_ENTRY = np.dtype([("key", "<u8"), ("number", "<i8")])
_ENTRY_BYTES = 60  # that a join needs for each entry


class Spilled:
    """Two uses. `add` takes keys with their numbers, and `groups` gives them back, all that share a key together and
    not too many at a time; `put` and `all` are for whole columns. Files go when it is left."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else Path(mkdtemp(prefix="join-", dir=folder))
        self._keys: list[Keys] = []
        self._numbers: list[Rows] = []
        self._sizes = np.zeros(_PARTS, np.int64)
        self._held: list[Sequence[Rows]] = []
        self._files = 0
        self.expected = 1

    def __enter__(self) -> Spilled:
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            for path in self._folder.iterdir():
                path.unlink()
            self._folder.rmdir()

    def add(self, keys: Keys, numbers: Rows, memory: int) -> None:
        """More keys; beyond the memory all of them go to files."""
        self._keys.append(keys)
        self._numbers.append(numbers)
        if self._folder is not None and sum(map(len, self._keys)) * _ENTRY_BYTES > memory:
            self._flush()

    def _flush(self) -> None:
        assert self._folder is not None
        keys = np.concatenate([np.empty(0, np.uint64), *self._keys])
        numbers = np.concatenate([np.empty(0, np.int64), *self._numbers])
        part = keys % np.uint64(_PARTS)
        order = np.argsort(part, kind="stable")
        ends = np.searchsorted(part[order], np.arange(_PARTS + 1).astype(np.uint64))
        for number in range(_PARTS):
            some = order[ends[number] : ends[number + 1]]
            made = np.empty(len(some), _ENTRY)
            made["key"], made["number"] = keys[some], numbers[some]
            with open(self._folder / f"part-{number:02}", "ab") as file:
                made.tofile(file)
            self._sizes[number] += len(some)
        self._keys, self._numbers = [], []

    def groups(self, most: int) -> Iterator[tuple[Keys, Rows]]:
        """All keys with their numbers, about `most` at a time where they lie in files."""
        if not self._sizes.any():
            yield (
                np.concatenate([np.empty(0, np.uint64), *self._keys]),
                np.concatenate([np.empty(0, np.int64), *self._numbers]),
            )
            return
        self._flush()
        assert self._folder is not None
        group = np.cumsum(self._sizes) // max(1, most)
        parts = np.split(np.arange(_PARTS), np.flatnonzero(np.diff(group)) + 1)
        self.expected = len(parts)
        for some in parts:
            read = [np.fromfile(self._folder / f"part-{number:02}", _ENTRY) for number in some.tolist()]
            whole = np.concatenate(read)
            yield whole["key"].astype(np.uint64), whole["number"].astype(np.int64)

    def put(self, columns: Sequence[Rows]) -> None:
        """Some columns, to be given back together."""
        if self._folder is None:
            self._held.append(columns)
            return
        for number, column in enumerate(columns):
            column.tofile(self._folder / f"put-{self._files}-{number}")
        self._held.append([np.empty(0, np.int64)] * len(columns))
        self._files += 1

    def all(self) -> Iterator[Sequence[Rows]]:
        """What was put, in order."""
        for place, columns in enumerate(self._held):
            if self._folder is None:
                yield columns
            else:
                files = (self._folder / f"put-{place}-{number}" for number in range(len(columns)))
                yield [np.fromfile(path, np.int64) for path in files]
