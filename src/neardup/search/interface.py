"""The one seam: what a near-duplicate method is, to the local pipeline, the live index, the shared index and Spark.

A method is one object, a frozen dataclass of its parameters. It says by which fingerprint it is searched, what it keeps
of one, which keys a stored fingerprint has and which probes a query makes; rows whose probe equals a key are
candidates, and `check` may drop some of them. A `KeyMethod` needs no more than `fingerprint` and `keys`: everything
else has a default, and the general join on keys finds its candidates everywhere. A method may have a native join.

Methods without keys (a scan, sorted neighbours, an inverted join of whole corpora) are a `Method` with a join of its
own, and say in `check_live` and `shuffled` where they cannot run.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ConfigError, DataError
from neardup.features.features import Features
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.fingerprints.printer import Printer
from neardup.search.answers import Candidates, Hits, Keyed, Mode, check_mode
from neardup.search.candidates import CAP, Joined, alone
from neardup.search.hamming.designs import Design
from neardup.search.key_join import KeyColumn, Probing, join_keys
from neardup.search.pair_runs import PairRuns

__all__ = [
    "Candidates",
    "Hits",
    "Kept",
    "KeyMethod",
    "Keyed",
    "Measure",
    "Method",
    "Mode",
    "PrintColumns",
    "Reach",
    "Shuffled",
    "Task",
    "check_mode",
    "packed",
    "unpacked",
]

Rows = NDArray[np.int64]
Flags = NDArray[np.bool_]
PrintColumns = Mapping[str, NDArray[Any]]
"""What a method keeps of documents: columns under names of its own, whose first axis are the rows."""


class Kept(Protocol):
    """Where the columns that a method kept of all documents are read."""

    def prints(self, name: str) -> NDArray[Any]:
        """A column whose first axis are the rows."""
        ...

    def keys(self, band: int) -> NDArray[np.uint64]:
        """The keys of one table, for a method that keeps its keys."""
        ...


class Measure(Protocol):
    """What candidates are verified by afterwards, as far as a method is chosen for it."""

    @property
    def least(self) -> float:
        """The least similarity that matters."""
        ...


@dataclass(frozen=True)
class Task:
    """What a method searches: the rows of a corpus that are not to `skip`, each with its rank, 0 the best.

    With a `folder` at most about `most` pairs are held in memory, and for other columns about `memory` bytes.
    `progress` gets the share that is done. `sets` makes the features of ascending rows, a batch at a time.
    """

    kept: Kept
    fingerprint: Printer
    verify: Measure
    skip: Flags
    rank: Rows
    folder: Path | None
    most: int
    threads: int
    progress: Callable[[float], None]
    sets: Callable[[Rows], Iterator[Features]]
    memory: int = 1 << 30

    def runs(self) -> PairRuns:
        """Where its pairs are gathered."""
        return PairRuns(self.folder, self.most)


@dataclass(frozen=True)
class Reach:
    """Codes of `bits` bits are found within `radius`. `tables` is the design of a live index and `joining` that of a
    join, where the method has one of its own."""

    bits: int
    radius: int
    tables: Design | None = None
    joining: Design | None = None


@dataclass(frozen=True)
class Shuffled:
    """What travels of each document when a join is a shuffle, as columns uint64[n, words].

    `alike` is equal for equal fingerprints, of which one then stands for all; None where none does. `words` are the
    keys, one for each table, or all of the fingerprint; None where `alike` is all there is to it.
    """

    alike: NDArray[np.uint64] | None = None
    words: NDArray[np.uint64] | None = None


@dataclass(frozen=True, eq=False)
class Method(ABC):
    """One way to find candidates: what every part of neardup asks of it, and knows about it."""

    takes: ClassVar[tuple[type[Fingerprints], ...]] = (Fingerprints,)
    """The kinds of fingerprints it searches."""
    keeps_keys: ClassVar[bool] = False
    """Whether it keeps the keys alone, as a column `keys` [tables, rows], and `alike` [rows, 2]."""
    whole_keys: ClassVar[bool] = False
    """Whether the keys of a live index are the fingerprints themselves."""
    sparse: ClassVar[bool] = False
    """Whether a row may have no key in a table of a live index, where 0 says so."""
    estimates: ClassVar[bool] = False
    """Whether stored fingerprints tell how similar documents are; see `estimate`."""
    sure: ClassVar[float] = float("nan")
    """The similarity of all that it finds, where that is known beforehand."""
    probing: ClassVar[bool] = False
    """Whether rows ask for more keys than they are stored under."""
    checks: ClassVar[bool] = False
    """Whether rows that share a key are candidates only if `check` says so."""

    @abstractmethod
    def fingerprint(self) -> Printer:
        """How fingerprints are made, unless a config says otherwise."""

    @abstractmethod
    def joined(self, task: Task) -> Joined:
        """Pairs of rows worth a comparison."""

    @property
    def limit(self) -> int:
        """Of a bucket with more rows than this, not all pairs are looked at."""
        return CAP

    # How it fits the other parts of a config.

    def check_fit(self, fingerprint: Printer, named: bool, verify: Measure) -> None:
        """Raise ConfigError unless it can search this fingerprint (`named`, or its own) for this measure."""
        if not issubclass(fingerprint.makes, self.takes):
            kinds = " or ".join(kind.__name__ for kind in self.takes)
            raise ConfigError(
                f"{type(fingerprint).__name__} with {type(self).__name__}: {type(self).__name__} searches {kinds}, "
                f"and {type(fingerprint).__name__} makes {fingerprint.makes.__name__}; leave one of them out"
            )

    def settled(self, fingerprint: Printer, verify: Measure, recall: float) -> Method:
        """The same with everything chosen that was left open; ConfigError if it cannot be for this fingerprint."""
        return self

    @property
    def choice(self) -> str | None:
        """What `settled` chose, for people to read; None if there is nothing to choose."""
        return None

    # What is kept of a document.

    def kept_scheme(self, fingerprint: Printer) -> str:
        """What decides the kept columns besides the fingerprint's own scheme."""
        return "fingerprints"

    def kept(self, prints: Any, threads: int = 1) -> PrintColumns:
        """The columns of fingerprints that the search needs later."""
        columns: PrintColumns = prints.columns()
        return columns

    def stored(self, prints: Any, fingerprint: Printer) -> NDArray[Any]:
        """The column of ready fingerprints as an index stores it: one line of `width` bytes a document."""
        column, like = np.ascontiguousarray(prints.main), fingerprint.blank.main
        if column.dtype != like.dtype or column.shape[1:] != like.shape[1:]:
            raise DataError(f"fingerprints of this index have {fingerprint.width} bytes")
        return column

    def estimate(self, one: NDArray[Any], two: NDArray[Any]) -> NDArray[np.float64]:
        """The similarities that stored fingerprints alone tell, line by line."""
        return np.full(len(one), self.sure)

    # In a live index, on one machine or shared.

    def online(self, verify: Measure, recall: float) -> Method:
        """What a live index uses in its place: a search of a whole corpus names another one."""
        return self

    def check_live(self, fingerprint: Printer) -> None:
        """Raise ConfigError if a live index cannot use it."""
        if fingerprint.learns:
            raise ConfigError(
                f"{type(fingerprint).__name__} learns from a whole corpus: an index cannot use it; choose another one"
            )

    def reach(self, fingerprint: Printer) -> Reach | None:
        """The radius within which codes are found; None where equal keys are."""
        return None

    def table_count(self, fingerprint: Printer) -> int:
        """How many tables of keys there are."""
        return 1

    def live_keys(self, prints: Any, threads: int = 1) -> NDArray[np.uint64]:
        """What the tables of an index hold of each row, a column for each table; not asked for with `whole_keys`."""
        raise ConfigError(f"{type(self).__name__} has no keys: an index cannot use it; choose another search")

    # On a cluster.

    def shuffled(self, kept: PrintColumns) -> Shuffled:
        """What travels of documents, given what was kept. ConfigError if it cannot be a shuffle."""
        raise ConfigError(
            f"{type(self).__name__} has no keys: it is searched by the local pipeline alone; choose another search"
        )


