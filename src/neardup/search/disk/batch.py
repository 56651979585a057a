"""Batches of queries against stored files that are much larger than memory, by the methods of two papers.

BatchBPHS   tables on the queries while the stored codes stream by (Manku, Jain, Das Sarma 2007, 3.3); exact
BatchPSM    a header table on each sorted chunk, flips computed once per query (Sood, Loguinov 2011, 6.3)

Both read each file once, the next chunk while this one is searched, and give Hits piece by piece. What they
find depends neither on the size of chunks nor on threads. In mode `first` a query gets the first stored code
within the radius in the order of the stored set: file by file, in each by code and then by row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.codes import check_radius, rows_and_words
from neardup.search.disk.segment_set import SegmentSet
from neardup.search.disk.segment_writer import memory_bytes
from neardup.search.disk.segments import Chunk, sorted_hits, words_of
from neardup.search.hamming.designs import Design, compact
from neardup.search.hamming.tables import design_arrays
from neardup.search.interface import Hits, Mode, check_mode
from neardup.search.psm.flips import Flips, TemplateFlips
from neardup.search.psm.recall import Calibration, NearPairs, TooFewPairs, calibrate, flip_count
from neardup.values.checks import check_fields, checked, checked_methods
from neardup.values.threads import check_threads

__all__ = ["BatchBPHS", "BatchPSM", "search_then_append"]

_HIT = 80  # bytes a hit takes while its batch is put together: columns, their sorted copies, the order
_MOST_HEADER, _MOST_PROBES = 30, 16384
_SLICE = 1 << 16  # codes looked up in one native call, to bound the number of hits


@dataclass(frozen=True)
class CodeRows:
    """Codes and the rows that have them: `codes[i]` is that of rows `members[starts[i]:starts[i + 1]]`."""

    codes: NDArray[np.uint64]
    starts: NDArray[np.int64]
    members: NDArray[np.int64]

    @classmethod
    def of(cls, chunk: Chunk) -> CodeRows:
        """The distinct codes of a sorted chunk, each with all its rows."""
        fresh = np.ones(len(chunk.codes), bool)
        fresh[1:] = (chunk.codes[1:] != chunk.codes[:-1]).any(axis=1)
        firsts = np.flatnonzero(fresh)
        return cls(chunk.codes[firsts], np.append(firsts, len(chunk.codes)), chunk.rows)

    @classmethod
    def single(cls, codes: NDArray[np.uint64], members: NDArray[np.int64]) -> CodeRows:
        """Each code with the one row it came from, equal codes too."""
        return cls(codes, np.arange(len(codes) + 1), members)

    def __len__(self) -> int:
        return len(self.codes)


def _pairs(
    queries: CodeRows,
    stored: CodeRows,
    query: NDArray[np.int64],
    place: NDArray[np.int64],
    distance: NDArray[np.uint8],
    most: int,
) -> Iterator[Hits]:
    """Hits of groups as hits of their members, at most `most` at a time: a group may have millions of members."""
    wide = np.diff(stored.starts)[place]
    ends = np.cumsum(np.diff(queries.starts)[query] * wide)
    total = int(ends[-1]) if len(ends) else 0
    for begin in range(0, total, most):
        pair = np.arange(begin, min(begin + most, total))
        hit = np.searchsorted(ends, pair, "right")
        within = pair - np.where(hit > 0, ends[hit - 1], 0)
        left = queries.members[queries.starts[query[hit]] + within // wide[hit]]
        right = stored.members[stored.starts[place[hit]] + within % wide[hit]]
        yield sorted_hits(left, right, distance[hit])


def _ahead(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """The same chunks; a thread reads the next one while this one is used."""
    waiting = iter(chunks)
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, waiting, None)
        while (chunk := coming.result()) is not None:
            coming = reader.submit(next, waiting, None)
            yield chunk


def _first_each(query: NDArray[np.int64], place: NDArray[np.int64]) -> NDArray[np.intp]:
    """Which hits are their query's first in stored order, by query."""
    order = np.lexsort((place, query))
    fresh = np.ones(len(order), bool)
    fresh[1:] = query[order[1:]] != query[order[:-1]]
    return order[fresh]


