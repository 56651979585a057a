"""All shards of a corpus as one: rows are numbered through them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.features.features import Features
from neardup.pipeline.shards import Shard
from neardup.pipeline.text_places import read_ahead

__all__ = ["Corpus", "Extract"]

Rows = NDArray[np.int64]

# Features of some documents of a shard: its rows, ascending, and the source of each.
Extract = Callable[[Shard, Rows, NDArray[np.int32]], Features]


class Corpus:
    """Documents as columns, row by row through the shards.

    What every document has is held in memory, about 60 bytes of it; keys, ids and texts are read when they are asked
    for. Rows below `reference` are a corpus compared against: found, never dropped.
    """

    def __init__(self, shards: Sequence[Shard], reference: int = 0) -> None:
        self.shards, self.reference = list(shards), reference
        self.starts = np.concatenate([[0], np.cumsum([shard.count for shard in shards])]).astype(np.int64)

    def __len__(self) -> int:
        return int(self.starts[-1])

    def column(self, name: str) -> NDArray[Any]:
        """A column of all rows."""
        parts = [shard.column(name) for shard in self.shards]
        return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.empty(0)

    def prints(self, name: str) -> NDArray[Any]:
        """A column of fingerprints whose first axis are the rows."""
        parts = [shard.prints(name) for shard in self.shards]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    @cached_property
    def digests(self) -> NDArray[np.uint64]:
        return self.column("digests").reshape(-1, 2).astype(np.uint64, copy=False)

    @cached_property
    def out(self) -> NDArray[np.bool_]:
        """Rows that are not compared: without features, or filtered."""
        return np.asarray((self.column("empty") != 0) | (self.column("filtered") != 0))

    @cached_property
    def tokens(self) -> Rows:
        return self.column("tokens").astype(np.int64, copy=False)

    @cached_property
    def sizes(self) -> Rows:
        return self.column("sizes").astype(np.int64, copy=False)

    @property
    def scores(self) -> NDArray[np.float64]:
        """The score of each row, for ranking it and for the findings; not held between the two."""
        return self.column("scores").astype(np.float64, copy=False)

    @cached_property
    def sources(self) -> NDArray[np.int32]:
        """The source of each row, a place in `source_names`."""
        place = {name: i for i, name in enumerate(self.source_names)}
        parts = []
        for shard in self.shards:
            here = np.array([place[name] for name in shard.source_names], np.int32)
            parts.append(here[shard.column("sources")] if shard.count else here[:0])
        return np.concatenate([np.empty(0, np.int32), *parts])

    @cached_property
    def source_names(self) -> list[str]:
        return sorted({name for shard in self.shards for name in shard.source_names})

    def keys(self, band: int) -> NDArray[np.uint64]:
        """One band's keys of all rows."""
        return np.concatenate([np.empty(0, np.uint64), *(shard.keys(band) for shard in self.shards)])

    def ids(self, rows: Rows) -> list[str]:
        """The ids of some rows, in any order."""
        order = np.argsort(rows, kind="stable")
        found: list[str] = [""] * len(rows)
        at = 0
        for shard, local in self.by_shard(rows[order]):
            for place, name in zip(order[at : at + len(local)].tolist(), shard.ids(local), strict=True):
                found[place] = name
            at += len(local)
        return found

    def features(self, rows: Rows, extract: Extract) -> Features:
        """The features of some rows, one at least, which ascend."""
        parts = []
        at = 0
        for shard, local in self.by_shard(rows):
            parts.append(extract(shard, local, self.sources[rows[at : at + len(local)]]))
            at += len(local)
        return parts[0] if len(parts) == 1 else _together(parts)

    @cached_property
    def _beyond_memory(self) -> bool:
        """Whether its texts are probably not all in the page cache when they are read again."""
        if not hasattr(os, "sysconf"):
            return False
        return 2 * int(self.sizes.sum()) > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    def expect(self, rows: Rows) -> None:
        """Ask the system for the texts of some ascending rows, which are read next. Those of a corpus beyond memory are
        on the disk, far apart: it reads many at once faster than one after another."""
        if not self._beyond_memory:
            return
        ranges: dict[str, list[tuple[Rows, Rows]]] = {}
        for shard, local in self.by_shard(rows):
            for path, begins, raws in shard.text_ranges(local):
                ranges.setdefault(path, []).append((begins, raws))
        for path, parts in ranges.items():
            begins, raws = (np.concatenate(columns) for columns in zip(*parts, strict=True))
            read_ahead(path, begins, raws)

    def batches(self, rows: Rows, most_tokens: int) -> Iterator[Rows]:
        """Rows in successive parts of about so many tokens, each of one row at least."""
        if not len(rows):
            return
        part = np.cumsum(self.tokens[rows]) // max(1, most_tokens)
        yield from np.split(rows, np.flatnonzero(np.diff(part)) + 1)

    def by_shard(self, rows: Rows) -> Iterator[tuple[Shard, Rows]]:
        """The shards that hold some ascending rows, each with the rows' places in it; its texts are good until the
        next one."""
        cuts = np.searchsorted(rows, self.starts)
        for i, shard in enumerate(self.shards):
            if cuts[i] < cuts[i + 1]:
                yield shard, rows[cuts[i] : cuts[i + 1]] - self.starts[i]
                shard.release()


def _together(parts: Sequence[Features]) -> Features:
    ends = np.cumsum([0, *(part.offsets[-1] for part in parts)])
    offsets = [part.offsets[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
    return Features(
        np.concatenate([part.hashes for part in parts]),
        np.concatenate([part.weights for part in parts]),
        np.concatenate([*offsets, ends[-1:]]).astype(np.int64),
        parts[0].scheme,
        sum(part.replaced for part in parts),
    )
