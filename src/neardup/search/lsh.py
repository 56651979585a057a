"""Locality-sensitive hashing of sketches: documents whose sketches agree on a whole band are candidates.

A sketch of MinHash values is cut into `bands` bands of `rows` values. Documents of Jaccard similarity s agree on
one band with probability s**rows, on at least one with 1 - (1 - s**rows)**bands: an S-curve, steep near the
threshold the bands are made for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neardup import _core
from neardup.errors import ConfigError, DataError
from neardup.fingerprints.fingerprints import Sketches
from neardup.fingerprints.minhash import MinHash
from neardup.fingerprints.printer import Printer
from neardup.search.candidates import CAP, SPREAD, Columns, Joined, best_first, implied_pairs
from neardup.search.collapse import Groups
from neardup.search.crowds import Verified
from neardup.search.interface import Keyed, KeyMethod, PrintColumns, Shuffled, Task, VerifyMeasure
from neardup.search.key_join import KeyColumn, join_keys
from neardup.search.pair_runs import PairRuns, pack_pairs, unpack_pairs
from neardup.values.checks import check_fields, checked_methods
from neardup.values.distinct import distinct
from neardup.values.parts import WHOLE, Part
from neardup.values.threads import check_threads

__all__ = ["LSH", "BandCandidates"]

# One-permutation sketches of short documents borrow values, so their error is larger than the S-curve says. The bands
# are chosen so that by the curve they miss only this share of what the recall permits.
MARGIN = 0.25
_EQUAL = "alike"  # the column of `equal_keys` in saved fingerprints: part of the file format


@dataclass(frozen=True)
class BandCandidates:
    """Pairs of rows that agree on a band, not yet verified: `left < right`, sorted, each pair once, int64.

    `groups` are the rows with equal sketches. Only the first row of a group was joined with other rows. If few rows are
    in the two groups of a pair, the columns list all pairs between them. If many are, the columns hold the pair of
    first rows, and one pair of each further row with the first row of its group; `implied` counts the pairs that are
    not listed, and `every` streams them too. `capped` buckets were too large to pair all their rows, and `skipped` of
    their pairs were not made there (an upper bound: a pair counts again in each band).
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    groups: Groups
    implied: int = 0
    capped: int = 0
    skipped: int = 0

    def __len__(self) -> int:
        return len(self.left)

    def every(self, *, batch: int = 1 << 20) -> Iterator[Columns]:
        """All pairs of rows, those of collapsed groups too, at most `batch` at a time and each once."""
        labels = self.groups.labels()
        first = (labels[self.left] == self.left) & (labels[self.right] == self.right)
        left, right = self.left[first], self.right[first]
        zeros = np.zeros(len(left), dtype=np.uint8)
        for a, b, _ in self.groups.expand((left, right, zeros), batch=batch):
            yield a, b
        for a, b, _ in self.groups.pairs(batch=batch):
            yield np.minimum(a, b), np.maximum(a, b)  # the rows of a ranked group may have any order

    def implied_pairs(self, keeper: NDArray[np.int64]) -> Columns:
        """More candidates where pairs were left implied: each row of a group with the keeper of the group's first row,
        given each row's keeper. When they are verified and added to the pairs, the keeper can take these rows too.
        """
        return implied_pairs(self.groups, keeper)


