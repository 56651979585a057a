"""Documents that agree on at least m of k places: the rule of sketch thresholds, super-fingerprints and checksums.

Two documents that agree on m of k places differ on at most k - m, so of k - m + 1 parts at least one is equal. Parts
are joined on keys, and for each pair the equal places are counted. Pairs are missed only in buckets beyond the cap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError, DataError
from neardup.fingerprints.fingerprints import Sketches
from neardup.fingerprints.keyed import Keys, mix
from neardup.fingerprints.minhash import MinHash
from neardup.fingerprints.printer import Printer
from neardup.search.candidates import CAP, Joined, no_groups
from neardup.search.interface import Candidates, Keyed, KeyMethod, PrintColumns, Task, VerifyMeasure
from neardup.search.key_join import KeyColumn, join_keys
from neardup.search.pair_runs import PairRuns
from neardup.values.checks import check_fields, check_whole, checked_methods
from neardup.values.threads import check_threads

__all__ = ["Agree", "folded"]

Places = NDArray[Any]
# The name of the kept column for each kind; `keys` would be the keys of tables, as LSH keeps them.
_NAMES = {"keys": "places", "values": "values"}


@checked_methods
@dataclass(frozen=True)
class Agree(KeyMethod):
    """Candidates whose keys or sketch values are equal at `least` places or more; None is most of them.

    90 of a MinHash of 100 values (Mitzenmacher), 160 of 200 (the slides), 2 of 6 super-fingerprints (Broder). In a
    bucket of more than `cap` rows each row is paired with the first four by rank and with its eight neighbours.

    >>> import neardup as nd
    >>> prints = nd.fingerprint(["the ferry leaves"] * 2, nd.Words(), nd.MinHash(100))
    >>> len(nd.search.Agree(least=90).candidates(prints))
    1
    """

    least: int | None = None
    cap: int = CAP

    takes = (Sketches, Keys)
    splits = False

    def __post_init__(self) -> None:
        check_fields(self)
        if self.least is not None and self.least < 1:
            raise ConfigError(f"agreeing places are 1 or more, not {self.least}")
        if self.cap < 1:
            raise ConfigError(f"a cap is 1 or more, not {self.cap}")

    def needed(self, places: int) -> int:
        """How many of `places` places must agree."""
        if self.least is not None and self.least > places:
            raise ConfigError(f"{self.least} places cannot agree of {places}")
        return places // 2 + 1 if self.least is None else self.least

    def parts(self, places: int) -> list[slice]:
        """The parts of which at least one must be equal; their sizes differ by at most one."""
        places = check_whole(places, "places", 1, 1 << 20)
        many = places - self.needed(places) + 1
        ends = [places * part // many for part in range(many + 1)]
        return [slice(a, b) for a, b in pairwise(ends)]

    @property
    def limit(self) -> int:
        return self.cap

    def fingerprint(self) -> Printer:
        return MinHash()

    def check_fit(self, fingerprint: Printer, named: bool, verify: VerifyMeasure) -> None:
        super().check_fit(fingerprint, named, verify)
        self.needed(fingerprint.places)  # type: ignore[attr-defined]  # what makes sketches or keys has places

    def kept_scheme(self, fingerprint: Printer) -> str:
        return f"places {fingerprint.places}"  # type: ignore[attr-defined]

    def kept(self, prints: Keys | Sketches, threads: int = 1) -> PrintColumns:
        """All places, 4 or 8 bytes each."""
        return {_NAMES[prints.MAIN]: prints.main}

    def joined(self, task: Task) -> Joined:
        return self.join(
            task.kept.prints(_NAMES[task.fingerprint.makes.MAIN]),
            task.skip,
            rank=task.rank,
            runs=task.runs(),
            threads=task.threads,
            progress=task.progress,
        )

    def check_live(self, fingerprint: Printer) -> None:
        raise ConfigError("an index uses MinHash bands or codes; use Agree in scan and dedup")

    def key_tables(self, prints: Keys | Sketches) -> int:
        return len(self.parts(prints.main.shape[1]))

    def keys(self, prints: Keys | Sketches) -> Keyed:
        """A key for each part that has all its places."""
        rows = np.flatnonzero(~prints.empty)
        found = []
        for table, (keys, present) in enumerate(self._columns(prints.main, rows)):
            mine = np.arange(len(rows)) if present is None else np.flatnonzero(present)
            found.append((rows[mine], np.full(len(mine), table, np.int32), keys[mine]))
        return Keyed(*(np.concatenate(column) for column in zip(*found, strict=True)))

    def key_columns(self, prints: Keys | Sketches, threads: int = 1) -> Iterator[KeyColumn]:
        return self._columns(prints.main, None)

    def _columns(self, values: Places, rows: NDArray[np.int64] | None) -> Iterator[KeyColumn]:
        for part in self.parts(values.shape[1]):
            places = values[:, part] if rows is None else values[rows, part]
            # In Keys, 0 means no key; in a sketch every value counts.
            present = (places != 0).all(axis=1) if values.dtype == np.uint64 else None
            yield folded(places), present

    def check(
        self, prints: Keys | Sketches, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Whether enough places agree."""
        values = np.ascontiguousarray(prints.main)
        return np.asarray(self.agreement(values, left, right) >= self.needed(values.shape[1]))

    def agreement(
        self, values: Places, left: NDArray[np.int64], right: NDArray[np.int64], threads: int = 1
    ) -> NDArray[np.int64]:
        """At how many places each pair agrees."""
        return _core.agreeing_places(values, left, right, threads)

    def candidates(
        self, prints: Keys | Sketches, *, rank: NDArray[np.int64] | None = None, threads: int = 1
    ) -> Candidates:
        """The pairs of rows that agree, with the places they differ at as their distance."""
        values = prints.keys if isinstance(prints, Keys) else prints.values
        joined = self.join(values, prints.empty, rank=rank, threads=threads)
        chunks = list(joined.chunks())
        left = np.concatenate([np.empty(0, np.int64), *(a for a, _ in chunks)])
        right = np.concatenate([np.empty(0, np.int64), *(b for _, b in chunks)])
        differ = values.shape[1] - self.agreement(np.ascontiguousarray(values), left, right, threads)
        return Candidates(left, right, np.minimum(differ, 255).astype(np.uint8))

    def join(
        self,
        values: Places,
        skip: NDArray[np.bool_],
        *,
        rank: NDArray[np.int64] | None = None,
        runs: PairRuns | None = None,
        threads: int = 1,
        progress: Callable[[float], None] | None = None,
    ) -> Joined:
        """The same candidates as a join for the pipeline: `values` are keys uint64[n, k] or sketches uint32[n, k]."""
        check_threads(threads)
        if values.ndim != 2 or len(values) != len(skip):
            raise DataError(f"places of {len(skip)} rows expected, not {values.shape}")
        joined = Joined(no_groups(skip), runs if runs is not None else PairRuns(), 1)
        values = np.ascontiguousarray(values)
        chosen = np.flatnonzero(~skip)
        many, needed = len(self.parts(values.shape[1])), self.needed(values.shape[1])
        join_keys(
            self._columns(values, chosen),
            chosen,
            joined,
            rank=rank,
            cap=self.cap,
            check=lambda left, right: self.agreement(values, chosen[left], chosen[right], threads) >= needed,
            threads=threads,
            progress=None if progress is None else lambda done: progress(done / many),
        )
        return joined


def folded(places: Places) -> NDArray[np.uint64]:
    """One key for the places of each row; equal places give equal keys."""
    keys = np.zeros(len(places), np.uint64)
    for column in range(places.shape[1]):
        keys = mix(keys ^ places[:, column].astype(np.uint64), column)
    return keys
