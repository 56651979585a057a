"""Measures a few small searches, so that predictions fit this machine and this build."""

from __future__ import annotations

from functools import lru_cache, partial
from math import log2
from time import process_time

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.search.hamming.designs import Design, compact, covering, manku
from neardup.search.hamming.tables import design_arrays
from neardup.search.planner.cost import Cost, psm_cost, scan_cost, tables_cost
from neardup.search.planner.machine import Machine, best_seconds, measure_access

__all__ = ["measure"]

Words = NDArray[np.uint64]

SIZES = (2**17, 2**21)
ASKED = 2**17
RADIUS = 3
LEAST = 0.2  # the smallest factor that is believed


@lru_cache(maxsize=1)
def measure() -> Machine:
    """This machine, measured once and kept in memory: memory access, then one search of each kind at
    two sizes.

    The cost model gives the shape of each prediction, the ratio of measured to predicted its scale. Designs
    are for 64 bits and radius 3; the ratios are used for other widths and radii as well.
    """
    machine = Machine(access=measure_access())
    kinds = {"covering": covering(64, RADIUS, 6), "compact": compact(64, RADIUS, 2), "bphs": manku(10)}
    scale: dict[str, list[tuple[float, float]]] = {}
    build: dict[str, list[tuple[float, float]]] = {}
    generator = np.random.default_rng(11)
    for size in SIZES:
        codes = generator.integers(0, 2**64, (size, 1), dtype=np.uint64)
        queries = _queries(codes, generator)
        for kind, design in kinds.items():
            tables = _Timed(codes, design)
            header = max(tables.native.header_bits)
            whole, work = (
                tables_cost(one, design, size, header, kind=kind) for one in (machine, machine.in_cache)
            )
            every = best_seconds(partial(tables.native.search, queries, _core.Mode.all)) / ASKED
            first = best_seconds(partial(tables.native.search, queries, _core.Mode.first)) / ASKED
            scale.setdefault(kind, []).append((size, _factor(every, whole.all, work.all)))
            scale.setdefault(f"{kind} first", []).append((size, _factor(first, whole.first, work.first)))
            build.setdefault(kind, []).append((size, _factor(tables.seconds, whole.build, work.build)))
        taken, whole, work = _psm(machine, codes, queries[1::2].copy(), generator)
        for name in ("psm", "psm first"):
            scale.setdefault(name, []).append((size, _factor(taken.all, whole.all, work.all)))
        build.setdefault("psm", []).append((size, _factor(taken.build, whole.build, work.build)))
    few = queries[:64]
    seconds = best_seconds(partial(_core.scan, codes, few, 64, RADIUS)) / len(few)
    scale["scan"] = [(SIZES[-1], seconds / scan_cost(machine, 64, SIZES[-1]).all)]
    # A query's work is the same at every size, as the buckets are; noise only ever adds to it.
    least = {name: [min(points, key=lambda point: point[1])] for name, points in scale.items()}
    return machine.scaled(least, build)


def _factor(measured: float, whole: float, work: float) -> float:
    """Measured over predicted work, both without what memory adds. Noise must not make it nothing."""
    return max(LEAST, (measured - (whole - work)) / work)


class _Timed:
    """Tables, and the CPU seconds it took to build them."""

    def __init__(self, codes: Words, design: Design) -> None:
        masks, flips = design_arrays(design)

        def build() -> None:
            self.native = _core.HammingTables(codes, design.bits, design.radius, masks, flips)

        self.seconds = best_seconds(build, repeats=1)


def _psm(
    machine: Machine, codes: Words, queries: Words, generator: np.random.Generator
) -> tuple[Cost, Cost, Cost]:
    """Measured and predicted cost of PSM with 16 flip sets, and its predicted work alone. The margins are Laplace
    noise: only their cost counts."""
    header, sets = int(log2(len(codes))) - 2, 16
    margins = generator.laplace(size=(len(queries), 64)).astype(np.float32)
    expected = np.cumsum(1 / np.arange(header, 0, -1)).astype(np.float32)
    start = process_time()
    table = _core.PsmTable(codes, 64, RADIUS, header)
    build = process_time() - start
    search = partial(table.search_template, queries, np.abs(margins), expected, sets)
    asked = best_seconds(search) / len(queries)
    whole, work = (
        psm_cost(one, 64, len(codes), header, sets, matched=0.0) for one in (machine, machine.in_cache)
    )
    return Cost(table.bytes, build, asked, asked), whole, work


def _queries(codes: Words, generator: np.random.Generator) -> Words:
    """Half with a stored neighbour at distance 1 to 3, half without."""
    queries = generator.integers(0, 2**64, (ASKED, 1), dtype=np.uint64)
    near = codes[generator.integers(0, len(codes), ASKED // 2), 0]
    for i in range(RADIUS):
        flip = np.uint64(1) << generator.integers(0, 64, len(near), dtype=np.uint64)
        near = np.where(np.arange(len(near)) % RADIUS >= i, near ^ flip, near)
    queries[::2, 0] = near
    return queries