@checked_methods
@dataclass(frozen=True)
class LSH(KeyMethod):
    """Candidates by bands of MinHash values: `bands` x `rows` of them, the first of each sketch.

    A bucket holds the rows with the same key in a band. If it has more than `cap` rows, each row is paired only with
    the bucket's first four rows by rank and with its eight neighbours in the order of the next band's key. A run can
    verify pairs: there, a large bucket of which almost no pair is similar enough lists few pairs, too. For each group
    of equal sketches, and each pair of groups, at most `spread` pairs are listed.

    >>> import neardup as nd
    >>> texts = ["one two three four five six seven"] * 2 + ["something else that has no word in common"]
    >>> sketches = nd.fingerprint(texts, nd.Shingles(2), nd.MinHash(128))
    >>> found = nd.LSH(16, 8).candidates(sketches)
    >>> found.left.tolist(), found.right.tolist()
    ([0], [1])
    """

    bands: int
    rows: int
    cap: int = CAP
    spread: int = SPREAD

    takes = (Sketches,)
    keeps_keys = True
    sparse = False
    estimates = True
    misses_by_chance = True

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("bands", "rows", "spread", "cap"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ConfigError(f"LSH: {name} must be a whole number from 1 up, not {value!r}")
        if self.values > 65536:
            raise ConfigError(
                f"{self.bands} bands of {self.rows} rows need {self.values} values: 65536 at most"
            )

    @classmethod
    def for_threshold(cls, threshold: float = 0.8, recall: float = 0.99, values: int = 128) -> LSH:
        """The most selective bands that find a pair at the threshold with at least this recall.

        They use at most `values` MinHash values, possibly fewer: see `values`. `rows` is as large as possible, because
        each row reduces the candidates; `bands` is as small as the recall permits, with a margin for short documents.
        """
        if not 0 < threshold <= 1:
            raise ConfigError(f"a threshold is above 0 and at most 1, not {threshold}")
        if not 0 < recall < 1:
            raise ConfigError(f"a recall is between 0 and 1, not {recall}")
        miss = math.log(MARGIN * (1 - recall))
        best: LSH | None = None
        rows = 1
        while True:
            agree = threshold**rows
            bands = max(1, math.ceil(miss / math.log1p(-agree))) if agree < 1 else 1
            if bands * rows > values:
                break
            best = cls(bands, rows)
            rows += 1
        if best is None:
            raise ConfigError(
                f"threshold {threshold} at recall {recall} needs {bands} MinHash values, not {values}"
            )
        return best

    @classmethod
    def usual(cls, least: float, recall: float, values: int | None = None) -> LSH:
        """As `for_threshold`, but it chooses the number of values: lower thresholds need more bands for the same
        recall."""
        if values is None:
            values = 128 if least >= 0.75 else 256 if least >= 0.6 else 512
        return cls.for_threshold(least, recall, values)

    @property
    def values(self) -> int:
        """How many MinHash values a sketch must have."""
        return self.bands * self.rows

    def curve(self, similarity: ArrayLike) -> NDArray[np.float64]:
        """P(candidate) for documents of the given Jaccard similarity: 1 - (1 - s**rows)**bands."""
        try:
            share = np.asarray(similarity, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError(f"similarity must be numbers from 0 to 1, not {similarity!r:.80}") from None
        if not np.all((share >= 0) & (share <= 1)):
            raise DataError("a similarity is a number from 0 to 1, and similarity has another")
        with np.errstate(divide="ignore"):
            return np.asarray(-np.expm1(self.bands * np.log1p(-(share**self.rows))))

    @property
    def limit(self) -> int:
        return self.cap

    def fingerprint(self) -> Printer:
        return MinHash(self.values)

    def check_fit(self, fingerprint: Printer, named: bool, verify: VerifyMeasure) -> None:
        super().check_fit(fingerprint, named, verify)
        if self.values > fingerprint.blank.main.shape[1]:
            raise ConfigError(f"these bands need MinHash(values={self.values})")

    @property
    def choice(self) -> str | None:
        return f"{self.bands} bands of {self.rows} values"

    def kept_scheme(self, fingerprint: Printer) -> str:
        return f"bands {self.bands}x{self.rows}"

    def kept(self, prints: Sketches, threads: int = 1) -> PrintColumns:
        """Only the band keys of a sketch, 8 bytes each, and its key for equality."""
        return {
            "keys": self.band_keys(prints, threads=threads),
            _EQUAL: self.equal_keys(prints, threads=threads),
        }

    def joined(self, task: Task) -> Joined:
        return self.join(
            task.kept.keys,
            task.kept.prints(_EQUAL),
            task.skip,
            rank=task.rank,
            runs=task.runs(),
            threads=task.threads,
            progress=lambda bands: task.progress(bands / self.bands),
            part=task.part,
            verified=task.verified,
        )

    def key_tables(self, prints: Sketches) -> int:
        return self.bands

    def table_count(self, fingerprint: Printer) -> int:
        return self.bands

    def estimate(self, one: NDArray[np.uint32], two: NDArray[np.uint32]) -> NDArray[np.float64]:
        """The share of equal values."""
        return np.asarray((one == two).mean(axis=1) if len(one) else np.empty(0))

    def live_keys(self, prints: Sketches, threads: int = 1) -> NDArray[np.uint64]:
        return np.ascontiguousarray(self.band_keys(prints, threads=threads).T)

    def shuffled(self, kept: PrintColumns) -> Shuffled:
        """Only the keys are sent: sketches that share one are candidates without a check."""
        return Shuffled(kept[_EQUAL], kept["keys"].T)

    def keys(self, prints: Sketches, *, threads: int = 1) -> Keyed:
        """The (band, key) columns of all rows with a sketch, row by row. Rows that share one are candidates, in
        memory as on Spark."""
        keys = self.band_keys(prints, threads=threads)
        rows = np.flatnonzero(~prints.empty)
        table = np.tile(np.arange(self.bands, dtype=np.int32), len(rows))
        return Keyed(np.repeat(rows, self.bands), table, np.ascontiguousarray(keys[:, rows].T).reshape(-1))

    def band_keys(self, sketches: Sketches, *, threads: int = 1) -> NDArray[np.uint64]:
        """The key of every row in every band, [bands, rows]: all that is needed of sketches to join them later."""
        values = self._values_of(sketches)
        keys = _core.band_keys(values, self.bands, self.rows, 0, self.bands, check_threads(threads))
        return keys.reshape(self.bands, len(sketches))

    def equal_keys(self, sketches: Sketches, *, threads: int = 1) -> NDArray[np.uint64]:
        """128 bits for each row, [rows, 2], which are equal if and only if all values are."""
        return _core.sketch_digests(self._values_of(sketches), self.bands, self.rows, check_threads(threads))

    def candidates(
        self, sketches: Sketches, *, rank: NDArray[np.int64] | None = None, threads: int = 1
    ) -> BandCandidates:
        """The pairs of rows that agree on a band, all in memory; the same for any number of threads.

        `rank` (smaller is better; by default the row) decides which row of a group or large bucket is paired with other
        rows. It is the same order in which clusters choose their keepers.
        """
        values = self._values_of(sketches)

        def keys(band: int) -> NDArray[np.uint64]:
            return _core.band_keys(values, self.bands, self.rows, band, 1, threads).reshape(-1)

        joined = self.join(
            keys, self.equal_keys(sketches, threads=threads), sketches.empty, rank=rank, threads=threads
        )
        pairs = [pack_pairs(left, right) for left, right in joined.chunks()]
        left, right = unpack_pairs(distinct(np.concatenate([np.empty(0, np.uint64), *pairs])))
        return BandCandidates(left, right, joined.groups, joined.implied, joined.capped, joined.skipped)

    def join(
        self,
        keys: Callable[[int], NDArray[np.uint64]],
        equal: NDArray[np.uint64],
        skip: NDArray[np.bool_],
        *,
        rank: NDArray[np.int64] | None = None,
        runs: PairRuns | None = None,
        threads: int = 1,
        progress: Callable[[int], None] | None = None,
        part: Part = WHOLE,
        verified: Verified | None = None,
    ) -> Joined:
        """The same candidates from keys alone, so that the keys can be stored anywhere: `keys(band)` gives the keys of
        all rows in one band, and `equal` is the result of `equal_keys`. Rows in `skip` have no sketch. `progress` gets
        the number of bands done. Only the bands of the `part` are joined. With `verified`, large buckets of which
        almost no pair is similar enough list few pairs (`search/crowds.py`).

        It needs about 40 to 70 bytes a row, and memory for the pairs, which `runs` may keep on disk.
        """
        check_threads(threads)
        if rank is not None and rank.shape != (len(skip),):
            raise DataError(f"rank must have one number for each of {len(skip)} rows, not {rank.shape}")
        repeats, members, offsets = _core.collapse(equal, skip if skip.any() else None, 128, threads)
        groups = Groups(repeats.view(np.bool_), skip, members, offsets)
        if rank is not None:
            groups = best_first(groups, rank)
        joined = Joined(groups, runs if runs is not None else PairRuns(), self.spread)
        chosen = groups.first_rows

        def columns() -> Iterator[KeyColumn]:
            for band in range(self.bands):
                yield np.ascontiguousarray(keys(band)[chosen]), None

        join_keys(
            columns(),
            chosen,
            joined,
            rank=rank,
            cap=self.cap,
            threads=threads,
            progress=progress,
            part=part,
            verified=verified,
        )
        return joined

    def _values_of(self, sketches: Sketches) -> NDArray[np.uint32]:
        have = sketches.values.shape[1]
        if have < self.values:
            raise ConfigError(
                f"{self.bands} bands of {self.rows} rows need MinHash(values={self.values}), not {have} values"
            )
        return np.ascontiguousarray(sketches.values)
