"""An index that grows: codes are found as soon as they are added, and removed rows are never found again."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neardup import _core
from neardup.errors import DataError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.codes import check_codes, check_scheme, rows_and_words
from neardup.search.hamming.tables import Compact, TableMethod, design_arrays
from neardup.search.interface import Hits, Mode, check_mode
from neardup.values.checks import checked, checked_methods
from neardup.values.threads import check_threads

__all__ = ["LiveSearcher", "LiveState"]


@dataclass(frozen=True)
class LiveState:
    """What a live index holds: `rows` given out, `removed` among them, rows still in the `tail`, and in each
    segment; `bytes` of the tables and `row_bytes` of the map from codes to rows."""

    rows: int
    removed: int
    tail: int
    segments: tuple[int, ...]
    bytes: int
    row_bytes: int


@checked_methods
class LiveSearcher:
    """Stored codes that may change while they are searched, from any number of threads.

    Rows are numbered from 0 in the order they are added, and a number is never used again. A search sees one state of
    the index from its beginning to its end; codes become visible in order, so a search during an add may see the first
    part of it. `method` is an exact one; Compact adds fastest.

    >>> import neardup as nd
    >>> texts = ["the ferry leaves at eight", "The ferry leaves, at eight!", "a recipe for a cake"]
    >>> codes = nd.fingerprint(texts, nd.Words(), nd.Simhash())
    >>> searcher = nd.search.LiveSearcher(nd.search.Compact(radius=3))
    >>> _ = searcher.add(codes)
    >>> searcher.search(codes).row.tolist()
    [0, 1, 0, 1, 2]
    """

    @checked
    def __init__(self, method: TableMethod | None = None) -> None:
        self.method = Compact() if method is None else method
        masks, flips = design_arrays(self.method.design)
        self._tables = _core.LiveTables(self.method.bits, self.method.radius, masks, flips)
        self._scheme: str | None = None
        self._guard = threading.Lock()

    def __len__(self) -> int:
        return self.state().rows

    @property
    def scheme(self) -> str | None:
        """The scheme of the first codes added, which all others must have."""
        return self._scheme

    def add(self, codes: Codes, *, threads: int = 1) -> range:
        """Add codes; gives their rows. Empty ones take a row and are never found."""
        words = check_codes(codes, self.method.bits)
        with self._guard:
            if self._scheme is None:
                self._scheme = codes.scheme
        self._same_scheme(codes)
        empty = np.ascontiguousarray(codes.empty) if codes.empty.any() else None
        first = self._tables.add(words, empty, check_threads(threads))
        return range(first, first + len(words))

    def remove(self, rows: ArrayLike) -> int:
        """Remove rows, now; gives how many of them had not been removed before."""
        column = np.ascontiguousarray(rows)
        if column.size and not np.issubdtype(column.dtype, np.integer):
            raise DataError(f"rows are whole numbers, not {column.dtype}")
        try:
            return self._tables.remove(np.atleast_1d(column).astype(np.int64))
        except ValueError as error:
            raise DataError(f"cannot remove rows that were never added (there are {len(self)})") from error

    def search(self, queries: Codes, *, mode: Mode = "all", threads: int = 1) -> Hits:
        """The rows within the radius of each query. `first` asks the oldest segment first and the tail last;
        in each, it is the first in probe order."""
        asked, words = self._asked(queries)
        query, row, distance = self._tables.search(
            words, _core.Mode[check_mode(mode)], check_threads(threads)
        )
        return Hits(query if asked is None else asked[query], row, distance)

    def compact(self, *, threads: int = 1) -> None:
        """Merge everything into one segment and forget the codes of removed rows: the fastest and smallest
        state."""
        self._tables.compact(check_threads(threads))

    def state(self) -> LiveState:
        """Sizes at this moment."""
        rows, removed, tail, segments, size, row_size = self._tables.state()
        return LiveState(rows, removed, tail, tuple(segments), size, row_size)

    def _asked(self, queries: Codes) -> tuple[NDArray[np.int64] | None, NDArray[np.uint64]]:
        self._same_scheme(queries)
        return rows_and_words(queries, self.method.bits)

    def _same_scheme(self, codes: Codes) -> None:
        if self._scheme is not None:
            check_scheme(codes, self._scheme)