def _room(memory: int | str, used: int, bits: int, queries: int) -> tuple[int, int]:
    """How many stored codes to read at a time, and hits to hold, beside what the queries take already."""
    limit = memory_bytes(memory)
    rest = limit - used
    if rest < limit // 4:
        raise ConfigError(
            f"{queries:,} queries take {used:,} bytes of the {limit:,} allowed, which leaves too little for "
            "the stored codes: give more memory or ask fewer queries at a time"
        )
    # A chunk in use and the one being read, with rows; the distinct codes and where they start.
    code = 2 * (8 * words_of(bits) + 8) + 8 * words_of(bits) + 24
    return rest // 2 // code, rest // 4 // _HIT


class _Queries(NamedTuple):
    """Queries, and the rows and words of those that are not empty."""

    codes: Codes
    numbers: NDArray[np.int64]
    words: NDArray[np.uint64]


@checked_methods
class BatchMethod(ABC):
    """A search of a batch of queries in stored files."""

    bits: int

    def search(
        self, queries: Codes, stored: SegmentSet, *, mode: Mode = "all", threads: int = 1
    ) -> Iterator[Hits]:
        """Hits piece by piece; each piece is sorted as Hits are."""
        stored.check(queries)
        mode, threads = check_mode(mode), check_threads(threads)
        asked, words = rows_and_words(queries, self.bits)
        if not len(words) or not len(stored):
            return iter(())
        numbers = np.arange(len(words)) if asked is None else asked
        return self._search(_Queries(queries, numbers, words), stored, mode, threads)

    @abstractmethod
    def _search(self, asked: _Queries, stored: SegmentSet, mode: Mode, threads: int) -> Iterator[Hits]:
        """Hits of queries that are not empty, in stored codes, of which there is at least one."""


@checked_methods
@dataclass(frozen=True)
class BatchBPHS(BatchMethod):
    """Exact: all stored codes within `radius`, by tables on the queries; the stored files need no tables.

    `design` is any design for these bits and radius; by default two or three tables with flips.
    `memory` bounds tables, chunks and hits together; `chunk` is how many codes to read at a time, when less
    than memory allows. Mode `first` gives all hits
    at the end, and is not faster: any stored code may be some query's first.
    """

    bits: int = 64
    radius: int = 3
    design: Design | None = None
    memory: int | str = "1GB"
    chunk: int | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        check_radius(self.radius, self.bits)
        memory_bytes(self.memory)
        design = self.design
        if design is not None and (design.bits, design.radius) != (self.bits, self.radius):
            raise ConfigError(
                f"the design is for {design.bits} bits and radius {design.radius}, "
                f"the search for {self.bits} and {self.radius}"
            )

    def _search(self, asked: _Queries, stored: SegmentSet, mode: Mode, threads: int) -> Iterator[Hits]:
        numbers, words = asked.numbers, asked.words
        groups = CodeRows.of(Chunk(*_core.sort_codes(words, numbers)))
        tables = _tables(groups.codes, self.design or _default_design(self.bits, self.radius), threads)
        used = tables.bytes + tables.row_bytes + len(words) * (16 * words_of(self.bits) + 24)
        size, most = _room(self.memory, used, self.bits, len(words))
        first_row, first_distance = np.full(len(groups), -1), np.zeros(len(groups), np.uint8)
        for chunk in _ahead(stored.chunks(min(size, self.chunk or size), threads=threads)):
            rows = CodeRows.of(chunk)
            for start in range(0, len(rows), _SLICE):
                codes = rows.codes[start : start + _SLICE]
                place, group, distance = tables.search(codes, threads=threads)
                place = place + start
                if mode == "all":
                    yield from _pairs(groups, rows, group, place, distance, most)
                    continue
                hit = _first_each(group, place)
                hit = hit[first_row[group[hit]] < 0]
                first_row[group[hit]] = rows.members[rows.starts[place[hit]]]
                first_distance[group[hit]] = distance[hit]
        if mode == "first":
            owner = np.repeat(np.arange(len(groups)), np.diff(groups.starts))
            owner, members = owner[first_row[owner] >= 0], groups.members[first_row[owner] >= 0]
            yield sorted_hits(members, first_row[owner], first_distance[owner])


