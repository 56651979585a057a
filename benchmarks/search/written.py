"""The papers as written: BPHS over sorted copies with binary or interpolation search (Manku, Jain and Das
Sarma), PSM over one sorted copy with a table of headers and a heap of flips for each query (Sood and
Loguinov). One native call takes all queries, but asks them one at a time: nothing is prefetched, no two
lookups overlap. Figures of these measure the methods, those of ours.py their engineering."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import numpy as np
from benchmarks.search.engines import Engine, Rows, Words
from benchmarks.search.ours import flips_for
from numpy.typing import NDArray

from neardup import _core
from neardup.search.codes import to_codes
from neardup.search.hamming.tables import BPHS, TableMethod
from neardup.search.psm.psm import PSM

__all__ = ["written"]


class Tables:
    """BPHS with a lookup of the papers."""

    def __init__(self, codes: Words, method: TableMethod, threads: int) -> None:
        self.searcher = method.index(to_codes(codes), threads=threads)
        self.bytes, self.row_bytes = self.searcher.bytes, self.searcher.row_bytes

    def search(
        self, queries: Words, margins: NDArray[np.float32], *, first: bool, threads: int
    ) -> tuple[Rows, Rows]:
        hits = self.searcher.search(to_codes(queries), mode="first" if first else "all", threads=threads)
        return hits.query, hits.row


class Psm:
    """PSM with the paper's header of floor(log2(codes)) bits and the fewest flips that reach `recall`."""

    def __init__(self, codes: Words, radius: int, recall: float = 0.955) -> None:
        header = PSM(radius=radius).header_for(len(codes))
        self.sets, _ = flips_for(header, radius, recall)
        start = process_time()
        self.table = _core.SortedPsm(codes, 64, radius, header)
        self.build_seconds = process_time() - start
        self.bytes, self.row_bytes = self.table.bytes, self.table.row_bytes

    def search(
        self, queries: Words, margins: NDArray[np.float32], *, first: bool, threads: int
    ) -> tuple[Rows, Rows]:
        mode = _core.Mode.first if first else _core.Mode.all
        query, row, _ = self.table.search_heap(queries, margins, self.sets, mode, threads)
        return query, row


def written(radius: int) -> dict[str, Callable[[Words, int], Engine]]:
    """The engines as written, by name."""

    def tables(method: TableMethod) -> Callable[[Words, int], Engine]:
        return lambda codes, threads: Tables(codes, method, threads)

    return {
        "bphs-4-binary": tables(BPHS(tables=4, lookup="binary")),
        "bphs-10-binary": tables(BPHS(tables=10, lookup="binary")),
        "bphs-4-interpolation": tables(BPHS(tables=4, lookup="interpolation")),
        "bphs-10-interpolation": tables(BPHS(tables=10, lookup="interpolation")),
        "psm-written": lambda codes, threads: Psm(codes, radius),
    }
