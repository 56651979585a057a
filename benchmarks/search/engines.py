"""The engines: each is built on codes, then asked. An engine that cannot run here says why instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Engine", "NotRun", "joiners", "searchers"]

Rows = NDArray[np.int64]
Words = NDArray[np.uint64]


class NotRun(Exception):
    """Why an engine has no figures."""


class Engine(Protocol):
    """`search` returns (query, row) columns for every stored code within the radius; `bytes` is what the
    engine says its search structure takes, without the row map, or None when it does not say."""

    def search(
        self, queries: Words, margins: NDArray[np.float32], *, first: bool, threads: int
    ) -> tuple[Rows, Rows]: ...

    @property
    def bytes(self) -> int | None: ...

    @property
    def row_bytes(self) -> int | None: ...


Build = Callable[[Words, int], Engine]


class FaissMultiHash:
    """faiss IndexBinaryMultiHash: `hashes` tables of `bits` bits, probed with `flips` flips."""

    bytes = row_bytes = None

    def __init__(self, codes: Words, radius: int, hashes: int, bits: int, flips: int) -> None:
        try:
            import faiss
        except ImportError:
            raise NotRun("faiss is not installed") from None
        faiss.omp_set_num_threads(1)
        self.faiss, self.radius = faiss, radius
        self.index = faiss.IndexBinaryMultiHash(64, hashes, bits)
        self.index.nflip = flips
        self.index.add(codes.view(np.uint8).reshape(-1, 8))

    def search(
        self, queries: Words, margins: NDArray[np.float32], *, first: bool, threads: int
    ) -> tuple[Rows, Rows]:
        if first:
            raise NotRun("faiss range search has no first mode")
        self.faiss.omp_set_num_threads(threads)
        # Its radius is exclusive.
        limits, _, rows = self.index.range_search(queries.view(np.uint8).reshape(-1, 8), self.radius + 1)
        asked = np.repeat(np.arange(len(queries)), np.diff(limits.astype(np.int64)))
        return asked, rows


class Gaoya:
    """gaoya takes texts alone, so each code is represented by a text of one word: gaoya's own hash of that word
    is a uniform code. Half of the queries are stored words, the others are not; it finds them at distance
    0."""

    bytes = row_bytes = None

    def __init__(self, codes: Words, radius: int) -> None:
        try:
            from gaoya.simhash import SimHashStringIndex
        except ImportError:
            raise NotRun("gaoya is not installed") from None
        self.index = SimHashStringIndex(hash_size=64, num_blocks=radius + 3, hamming_distance=radius)
        for i in range(len(codes)):
            self.index.insert_document(i, f"w{i}")
        self.stored = len(codes)

    def search(
        self, queries: Words, margins: NDArray[np.float32], *, first: bool, threads: int
    ) -> tuple[Rows, Rows]:
        if first or threads > 1:
            raise NotRun("gaoya answers one query at a time, with all matches")
        asked, rows = [], []
        for i in range(len(queries)):
            found = self.index.query(f"w{i}" if i % 2 == 0 else f"x{i}")
            asked += [i] * len(found)
            rows += found
        return np.array(asked), np.array(rows)


def simhash_pybind_join(codes: Words, radius: int) -> Words:
    """Pairs that simhash-pybind finds within one set of codes, with the blocks of the paper's 20 tables."""
    try:
        import simhash
    except ImportError:
        raise NotRun("simhash-pybind is not installed") from None
    return np.array(list(simhash.find_all(codes[:, 0].tolist(), radius + 3, radius)), dtype=np.uint64)


def searchers(radius: int) -> dict[str, Build]:
    """Every engine that searches, by the name cases.toml uses."""
    from benchmarks.search.ours import ours
    from benchmarks.search.written import written

    found: dict[str, Build] = {**ours(radius), **written(radius)}
    found["faiss-2x32-flip1"] = lambda codes, threads: FaissMultiHash(codes, radius, 2, 32, 1)
    found["faiss-4x16"] = lambda codes, threads: FaissMultiHash(codes, radius, 4, 16, 0)
    found["gaoya"] = lambda codes, threads: Gaoya(codes, radius)
    return found


def joiners(radius: int) -> dict[str, Callable[[Words], Words]]:
    """Every engine that finds all pairs within one set; each returns their codes, uint64[pairs, 2]."""
    from benchmarks.search.ours import join

    return {
        "join": lambda codes: join(codes, radius),
        "simhash-pybind": lambda codes: simhash_pybind_join(codes, radius),
    }