def _default_design(bits: int, radius: int) -> Design:
    return compact(bits, radius, min(radius + 1, 2 if radius < 6 else 3))


def _tables(codes: NDArray[np.uint64], design: Design, threads: int) -> _core.HammingTables:
    masks, flips = design_arrays(design)
    return _core.HammingTables(codes, design.bits, design.radius, masks, flips, threads=threads)


@checked_methods
@dataclass(frozen=True)
class BatchPSM(BatchMethod):
    """Probabilistic: stored codes within `radius` whose top `header` bits are the query's or a flip of them.

    Each query's `probes` likeliest flips are computed once. Left out, they are calibrated for the `recall`: a sample of
    the queries is searched exactly first, which reads the files again, and the fewest probes are taken whose recall
    is at least that with 95% confidence; without enough neighbours all flips are made, which is exact.

    The result depends only on header and probes, and is what PSM finds with them in memory; a header of None is
    floor(log2(codes read at a time)). `memory` and `chunk` are as in BatchBPHS. In mode `first` a query leaves the
    batch once it has a hit, and reading stops when none is left.
    """

    bits: int = 64
    radius: int = 3
    probes: int | None = None
    header: int | None = None
    flips: Flips = field(default_factory=TemplateFlips)
    memory: int | str = "1GB"
    chunk: int | None = None
    recall: float = 0.95

    def __post_init__(self) -> None:
        check_fields(self)
        check_radius(self.radius, self.bits)
        memory_bytes(self.memory)
        if self.radius > 16:
            raise ConfigError(f"PSM takes a radius up to 16, got {self.radius}")
        if not 0 < self.recall < 1:
            raise ConfigError(f"recall is between 0 and 1, not {self.recall}")
        if self.probes is not None and not 0 <= self.probes <= 16384:
            raise ConfigError(f"probes must be from 0 to 16,384, got {self.probes}")
        if self.header is not None and not 1 <= self.header <= min(self.bits, _MOST_HEADER):
            raise ConfigError(f"a header has 1 to {min(self.bits, _MOST_HEADER)} bits, not {self.header}")

    def _search(self, asked: _Queries, stored: SegmentSet, mode: Mode, threads: int) -> Iterator[Hits]:
        numbers, words = asked.numbers, asked.words
        size, most = self._sizes(len(words), stored)
        header, probes = self._header(size), self.probes
        if probes is None:
            made = self._calibrated(asked.codes, stored, header, threads)
            header, probes = made.header_bits, made.flips
        flips = self.flips(asked.codes, header, probes, self.radius, threads)
        for chunk in _ahead(stored.chunks(size, threads=threads)):
            rows = CodeRows.of(chunk)
            table = _core.HeaderTable(rows.codes, self.bits, header)
            left = np.ones(len(words), bool)
            for start in range(0, len(words), _SLICE):
                part = slice(start, start + _SLICE)
                query, place, distance = table.search(words[part], flips[part], self.radius, threads)
                asking = CodeRows.single(words[part], numbers[part])
                if mode == "all":
                    yield from _pairs(asking, rows, query, place, distance, most)
                    continue
                hit = _first_each(query, place)
                left[start + query[hit]] = False
                row = rows.members[rows.starts[place[hit]]]
                yield sorted_hits(asking.members[query[hit]], row, distance[hit])
            if mode == "first":
                words, numbers, flips = words[left], numbers[left], flips[left]
                if not len(words):
                    return

    def _sizes(self, queries: int, stored: SegmentSet) -> tuple[int, int]:
        """How many stored codes are read at a time, and how many hits are held."""
        used = queries * (16 * words_of(self.bits) + 24 + 8 * (self.probes or 0))
        size, most = _room(self.memory, used, self.bits, queries)
        return min(size, self.chunk or size, max(map(len, stored.segments))), most

    def _header(self, size: int) -> int:
        return self.header or max(1, min(size.bit_length() - 1, _MOST_HEADER, self.bits))

    def calibrated(
        self, queries: Codes, stored: SegmentSet, *, threads: int = 1
    ) -> tuple[BatchPSM, Calibration | None]:
        """The same with the header and the probes that reach the recall with these queries, and what was measured:
        of no pairs if there are too few near ones, so that all flips are made; None if `probes` were given or a side
        is empty."""
        stored.check(queries)
        _, words = rows_and_words(queries, self.bits)
        if self.probes is not None or not len(words) or not len(stored):
            return self, None
        header = self._header(self._sizes(len(words), stored)[0])
        made = self._calibrated(queries, stored, header, check_threads(threads))
        return replace(self, header=made.header_bits, probes=made.flips), made

    def calibrate(
        self, queries: Codes, stored: SegmentSet, header: int, *, sample: int = 20_000, threads: int = 1
    ) -> Calibration:
        """The fewest probes that reach the recall with these queries, for a header of so many bits."""
        stored.check(queries)
        rows, words = rows_and_words(queries, self.bits)
        chosen = np.sort(np.random.default_rng(0).permutation(len(words))[:sample])
        groups = CodeRows.single(np.ascontiguousarray(words[chosen]), chosen)
        tables = _tables(groups.codes, _default_design(self.bits, self.radius), threads)
        query, flipped = [np.empty(0, np.int64)], [np.empty(0, np.uint64)]
        for chunk in _ahead(stored.chunks(self.chunk or 1 << 20, threads=threads)):
            codes = CodeRows.of(chunk).codes
            for start in range(0, len(codes), _SLICE):
                part = np.ascontiguousarray(codes[start : start + _SLICE])
                place, group, distance = tables.search(part, threads=threads)
                place, group = place[distance > 0], group[distance > 0]
                query.append(group)
                differ = part[place, -1] ^ groups.codes[group, -1]
                flipped.append(differ >> np.uint64((32 if self.bits == 32 else 64) - header))
        asking, differ = np.concatenate(query), np.concatenate(flipped)
        order = np.argsort(asking, kind="stable")
        found = NearPairs(chosen, len(words), asking[order], np.full(len(order), -1), differ[order])

        ordered = (
            self.flips.of_batch(queries, header) if isinstance(self.flips, TemplateFlips) else self.flips
        )

        def masks(picked: NDArray[np.int64], flips: int) -> NDArray[np.uint32]:
            own = queries.take(picked if rows is None else rows[picked])
            return ordered(own, header, flips, self.radius, threads)

        return calibrate(
            found, radius=self.radius, target=self.recall, header=header, masks=masks, mode="all"
        )

    def _calibrated(self, queries: Codes, stored: SegmentSet, header: int, threads: int) -> Calibration:
        try:
            return self.calibrate(queries, stored, header, threads=threads)
        except TooFewPairs:
            while header > 1 and flip_count(header, self.radius) > _MOST_PROBES:
                header -= 1
            every = flip_count(header, self.radius)
            return Calibration(every, 1.0, 1.0, 0, 0, "all", header, np.ones(0))


@checked
def search_then_append(
    method: BatchMethod,
    queries: Codes,
    rows: NDArray[np.int64],
    stored: SegmentSet,
    *,
    mode: Mode = "all",
    threads: int = 1,
) -> Iterator[Hits]:
    """Search a batch and, once the last hit is taken, sort it and append it to the stored folder (SL 6.3).

    A batch is searched in the codes stored before it, not in itself: use a join for pairs inside one batch.
    """
    yield from method.search(queries, stored, mode=mode, threads=threads)
    stored.append(queries, rows, threads=threads)
