"""The base class of all searches of codes: it implements the method interface for any way to find pairs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError
from neardup.fingerprints.fingerprints import Codes
from neardup.fingerprints.printer import Printer
from neardup.fingerprints.simhash import Simhash
from neardup.search.candidates import SPREAD, Joined, best_first
from neardup.search.codes import check_codes, check_radius
from neardup.search.collapse import collapse
from neardup.search.hamming.designs import Design, bphs, covering, covering_sizes
from neardup.search.interface import (
    Candidates,
    Keyed,
    Method,
    PrintColumns,
    Reach,
    Shuffled,
    Task,
    VerifyMeasure,
)
from neardup.search.pair_runs import pack_pairs, unpack_pairs
from neardup.search.report import SearchReport

__all__ = ["Found", "HammingMethod", "Neighbours", "Prefix", "join_design"]

Found = tuple[Candidates, SearchReport]
Neighbours = Callable[[NDArray[np.int64], int], tuple[NDArray[np.int64], NDArray[np.uint64]]]
"""An exact search: of some queries and a radius the pairs (query, code) at distance 1 to the radius."""


# Nanoseconds a code costs in each table, and with each other code of its bucket. Only the ratio matters.
TABLE_COST, COMPARE_COST = 15.0, 0.06
MOST_TABLES, WIDEST_SEARCHED = 60, 8


def join_design(bits: int, radius: int, rows: int) -> Design:
    """The design that joins `rows` uniform codes fastest: more tables cost passes, shorter keys cost comparisons."""
    check_radius(radius, bits)
    if radius > WIDEST_SEARCHED:
        if radius >= bits:
            raise ConfigError(f"at radius {radius} all {bits}-bit codes are pairs: nothing to search")
        return bphs(bits, radius, radius + 1, 1)

    def cost(tables: int, key_bits: float) -> float:
        return tables * (TABLE_COST + COMPARE_COST * rows / 2 ** (key_bits + 1))

    sizes = covering_sizes(bits, radius, MOST_TABLES)
    return covering(bits, radius, min(sizes, key=lambda tables: cost(tables, sizes[tables])))


@dataclass(frozen=True)
class Prefix:
    """One table whose key is the leading `bits` bits of a code; `probes` gives those of queries."""

    bits: int
    probes: Callable[[Codes], Keyed]


Similar = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]
"""Which pairs of codes are of documents that are similar enough."""


def similar_in(task: Task, first: NDArray[np.int64]) -> Similar | None:
    """Which pairs of codes are of similar documents, if code i is that of row `first[i]`; None if the task does not
    verify pairs."""
    if (verified := task.verified) is None:
        return None

    def similar(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.bool_]:
        low, high = np.sort(np.stack([first[left], first[right]]), axis=0).astype(np.uint64)
        found = pack_pairs(*verified(*unpack_pairs(pack_pairs(first[left], first[right]))))
        return np.isin(low << np.uint64(32) | high, found)

    return similar


class HammingMethod(Method):
    """Codes within a Hamming radius. Codes and pairs of codes are held in memory."""

    radius: int
    bits: int | None

    takes = (Codes,)
    whole_keys = True
    splits = False
    finds_all: ClassVar[bool] = True
    """Whether it finds every pair within the radius."""
    most_radius: ClassVar[int] = 128
    """The largest radius that it can search; that of the widest codes has no effect."""

    kept_fields: ClassVar[Mapping[str, str]] = {"codes": "codes"}
    """The columns it keeps, under names of up to 8 letters, and the fields of Codes that they are."""

    @abstractmethod
    def candidates(self, codes: Codes, *, threads: int = 1) -> Candidates:
        """Pairs of rows within the radius."""

    def fingerprint(self) -> Printer:
        return Simhash(margins="none")

    def settled(self, fingerprint: Printer, verify: VerifyMeasure, recall: float) -> Method:
        made = _bits(fingerprint)
        if self.bits is not None and self.bits != made:
            raise ConfigError(f"the search is for codes of {self.bits} bits, the fingerprints have {made}")
        return self

    def kept_scheme(self, fingerprint: Printer) -> str:
        return f"codes {_bits(fingerprint)}"

    def kept(self, prints: Codes, threads: int = 1) -> PrintColumns:
        columns = {name: getattr(prints, field) for name, field in self.kept_fields.items()}
        return {name: column for name, column in columns.items() if column is not None}

    def found(self, codes: Codes, threads: int, similar: Similar | None = None) -> Found:
        """The pairs of distinct codes that a run looks at, and what the search says about itself. `similar` says which
        pairs of codes are of documents that are similar enough."""
        name = type(self).__name__.lower()
        return self.candidates(codes, threads=threads), SearchReport.of(
            name, len(codes), codes.bits, self.radius
        )

    def joined(self, task: Task) -> Joined:
        names = self.kept(_blank(task.fingerprint))
        codes = task.fingerprint.restored(
            "codes of one run",
            task.skip,
            {self.kept_fields[name]: task.kept.prints(name) for name in names},
        )
        assert isinstance(codes, Codes)
        groups = best_first(collapse(codes, threads=task.threads), task.rank)
        joined = Joined(groups, task.runs(), SPREAD)
        first = groups.first_rows
        if len(first) > 1:
            found, joined.report = self.found(codes.take(first), task.threads, similar_in(task, first))
            joined.runs.add(pack_pairs(first[found.left], first[found.right]))
        task.progress(1.0)
        return joined

    def check(self, prints: Codes, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether codes lie within the radius."""
        words = np.ascontiguousarray(prints.codes)
        return np.asarray(_core.distances_at(words, words, left, right) <= self.radius)

    def fitted(self, queries: Codes, stored: Callable[[], int], neighbours: Neighbours) -> HammingMethod:
        """The method with all that it leaves open calibrated on queries against `stored()` codes that are elsewhere."""
        return self

    def prefix(self, stored: Callable[[], int]) -> Prefix | None:
        """How to search `stored()` codes by one table of prefixes; None if the method has other keys or none."""
        return None

    def reach(self, fingerprint: Printer) -> Reach:
        return Reach(_bits(fingerprint), self.radius)

    def stored(self, prints: Codes, fingerprint: Printer) -> NDArray[np.uint64]:
        return check_codes(prints, _bits(fingerprint))

    def shuffled(self, kept: PrintColumns) -> Shuffled:
        if not self.finds_all:
            raise ConfigError(
                f"{type(self).__name__} finds only some of the pairs, which depend on the codes in one table; "
                "on Spark search by Join, which finds all of them (or query stored codes with neardup.spark.queries)"
            )
        return Shuffled(equal_key=kept["codes"])


def _blank(fingerprint: Printer) -> Codes:
    codes = fingerprint.blank
    assert isinstance(codes, Codes)
    return codes


def _bits(fingerprint: Printer) -> int:
    return _blank(fingerprint).bits
