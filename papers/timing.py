"""Timed searches over uniform codes with planted neighbours: the workload and the engines are those of
benchmarks/search, so that speed is measured in one way everywhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import benchmarks.search.data
import numpy as np
from benchmarks.search.data import Workload, make, near_pairs
from benchmarks.search.engines import Engine, Rows, Words
from benchmarks.search.ours import ours
from benchmarks.search.written import Tables
from numpy.typing import NDArray

from neardup import _core
from neardup.search.hamming.tables import BPHS
from neardup.search.planner.machine import best_seconds
from papers.experiment import Result
from papers.flips import NearPairs, header_steps, quantile_flips

__all__ = ["RADIUS", "RECALL", "Written", "asked", "builders", "earlier", "flips_for", "rates", "workload"]

RADIUS, RECALL, SEED = 3, 0.95, 20110713


@lru_cache(maxsize=1)
def workload(size: int, queries: int) -> Workload:
    """2**size uniform codes; every other query has one neighbour at distance 1, 2 or 3, as often each."""
    return make(1 << size, min(queries, 1 << size), RADIUS, SEED)


@lru_cache(maxsize=1)
def _calibration() -> NearPairs:
    """Real near pairs that no query is made of, each distance as often, their bits in random places as in queries."""
    margins, differing, real = near_pairs(RADIUS)
    if not real:
        raise SystemExit("there are no labelled corpora: set NEARDUP_DATA to their folder")
    margins, differing = margins[1::2], differing[1::2]
    generator = np.random.default_rng(SEED)
    distances = differing.sum(axis=1)
    picked = np.concatenate(
        [generator.choice(np.flatnonzero(distances == d), 4000) for d in range(1, RADIUS + 1)]
    )
    places = generator.permuted(np.tile(np.arange(64), (len(picked), 1)), axis=1)
    sizes = np.take_along_axis(np.abs(margins[picked]), places, axis=1)
    failed = np.take_along_axis(differing[picked], places, axis=1)
    words = np.packbits(failed, axis=1, bitorder="little").view("<u8")[:, 0]
    kept = np.ones(len(picked), bool)
    return NearPairs("calibration", np.arange(len(picked)), sizes.astype(np.float32), words, kept)


@lru_cache(maxsize=64)
def flips_for(header: int) -> int:
    """k(t): the fewest flips with which PSM finds RECALL of such neighbours. A query has one neighbour at most, so
    modes `all` and `first` need the same."""
    pairs = _calibration()
    return quantile_flips(header_steps(pairs, header, RADIUS), pairs.query, RECALL, "all")


@dataclass
class Written:
    """PSM as printed: one sorted copy, a table of 2**header headers, a heap of flips for each query."""

    table: _core.SortedPsm
    flips: int

    def search(
        self, queries: Words, margins: NDArray[np.float32], *, first: bool, threads: int
    ) -> tuple[Rows, Rows]:
        mode = _core.Mode.first if first else _core.Mode.all
        query, row, _ = self.table.search_heap(queries, margins, self.flips, mode, threads)
        return query, row

    @property
    def bytes(self) -> int:
        return self.table.bytes

    @property
    def row_bytes(self) -> int:
        return self.table.row_bytes


def builders(size: int) -> dict[str, Callable[[Words], Engine]]:
    """Every engine by name: BPHS and PSM as printed, then our own."""

    def blocks(tables: int) -> Callable[[Words], Engine]:
        return lambda codes: Tables(codes, BPHS(tables=tables, lookup="binary"), 1)

    def psm(header: int) -> Callable[[Words], Engine]:
        return lambda codes: Written(_core.SortedPsm(codes, 64, RADIUS, header), flips_for(header))

    def mine(name: str) -> Callable[[Words], Engine]:
        return lambda codes: ours(RADIUS)[name](codes, 1)

    found = {f"BPHS {tables}": blocks(tables) for tables in (4, 10, 16, 20)}
    found |= {f"PSM t={header}": psm(header) for header in range(size - 4, size + 1)}
    names = {
        "bphs-4": "our BPHS 4",
        "bphs-10": "our BPHS 10",
        "fast": "our 6 tables",
        "compact": "our 2 tables",
        "psm": "our PSM",
    }
    return found | {name: mine(key) for key, name in names.items()}


def earlier() -> list[Result]:
    """The designs as printed at 60 million codes, from the benchmarks' own run: too long to repeat here."""
    file = Path(benchmarks.search.data.__file__).parents[1] / "results" / "search-60m-written.json"
    kept = json.loads(file.read_text("utf-8"))
    names = {"bphs-4-binary": "BPHS 4", "bphs-10-binary": "BPHS 10", "psm-written": "PSM"}
    return [
        {
            "design": names[row["engine"]],
            "codes": row["stored"],
            "all": row["all"]["queries_per_second"],
            "first": row["first"]["queries_per_second"],
            "recall": row["all"]["recall"],
            "commit": kept["machine"]["commit"][:10],
        }
        for row in kept["search"]
    ]


def asked(name: str) -> int:
    """Queries of one timed call: enough for a tenth of a second or more."""
    return 200_000 if name.startswith("our") else 50_000


def rates(engine: Engine, work: Workload, queries: int, repeats: int) -> Result:
    """Queries a second of one thread in both modes, in CPU seconds, and the share of planted neighbours found."""
    words, margins = work.queries[:queries], work.margins[:queries]
    query, row = engine.search(words, margins, first=False, threads=1)
    planted = work.planted[: (queries + 1) // 2]
    even = np.asarray(query) % 2 == 0
    recall = float((planted[np.asarray(query)[even] // 2] == np.asarray(row)[even]).sum() / len(planted))
    found: Result = {"recall": recall}
    for mode, first in (("all", False), ("first", True)):
        call = partial(engine.search, words, margins, first=first, threads=1)
        found[mode] = queries / best_seconds(call, repeats=repeats)
    return found
