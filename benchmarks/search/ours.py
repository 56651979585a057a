"""Our own engines, through the same calls a user makes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from benchmarks.search.engines import Engine, NotRun, Rows, Words
from numpy.typing import NDArray

from neardup import _core
from neardup.planning.cost import Cost, tables_cost
from neardup.planning.machine import Machine
from neardup.search.designs import Design, compact, covering, manku

__all__ = ["join", "ours", "predicted"]


class Tables:
    """A table design held in memory."""

    def __init__(self, codes: Words, design: Design, threads: int) -> None:
        masks = np.array([[table.mask] for table in design.tables], dtype=np.uint64)
        flips = np.array([table.flips for table in design.tables], dtype=np.uint8)
        self.tables = _core.HammingTables(codes, design.bits, design.radius, masks, flips, threads=threads)
        self.design = design
        self.bytes, self.row_bytes = self.tables.bytes, self.tables.row_bytes

    def search(
        self, queries: Words, margins: NDArray[np.float32], *, first: bool, threads: int
    ) -> tuple[Rows, Rows]:
        mode = _core.Mode.first if first else _core.Mode.all
        query, row, _ = self.tables.search(queries, mode, threads=threads)
        return query, row


class Scan:
    """Brute force."""

    row_bytes = 0

    def __init__(self, codes: Words, radius: int) -> None:
        self.codes, self.radius, self.bytes = codes, radius, codes.nbytes

    def search(
        self, queries: Words, margins: NDArray[np.float32], *, first: bool, threads: int
    ) -> tuple[Rows, Rows]:
        query, row, _ = _core.scan(self.codes, queries, 64, self.radius, first, threads)
        return query, row


def ours(radius: int) -> dict[str, Callable[[Words, int], Engine]]:
    """Our searchers by name."""

    def tables(design: Design) -> Callable[[Words, int], Engine]:
        return lambda codes, threads: Tables(codes, design, threads)

    def missing(name: str) -> Callable[[Words, int], Engine]:
        def build(codes: Words, threads: int) -> Engine:
            raise NotRun(f"{name} is not in this version")

        return build

    return {
        "fast": tables(covering(64, radius, 6)),
        "compact": tables(compact(64, radius, 2)),
        "bphs-4": tables(manku(4)),
        "bphs-10": tables(manku(10)),
        "psm": missing("psm"),
        "psm-heap": missing("psm-heap"),
        "bphs-4-binary": missing("binary search"),
        "bphs-10-binary": missing("binary search"),
        "scan": lambda codes, threads: Scan(codes, radius),
    }


def predicted(machine: Machine, engine: Engine, name: str, codes: int) -> Cost:
    """What the planner's model says of an engine as it was built."""
    kind = {"fast": "covering", "bphs-4": "bphs", "bphs-10": "bphs"}.get(name, name)
    if not isinstance(engine, Tables):
        raise NotRun(f"no prediction for {name}")
    return tables_cost(machine, engine.design, codes, max(engine.tables.header_bits), kind=kind)


def join(codes: Words, radius: int) -> int:
    """How many pairs the self-join finds."""
    raise NotRun("join is not in this version")
