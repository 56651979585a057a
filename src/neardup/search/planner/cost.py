"""The cost model: bytes, build seconds and seconds a query of every way to search, before it is built.

The shape is the papers': a query costs its probes, each a random access and a bucket of n / 2**t codes (SL
eq. 9, 14, 19, 21), and a batch on disk costs the larger of reading and computing (SL eq. 16-18, 23).
Corrections to the printed forms are in place: sorting a batch costs time per step, and so does each of the k
flip sets of each query. What the papers count as one access is here two overlapped ones, of the bucket's
bounds and of the bucket, whose cost depends on the size of the memory they read from, and one for each further line
of memory that the bucket covers. Only the work is corrected by a measured factor. The time that memory adds is
measured for itself: a factor found on codes that fit the caches says nothing about codes that do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, comb, exp, expm1, log, log2

import numpy as np

from neardup.search.hamming.designs import Design, Table
from neardup.search.planner.machine import NANO, Machine

__all__ = [
    "Cost",
    "batch_cost",
    "flip_sets_needed",
    "native_header_bits",
    "psm_cost",
    "row_map_bytes",
    "scan_cost",
    "sorting_seconds",
    "tables_cost",
]

LINE_CODES = 16  # low words of stored codes in one line of memory
PRESENCE_BITS = 6  # key bits after the header that select a bit of a presence word


@dataclass(frozen=True)
class Cost:
    """The cost of one search structure: `bytes` without the row map, seconds to build it, seconds a query on one
    core."""

    bytes: float
    build: float
    all: float
    first: float


def row_map_bytes(codes: float) -> float:
    """Bytes that lead from codes back to documents, once for all tables."""
    return codes * (4 if codes < 2**32 else 8)


def _kept_bytes(bits: int, header_bits: int) -> int:
    """Bytes of one stored code: four, and as many more as the bits that its bucket does not imply."""
    return 4 + max(0, -(-(bits - header_bits - 32) // 8))


def _probe_ns(machine: Machine, codes: float, header_bits: int, tables: int) -> float:
    """One probe: the bounds of its bucket, the bucket's first line, and the lines it runs on into.

    All tables of a design share the caches, so the reads go to the memory of all of them. Lines beyond the first
    are known as soon as the bounds are, so their reads overlap fully.
    """
    bounds = machine.access_ns(2.0 * 2.0**header_bits * tables)
    bucket = machine.access_ns(4.0 * codes * tables)
    return (
        machine.per_probe
        + machine.per_read * (bounds + bucket)
        + _run_ns(machine, codes, header_bits, tables)
    )


def _run_ns(machine: Machine, codes: float, header_bits: int, tables: int) -> float:
    """Reading a bucket on after its first line. A bucket begins anywhere in a line."""
    lines = codes / 2.0**header_bits / LINE_CODES
    crossed = max(0.0, lines - 1 / LINE_CODES)
    missed = machine.access_ns(4.0 * codes * tables) - machine.in_cache.access_ns(0)
    return machine.per_run * min(1.0, lines) + machine.per_line * lines + missed * crossed


def _hit_ns(machine: Machine, codes: float, header_bits: int, tables: int) -> float:
    """One match: its other bytes, its place in the first table, which may take reading a bucket, and its row."""
    reads = 4 * machine.per_read * machine.access_ns(4.0 * codes * tables)
    return machine.per_hit + reads + _run_ns(machine, codes, header_bits, tables)


def _built_ns(machine: Machine, codes: float) -> float:
    """One table: each code is written and read at random twice on its way to its bucket."""
    return codes * (machine.per_built + 2 * machine.access_ns(8.0 * codes))


def native_header_bits(bits: int, codes: float, *, flips: bool) -> int:
    """The header bits that tables choose for themselves: buckets of 7 to 14 codes, and one bit more where
    that saves a byte of every code and there is no presence map to double."""
    wanted = 1 if codes < 14 else int(codes / 7).bit_length() - 1
    saves = bits > 32 + wanted and (bits - 32 - wanted) % 8 == 1
    return min(wanted + (saves and not flips), 32)


def _corrected(
    machine: Machine, kind: str, codes: float, predicted: Callable[[Machine], tuple[float, float, float]]
) -> tuple[float, float, float]:
    """Seconds of a build and of a query in mode all and first: the work times its measured factors, and the time that
    memory adds. `predicted` gives nanoseconds on a machine."""
    factors = (
        machine.build_factor(kind, codes),
        machine.query_factor(kind, codes),
        machine.query_factor(f"{kind} first", codes),
    )
    work, whole = predicted(machine.in_cache), predicted(machine)
    build, every, first = (
        (near * factor + far - near) * NANO for near, far, factor in zip(work, whole, factors, strict=True)
    )
    return build, every, first


def tables_cost(
    machine: Machine,
    design: Design,
    codes: float,
    header_bits: int | None = None,
    *,
    kind: str,
    matched: float = 0.5,
) -> Cost:
    """The cost of the tables of `design` over `codes` codes, when a share `matched` of queries has a neighbour.
    Headers have at most `header_bits`, or what tables choose for themselves."""
    total_bytes = 0.0
    headers: list[int] = []
    for table in design.tables:
        chosen = header_bits or native_header_bits(design.bits, codes, flips=table.flips > 0)
        header = min(chosen, table.key_bits, 32)
        presence = 8 * 2.0**header if _has_presence(table, header) else 0
        total_bytes += codes * _kept_bytes(design.bits, header) + 2 * 2.0**header + presence
        headers.append(header)
    home = min(header_bits or native_header_bits(design.bits, codes, flips=False), design.tables[0].key_bits)

    def predicted(machine: Machine) -> tuple[float, float, float]:
        return _tables_ns(machine, design, codes, headers, home, matched)

    build, every, first = _corrected(machine, kind, codes, predicted)
    return Cost(bytes=total_bytes, build=build, all=every, first=first)


def _has_presence(table: Table, header: int) -> bool:
    return table.flips > 0 and table.key_bits >= header + PRESENCE_BITS


def _tables_ns(
    machine: Machine, design: Design, codes: float, headers: Sequence[int], home: int, matched: float
) -> tuple[float, float, float]:
    """Nanoseconds of the build, and of a query in mode all and first. The rows are in the order of the first table,
    which has `home` header bits for a lookup."""
    build = 0.0
    table_ns: list[float] = []
    count, flipping = len(design.tables), sum(table.flips > 0 for table in design.tables)
    for table, header in zip(design.tables, headers, strict=True):
        presence, words = _has_presence(table, header), 2.0**header
        build += _built_ns(machine, codes) * (1.2 if presence else 1.0)
        ns, asked = machine.per_table, 0.0
        for flips in range(table.flips + 1):
            sets = comb(header, flips)
            if presence:
                ball = sum(comb(PRESENCE_BITS, i) for i in range(table.flips - flips + 1))
                asked += sets * -expm1(-codes * ball / (words * 2**PRESENCE_BITS))
                read = machine.per_read * machine.access_ns(8 * words * flipping)
                ns += sets * (machine.per_presence + read)
            else:
                asked += sets
        table_ns.append(ns + asked * _probe_ns(machine, codes, header, count))
    fixed = machine.per_query + matched * _hit_ns(machine, codes, home, count)
    whole = sum(table_ns)
    visited, repeats = _matching(design)
    early = sum(ns * share for ns, share in zip(table_ns, visited, strict=True)) + machine.per_match
    every = whole + machine.per_match * repeats
    return (
        build,
        fixed + matched * every + (1 - matched) * whole,
        fixed + matched * min(early, every) + (1 - matched) * whole,
    )


@lru_cache(maxsize=256)
def _matching(design: Design) -> tuple[tuple[float, ...], float]:
    """For queries with a neighbour: the share that reaches each table if the first match ends a query, and the mean
    number of tables in which such a pair is found.

    From a fixed sample of neighbours at distances 1 to radius, equally often.
    """
    generator = np.random.default_rng(7)
    counts = np.zeros(len(design.tables))
    samples, found = 400, 0
    for i in range(samples):
        size = 1 + i % max(design.radius, 1)
        pattern = sum(1 << int(b) for b in generator.permutation(design.bits)[:size]) if design.radius else 0
        hits = [t for t, x in enumerate(design.tables) if (x.mask & pattern).bit_count() <= x.flips]
        counts[: hits[0] + 1] += 1
        found += len(hits)
    return tuple((counts / samples).tolist()), found / samples


# Flip sets that reach 90, 95 and 99 percent of the neighbours at distances 1 to radius, equally often, in
# headers of 16, 24 and 33 bits: simulated with Laplace margins and edits of many sizes, in template order.
# For radius 3 the middle row runs through the paper's figures (7 at t = 16, 23 to 25 at t = 26).
_RECALLS = (0.90, 0.95, 0.99)
_HEADERS = (16, 24, 33)
_FLIP_SETS: dict[int, tuple[Sequence[float], ...]] = {
    1: ((1, 2, 3), (2, 3, 4), (3, 6, 8)),
    2: ((2, 4, 8), (3, 7, 15), (10, 24, 49)),
    3: ((4, 9, 22), (7, 18, 47), (23, 72, 202)),
    4: ((6, 19, 62), (12, 43, 164), (41, 196, 820)),
    5: ((9, 33, 139), (17, 86, 426), (76, 406, 2974)),
    6: ((14, 70, 431), (30, 167, 1198), (115, 757, 5200)),
    8: ((31, 226, 1696), (68, 561, 5000), (325, 3000, 24000)),
}


def flip_sets_needed(header_bits: int, radius: int, recall: float) -> int:
    """How many flip sets PSM probes for a target recall; a calibration on real margins is better where there
    is one."""
    most = sum(comb(header_bits, i) for i in range(1, radius + 1))
    if recall >= 1 or radius == 0:
        return most
    below = max(r for r in _FLIP_SETS if r <= max(1, min(radius, 8)))
    above = min(r for r in _FLIP_SETS if r >= min(radius, 8))

    def at(key: int) -> float:
        rows = [float(np.interp(header_bits, _HEADERS, np.log(row))) for row in _FLIP_SETS[key]]
        slack = [-log(1 - r) for r in _RECALLS]
        target = -log(1 - recall)
        if target > slack[-1]:  # beyond the table, in proportion to the neighbours still missing
            return rows[-1] + target - slack[-1]
        return float(np.interp(target, slack, rows))

    share = 0.0 if above == below else (radius - below) / (above - below)
    wanted = exp(at(below) * (1 - share) + at(above) * share) * 2.0 ** max(0, radius - 8)
    return min(most, max(1, ceil(wanted)))


def psm_cost(
    machine: Machine, bits: int, codes: float, header_bits: int, flip_sets: int, *, matched: float = 0.5
) -> Cost:
    """The cost of one sorted copy with a header table, probed with the code itself and `flip_sets` flips of its
    header."""
    header = min(header_bits, bits, 32)

    def predicted(machine: Machine) -> tuple[float, float, float]:
        probe = _probe_ns(machine, codes, header, 1)
        hit = _hit_ns(machine, codes, header, 1) + machine.per_match
        fixed = machine.per_query + machine.per_table + matched * hit
        flips = machine.per_ranking + flip_sets * (machine.per_flip_set + probe)
        # The likeliest sets come first: half of the neighbours are found by about a sixth of them.
        early = 0.35 * flips
        return (
            _built_ns(machine, codes),
            fixed + probe + flips,
            fixed + probe + matched * early + (1 - matched) * flips,
        )

    build, every, first = _corrected(machine, "psm", codes, predicted)
    return Cost(codes * _kept_bytes(bits, header) + 2 * 2.0**header, build, every, first)


def scan_cost(machine: Machine, bits: int, codes: float) -> Cost:
    """The cost of comparing each query with every code."""
    words = max(1, bits // 64)
    seconds = machine.per_compare * words * codes * machine.query_factor("scan", codes) * NANO
    return Cost(bytes=8.0 * words * codes, build=0.0, all=seconds, first=seconds)


def batch_cost(
    machine: Machine,
    bits: int,
    codes: float,
    batch: float,
    per_code: float,
    extra: float,
    *,
    leaving: float = 0.0,
) -> Cost:
    """The cost of searching `batch` queries at once in a file of `codes` codes: the larger of reading it all and
    computing.

    `per_code` is the CPU seconds one stored code costs against a chunk or table of the batch's size, `extra`
    the seconds spent once a batch on tables, flip sets or sorting.
    """
    read = codes * bits / 8 / machine.disk_bytes_per_second
    seconds = max(read, codes * per_code + extra)
    # A query that leaves the batch at its first match was, on average, compared with half of the file.
    first = max(read, codes * per_code * (1 - leaving / 2) + extra)
    return Cost(bytes=0.0, build=0.0, all=seconds / batch, first=first / batch)


def sorting_seconds(machine: Machine, codes: float) -> float:
    """Sorting a batch: each of its log2 steps moves every code once."""
    return machine.per_built * codes * max(1.0, log2(max(codes, 2)) / 16) * NANO
