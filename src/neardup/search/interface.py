"""The interface of a search method for the local pipeline, the live index, the shared index and Spark.

A method is one object, a frozen dataclass of its parameters. It defines its fingerprint, the columns it keeps of each
document, the keys of a stored fingerprint and the probes of a query. Rows whose probe equals a key are candidates, and
`check` may drop some of them. A `KeyMethod` must define only `fingerprint` and `keys`: everything else has a default,
and the general join on keys finds its candidates everywhere. A method may also have a native join.

A method without keys (a scan, sorted neighbours, an inverted join of whole corpora) is a `Method` with its own join.
Its `check_live` and `shuffled` raise ConfigError where it cannot run.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ConfigError, DataError
from neardup.features.features import Features
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.fingerprints.printer import Printer
from neardup.search.answers import Candidates, Hits, Keyed, Mode, check_mode
from neardup.search.candidates import CAP, Joined, no_groups
from neardup.search.key_join import KeyColumn, Probing, join_keys
from neardup.search.pair_runs import PairRuns
from neardup.values.checks import checked
from neardup.values.parts import WHOLE, Part

if TYPE_CHECKING:
    from neardup.search.hamming.designs import Design

__all__ = [
    "Candidates",
    "Hits",
    "Kept",
    "KeyMethod",
    "Keyed",
    "Method",
    "Mode",
    "PrintColumns",
    "Reach",
    "Shuffled",
    "Task",
    "VerifyMeasure",
    "check_mode",
    "packed",
    "unpacked",
]

Rows = NDArray[np.int64]
Flags = NDArray[np.bool_]
PrintColumns = Mapping[str, NDArray[Any]]
"""The columns that a method keeps of documents, by name; the first axis is the row."""


class Kept(Protocol):
    """Reads the columns that a method kept of all documents."""

    def prints(self, name: str) -> NDArray[Any]:
        """A column; its first axis is the row."""
        ...

    def keys(self, band: int) -> NDArray[np.uint64]:
        """The keys of one table, for a method that keeps its keys."""
        ...


class VerifyMeasure(Protocol):
    """The measure by which candidates are verified later, as far as a method must know it."""

    @property
    def least(self) -> float:
        """The least similarity that matters."""
        ...


@dataclass(frozen=True)
class Task:
    """The input of a method's join: all rows of a corpus except those in `skip`, with their ranks (0 is the best).

    With a `folder`, at most about `most` pairs and `memory` bytes of other columns are held in memory.
    `progress` gets the share that is done. `sets` makes the features of ascending rows, a batch at a time. A method
    that `splits` joins only the tables of the `part`; another one always gets the whole. `verified` gives those of some
    pairs, each of a smaller and a larger row, that are similar enough.
    """

    kept: Kept
    fingerprint: Printer
    verify: VerifyMeasure
    skip: Flags
    rank: Rows
    folder: Path | None
    most: int
    threads: int
    progress: Callable[[float], None]
    sets: Callable[[Rows], Iterator[Features]]
    memory: int = 1 << 30
    part: Part = WHOLE
    verified: Callable[[Rows, Rows], tuple[Rows, Rows]] | None = None

    def runs(self) -> PairRuns:
        """An empty container for the pairs."""
        return PairRuns(self.folder, self.most)


@dataclass(frozen=True)
class Reach:
    """A method that finds codes of `bits` bits within `radius`. `tables` is its own design for a live index and
    `joining` that for a join, if it has one."""

    bits: int
    radius: int
    tables: Design | None = None
    joining: Design | None = None


@dataclass(frozen=True)
class Shuffled:
    """The columns uint64[n, words] that a join on Spark sends for each document.

    `equal_key` is the same for equal fingerprints, of which then only one is joined; None if all are joined. `words`
    are the keys, one for each table, or the whole fingerprint; None if `equal_key` is the whole fingerprint.
    """

    equal_key: NDArray[np.uint64] | None = None
    words: NDArray[np.uint64] | None = None


@dataclass(frozen=True, eq=False)
class Method(ABC):
    """One way to find candidates. All other code uses a method only through this class.

    >>> import neardup as nd
    >>> isinstance(nd.search.Join(), nd.search.Method)
    True
    """

    takes: ClassVar[tuple[type[Fingerprints], ...]] = (Fingerprints,)
    """The kinds of fingerprints it searches."""
    keeps_keys: ClassVar[bool] = False
    """Whether it keeps only its keys, as a column `keys` [tables, rows], and a key for equality."""
    whole_keys: ClassVar[bool] = False
    """Whether the keys of a live index are the fingerprints themselves."""
    sparse: ClassVar[bool] = False
    """Whether a row may have no key in a table of a live index; such a key is 0."""
    estimates: ClassVar[bool] = False
    """Whether `estimate` can compute a similarity from stored fingerprints."""
    sure: ClassVar[float] = float("nan")
    """The similarity of every pair it finds, if that is known beforehand."""
    probing: ClassVar[bool] = False
    """Whether a row has more probes than keys."""
    misses_by_chance: ClassVar[bool] = False
    """Whether it misses about one pair in a hundred, so that verification may rule a pair out by a random sample of
    its features: that adds nothing to the misses."""
    checks: ClassVar[bool] = False
    """Whether rows that share a key are candidates only if `check` passes."""
    splits: ClassVar[bool] = False
    """Whether its join can be split by tables, among tasks that run side by side."""

    @abstractmethod
    def fingerprint(self) -> Printer:
        """The fingerprint it uses, unless the config names another."""

    @abstractmethod
    def joined(self, task: Task) -> Joined:
        """The candidate pairs of rows."""

    @property
    def limit(self) -> int:
        """The most rows of a bucket of which all pairs are candidates."""
        return CAP

    # How it fits the other parts of a config.

    def fitted_printer(self, fingerprint: Printer) -> Printer:
        """The same fingerprint, made with all columns that this search needs; ConfigError if it cannot have them."""
        return fingerprint

    def check_fit(self, fingerprint: Printer, named: bool, verify: VerifyMeasure) -> None:
        """Raise ConfigError unless it can search this fingerprint (`named`, or its own) for this measure."""
        if not issubclass(fingerprint.makes, self.takes):
            kinds = " or ".join(kind.__name__ for kind in self.takes)
            raise ConfigError(
                f"{type(fingerprint).__name__} with {type(self).__name__}: {type(self).__name__} searches {kinds}, "
                f"and {type(fingerprint).__name__} makes {fingerprint.makes.__name__}; leave one of them out"
            )

    def settled(self, fingerprint: Printer, verify: VerifyMeasure, recall: float) -> Method:
        """The same method with all open parameters chosen; ConfigError if none fit this fingerprint."""
        return self

    @property
    def choice(self) -> str | None:
        """The choice of `settled` as text for people; None if there is nothing to choose."""
        return None

    # The columns kept of a document.

    def kept_scheme(self, fingerprint: Printer) -> str:
        """The parameters that decide the kept columns, beside the fingerprint's own scheme."""
        return "fingerprints"

    def kept(self, prints: Any, threads: int = 1) -> PrintColumns:
        """The columns of fingerprints that the search needs later."""
        columns: PrintColumns = prints.columns()
        return columns

    def stored(self, prints: Any, fingerprint: Printer) -> NDArray[Any]:
        """The fingerprints as an index stores them: one line of `width` bytes for each document."""
        column, like = np.ascontiguousarray(prints.main), fingerprint.blank.main
        if column.dtype != like.dtype or column.shape[1:] != like.shape[1:]:
            raise DataError(f"fingerprints of this index have {fingerprint.width} bytes")
        return column

    def estimate(self, one: NDArray[Any], two: NDArray[Any]) -> NDArray[np.float64]:
        """The similarities estimated from stored fingerprints, line by line."""
        return np.full(len(one), self.sure)

    # In a live index, on one machine or shared.

    def online(self, verify: VerifyMeasure, recall: float) -> Method:
        """The method that a live index uses instead: a search of a whole corpus names another one."""
        return self

    def check_live(self, fingerprint: Printer) -> None:
        """Raise ConfigError if a live index cannot use it."""
        if fingerprint.learns:
            raise ConfigError(
                f"{type(fingerprint).__name__} learns from a whole corpus: an index cannot use it; choose another one"
            )

    def reach(self, fingerprint: Printer) -> Reach | None:
        """The radius within which codes are found; None if the method joins on equal keys."""
        return None

    def table_count(self, fingerprint: Printer) -> int:
        """How many tables of keys there are."""
        return 1

    def live_keys(self, prints: Any, threads: int = 1) -> NDArray[np.uint64]:
        """The keys of each row for the tables of an index, a column for each table; not called with `whole_keys`."""
        raise ConfigError(
            f"{type(self).__name__} has no keys, so an index cannot use it; choose another search"
        )

    # On a cluster.

    def shuffled(self, kept: PrintColumns) -> Shuffled:
        """The columns to send, made from the kept ones. ConfigError if the method cannot run as a shuffle."""
        raise ConfigError(
            f"{type(self).__name__} has no keys, so only the local pipeline can use it; choose another search"
        )


