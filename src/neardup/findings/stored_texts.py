"""The texts that a scan stored: those of the first rows of documents in pairs, and of documents with equal ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.storage.column_file import ColumnFile

__all__ = ["StoredTexts"]

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class StoredTexts:
    """The texts of some ascending rows in a file of findings; text i is from `offsets[i]` to `offsets[i + 1]`."""

    file: ColumnFile
    rows: Rows
    offsets: Rows

    @classmethod
    def of(cls, file: ColumnFile) -> StoredTexts:
        """Those of a file that this process has just written."""
        rows, ends = (file.read(name, 0, file.length(name)).view("<i8") for name in ("rows", "ends"))
        return cls(file, rows, np.concatenate([[0], ends]).astype(np.int64))

    @property
    def sizes(self) -> Rows:
        """The bytes of each row's text, 0 where none is stored."""
        found = np.zeros(int(self.rows[-1]) + 1 if len(self.rows) else 0, np.int64)
        found[self.rows] = np.diff(self.offsets)
        return found

    def fetch(self, rows: Rows) -> _core.Texts:
        """The texts of rows that are all stored."""
        at = np.searchsorted(self.rows, rows)
        found = _core.Texts()
        found.add_spans(self.file.column("texts"), self.offsets[at], self.offsets[at + 1])
        return found

    def place(self, row: int) -> int | None:
        """Which of the stored texts this row has; None if none is stored for it."""
        at = int(np.searchsorted(self.rows, row))
        return at if at < len(self.rows) and self.rows[at] == row else None

    def between(self, start: int, stop: int) -> Iterator[str]:
        """The texts of `rows[start:stop]`, with one read."""
        offsets = self.offsets[start : stop + 1]
        data = self.file.read("texts", int(offsets[0]), int(offsets[-1])).tobytes()
        for begin, end in pairwise((offsets - offsets[0]).tolist()):
            yield data[begin:end].decode("utf-8", "replace")
