"""What differs in the pairs of findings: computed from their stored texts, once by the scan. Findings of earlier
versions have no such column; then it is computed when it is asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.compare.changes import COLUMNS, Counts, describe
from neardup.compare.verify import Pairs
from neardup.storage.column_file import ColumnFile

__all__ = ["COLUMN", "describe_stored", "read_changes"]

COLUMN = "changes"


def describe_stored(texts: ColumnFile, pairs: Pairs, threads: int = 1) -> Counts:
    """A row of counts for each pair; `texts` is the file with the texts of all rows in pairs."""
    stored = texts.read("rows", 0, texts.length("rows")).view("<i8")
    ends = texts.read("ends", 0, texts.length("ends")).view("<i8")
    begins = np.concatenate([[0], ends])[:-1].astype(np.int64)
    sizes = np.zeros(int(stored[-1]) + 1 if len(stored) else 0, np.int64)
    sizes[stored] = ends - begins

    def fetch(rows: NDArray[np.int64]) -> _core.Texts:
        at = np.searchsorted(stored, rows)
        found = _core.Texts()
        found.add_spans(texts.column("texts"), begins[at], np.ascontiguousarray(ends[at], np.int64))
        return found

    return describe(pairs, sizes, fetch, threads=threads)


def read_changes(file: ColumnFile, pairs: int) -> Counts | None:
    """The column of a file of pairs; None if it has none."""
    if not file.has(COLUMN):
        return None
    column = file.read(COLUMN, 0, file.length(COLUMN)).view("<u2")
    if len(column) != pairs * len(COLUMNS):
        raise file.damage(f"{pairs * len(COLUMNS)} counts of changes", f"{len(column)}")
    return column.reshape(pairs, len(COLUMNS)).astype(np.uint16, copy=False)
