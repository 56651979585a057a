"""Our own engines, through the same calls a user makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import process_time

import numpy as np
from benchmarks.search.data import near_pairs
from benchmarks.search.engines import Engine, NotRun, Rows, Words
from numpy.typing import NDArray

from neardup import _core
from neardup.search.codes import to_codes
from neardup.search.hamming.join import Join
from neardup.search.hamming.live import LiveSearcher
from neardup.search.hamming.scan import Scan as ScanMethod
from neardup.search.hamming.tables import BPHS, Compact, Covering, TableMethod
from neardup.search.planner.cost import Cost, psm_cost, tables_cost
from neardup.search.planner.machine import Machine
from neardup.search.psm.psm import PSM

__all__ = ["Live", "flips_for", "join", "ours", "predicted"]


class Tables:
    """An exact method, its codes held in memory."""

    def __init__(self, codes: Words, method: TableMethod, threads: int) -> None:
        self.searcher, self.design = method.index(to_codes(codes), threads=threads), method.design
        self.bytes, self.row_bytes = self.searcher.bytes, self.searcher.row_bytes
        # Two reads a probe, of a bucket's bounds and of the bucket; one for each presence word asked.
        self.reads = sum(
            table.probes(header) + 1 if table.flips else 2
            for table, header in zip(self.design.tables, self.searcher.tables.header_bits, strict=True)
        )

    def search(
        self, queries: Words, margins: NDArray[np.float32], *, first: bool, threads: int
    ) -> tuple[Rows, Rows]:
        hits = self.searcher.search(to_codes(queries), mode="first" if first else "all", threads=threads)
        return hits.query, hits.row


class Live:
    """A method whose tables grow while they are searched."""

    def __init__(self, name: str, radius: int) -> None:
        self.searcher = LiveSearcher(
            Covering(radius=radius, tables=6) if name == "live-fast" else Compact(radius=radius)
        )

    def add(self, codes: Words) -> None:
        self.searcher.add(to_codes(codes))

    def search(self, queries: Words) -> tuple[Rows, Rows]:
        hits = self.searcher.search(to_codes(queries))
        return hits.query, hits.row

    @property
    def bytes(self) -> int:
        return self.searcher.state().bytes


class Psm:
    """PSM with a header of `header_bits` and the fewest flip sets that reach `recall` on the margins of other
    real pairs than those asked for."""

    def __init__(self, codes: Words, radius: int, threads: int, *, heap: bool, recall: float = 0.955) -> None:
        header = max(1, int(np.log2(len(codes))) - 3)
        self.sets, expected = flips_for(header, radius, recall)
        method = PSM(
            radius=radius,
            flips=self.sets,
            header_bits=header,
            order="heap" if heap else "template",
            expected=tuple(expected.tolist()),
        )
        start = process_time()
        self.searcher = method.index(to_codes(codes), threads=threads)
        self.build_seconds = process_time() - start  # without the calibration above
        self.header_bits, self.reads = header, 2 * (self.sets + 1)
        self.bytes, self.row_bytes = self.searcher.table.bytes, self.searcher.table.row_bytes

    def search(
        self, queries: Words, margins: NDArray[np.float32], *, first: bool, threads: int
    ) -> tuple[Rows, Rows]:
        asked = replace(to_codes(queries), margins=margins)
        hits = self.searcher.search(asked, mode="first" if first else "all", threads=threads)
        return hits.query, hits.row


def flips_for(header: int, radius: int, recall: float) -> tuple[int, NDArray[np.float32]]:
    """The fewest flip sets that reach `recall`, and the expected cost of each rank of the header, on real
    pairs that no query is made of."""
    pairs, differing, _ = near_pairs(radius)
    pairs, differing = pairs[1::2], differing[1::2]  # queries are made of the others
    generator = np.random.default_rng(2)
    columns = generator.permuted(np.tile(np.arange(64), (len(pairs), 1)), axis=1)[:, :header]
    rows = np.arange(len(pairs))[:, None]
    sizes, failed = np.abs(pairs)[rows, columns], differing[rows, columns]
    expected = (np.sort(sizes, axis=1) / sizes.mean(axis=1, keepdims=True)).mean(axis=0)
    expected = np.sort(expected).astype(np.float32)
    return _sets_needed(sizes, failed, expected, differing.sum(axis=1), radius, recall), expected


def _sets_needed(
    sizes: NDArray[np.float32],
    failed: NDArray[np.bool_],
    expected: NDArray[np.float32],
    distances: NDArray[np.int64],
    radius: int,
    recall: float,
) -> int:
    """The fewest flip sets that find a share `recall` of the pairs, each distance counting equally."""
    offsets, ranks, _ = _core.vosh(expected, radius, 4096)
    place = {tuple(ranks[offsets[i] : offsets[i + 1]].tolist()): i + 1 for i in range(len(offsets) - 1)}
    order = np.argsort(np.argsort(sizes, axis=1), axis=1)
    needed = np.array(
        [
            0 if not f.any() else place.get(tuple(sorted(r[f].tolist())), 10**6)
            for r, f in zip(order, failed, strict=True)
        ]
    )
    for sets in range(1, 4097):
        if np.mean([np.mean(needed[distances == d] <= sets) for d in range(1, radius + 1)]) >= recall:
            return sets
    return 4096


class Scan:
    """Brute force."""

    row_bytes = 0

    def __init__(self, codes: Words, radius: int) -> None:
        self.searcher, self.bytes = ScanMethod(radius=radius).index(to_codes(codes)), codes.nbytes

    def search(
        self, queries: Words, margins: NDArray[np.float32], *, first: bool, threads: int
    ) -> tuple[Rows, Rows]:
        hits = self.searcher.search(to_codes(queries), mode="first" if first else "all", threads=threads)
        return hits.query, hits.row


def ours(radius: int) -> dict[str, Callable[[Words, int], Engine]]:
    """Our searchers by name."""

    def tables(method: TableMethod) -> Callable[[Words, int], Engine]:
        return lambda codes, threads: Tables(codes, method, threads)

    return {
        "fast": tables(Covering(radius=radius, tables=6)),
        "compact": tables(Compact(radius=radius)),
        "bphs-4": tables(BPHS(tables=4)),
        "bphs-10": tables(BPHS(tables=10)),
        "psm": lambda codes, threads: Psm(codes, radius, threads, heap=False),
        "psm-heap": lambda codes, threads: Psm(codes, radius, threads, heap=True),
        "scan": lambda codes, threads: Scan(codes, radius),
    }


def predicted(machine: Machine, engine: Engine, name: str, codes: int) -> Cost:
    """What the planner's model says of an engine as it was built."""
    kind = {"fast": "covering", "bphs-4": "bphs", "bphs-10": "bphs"}.get(name, name)
    if isinstance(engine, Psm):
        return psm_cost(machine, 64, codes, engine.header_bits, engine.sets)
    if not isinstance(engine, Tables):
        raise NotRun(f"no prediction for {name}")
    return tables_cost(machine, engine.design, codes, kind=kind)


def join(codes: Words, radius: int) -> Words:
    """The pairs of the self-join, as codes uint64[pairs, 2]."""
    pairs = Join(radius=radius).within(to_codes(codes))
    found = [np.stack([left, right], axis=1) for left, right, _ in pairs]
    return codes[np.concatenate(found), 0] if found else np.empty((0, 2), dtype=np.uint64)
