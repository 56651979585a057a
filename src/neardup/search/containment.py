"""An inverted join for containment: a small document finds the large ones that hold some of its features.

A Jaccard sketch cannot find a short page inside a long one, because the share of common features is tiny. Here every
document asks with its `probes` smallest features, and finds all documents that hold one of them. The smallest hashes
are a fair sample. So if the share s of a document is in another one, it misses that one with a probability of at most
(1 - s)**probes, for any sizes.
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
from neardup.search.candidates import CAP, Joined, no_groups
from neardup.search.interface import Method, PrintColumns, Shuffled, Task, VerifyMeasure
from neardup.search.lsh import LSH
from neardup.search.pair_runs import PairRuns, pack_pairs
from neardup.storage.spill import PARTITIONS, Columns, Shelf, Spill
from neardup.values.checks import check_fields, checked_methods
from neardup.values.threads import check_threads

__all__ = ["HeldPairs", "Inverted"]

Rows = NDArray[np.int64]
Keys = NDArray[np.uint64]
Batches = Callable[[], Iterator[Features]]

STARS = 4  # documents that are still paired for a feature that too many documents hold
_MOST_PAIRS = 1 << 22  # pairs made at a time
_PROBE_BYTES = 60
_COMMON, _ALONE = 1, 2


@dataclass
class HeldPairs:
    """Candidates in `runs`. `capped` features were held by too many documents to pair them all, and `skipped` pairs
    were not made for them (an upper bound: a pair counts again for each feature)."""

    runs: PairRuns = field(default_factory=PairRuns)
    capped: int = 0
    skipped: int = 0


@dataclass(frozen=True)
class Holding:
    """Some keys and the documents that hold them. Probe `entries[i]` is key `numbers[i]`. `counts` documents hold each
    key; those that are paired are `holders[begins[key]:begins[key + 1]]`."""

    entries: Rows
    numbers: Rows
    counts: Rows
    begins: Rows
    holders: Rows

    def columns(self) -> tuple[Rows, ...]:
        return self.entries, self.numbers, self.counts, self.begins, self.holders


@checked_methods
@dataclass(frozen=True)
class Inverted(Method):
    """Candidates by the `probes` smallest features of each document; by default as many as the recall needs.

    A feature is of no use if more than `cap` documents hold it, or only one. The next smallest feature replaces it,
    among the first 2 * probes. A document that has only such common features is paired with the four best documents
    that hold them.

    >>> import neardup as nd
    >>> texts = ["the ferry leaves the pier at eight", "today the ferry leaves the pier at eight and returns"]
    >>> config = nd.Config.of(search=nd.search.Inverted(), verify=nd.Containment(0.9), features=nd.Shingles(2))
    >>> nd.dedup(texts, config=config).kept
    array([1])
    """

    probes: int | None = None
    cap: int = CAP

    takes = ()

    def __post_init__(self) -> None:
        check_fields(self)
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
        return MinHash(1)  # it is not used; the shortest sketch costs least

    def check_fit(self, fingerprint: Printer, named: bool, verify: VerifyMeasure) -> None:
        if named or not hasattr(verify, "of"):
            raise ConfigError("Inverted finds containment: verify by Containment, and name no fingerprint")

    def settled(self, fingerprint: Printer, verify: VerifyMeasure, recall: float) -> Inverted:
        return self.for_threshold(verify.least, recall)

    @property
    def choice(self) -> str | None:
        return f"{self.probes} probes of each document"

    def kept_scheme(self, fingerprint: Printer) -> str:
        return "features"

    def kept(self, prints: Fingerprints, threads: int = 1) -> PrintColumns:
        """Nothing: the join makes the features again."""
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
            progress=task.progress,
        )
        return Joined(no_groups(task.skip), found.runs, 1, capped=found.capped, skipped=found.skipped)

    def online(self, verify: VerifyMeasure, recall: float) -> Method:
        """LSH, because this join reads a whole corpus. LSH misses small documents inside large ones."""
        return LSH.usual(verify.least, recall)

    def shuffled(self, kept: PrintColumns) -> Shuffled:
        raise ConfigError(
            "only the local pipeline can search by Inverted (containment): on Spark use MinHash with LSH, codes with "
            "Join, or Agree"
        )

    def expected(self, containment: float) -> float:
        """The least probability to find a pair of this containment, without the effect of the cap."""
        if not 0 <= containment <= 1:
            raise ConfigError(f"a containment is from 0 to 1, not {containment}")
        return float(1 - (1 - containment) ** self._chosen())

    def _chosen(self) -> int:
        if self.probes is None:
            raise ConfigError("Inverted: the number of probes is open; choose it with for_threshold")
        return self.probes

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
        progress: Callable[[float], None] = lambda _: None,
    ) -> HeldPairs:
        """Pairs among `rows`. Each call of `features` gives the features of these rows again, in order, in batches.

        `of` says which document of a pair asks: the `smaller`, the `left` (earlier) or the `right` (later) one. `rank`,
        by row, says which documents are best if too many hold a feature. The join needs about 60 bytes for each probe,
        and 8 bytes for each document that holds one. With a `folder`, only parts of about `memory` bytes are in memory,
        and features are read once for each part. It also needs 32 bytes a document, and a byte for each of 2 * probes
        features.
        """
        check_threads(threads)
        self._chosen()
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
            progress(0.3)
            few = np.minimum(sizes, 2 * self._chosen())
            kind = np.zeros(int(few.sum()), np.uint8)
            groups = wanted.parts(most // _PROBE_BYTES)
            for number, files in enumerate(groups):
                keys, entries = wanted.read(files)
                for part in self._held(features, keys, entries, best, most, threads):
                    kind[part.entries] = _kinds(part.counts, self.cap)[part.numbers]
                    shelf.put(part.columns())
                progress(0.3 + 0.4 * (number + 1) / len(groups))
            asked, first = self._asked(kind, few), np.concatenate([[0], np.cumsum(few)])
            for columns in shelf:
                part = Holding(*columns)
                found.capped += int((part.counts > self.cap).sum())
                chosen = np.flatnonzero(asked[part.entries])
                many = part.counts[part.numbers[chosen]]
                found.skipped += int(np.maximum(many[many > self.cap] - STARS, 0).sum())
                askers = np.searchsorted(first, part.entries[chosen], "right") - 1
                self._add_pairs(found.runs, rows, askers, part.numbers[chosen], part, sizes, of)
        progress(1.0)
        return found

    def _wanted(self, batches: Iterator[Features], wanted: Spill) -> Rows:
        """The sizes of all documents. Adds the smallest 2 * probes features of each to `wanted`, with running
        numbers."""
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
        """The documents that hold these keys, split into parts that fit into the memory."""
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
        """How many documents hold each key, and which, key by key: all of them, or the best ones of too many. None if
        the documents are more than `most`, and there is more than one key."""
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
        """Sorted (key, rank) entries; only the best ones of keys that too many documents hold."""
        held = np.sort(held)
        key = (held >> np.uint64(32)).astype(np.int64)
        first = np.searchsorted(key, key)
        return held[np.arange(len(held)) - first < _kept(counts, self.cap)[key]]

    def _asked(self, kind: NDArray[np.uint8], few: Rows) -> NDArray[np.bool_]:
        """Which features are probes; document i has `few[i]` of them, useful ones first."""
        assert self.probes is not None
        asked = np.zeros(len(kind), np.bool_)
        ends = np.cumsum(few)
        for some in np.split(np.arange(len(few)), np.flatnonzero(np.diff(ends // _MOST_PAIRS)) + 1):
            if not len(some) or ends[some[-1]] == (begin := int(ends[some[0]] - few[some[0]])):
                continue
            mine = kind[begin : int(ends[some[-1]])]
            owners = np.repeat(np.arange(len(some)), few[some])
            order = np.lexsort((np.arange(len(mine)), mine, owners))
            turn = np.arange(len(order)) - np.repeat(ends[some] - few[some] - begin, few[some])
            asked[begin + order[(turn < self.probes) & (mine[order] < _ALONE)]] = True
        return asked

    def _add_pairs(
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
        part = np.cumsum(many) // _MOST_PAIRS
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
    """0 for a useful key, _COMMON for one that too many documents hold, _ALONE for one that a single document holds."""
    return np.where(counts > cap, _COMMON, np.where(counts < 2, _ALONE, 0)).astype(np.uint8)


def _kept(counts: Rows, cap: int) -> Rows:
    return np.where(counts > cap, STARS, cap)
