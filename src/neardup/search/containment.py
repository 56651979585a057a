"""An inverted join for containment: a small document finds the large ones that hold a few of its features.

A sketch of Jaccard similarity says little about a page inside a long one: they share nearly nothing of all their
features. Here every document asks, with its `probes` smallest features, which documents hold one of them, among all
of their features. The smallest hashes are a fair sample, so a document of which the share s lies in another one
misses it with probability (1 - s)**probes at most, whatever the sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError
from neardup.features.features import Features
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.fingerprints.minhash import MinHash
from neardup.fingerprints.printer import Printer
from neardup.search.candidates import CAP, Joined, alone
from neardup.search.interface import Measure, Method, PrintColumns, Shuffled, Task
from neardup.search.lsh import LSH
from neardup.search.pair_runs import PairRuns, pack_pairs
from neardup.storage.spill import PARTITIONS, Columns, Shelf, Spill
from neardup.values.threads import check_threads

__all__ = ["HeldPairs", "Inverted"]

Rows = NDArray[np.int64]
Keys = NDArray[np.uint64]
Batches = Callable[[], Iterator[Features]]

STARS = 4  # of a feature that too many documents hold, how many of them are met nevertheless
_MOST_MET = 1 << 22  # pairs spelled out at a time
_PROBE_BYTES = 60
_COMMON, _ALONE = 1, 2


@dataclass
class HeldPairs:
    """Candidates in `runs`. `capped` features were held by too many documents to pair them all, and `skipped` pairs
    were not looked at for it (counted for each feature again, so an upper bound)."""

    runs: PairRuns = field(default_factory=PairRuns)
    capped: int = 0
    skipped: int = 0


@dataclass(frozen=True)
class Holding:
    """Some keys and who holds them: wanted feature `entries[i]` is key `numbers[i]`, `counts` documents hold each key,
    and those that may be met are `holders[begins[key]:begins[key + 1]]`."""

    entries: Rows
    numbers: Rows
    counts: Rows
    begins: Rows
    holders: Rows

    def columns(self) -> tuple[Rows, ...]:
        return self.entries, self.numbers, self.counts, self.begins, self.holders


@dataclass(frozen=True)
class Inverted(Method):
    """Candidates by the `probes` smallest features of each document; left out, as many as the recall asks for.

    A feature held by more than `cap` documents, or by one alone, tells nothing: the next smallest stands in for it,
    among twice the probes. A document with nothing else meets the four best of those documents.
    """

    probes: int | None = None
    cap: int = CAP

    takes = ()

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

    def fingerprint(self) -> Printer:
        return MinHash(1)  # nothing is kept of it, and the shortest one costs nothing

    def check_fit(self, fingerprint: Printer, named: bool, verify: Measure) -> None:
        if named or not hasattr(verify, "of"):
            raise ConfigError("Inverted finds containment: verify by Containment, and name no fingerprint")

    def settled(self, fingerprint: Printer, verify: Measure, recall: float) -> Inverted:
        return self.for_threshold(verify.least, recall)

    @property
    def choice(self) -> str | None:
        return f"{self.probes} probes of each document"

    def kept_scheme(self, fingerprint: Printer) -> str:
        return "features"

    def kept(self, prints: Fingerprints, threads: int = 1) -> PrintColumns:
        """Nothing: features are made again when they are searched."""
        return {}

    def joined(self, task: Task) -> Joined:
        rows = np.flatnonzero(~task.skip)
        found = self.join(
            rows,
            lambda: task.sets(rows),
            of=task.verify.of,  # type: ignore[attr-defined]  # a containment has a direction, see check_fit
            rank=task.rank,
            runs=task.runs(),
            memory=task.memory,
            folder=task.folder,
            threads=task.threads,
            told=task.progress,
        )
        return Joined(alone(task.skip), found.runs, 1, capped=found.capped, skipped=found.skipped)

    def online(self, verify: Measure, recall: float) -> Method:
        """Bands of sketches, for this search reads a whole corpus; they miss the small in the large."""
        return LSH.usual(verify.least, recall)

    def shuffled(self, kept: PrintColumns) -> Shuffled:
        raise ConfigError(
            "Inverted (containment) is searched by the local pipeline alone: on Spark use MinHash with LSH, codes with "
            "Join, or Agree"
        )

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
        memory: int = 1 << 30,
        folder: Path | None = None,
        threads: int = 1,
        told: Callable[[float], None] = lambda _: None,
    ) -> HeldPairs:
        """Pairs among `rows`, given as often as asked the features of these rows, a batch at a time and in order.

        The `smaller` document of a pair asks, or the `left` (earlier) or `right` (later) one. `rank`, by row, says
        who is best among many. Probes and who holds them take about 60 bytes a probe and 8 for each document that
        holds one: with a `folder` they lie there but for a part of at most about `memory` bytes, and features are gone
        through once for each part; without, all are held. Beyond that 32 bytes and twice the probes for each document.
        """
        check_threads(threads)
        assert self.probes is not None, "probes are chosen for a threshold"
        found = HeldPairs(runs if runs is not None else PairRuns())
        best = np.arange(len(rows)) if rank is None else np.argsort(np.argsort(rank[rows], kind="stable"))
        most = memory if folder is not None else 1 << 62
        with ExitStack() as stack:
            place: Path | None = None
            if folder is not None:
                place = Path(stack.enter_context(TemporaryDirectory(prefix="join-", dir=folder)))
            wanted = Spill(
                (np.uint64, np.int64), _by_key, place and place / "keys", most * 16 // _PROBE_BYTES
            )
            shelf = Shelf(place and place / "held")
            sizes = self._wanted(features(), wanted)
            told(0.3)
            few = np.minimum(sizes, 2 * self.probes)
            kind = np.zeros(int(few.sum()), np.uint8)
            groups = wanted.parts(most // _PROBE_BYTES)
            for number, files in enumerate(groups):
                keys, entries = wanted.read(files)
                for part in self._held(features, keys, entries, best, most, threads):
                    kind[part.entries] = _kinds(part.counts, self.cap)[part.numbers]
                    shelf.put(part.columns())
                told(0.3 + 0.4 * (number + 1) / len(groups))
            asked, first = self._asked(kind, few), np.concatenate([[0], np.cumsum(few)])
            for columns in shelf:
                part = Holding(*columns)
                found.capped += int((part.counts > self.cap).sum())
                chosen = np.flatnonzero(asked[part.entries])
                many = part.counts[part.numbers[chosen]]
                found.skipped += int(np.maximum(many[many > self.cap] - STARS, 0).sum())
                askers = np.searchsorted(first, part.entries[chosen], "right") - 1
                self._meet(found.runs, rows, askers, part.numbers[chosen], part, sizes, of)
        told(1.0)
        return found

    def _wanted(self, batches: Iterator[Features], wanted: Spill) -> Rows:
        """The sizes of all documents. Of each the smallest features, twice as many as are asked for, go to `wanted`,
        numbered through."""
        assert self.probes is not None
        sizes = [np.empty(0, np.int64)]
        before = 0
        for batch in batches:
            few = np.minimum(batch.sizes, 2 * self.probes)
            row = np.repeat(np.arange(len(batch)), few)
            place = np.arange(len(row)) - np.repeat(np.cumsum(few) - few, few)
            wanted.add(batch.hashes[batch.offsets[row] + place], before + np.arange(len(row)))
            sizes.append(batch.sizes)
            before += len(row)
        return np.concatenate(sizes)

    def _held(
        self, features: Batches, wanted: Keys, entries: Rows, best: Rows, memory: int, threads: int
    ) -> Iterator[Holding]:
        """Who holds these keys, in as many parts as keep within the memory."""
        keys, numbers = np.unique(wanted, return_inverse=True)
        made = self._holders(features(), keys, best, memory // 32, threads)
        if made is not None:
            counts, holders = made
            begins = np.concatenate([[0], np.cumsum(np.minimum(counts, _kept(counts, self.cap)))])
            yield Holding(entries, numbers.astype(np.int64), counts, begins, holders)
            return
        low = numbers < len(keys) // 2
        for half in (low, ~low):
            yield from self._held(features, wanted[half], entries[half], best, memory, threads)

    def _holders(
        self, batches: Iterator[Features], keys: Keys, best: Rows, most: int, threads: int
    ) -> tuple[Rows, Rows] | None:
        """How many documents hold each key, and which, key by key: all of them, or the best of too many. None if there
        are more than `most` of them, and more than one key."""
        counts = np.zeros(len(keys), np.int64)
        held: list[Keys] = [np.empty(0, np.uint64)]
        size = before = 0
        for batch in batches:
            places, at = _core.held_keys(batch.hashes, batch.offsets, keys, threads)
            counts += np.bincount(at, minlength=len(keys))
            held.append(at.astype(np.uint64) << np.uint64(32) | best[before + places].astype(np.uint64))
            before += len(batch)
            if sum(map(len, held[1:])) > max(min(1 << 20, most // 2), size):
                held = [self._trimmed(np.concatenate(held), counts)]
                size = len(held[0])
                if size > most and len(keys) > 1:
                    return None
        entries = self._trimmed(np.concatenate(held), counts)
        by_rank = np.argsort(best)
        return counts, by_rank[(entries & np.uint64(0xFFFFFFFF)).astype(np.int64)]

    def _trimmed(self, held: Keys, counts: Rows) -> Keys:
        """(key, rank) entries in order; of keys that too many hold, the best few."""
        held = np.sort(held)
        key = (held >> np.uint64(32)).astype(np.int64)
        first = np.searchsorted(key, key)
        return held[np.arange(len(held)) - first < _kept(counts, self.cap)[key]]

    def _asked(self, kind: NDArray[np.uint8], few: Rows) -> NDArray[np.bool_]:
        """Which of the wanted features, `few[i]` of document i, it asks with: those that tell something first."""
        assert self.probes is not None
        asked = np.zeros(len(kind), np.bool_)
        ends = np.cumsum(few)
        for some in np.split(np.arange(len(few)), np.flatnonzero(np.diff(ends // _MOST_MET)) + 1):
            if not len(some) or ends[some[-1]] == (begin := int(ends[some[0]] - few[some[0]])):
                continue
            mine = kind[begin : int(ends[some[-1]])]
            owners = np.repeat(np.arange(len(some)), few[some])
            order = np.lexsort((np.arange(len(mine)), mine, owners))
            turn = np.arange(len(order)) - np.repeat(ends[some] - few[some] - begin, few[some])
            asked[begin + order[(turn < self.probes) & (mine[order] < _ALONE)]] = True
        return asked

    def _meet(
        self,
        runs: PairRuns,
        rows: Rows,
        askers: Rows,
        number: Rows,
        held: Holding,
        sizes: Rows,
        of: Literal["smaller", "left", "right"],
    ) -> None:
        many = held.begins[number + 1] - held.begins[number]
        part = np.cumsum(many) // _MOST_MET
        for some in np.split(np.arange(len(askers)), np.flatnonzero(np.diff(part)) + 1):
            few = many[some]
            asker = np.repeat(askers[some], few)
            place = np.arange(len(asker)) - np.repeat(np.cumsum(few) - few, few)
            holder = held.holders[np.repeat(held.begins[number[some]], few) + place]
            if of == "smaller":
                fit = (sizes[asker] <= sizes[holder]) & (asker != holder)
            else:
                fit = asker < holder if of == "left" else asker > holder
            runs.add(pack_pairs(rows[asker[fit]], rows[holder[fit]]))


def _by_key(columns: Columns) -> NDArray[np.uint64]:
    partitions: NDArray[np.uint64] = columns[0] % np.uint64(PARTITIONS)
    return partitions


def _kinds(counts: Rows, cap: int) -> NDArray[np.uint8]:
    """0 for keys that tell something, then those too many hold, then those that one document holds alone."""
    return np.where(counts > cap, _COMMON, np.where(counts < 2, _ALONE, 0)).astype(np.uint8)


def _kept(counts: Rows, cap: int) -> Rows:
    return np.where(counts > cap, STARS, cap)