@dataclass(frozen=True, eq=False)
class KeyMethod(Method):
    """A method that is a join on keys. A new one must define `fingerprint` and `keys`.

    >>> import neardup as nd
    >>> isinstance(nd.BPHS(), nd.search.KeyMethod), isinstance(nd.search.Scan(), nd.search.KeyMethod)
    (True, False)
    """

    sparse = True
    splits = True

    @abstractmethod
    def keys(self, prints: Any) -> Keyed:
        """The keys under which rows are stored, at most one in each table; empty rows have none."""

    def probes(self, prints: Any) -> Keyed:
        """The keys that rows ask for; by default their own. Probes are symmetric: if row a asks for a key of row b,
        then b asks for one of a. The own keys of a row need not be among its probes."""
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
        made = Joined(no_groups(task.skip), task.runs(), 1)
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
            part=task.part,
        )
        return made

    def _probing(self, prints: Any) -> Probing | None:
        if not self.probing:
            return None
        probes = self.probes(prints)
        return probes.row, probes.table, probes.key

    def live_keys(self, prints: Any, threads: int = 1) -> NDArray[np.uint64]:
        # 0 means no key, so a key of 0 becomes 1: that can add a candidate, and loses none.
        return np.stack(
            [
                np.where(True if present is None else present, np.maximum(keys, np.uint64(1)), np.uint64(0))
                for keys, present in self.key_columns(prints, threads)
            ],
            axis=1,
        )

    def shuffled(self, kept: PrintColumns) -> Shuffled:
        return Shuffled(words=packed(kept))


@checked
def packed(columns: PrintColumns) -> NDArray[np.uint64]:
    """PrintColumns as words of 64 bits, row by row; see `unpacked`."""
    lines = [_bytes(column) for column in columns.values()]
    joined = np.concatenate(lines, axis=1)
    room = -joined.shape[1] % 8
    return np.ascontiguousarray(np.pad(joined, ((0, 0), (0, room)))).view(np.uint64)


@checked
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
