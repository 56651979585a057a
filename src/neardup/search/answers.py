"""What searches of fingerprints take and give: columns of keys, of hits and of candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ConfigError, DataError
from neardup.values.checks import check_fields, checked_methods

__all__ = ["Candidates", "Hits", "Keyed", "Mode", "check_mode"]

Mode = Literal["all", "first"]
"""`all`: every stored code within the radius. `first`: one of them at most, the first in the method's probe
order (of those that one probe finds, the one with the smallest row), the same for any number of threads."""

Rows = NDArray[np.int64]


def check_mode(mode: Mode) -> Mode:
    """The mode; raises ConfigError unless it is one of the two there are."""
    if mode not in get_args(Mode):
        raise ConfigError(f"mode must be 'all' or 'first', not {mode!r}")
    return mode


def _same_length(*columns: NDArray[np.generic]) -> None:
    if len({column.shape for column in columns}) != 1 or columns[0].ndim != 1:
        raise DataError(f"columns must be flat and of one length, not {[column.shape for column in columns]}")


@dataclass(frozen=True)
class Hits:
    """What queries found: query `query[i]` and stored row `row[i]` are `distance[i]` bits apart.

    Columns int64, int64 and uint8, sorted by query and then by row, each (query, row) once.

    >>> import neardup as nd
    >>> texts = ["the ferry leaves at eight", "The ferry leaves, at eight!", "a recipe for a cake"]
    >>> codes = nd.fingerprint(texts, nd.Words(), nd.Simhash())
    >>> hits = nd.search.Scan(radius=3).index(codes).search(codes)
    >>> hits.query.tolist(), hits.row.tolist(), hits.distance.tolist()
    ([0, 0, 1, 1, 2], [0, 1, 0, 1, 2], [0, 0, 0, 0, 0])
    """

    query: Rows
    row: Rows
    distance: NDArray[np.uint8]

    def __post_init__(self) -> None:
        check_fields(self)
        _same_length(self.query, self.row, self.distance)

    def __len__(self) -> int:
        return len(self.query)

    def pairs(self) -> Candidates:
        """The hits of a set searched in itself, as pairs of different rows, each once."""
        ahead = self.query < self.row
        return Candidates(self.query[ahead], self.row[ahead], self.distance[ahead])


@checked_methods
@dataclass(frozen=True)
class Candidates:
    """Pairs of rows of one set, not yet verified on their features: rows `left[i]` and `right[i]` have codes
    `distance[i]` bits apart.

    Columns int64, int64 and uint8; `left < right`, sorted by left and then by right, each pair once.

    >>> import neardup as nd
    >>> texts = ["the ferry leaves at eight", "The ferry leaves, at eight!", "a recipe for a cake"]
    >>> codes = nd.fingerprint(texts, nd.Words(), nd.Simhash())
    >>> found = nd.BPHS(radius=3).candidates(codes)
    >>> found.left.tolist(), found.right.tolist(), found.distance.tolist()
    ([0], [1], [0])
    """

    left: Rows
    right: Rows
    distance: NDArray[np.uint8]

    def __post_init__(self) -> None:
        check_fields(self)
        _same_length(self.left, self.right, self.distance)

    def __len__(self) -> int:
        return len(self.left)

    @classmethod
    def of(cls, left: Rows, right: Rows, distance: NDArray[np.uint8]) -> Candidates:
        """Candidates from pairs in any order, turned either way, repeated or not; no row is paired with itself."""
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
    """Keys of stored fingerprints, or probes of queries: `key[i]` of table `table[i]` belongs to row `row[i]`.

    Columns int64, int32 and uint64. A stored row is a candidate of a query when they share a (table, key); a
    key wider than 64 bits is cut to 64, which can add candidates but never lose one. A row has at most one key
    in each table, and any number of probes.

    >>> import neardup as nd
    >>> texts = ["the ferry leaves at eight", "The ferry leaves, at eight!", "a recipe for a cake"]
    >>> codes = nd.fingerprint(texts, nd.Words(), nd.Simhash())
    >>> keyed = nd.BPHS(radius=3, blocks=4).keys(codes)
    >>> keyed.row.tolist(), keyed.table.tolist()
    ([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2], [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3])
    """

    row: Rows
    table: NDArray[np.int32]
    key: NDArray[np.uint64]

    def __post_init__(self) -> None:
        check_fields(self)
        _same_length(self.row, self.table, self.key)

    def __len__(self) -> int:
        return len(self.row)
