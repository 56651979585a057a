"""Brute force: every query against every stored code. Exact at any radius, and the measure of all other
methods."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import DataError
from neardup.fingerprints.fingerprints import Codes, same_scheme
from neardup.search.codes import WIDTHS, check_codes, check_radius, check_scheme, rows_and_words, width_for
from neardup.search.hamming.method import HammingMethod
from neardup.search.interface import Candidates, Hits, Mode, check_mode
from neardup.values.checks import check_fields, checked_methods
from neardup.values.threads import check_threads

__all__ = ["Scan", "ScanSearcher", "count_distances", "distances"]


@checked_methods
@dataclass(frozen=True)
class Scan(HammingMethod):
    """Search by brute force; `first` is the smallest row. O(stored * queries), nothing built, no bytes
    added. `bits` is the width of code to insist on; by default any of 32, 64 and 128.

    radius  the largest distance, inclusive

    >>> import neardup as nd
    >>> texts = ["the ferry leaves at eight", "The ferry leaves, at eight!", "a recipe for a cake"]
    >>> codes = nd.fingerprint(texts, nd.Words(), nd.Simhash())
    >>> nd.search.Scan(radius=3).candidates(codes).distance.tolist()
    [0]
    """

    radius: int = 3
    bits: int | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        check_radius(self.radius, max(WIDTHS) if self.bits is None else self.bits)

    def index(self, codes: Codes, *, threads: int = 1) -> ScanSearcher:
        """Stored codes as they are; a scan has no keys."""
        check_threads(threads)
        bits = width_for(codes, self.bits)
        check_radius(self.radius, bits)
        rows, words = rows_and_words(codes, bits)
        return ScanSearcher(self, codes, rows, words)

    def candidates(self, codes: Codes, *, threads: int = 1) -> Candidates:
        """All pairs of rows within the radius, equal codes too: n (n - 1) / 2 comparisons, all pairs in
        memory."""
        return self.index(codes).search(codes, threads=threads).pairs()


@checked_methods
@dataclass(frozen=True)
class ScanSearcher:
    """Stored codes, asked by brute force."""

    method: Scan
    codes: Codes
    rows: NDArray[np.int64] | None
    words: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.codes)

    def search(self, queries: Codes, *, mode: Mode = "all", threads: int = 1) -> Hits:
        """The stored rows within the radius of each query."""
        check_scheme(queries, self.codes.scheme)
        bits, first = self.codes.bits, check_mode(mode) == "first"
        asked, words = rows_and_words(queries, bits)
        query, row, distance = _core.scan(
            self.words, words, bits, self.method.radius, first, check_threads(threads)
        )
        return Hits(
            query if asked is None else asked[query], row if self.rows is None else self.rows[row], distance
        )


def distances(
    codes: Codes, left: NDArray[np.int64], right: NDArray[np.int64], other: Codes | None = None
) -> NDArray[np.uint8]:
    """Distance of row `left[i]` of `codes` and row `right[i]` of `other` (of `codes` when there is no
    other)."""
    second = codes if other is None else other
    same_scheme(codes, second)
    left, right = (np.ascontiguousarray(rows, dtype=np.int64) for rows in (left, right))
    if codes.empty[left].any() or second.empty[right].any():
        raise DataError("an empty row has no code to compare")
    return _core.distances_at(check_codes(codes, codes.bits), check_codes(second, codes.bits), left, right)


def count_distances(left: Codes, right: Codes, *, threads: int = 1) -> NDArray[np.int64]:
    """How many pairs of a left and a right row lie at each distance, 0 to bits; empty rows do not count."""
    same_scheme(left, right)
    _, left_words = rows_and_words(left, left.bits)
    _, right_words = rows_and_words(right, left.bits)
    return _core.count_distances(left_words, right_words, left.bits, check_threads(threads))