@dataclass(frozen=True, eq=False)
class KeyMethod(Method):
    """A method that is a join on keys. A new one has to say its `fingerprint` and its `keys`."""

    sparse = True

    @abstractmethod
    def keys(self, prints: Any) -> Keyed:
        """The keys under which rows are stored, at most one a table; empty rows have none."""

    def probes(self, prints: Any) -> Keyed:
        """The keys that rows ask for; by default their own. Others are asked for beside them, and both ways: if a row
        asks for the key of another, that one asks for its."""
        return self.keys(prints)

    def check(self, prints: Any, left: Rows, right: Rows) -> Flags | None:
        """Which pairs of rows that share a key are candidates; None for all."""
        return None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.probing = cls.probes is not KeyMethod.probes
        cls.checks = cls.check is not KeyMethod.check

    def key_columns(self, prints: Any, threads: int = 1) -> Iterator[KeyColumn]:
        """The keys table by table: one for each row, and which rows have one (None: all)."""
        many = self.key_tables(prints)
        keyed = self.keys(prints)
        for table in range(many):
            mine = keyed.table == table
            keys, present = np.zeros(len(prints), np.uint64), np.zeros(len(prints), np.bool_)
            keys[keyed.row[mine]], present[keyed.row[mine]] = keyed.key[mine], True
            yield keys, None if present.all() else present

    def key_tables(self, prints: Any) -> int:
        """How many tables there are for these fingerprints."""
        return 1

    def table_count(self, fingerprint: Printer) -> int:
        return self.key_tables(fingerprint.blank)

    def joined(self, task: Task) -> Joined:
        columns = {name: task.kept.prints(name) for name in task.fingerprint.blank.columns()}
        prints = task.fingerprint.restored("fingerprints of one run", task.skip, columns)
        rows = np.flatnonzero(~task.skip)
        some = prints if len(rows) == len(prints) else prints.take(rows)
        made = Joined(alone(task.skip), task.runs(), 1)
        join_keys(
            self.key_columns(some, task.threads),
            rows,
            made,
            rank=task.rank,
            cap=self.limit,
            probing=self._probing(some),
            check=lambda left, right: self.check(some, left, right),
            threads=task.threads,
            progress=lambda done: task.progress(done / self.key_tables(some)),
        )
        return made

    def _probing(self, prints: Any) -> Probing | None:
        if not self.probing:
            return None
        probes = self.probes(prints)
        return probes.row, probes.table, probes.key

    def live_keys(self, prints: Any, threads: int = 1) -> NDArray[np.uint64]:
        # A key of 0 becomes 1, for 0 is none: that can add a candidate, and loses none.
        return np.stack(
            [
                np.where(True if present is None else present, np.maximum(keys, np.uint64(1)), np.uint64(0))
                for keys, present in self.key_columns(prints, threads)
            ],
            axis=1,
        )

    def shuffled(self, kept: PrintColumns) -> Shuffled:
        return Shuffled(words=packed(kept))


