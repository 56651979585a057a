"""What every Hamming search speaks: codes in, keys and probes between, columns of hits and candidates out.

A method says which keys a stored code has and which probes a query makes; where a probe meets a key there is
a candidate, and its distance is then checked. The brute ones (scan, sort-adjacent) have no keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neardup.errors import ConfigError, DataError, SchemeError
from neardup.fingerprints.fingerprints import Codes

__all__ = [
    "WIDTHS",
    "Candidates",
    "Hits",
    "Keyed",
    "Method",
    "Mode",
    "Searcher",
    "check_codes",
    "check_mode",
    "check_radius",
    "check_scheme",
    "rows_and_words",
    "to_codes",
    "width_for",
]

WIDTHS = (32, 64, 128)
"""The widths of code, in bits, that the native searches take."""

Mode = Literal["all", "first"]
"""`all`: every stored code within the radius. `first`: one of them at most, the first in the method's probe
order (of those that one probe finds, the one with the smallest row), the same for any number of threads."""

_WHOLE = {int, *(np.dtype(kind).type for kind in np.typecodes["AllInteger"])}


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


def check_mode(mode: Mode) -> Mode:
    """The mode; raises ConfigError unless it is one of the two there are."""
    if mode not in get_args(Mode):
        raise ConfigError(f'mode is "all" or "first", not {mode!r}')
    return mode


def check_radius(radius: int, bits: int) -> None:
    """Raise ConfigError unless 0 <= radius <= bits and the width is one the native searches take."""
    if bits not in WIDTHS:
        raise ConfigError(f"codes of {bits} bits cannot be searched: use 32, 64 or 128")
    if not 0 <= radius <= bits:
        raise ConfigError(f"radius must be from 0 to {bits} bits, not {radius}")


def check_scheme(codes: Codes, scheme: str) -> None:
    """Raise SchemeError unless these are codes of this scheme, DataError if they are no codes at all."""
    _are_codes(codes)
    if codes.scheme != scheme:
        raise SchemeError(scheme, codes.scheme)


def width_for(codes: Codes, bits: int | None) -> int:
    """The width a search of these codes is for: as it was given, or else their own."""
    _are_codes(codes)
    return codes.bits if bits is None else bits


def to_codes(numbers: ArrayLike, bits: int = 64, scheme: str | None = None) -> Codes:
    """Codes from bare numbers made elsewhere, none of them empty: a column of whole numbers from 0 up, one
    for each code, or their words of 64 bits, [n, words], lowest first."""
    # Numpy would make floats of a list such as [2**64 - 1, 0], and lose bits.
    given = np.asarray(numbers, object) if isinstance(numbers, (list, tuple)) else np.asarray(numbers)
    count = (bits + 63) // 64
    if given.ndim not in (1, 2) or (given.ndim == 2 and given.shape[1] != count):
        raise DataError(
            f"{bits}-bit codes are a column of whole numbers or an array [n, {count}] of words, "
            f"not {given.dtype}{list(given.shape)}"
        )
    if given.size:
        _check_whole(given, 64 * count if given.ndim == 1 else 64)
    if given.ndim == 1 and count > 1:
        words = np.stack([_word(given, word) for word in range(count)], axis=1)
    else:
        words = np.ascontiguousarray(_word(given.reshape(len(given), count), 0))
    return Codes(scheme or f"bare{bits}", np.zeros(len(words), dtype=bool), bits, words)


def _check_whole(numbers: NDArray[np.generic], room: int) -> None:
    """Raise DataError unless these are whole numbers from 0 up, of at most `room` bits."""
    kind = numbers.dtype.kind
    whole = kind in "iu" or (kind == "O" and {type(n) for n in numbers.flat} <= _WHOLE)
    if not whole or (kind != "u" and numbers.min() < 0):
        raise DataError(f"codes are whole numbers from 0 up, not {numbers.dtype} such as {numbers.flat[0]}")
    if kind == "O" and int(numbers.max()) >> room:
        raise DataError(f"some numbers need more than the {room} bits there are for each")


def _word(numbers: NDArray[np.generic], word: int) -> NDArray[np.uint64]:
    """One word of each number, the lowest being 0. Numbers too large for numpy come as Python's own."""
    if numbers.dtype.kind == "O":
        part = [int(n) >> (64 * word) & (2**64 - 1) for n in numbers.flat]
        return np.array(part, np.uint64).reshape(numbers.shape)
    return np.zeros(numbers.shape, np.uint64) if word else numbers.astype(np.uint64, copy=False)


def _are_codes(codes: Codes) -> None:
    if not isinstance(codes, Codes):
        hint = "; to_codes makes codes of bare numbers" if isinstance(codes, (np.ndarray, list)) else ""
        raise DataError(f"expected codes, got {type(codes).__name__}{hint}")


def check_codes(codes: Codes, bits: int) -> NDArray[np.uint64]:
    """The codes of all rows, empty ones too, as contiguous uint64[n, words]; any width from 1 to 128 bits.

    Raises DataError when they are not of this width or hold bits beyond it.
    """
    _are_codes(codes)
    words = codes.codes
    if not 1 <= bits <= 128:
        raise ConfigError(f"codes have from 1 to 128 bits, not {bits}")
    if codes.bits != bits:
        raise DataError(
            f"codes of {codes.bits} bits met a search made for {bits}: make the search with "
            f"bits={codes.bits}, as in Compact(3, bits={codes.bits})"
        )
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
