"""Verification: computes the exact similarity of candidates and keeps those that are similar enough.

Candidates may come from any search: they need columns `left` and `right` of rows. A pair whose sizes show that it
cannot reach the threshold is dropped before its features are compared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.compare import similarity as measure
from neardup.errors import ConfigError, DataError
from neardup.features import Features
from neardup.values.threads import check_threads

__all__ = ["Containment", "Cosine", "Jaccard", "Pairs"]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

BATCH = 1 << 18  # pairs compared in one call, to bound its memory

# The product of the threshold and a size is rounded, so a size slightly below it still gets the exact check.
SLACK = 1 - 1e-9


class RowPairs(Protocol):
    """Columns of row numbers: pair i is rows left[i] and right[i]."""

    @property
    def left(self) -> Rows: ...

    @property
    def right(self) -> Rows: ...


@dataclass(frozen=True)
class Pairs:
    """Verified pairs: rows `left[i]` and `right[i]` have similarity `similarity[i]`.

    Columns int64, int64 and float64 (a float32 could round 0.7 below 0.7); `left < right`, sorted by left and then by
    right, each pair once.
    """

    left: Rows
    right: Rows
    similarity: Floats

    def __post_init__(self) -> None:
        shapes = {column.shape for column in (self.left, self.right, self.similarity)}
        if len(shapes) != 1 or self.left.ndim != 1:
            raise DataError(f"columns must be flat and of the same length, not {shapes}")

    def __len__(self) -> int:
        return len(self.left)

    @classmethod
    def of(cls, left: Rows, right: Rows, similarity: Floats) -> Pairs:
        """Make sorted pairs from pairs in any order and direction. Of a repeated pair the first similarity counts; a
        row cannot be paired with itself."""
        low, high = np.minimum(left, right), np.maximum(left, right)
        if np.any(low == high):
            raise DataError("a row cannot be paired with itself")
        order = np.lexsort((high, low))
        low, high, similarity = low[order], high[order], similarity[order]
        fresh = np.ones(len(low), dtype=bool)
        fresh[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
        return cls(low[fresh], high[fresh], similarity[fresh])

    def at_least(self, threshold: float) -> Pairs:
        """The pairs of this similarity or more: another threshold without another scan."""
        enough = self.similarity >= threshold
        return Pairs(self.left[enough], self.right[enough], self.similarity[enough])


@dataclass(frozen=True)
class _Threshold(ABC):
    """What the measures share: pairs of similarity `threshold` or more are kept, inclusive. With a `floor`, pairs down
    to the floor are kept too, so that other thresholds can be tried later."""

    threshold: float = 0.8
    floor: float | None = None

    name: ClassVar[str] = "similarity"

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise ConfigError(f"{self.name}: a threshold is above 0 and at most 1, not {self.threshold}")
        if self.floor is not None and not 0 < self.floor <= self.threshold:
            raise ConfigError(
                f"{self.name}: a floor is above 0 and at most the threshold {self.threshold}, not {self.floor}"
            )

    @property
    def least(self) -> float:
        """The smallest similarity that is kept: the floor, or the threshold if there is no floor."""
        return self.threshold if self.floor is None else self.floor

    def check(self, candidates: RowPairs, features: Features, threads: int = 1) -> Pairs:
        """The candidates that are similar enough, with their similarity; the same for any number of threads."""
        check_threads(threads)
        left = np.ascontiguousarray(candidates.left, dtype=np.int64)
        right = np.ascontiguousarray(candidates.right, dtype=np.int64)
        if left.shape != right.shape or left.ndim != 1:
            raise DataError("left and right must be flat and have the same number of rows")
        if np.any(left == right):
            raise DataError("a row cannot be paired with itself")
        for rows in (left, right):
            if len(rows) and (rows.min() < 0 or rows.max() >= len(features)):
                raise DataError(f"a candidate names a row outside of 0 to {len(features) - 1}")
        kept: list[tuple[Rows, Rows, Floats]] = []
        sizes = features.sizes
        for start in range(0, len(left), BATCH):
            a, b = left[start : start + BATCH], right[start : start + BATCH]
            a, b = self._possible(a, b, sizes)
            found = self._measure(features, a, b, threads)
            enough = found >= self.least
            kept.append((a[enough], b[enough], found[enough]))
        if not kept:
            return Pairs(left[:0], right[:0], np.zeros(0))
        a, b, found = (np.concatenate(columns) for columns in zip(*kept, strict=True))
        # Most searches return sorted pairs; sort the others.
        later = (a[1:] > a[:-1]) | ((a[1:] == a[:-1]) & (b[1:] > b[:-1]))
        return Pairs(a, b, found) if later.all() and (a < b).all() else Pairs.of(a, b, found)

    def _possible(self, left: Rows, right: Rows, sizes: Rows) -> tuple[Rows, Rows]:
        """The pairs whose sizes do not rule them out."""
        return left, right

    @abstractmethod
    def _measure(self, features: Features, left: Rows, right: Rows, threads: int) -> Floats:
        """The similarity of each pair; exact from the threshold (or floor) up."""


@dataclass(frozen=True)
class Jaccard(_Threshold):
    """Shared features over all features of a pair; weights are ignored.

    A pair at or above `threshold` (over 0, at most 1) is a duplicate; pairs from `floor` up are kept for later.

    >>> import neardup as nd
    >>> len(nd.dedup(["one two three four", "one two three five"], nd.Config(verify=nd.Jaccard(0.9))).dropped)
    0
    """

    name: ClassVar[str] = "Jaccard"

    def _measure(self, features: Features, left: Rows, right: Rows, threads: int) -> Floats:
        # A comparison ends early when sizes or the features seen so far rule a pair out; the result equals
        # similarity.jaccard.
        return _core.jaccard_at_least(features.hashes, features.offsets, left, right, self.least, threads)


@dataclass(frozen=True)
class Containment(_Threshold):
    """Shared features over the features of one side: the smaller row, or the left (earlier) or right (later) one.

    >>> import neardup as nd
    >>> page = " ".join(f"word{i}" for i in range(200))
    >>> excerpt = " ".join(f"word{i}" for i in range(50, 100))
    >>> nd.dedup([page, excerpt], nd.Config(verify=nd.Containment(0.8))).kept.tolist()
    [0]
    """

    of: Literal["smaller", "left", "right"] = "smaller"

    name: ClassVar[str] = "Containment"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.of not in ("smaller", "left", "right"):
            raise ConfigError(f'containment is of "smaller", "left" or "right", not {self.of!r}')

    def _possible(self, left: Rows, right: Rows, sizes: Rows) -> tuple[Rows, Rows]:
        if self.of == "smaller":
            return left, right
        # The pair shares at most all features of the smaller row.
        whole = sizes[left if self.of == "left" else right]
        possible = np.minimum(sizes[left], sizes[right]) >= SLACK * self.least * whole
        return left[possible], right[possible]

    def _measure(self, features: Features, left: Rows, right: Rows, threads: int) -> Floats:
        return measure.containment(features, left, right, of=self.of, threads=threads)


@dataclass(frozen=True)
class Cosine(_Threshold):
    """Cosine of the angle between weight vectors."""

    name: ClassVar[str] = "Cosine"

    def _measure(self, features: Features, left: Rows, right: Rows, threads: int) -> Floats:
        return measure.cosine(features, left, right, threads=threads)