def packed(columns: PrintColumns) -> NDArray[np.uint64]:
    """PrintColumns as words of 64 bits, row by row; see `unpacked`."""
    lines = [_bytes(column) for column in columns.values()]
    joined = np.concatenate(lines, axis=1)
    room = -joined.shape[1] % 8
    return np.ascontiguousarray(np.pad(joined, ((0, 0), (0, room)))).view(np.uint64)


def unpacked(words: NDArray[Any], fingerprint: Printer) -> Fingerprints:
    """The fingerprints that `packed` made words of, none of them empty."""
    lines = _bytes(words)
    columns: dict[str, NDArray[Any]] = {}
    at = 0
    for name, like in fingerprint.blank.columns().items():
        width = _width(like)
        part = np.ascontiguousarray(lines[:, at : at + width])
        columns[name] = part.view(like.dtype).reshape(len(words), *like.shape[1:])
        at += width
    return fingerprint.restored("fingerprints of one run", np.zeros(len(words), np.bool_), columns)


def _bytes(column: NDArray[Any]) -> NDArray[np.uint8]:
    return np.frombuffer(column.tobytes(), np.uint8).reshape(len(column), _width(column))


def _width(column: NDArray[Any]) -> int:
    return column.itemsize * math.prod(column.shape[1:])
