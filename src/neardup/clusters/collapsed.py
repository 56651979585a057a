"""Folds near-duplicates in a ranked list under the first of them, as search engines do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

import neardup.compare.similarity as measure
from neardup.errors import ConfigError
from neardup.features.shingles import Shingles, TextFeatures
from neardup.fingerprints.fingerprints import Codes
from neardup.readers.document import Document
from neardup.values.checks import check_fields, checked

__all__ = ["Collapsed", "Fold", "collapse", "collapse_codes"]

PAIRS_AT_ONCE = 1 << 18
Rows = NDArray[np.int64]
Near = Callable[[Rows, Rows], NDArray[np.float64]]


class Fold(NamedTuple):
    """A result that is not shown: its place in the given list, and its similarity (or distance) to the one shown.

    rank      the position of the result in the given list
    measured  its similarity (or distance) to the shown result

    >>> import neardup as nd
    >>> shown = nd.clusters.collapse(["the ferry leaves at eight", "The ferry leaves, at eight!"])
    >>> shown[0].folded[0].rank, shown[0].folded[0].measured
    (1, 1.0)
    """

    rank: int
    measured: float


@dataclass(frozen=True)
class Collapsed:
    """One result that is shown, by its place in the given list, with the results folded under it, in order.

    rank    the position of the shown result in the given list
    folded  the results folded under it

    >>> import neardup as nd
    >>> nd.clusters.collapse(["the ferry leaves at eight", "The ferry leaves, at eight!"])
    [Collapsed(rank=0, folded=(Fold(rank=1, measured=1.0),))]
    """

    rank: int
    folded: tuple[Fold, ...]

    def __post_init__(self) -> None:
        check_fields(self)


@checked
def collapse(
    results: Sequence[str | Document],
    *,
    threshold: float = 0.8,
    features: TextFeatures | None = None,
    threads: int = 1,
) -> list[Collapsed]:
    """The same list in the same order, near-duplicates folded under their first occurrence.

    A result is folded under the first one shown whose Jaccard similarity of features (by default shingles of 5 words)
    reaches the threshold, inclusive. So every folded result is similar to the one shown above it, and not only through
    a chain of others. Results without words are always shown. The answer is exact, and meant for short lists: every
    result is compared with every shown one.

    results  texts or Documents, the best first
    threads  from 1 up
    returns  a Collapsed for each result that is shown
    raises   ConfigError unless `threshold` is above 0 and at most 1

    >>> import neardup as nd
    >>> results = ["the ferry leaves the pier at eight", "a recipe for a cake", "The ferry leaves the pier, at eight!"]
    >>> [one.rank for one in nd.clusters.collapse(results)]
    [0, 1]
    """
    if not 0 < threshold <= 1:
        raise ConfigError(f"threshold {threshold}: must be above 0 and at most 1")
    found = (features or Shingles(5)).extract(list(results), threads=threads)
    return _folded(
        len(results),
        lambda shown, row: measure.jaccard(found, shown, row, threads=threads),
        threshold,
        "least",
    )


def collapse_codes(codes: Codes, *, radius: int) -> list[Collapsed]:
    """`collapse` for existing codes: a result is folded under the first shown one within the radius, inclusive."""
    if radius < 0:
        raise ConfigError(f"radius {radius}: must not be negative")

    def far(shown: Rows, row: Rows) -> NDArray[np.float64]:
        away = measure.hamming(codes, shown, row).astype(np.float64)
        away[codes.empty[shown] | codes.empty[row]] = np.inf
        return away

    return _folded(len(codes), far, radius, "most")


def _folded(count: int, near: Near, limit: float, kind: Literal["least", "most"]) -> list[Collapsed]:
    folds: dict[int, list[Fold]] = {}
    for start, stop in _blocks(count):
        inside = np.arange(start, stop)
        shown = np.array(list(folds), np.int64)
        table = _measured(near, shown, inside)
        own = _measured(near, inside, inside)
        for row in inside.tolist():
            at = row - start
            values = np.concatenate([table[:, at], own[: len(own), at][_shown_here(folds, start)]])
            reached = values >= limit if kind == "least" else values <= limit
            hit = int(np.argmax(reached)) if reached.any() else -1
            if hit < 0:
                folds[row] = []
            else:
                folds[list(folds)[hit]].append(Fold(row, float(values[hit])))
    return [Collapsed(rank, tuple(under)) for rank, under in folds.items()]


def _shown_here(folds: dict[int, list[Fold]], start: int) -> list[int]:
    return [rank - start for rank in folds if rank >= start]


def _measured(near: Near, left: Rows, right: Rows) -> NDArray[np.float64]:
    """All pairs of left and right."""
    if not len(left) or not len(right):
        return np.empty((len(left), len(right)))
    pairs = near(np.repeat(left, len(right)), np.tile(right, len(left)))
    return np.asarray(pairs, np.float64).reshape(len(left), len(right))


def _blocks(count: int) -> Iterator[tuple[int, int]]:
    """Split the list into blocks, so that the pairs of a block with all earlier results fit a bounded table."""
    start = 0
    while start < count:
        stop = min(count, start + max(1, min(256, PAIRS_AT_ONCE // (start + 256))))
        yield start, stop
        start = stop
