"""Joins: all pairs of codes within a radius, in one set or between two, exact and in bounded memory.

Codes that agree on the key of one table of a covering design are brought together in cache and checked there,
table after table over the same scratch memory; each pair comes from the first table that has it. Equal
codes are collapsed first: pairs are of first rows, with the groups beside them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError
from neardup.fingerprints.fingerprints import Codes
from neardup.fingerprints.printer import Printer
from neardup.search.codes import WIDTHS, check_codes, check_radius, check_scheme, width_for
from neardup.search.collapse import Batch, Groups, collapse
from neardup.search.hamming.designs import Design
from neardup.search.hamming.method import HammingMethod, join_design
from neardup.search.interface import Candidates, Reach
from neardup.values.checks import check_fields, checked_methods

__all__ = ["Join", "PairsBetween", "PairsWithin"]


@checked_methods
@dataclass(frozen=True)
class Join(HammingMethod):
    """All pairs within the radius, inclusive; exact for codes of 32, 64 and 128 bits.

    `bits` is the width of code to insist on; by default that of the codes, or of the design. `design` names
    the keys (tables without flips that cover the radius); by default the best for the number of rows. Time is
    O(tables * rows) plus the pairs that share a key. Codes that crowd under one key are split by the bits in
    which they still vary, and compared pair by pair where no bit splits them. Scratch
    memory is 8, 12 or 20 bytes a row for 32, 64 or 128 bits and a few MB a thread, for any data.

    >>> import neardup as nd
    >>> texts = ["the ferry leaves at eight", "The ferry leaves, at eight!", "a recipe for a cake"]
    >>> codes = nd.fingerprint(texts, nd.Words(), nd.Simhash())
    >>> nd.search.Join(radius=3).candidates(codes).distance.tolist()
    [0]
    """

    radius: int = 3
    bits: int | None = None
    design: Design | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        check_radius(self.radius, max(WIDTHS) if self.bits is None else self.bits)
        design = self.design
        if design is None:
            return
        if design.radius < self.radius or self.bits not in (None, design.bits):
            raise ConfigError(
                f"design {design.name} is for {design.bits} bits and radius {design.radius}, "
                f"the join for {self.bits or design.bits} bits and radius {self.radius}"
            )
        if any(table.flips for table in design.tables):
            raise ConfigError(f"design {design.name} needs flips, which a join does not make; use covering")

    def within(self, codes: Codes, *, batch: int = 1 << 20, threads: int = 1) -> PairsWithin:
        """All pairs of rows of one set, as a stream of columns of at most `batch` pairs."""
        self.words(codes)
        return PairsWithin(self, codes, collapse(codes, threads=threads), _checked(batch), threads)

    def between(self, left: Codes, right: Codes, *, batch: int = 1 << 20, threads: int = 1) -> PairsBetween:
        """All pairs of a row of one set and a row of another, as a stream of columns of at most `batch`
        pairs."""
        self.words(left)
        check_scheme(right, left.scheme)
        groups = collapse(left, threads=threads), collapse(right, threads=threads)
        return PairsBetween(self, left, right, *groups, _checked(batch), threads)

    def candidates(self, codes: Codes, *, threads: int = 1) -> Candidates:
        """Pairs of first rows, and each repeat with its first row: all in memory, yet 100,000 equal codes
        give 99,999 candidates and not five thousand million."""
        stream = self.within(codes, threads=threads)
        parts = [stream.groups.links(), *stream]
        left, right, distance = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return Candidates.of(left, right, distance)

    def labels(self, codes: Codes, *, threads: int = 1) -> NDArray[np.int64]:
        """For each row the smallest row of its connected component (single link); no pair is held in memory. An
        empty row is its own component."""
        stream = self.within(codes, threads=threads)
        labels = stream.open().labels()
        first = stream.groups.labels()
        return labels[first]

    def words(self, codes: Codes) -> NDArray[np.uint64]:
        """Codes as the core takes them, if they are of the width that is searched."""
        bits = width_for(codes, self.design.bits if self.design else self.bits)
        check_radius(self.radius, bits)
        return check_codes(codes, bits)

    def reach(self, fingerprint: Printer) -> Reach:
        return replace(super().reach(fingerprint), joining=self.design)

    def masks(self, bits: int, rows: int) -> NDArray[np.uint64]:
        """The keys for this many rows of such codes, as the core takes them: uint64[tables, 2]."""
        design = self.design or join_design(bits, self.radius, rows)
        low = (1 << 64) - 1
        return np.array([(table.mask & low, table.mask >> 64) for table in design.tables], dtype=np.uint64)


@dataclass(frozen=True)
class PairsWithin:
    """The pairs of one set: iterate for columns (left, right, distance) of first rows, left < right.

    Each pair comes once, in an order that neither threads nor `batch` change; every iteration runs the join
    again. `groups` has the other rows with the code of a first row.
    """

    join: Join
    codes: Codes
    groups: Groups
    batch: int
    threads: int

    def open(self) -> _core.PairStream:
        """A new pass, in the core."""
        join, skip, bits = self.join, self.groups.skip, self.codes.bits
        words = join.words(self.codes)
        masks = join.masks(bits, len(words))
        left_out = skip if skip.any() else None
        return _core.PairStream(words, left_out, None, None, masks, bits, join.radius, self.threads)

    def __iter__(self) -> Iterator[Batch]:
        return _batches(self.open(), self.batch)

    def expand(self) -> Iterator[Batch]:
        """All pairs of rows, those of equal codes too, at most `batch` at a time."""
        yield from self.groups.pairs(batch=self.batch)
        for pairs in self:
            yield from self.groups.expand(pairs, batch=self.batch)


@dataclass(frozen=True)
class PairsBetween:
    """The pairs of two sets: iterate for columns (left, right, distance) of first rows of either set.

    Each pair comes once, in an order that neither threads nor `batch` change; every iteration runs the join
    again.
    """

    join: Join
    left: Codes
    right: Codes
    left_groups: Groups
    right_groups: Groups
    batch: int
    threads: int

    def open(self) -> _core.PairStream:
        """A new pass, in the core."""
        bits = self.left.bits
        left, right = self.join.words(self.left), self.join.words(self.right)
        skips = [s if s.any() else None for s in (self.left_groups.skip, self.right_groups.skip)]
        masks = self.join.masks(bits, len(left) + len(right))
        return _core.PairStream(left, skips[0], right, skips[1], masks, bits, self.join.radius, self.threads)

    def __iter__(self) -> Iterator[Batch]:
        return _batches(self.open(), self.batch)

    def expand(self) -> Iterator[Batch]:
        """All pairs of rows, those of equal codes too, at most `batch` at a time."""
        for pairs in self:
            yield from self.left_groups.expand(pairs, self.right_groups, batch=self.batch)


def _checked(batch: int) -> int:
    if batch < 1:
        raise ConfigError(f"a batch needs at least one pair, not {batch}")
    return batch


def _batches(stream: _core.PairStream, batch: int) -> Iterator[Batch]:
    while len((pairs := stream.next(batch))[0]):
        yield pairs
