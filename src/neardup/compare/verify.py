"""Verification: computes the exact similarity of candidates and keeps those that are similar enough.

Candidates may come from any search: they need columns `left` and `right` of rows. A pair whose sizes show that it
cannot reach the threshold is dropped before its features are compared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.compare import similarity as measure
from neardup.errors import ConfigError, DataError
from neardup.features import Features
from neardup.features.shingles import TextFeatures, Words
from neardup.values.checks import check_fields, checked_methods
from neardup.values.threads import check_threads

__all__ = ["Containment", "Cosine", "Edit", "Identity", "Jaccard", "Pairs"]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

BATCH = 1 << 18  # pairs compared in one call, to bound its memory

# The product of the threshold and a size is rounded, so a size slightly below it still gets the exact check.
SLACK = 1 - 1e-9
LEAST = 1e-9  # for a similarity that counts however small it is


class RowPairs(Protocol):
    """Columns of row numbers: pair i is rows left[i] and right[i]."""

    @property
    def left(self) -> Rows: ...

    @property
    def right(self) -> Rows: ...


@checked_methods
@dataclass(frozen=True)
class Pairs:
    """Verified pairs: rows `left[i]` and `right[i]` have similarity `similarity[i]`.

    Columns int64, int64 and float64 (a float32 could round 0.7 below 0.7); `left < right`, sorted by left and then by
    right, each pair once.

    >>> import neardup as nd
    >>> texts = ["the ferry leaves the north pier at eight today", "the ferry leaves the north pier at eight now"]
    >>> pairs = nd.dedup(texts, threshold=0.5).pairs
    >>> pairs.left.tolist(), pairs.right.tolist(), pairs.similarity.round(2).tolist()
    ([0], [1], [0.67])
    """

    left: Rows
    right: Rows
    similarity: Floats

    def __post_init__(self) -> None:
        check_fields(self)
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
class _OnePair:
    left: Rows
    right: Rows


_BOTH = _OnePair(np.zeros(1, np.int64), np.ones(1, np.int64))


@checked_methods
@dataclass(frozen=True)
class _Threshold(ABC):
    """What the measures share: pairs of similarity `threshold` or more are kept, inclusive. With a `floor`, pairs down
    to the floor are kept too, so that other thresholds can be tried later."""

    threshold: float = 0.8
    floor: float | None = None

    name: ClassVar[str] = "similarity"
    weighted: ClassVar[bool] = False  # whether the weights of features count
    templates: ClassVar[bool] = True  # whether features that recur in a source can be left out

    def __post_init__(self) -> None:
        check_fields(self)
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

    @property
    def jaccard(self) -> float:
        """The Jaccard similarity of shingles from which candidates are searched, where a search needs one."""
        return self.least

    def measured_on(self, features: TextFeatures) -> TextFeatures:
        """The features that it measures where a config compares these."""
        return features

    def check(
        self, candidates: RowPairs, features: Features, threads: int = 1, *, sampled: bool = False
    ) -> Pairs:
        """The candidates that are similar enough, with their similarity; the same for any number of threads.

        If `sampled`, a pair may be dropped as soon as the features compared so far, which are a random sample, rule it
        out. It is quicker, and misses a pair with a probability below one in 10^9.
        """
        check_threads(threads)
        if not (hasattr(candidates, "left") and hasattr(candidates, "right")):
            raise DataError(f"candidates have the columns left and right; this is {candidates!r:.80}")
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
            found = self._measure(features, a, b, threads, sampled)
            enough = found >= self.least
            kept.append((a[enough], b[enough], found[enough]))
        if not kept:
            return Pairs(left[:0], right[:0], np.zeros(0))
        a, b, found = (np.concatenate(columns) for columns in zip(*kept, strict=True))
        # Most searches return sorted pairs; sort the others.
        later = (a[1:] > a[:-1]) | ((a[1:] == a[:-1]) & (b[1:] > b[:-1]))
        return Pairs(a, b, found) if later.all() and (a < b).all() else Pairs.of(a, b, found)

    def of_texts(self, features: TextFeatures, left: str | bytes, right: str | bytes) -> float:
        """The similarity of two texts, however small, where a config compares these features."""
        whole = replace(self, floor=min(LEAST, self.threshold))
        found = whole.check(_BOTH, self.measured_on(features).extract([left, right]))
        return float(found.similarity[0]) if len(found) else 0.0

    def _possible(self, left: Rows, right: Rows, sizes: Rows) -> tuple[Rows, Rows]:
        """The pairs whose sizes do not rule them out."""
        return left, right

    @abstractmethod
    def _measure(self, features: Features, left: Rows, right: Rows, threads: int, sampled: bool) -> Floats:
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

    def _measure(self, features: Features, left: Rows, right: Rows, threads: int, sampled: bool) -> Floats:
        # A comparison ends early when sizes or the features seen so far rule a pair out; the result equals
        # similarity.jaccard.
        return _core.jaccard_at_least(
            features.hashes, features.offsets, left, right, self.least, threads, sampled
        )


@dataclass(frozen=True)
class Containment(_Threshold):
    """Shared features over the features of one side: the smaller row, or the left (earlier) or right (later) one.

    threshold  the least share of a duplicate, above 0 and at most 1
    floor      pairs from this similarity up are stored too; by default the threshold

    >>> import neardup as nd
    >>> page = " ".join(f"word{i}" for i in range(200))
    >>> excerpt = " ".join(f"word{i}" for i in range(50, 100))
    >>> nd.dedup([page, excerpt], nd.Config(verify=nd.Containment(0.8))).kept.tolist()
    [0]
    """

    of: Literal["smaller", "left", "right"] = "smaller"

    name: ClassVar[str] = "Containment"

    def __post_init__(self) -> None:
        check_fields(self)
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

    def _measure(self, features: Features, left: Rows, right: Rows, threads: int, sampled: bool) -> Floats:
        return measure.containment(features, left, right, of=self.of, threads=threads)


@dataclass(frozen=True)
class Cosine(_Threshold):
    """Cosine of the angle between weight vectors.

    threshold  the least cosine of a duplicate, above 0 and at most 1
    floor      pairs from this similarity up are stored too; by default the threshold

    >>> import neardup as nd
    >>> features = nd.Words().extract(["red green blue", "red green yellow"])
    >>> round(float(nd.compare.similarity.cosine(features, [0], [1])[0]), 3)
    0.667
    """

    name: ClassVar[str] = "Cosine"
    weighted: ClassVar[bool] = True

    def _measure(self, features: Features, left: Rows, right: Rows, threads: int, sampled: bool) -> Floats:
        return measure.cosine(features, left, right, threads=threads)


@checked_methods
@dataclass(frozen=True)
class Edit(_Threshold):
    """Share of two texts that insertions and deletions leave: 1 - edits / (sum of lengths), of words or characters.

    Texts are compared as they are normalised, white space as single spaces. Features and templates do not count. A
    scan by words costs little more than one by Jaccard, and several times as much where most documents have many near
    ones; characters, of which a text has six times as many, ten times as much and more.
    A config with it searches for candidates from the Jaccard similarity s / (2 - s), that of a changed passage: pairs
    with changes all over may have less, and need a lower floor.

    threshold  the least similarity of a duplicate, above 0 and at most 1
    floor      pairs from this similarity up are stored too; by default the threshold
    unit       "words" or "characters"

    >>> import neardup as nd
    >>> pair = ["the ferry leaves at nine", "the ferry leaves at noon"]
    >>> found = nd.dedup(pair, nd.Config(features=nd.Shingles(2), verify=nd.compare.Edit(0.8, 0.7)))
    >>> found.pairs.similarity.round(3)
    array([0.8])
    """

    unit: Literal["words", "characters"] = "words"

    name: ClassVar[str] = "Edit"
    templates: ClassVar[bool] = False

    @property
    def jaccard(self) -> float:
        return self.least / (2 - self.least)

    def measured_on(self, features: TextFeatures) -> TextFeatures:
        from neardup.features.sequences import CharacterSequence, WordSequence  # for this measure alone

        kind = CharacterSequence if self.unit == "characters" else WordSequence
        return kind(normalize=features.normalize, hash=features.hash, seed=features.seed)

    def _measure(self, features: Features, left: Rows, right: Rows, threads: int, sampled: bool) -> Floats:
        try:
            return _core.edit_at_least(features.hashes, features.offsets, left, right, self.least, threads)
        except ValueError:
            raise DataError(
                "Edit compares texts in order: make their features with Edit.measured_on"
            ) from None


@checked_methods
@dataclass(frozen=True)
class Identity(_Threshold):
    """Words that two documents use equally often, after Hoad and Zobel (2003).

    Each shared word counts 1 / (1 + d) for a difference d of its two counts. The sum is divided by the larger number of
    distinct words and by 1 + d of the lengths. Differences are "relative", |x - y| / max(x, y), or "absolute":
    |x - y| of words and ln(1 + |x - y|) of lengths, for which one word more already halves the identity.

    threshold    the least identity of a duplicate, above 0 and at most 1
    floor        pairs from this identity up are stored too; by default the threshold
    differences  "relative" or "absolute"

    >>> import neardup as nd
    >>> config = nd.Config(features=nd.Words(), verify=nd.compare.Identity(0.9))
    >>> nd.dedup(["to be or not to be", "not to be or to be"], config).kept.tolist()
    [0]
    """

    differences: Literal["relative", "absolute"] = "relative"

    name: ClassVar[str] = "Identity"
    weighted: ClassVar[bool] = True
    templates: ClassVar[bool] = False

    @property
    def jaccard(self) -> float:
        return self.least / (2 - self.least)

    def measured_on(self, features: TextFeatures) -> TextFeatures:
        return Words(normalize=features.normalize, hash=features.hash, seed=features.seed, weights="count")

    def _measure(self, features: Features, left: Rows, right: Rows, threads: int, sampled: bool) -> Floats:
        differences = _core.Differences[self.differences]
        return _core.identity_at_least(
            features.hashes, features.weights, features.offsets, left, right, self.least, differences, threads
        )
