"""What every Hamming search speaks: codes in, keys and probes between, columns of hits and candidates out.

A method says which keys a stored code has and which probes a query makes; where a probe meets a key there is
a candidate, and its distance is then checked. The brute ones (scan, sort-adjacent) have no keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ConfigError, DataError
from neardup.fingerprints.base import Codes

__all__ = [
    "WIDTHS",
    "Candidates",
    "Hits",
    "Keyed",
    "Method",
    "Mode",
    "Searcher",
    "check_codes",
    "check_radius",
    "rows_and_words",
    "to_codes",
]

WIDTHS = (32, 64, 128)
"""The widths of code, in bits, that the native searches take."""

Mode = Literal["all", "first"]
"""`all`: every stored code within the radius. `first`: one of them at most, the first in the method's probe
order (of those that one probe finds, the one with the smallest row), the same for any number of threads."""


def _same_length(*columns: NDArray[np.generic]) -> None:
    if len({column.shape for column in columns}) != 1 or columns[0].ndim != 1:
        raise DataError(f"columns must be flat and of one length, not {[column.shape for column in columns]}")


@dataclass(frozen=True)
class Hits:
    """What queries found: query `query[i]` and stored row `row[i]` are `distance[i]` bits apart.

    Columns int64, int64 and uint8, sorted by query and then by row, each (query, row) once.
    """

    query: NDArray[np.int64]
    row: NDArray[np.int64]
    distance: NDArray[np.uint8]

    def __post_init__(self) -> None:
        _same_length(self.query, self.row, self.distance)

    def __len__(self) -> int:
        return len(self.query)


@dataclass(frozen=True)
class Candidates:
    """Pairs of rows of one set, not yet verified on their features: rows `left[i]` and `right[i]` have codes
    `distance[i]` bits apart.

    Columns int64, int64 and uint8; `left < right`, sorted by left and then by right, each pair once.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    distance: NDArray[np.uint8]

    def __post_init__(self) -> None:
        _same_length(self.left, self.right, self.distance)

    def __len__(self) -> int:
        return len(self.left)

    @classmethod
    def of(cls, left: NDArray[np.int64], right: NDArray[np.int64], distance: NDArray[np.uint8]) -> Candidates:
        """Candidates from pairs in any order, turned either way, repeated or not; no row may meet itself."""
        low, high = np.minimum(left, right), np.maximum(left, right)
        if np.any(low == high):
            raise DataError("a row cannot be paired with itself")
        order = np.lexsort((high, low))
        low, high, distance = low[order], high[order], distance[order]
        fresh = np.ones(len(low), dtype=bool)
        fresh[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
        return cls(low[fresh], high[fresh], distance[fresh])


@dataclass(frozen=True)
class Keyed:
    """Keys of stored codes, or probes of queries: `key[i]` of table `table[i]` belongs to row `row[i]`.

    Columns int64, int32 and uint64. A stored row is a candidate of a query when they share a (table, key); a
    key wider than 64 bits is cut to 64, which can add candidates but never lose one. This is the seam where a
    search in memory, in a file and in a shuffle of Spark are the same search.
    """

    row: NDArray[np.int64]
    table: NDArray[np.int32]
    key: NDArray[np.uint64]

    def __post_init__(self) -> None:
        _same_length(self.row, self.table, self.key)

    def __len__(self) -> int:
        return len(self.row)


class Searcher(Protocol):
    """Stored codes, ready to be asked. Batch-first: one query is a batch of one."""

    def __len__(self) -> int:
        """How many rows are stored."""
        ...

    def search(self, queries: Codes, *, mode: Mode = "all", threads: int = 1) -> Hits:
        """The stored rows within the radius of each query; empty rows neither ask nor answer."""
        ...


class Method(Protocol):
    """One way to search: a frozen dataclass of its parameters."""

    @property
    def bits(self) -> int:
        """The width of code it takes."""
        ...

    @property
    def radius(self) -> int:
        """The largest distance it reports, inclusive."""
        ...

    def keys(self, codes: Codes) -> Keyed:
        """The keys under which codes are stored."""
        ...

    def probes(self, codes: Codes) -> Keyed:
        """The keys that queries ask for, each query's likeliest first."""
        ...

    def index(self, codes: Codes, *, threads: int = 1) -> Searcher:
        """Stored codes in a structure that answers batches of queries."""
        ...


def check_radius(radius: int, bits: int) -> None:
    """Raise ConfigError unless 0 <= radius <= bits and the width is one the native searches take."""
    if bits not in WIDTHS:
        raise ConfigError(f"codes of {bits} bits cannot be searched: use 32, 64 or 128")
    if not 0 <= radius <= bits:
        raise ConfigError(f"radius must be from 0 to {bits} bits, not {radius}")


def to_codes(words: NDArray[np.uint64], bits: int = 64, scheme: str | None = None) -> Codes:
    """Codes from bare numbers made elsewhere: uint64[n] or uint64[n, words], none of them empty."""
    words = np.ascontiguousarray(words if words.ndim == 2 else words[:, None])
    return Codes(scheme or f"bare{bits}", np.zeros(len(words), dtype=bool), bits, words)


def check_codes(codes: Codes, bits: int) -> NDArray[np.uint64]:
    """The codes of all rows, empty ones too, as contiguous uint64[n, words]; any width from 1 to 128 bits.

    Raises DataError when they are not of this width or hold bits beyond it.
    """
    words = codes.codes
    if not 1 <= bits <= 128:
        raise ConfigError(f"codes have from 1 to 128 bits, not {bits}")
    if codes.bits != bits:
        raise DataError(f"codes of {codes.bits} bits met a search made for {bits}")
    shape = (len(codes), (bits + 63) // 64)
    if words.dtype != np.uint64 or words.shape != shape:
        raise DataError(f"{bits}-bit codes must be uint64{list(shape)}, not {words.dtype}{list(words.shape)}")
    if bits % 64 and words.size and int(words[:, -1].max()) >> (bits % 64):
        raise DataError(f"some codes have bits beyond the {bits} they should have")
    return np.ascontiguousarray(words)


def rows_and_words(codes: Codes, bits: int) -> tuple[NDArray[np.int64] | None, NDArray[np.uint64]]:
    """The rows that are not empty (None when no row is empty) and their codes, checked as check_codes
    does."""
    words = check_codes(codes, bits)
    if not codes.empty.any():
        return None, words
    rows = np.flatnonzero(~codes.empty)
    return rows, np.ascontiguousarray(words[rows])
