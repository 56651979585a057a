"""What deduplication found, for people and programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.clusters import Clusters
from neardup.clusters.protect import Protected
from neardup.clusters.selection import Cut
from neardup.compare.verify import Pairs
from neardup.errors import DataError
from neardup.pipeline.pairs import Found
from neardup.readers.document import Document
from neardup.readers.writers import open_writer
from neardup.values.wording import counted

__all__ = ["Dropped", "Result"]

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Dropped:
    """One dropped document: the row of its keeper, and how similar the two are (1: the same words)."""

    row: int
    keeper: int
    similarity: float


@dataclass(frozen=True, repr=False)
class Result:
    """What `dedup` found. Rows are the documents' places in the input.

    `pairs` are the verified ones among documents of different words, down to the floor; `exact` counts the documents
    that are dropped because their words equal those of another, `empty` those without words, which are always kept,
    `filtered` those that the filters left out, which are not; pages that gave no text are no rows, and `failed` counts
    them. `capped` counts the buckets of alike documents that were too large to pair whole: 0 unless a corpus is very
    repetitive.
    """

    ids: tuple[str, ...]
    cut: Cut
    found: Found
    threshold: float
    empty: int
    filtered: int
    failed: int
    seconds: dict[str, float] = field(repr=False)
    source: Callable[[], Iterator[Document]] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        kept = len(self.kept)
        return f"<Result: {counted(len(self), 'document')}, {kept:,} kept, {len(self) - kept:,} dropped>"

    @property
    def clusters(self) -> Clusters:
        return self.cut.clusters

    @property
    def pairs(self) -> Pairs:
        return self.found.pairs

    @property
    def protected(self) -> Protected | None:
        """The documents that are kept only because a guard of the config holds; None if there are no guards."""
        return self.cut.protected

    @property
    def candidates(self) -> int:
        return self.found.candidates

    @property
    def capped(self) -> int:
        return self.found.capped

    @property
    def exact(self) -> int:
        rows = self.cut.dropped
        return self.cut.exact(self.found.first, rows[self.clusters.keeper[rows] != rows])

    @property
    def kept(self) -> Rows:
        """Rows to keep, ascending."""
        return np.flatnonzero(self.cut.kept)

    @property
    def dropped(self) -> list[Dropped]:
        """Rows that are dropped as duplicates, ascending, each with the one that explains it."""
        keeper, similarity = self.clusters.keeper, self.clusters.similarity
        return [
            Dropped(int(row), int(keeper[row]), float(similarity[row]))
            for row in self.cut.dropped
            if keeper[row] != row
        ]

    def write(self, path: str | PathLike[str], format: str | None = None) -> int:
        """Write the documents that are kept, and return how many; the file appears when it is whole."""
        if self.source is None:
            raise DataError(
                "the documents were not kept in memory; select them yourself by the rows in `kept`"
            )
        kept = self.cut.kept
        with open_writer(path, format) as writer:
            writer.write_all(d for row, d in enumerate(self.source()) if kept[row])
        return writer.rows

    def summary(self) -> str:
        """What a person wants to know first, in a few lines."""
        _, sizes = self.clusters.sizes()
        dropped, exact = len(self.cut.dropped) - self.filtered, self.exact
        share = dropped / len(self) if len(self) else 0.0
        largest = f", the largest of {sizes.max()}" if len(sizes) else ""
        lines = [
            f"{counted(len(self), 'document')}: {len(self.kept):,} kept, {dropped:,} dropped ({share:.1%})",
            f"  {exact:,} have the same words as another, {dropped - exact:,} are near-duplicates "
            f"(Jaccard >= {self.threshold:g})",
            f"  {counted(len(sizes), 'cluster')}{largest}; {counted(len(self.pairs), 'pair')} verified of "
            f"{counted(self.candidates, 'candidate')}",
        ]
        if self.filtered:
            lines.append(f"  {self.filtered:,} did not pass the filters and were left out")
        if self.protected is not None:
            for reason, count in self.protected.counts().items():
                lines.append(f"  {count:,} kept although similar to another: {reason}")
        if self.failed:
            lines.append(f"  {self.failed:,} gave no text and were left out")
        if self.empty:
            lines.append(f"  {self.empty:,} have no words and were left alone")
        if self.found.figures:
            lines.append(f"  {self.found.figures:,} differ from another in figures alone, which are folded")
        if self.capped:
            lines.append(
                f"  {self.capped:,} buckets of alike documents were too large to compare pair by pair"
            )
        return "\n".join(lines)
