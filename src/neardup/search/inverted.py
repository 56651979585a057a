"""An inverted join for containment: a small document finds the large ones that hold a few of its features.

A sketch of Jaccard similarity says little about a page inside a long one: they share nearly nothing of all their
features. Here every document asks, with its `probes` smallest features, which documents hold one of them, among all
of their features. The smallest hashes are a fair sample, so a document of which the share s lies in another one
misses it with probability (1 - s)**probes at most, whatever the sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError
from neardup.features.base import Features
from neardup.search.runs import PairRuns, pack_pairs
from neardup.threads import check_threads

__all__ = ["HeldPairs", "Inverted"]

Rows = NDArray[np.int64]
Batches = Callable[[], Iterator[Features]]

STARS = 4  # of a feature that too many documents hold, how many of them are met nevertheless
_MOST_MET = 1 << 22  # pairs spelled out at a time


@dataclass
class HeldPairs:
    """Candidates in `runs`. `capped` features were held by too many documents to pair them all, and `skipped` pairs
    were not looked at for it (counted for each feature again, so an upper bound)."""

    runs: PairRuns = field(default_factory=PairRuns)
    capped: int = 0
    skipped: int = 0


@dataclass(frozen=True)
class Inverted:
    """Candidates by the `probes` smallest features of each document; left out, as many as the recall asks for.

    A feature held by more than `cap` documents, or by one alone, tells nothing: the next smallest stands in for it,
    among twice the probes. A document with nothing else meets the four best of those documents.
    """

    probes: int | None = None
    cap: int = 1000

    def __post_init__(self) -> None:
        if (self.probes is not None and self.probes < 1) or self.cap < 2:
            raise ConfigError("Inverted: probes must be at least 1 and cap at least 2")

    def for_threshold(self, threshold: float, recall: float) -> Inverted:
        """The same with the fewest probes that find a containment at the threshold with this recall."""
        if self.probes is not None:
            return self
        if not 0 < threshold <= 1 or not 0 < recall < 1:
            raise ConfigError("a threshold is above 0 and at most 1, a recall between 0 and 1")
        probes = 1 if threshold == 1 else math.ceil(math.log(1 - recall) / math.log1p(-threshold) - 1e-9)
        return Inverted(max(1, probes), self.cap)

    def expected(self, containment: float) -> float:
        """The least probability to find a pair of this containment, buckets beyond the cap aside."""
        assert self.probes is not None, "probes are chosen for a threshold"
        return float(1 - (1 - containment) ** self.probes)

    def join(
        self,
        rows: Rows,
        features: Batches,
        *,
        of: Literal["smaller", "left", "right"] = "smaller",
        rank: Rows | None = None,
        runs: PairRuns | None = None,
        threads: int = 1,
        told: Callable[[float], None] = lambda _: None,
    ) -> HeldPairs:
        """Pairs among `rows`, given twice the features of these rows, a batch at a time and in order.

        The `smaller` document of a pair asks, or the `left` (earlier) or `right` (later) one. `rank`, by row, says
        who is best among many. Memory beside the pairs: about 60 bytes a probe, and 8 for each document that holds one.
        """
        check_threads(threads)
        assert self.probes is not None, "probes are chosen for a threshold"
        found = HeldPairs(runs if runs is not None else PairRuns())
        wanted, owners, sizes = self._wanted(features())
        told(0.3)
        keys, number = np.unique(wanted, return_inverse=True)
        best = np.arange(len(rows)) if rank is None else np.argsort(np.argsort(rank[rows], kind="stable"))
        counts, holders = self._holders(features(), keys, best, threads)
        told(0.7)
        begins = np.concatenate([[0], np.cumsum(np.minimum(counts, _kept(counts, self.cap)))])
        asked = self._asked(counts[number], owners)
        over = counts[number[asked]] > self.cap
        found.capped = int((counts > self.cap).sum())
        found.skipped = int(np.maximum(counts[number[asked[over]]] - STARS, 0).sum())
        self._meet(found.runs, rows, owners[asked], number[asked], begins, holders, sizes, of)
        told(1.0)
        return found

    def _wanted(self, batches: Iterator[Features]) -> tuple[NDArray[np.uint64], Rows, Rows]:
        """The smallest features of every document, twice as many as are asked for, in their order."""
        assert self.probes is not None
        keys, owners, sizes = [np.empty(0, np.uint64)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        before = 0
        for batch in batches:
            few = np.minimum(batch.sizes, 2 * self.probes)
            row = np.repeat(np.arange(len(batch)), few)
            place = np.arange(len(row)) - np.repeat(np.cumsum(few) - few, few)
            keys.append(batch.hashes[batch.offsets[row] + place])
            owners.append(before + row)
            sizes.append(batch.sizes)
            before += len(batch)
        return np.concatenate(keys), np.concatenate(owners), np.concatenate(sizes)

    def _holders(
        self, batches: Iterator[Features], keys: NDArray[np.uint64], best: Rows, threads: int
    ) -> tuple[Rows, Rows]:
        """How many documents hold each key, and which, key by key: all of them, or the best of too many."""
        counts = np.zeros(len(keys), np.int64)
        held: list[NDArray[np.uint64]] = [np.empty(0, np.uint64)]
        size = before = 0
        for batch in batches:
            places, at = _core.held_keys(batch.hashes, batch.offsets, keys, threads)
            counts += np.bincount(at, minlength=len(keys))
            held.append(at.astype(np.uint64) << np.uint64(32) | best[before + places].astype(np.uint64))
            before += len(batch)
            if sum(map(len, held[1:])) > max(1 << 20, size):
                held = [self._trimmed(np.concatenate(held), counts)]
                size = len(held[0])
        entries = self._trimmed(np.concatenate(held), counts)
        by_rank = np.argsort(best)
        return counts, by_rank[(entries & np.uint64(0xFFFFFFFF)).astype(np.int64)]

    def _trimmed(self, held: NDArray[np.uint64], counts: Rows) -> NDArray[np.uint64]:
        """(key, rank) entries in order; of keys that too many hold, the best few."""
        held = np.sort(held)
        key = (held >> np.uint64(32)).astype(np.int64)
        first = np.searchsorted(key, key)
        return held[np.arange(len(held)) - first < _kept(counts, self.cap)[key]]

    def _asked(self, counts: Rows, owners: Rows) -> Rows:
        """Which of the wanted features each document asks with: those that tell something first."""
        assert self.probes is not None
        kind = np.where(counts > self.cap, 1, np.where(counts < 2, 2, 0))
        order = np.lexsort((np.arange(len(owners)), kind, owners))
        turn = np.arange(len(order)) - np.searchsorted(owners, owners[order])
        return np.sort(order[(turn < self.probes) & (kind[order] < 2)])

    def _meet(
        self,
        runs: PairRuns,
        rows: Rows,
        askers: Rows,
        number: Rows,
        begins: Rows,
        holders: Rows,
        sizes: Rows,
        of: Literal["smaller", "left", "right"],
    ) -> None:
        many = begins[number + 1] - begins[number]
        part = np.cumsum(many) // _MOST_MET
        for some in np.split(np.arange(len(askers)), np.flatnonzero(np.diff(part)) + 1):
            few = many[some]
            asker = np.repeat(askers[some], few)
            place = np.arange(len(asker)) - np.repeat(np.cumsum(few) - few, few)
            holder = holders[np.repeat(begins[number[some]], few) + place]
            if of == "smaller":
                fit = (sizes[asker] <= sizes[holder]) & (asker != holder)
            else:
                fit = asker < holder if of == "left" else asker > holder
            runs.add(pack_pairs(rows[asker[fit]], rows[holder[fit]]))


def _kept(counts: Rows, cap: int) -> Rows:
    return np.where(counts > cap, STARS, cap)
