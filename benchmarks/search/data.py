"""Stored codes and queries with planted neighbours: the same for every engine, made again from a seed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["Workload", "make", "near_pairs"]

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Workload:
    """`codes` uint64[n, 1]; `queries` uint64[m, 1] with `margins` float32[m, 64]. Query 2i has the stored row
    `planted[i]` at distance 1 to radius; no other stored code is near any query, which is what uniform codes
    give."""

    codes: Words
    queries: Words
    margins: NDArray[np.float32]
    planted: NDArray[np.int64]
    real_margins: bool


def make(stored: int, asked: int, radius: int, seed: int) -> Workload:
    """Codes are uniform; which bits of a query differ from its neighbour follows margins of real text.

    Each query takes a near pair of real documents, moves its bits to random places and flips random bits in
    both: codes become uniform and independent, while the sizes of the margins and which of them failed remain
    real.
    """
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, 2**64, stored, dtype=np.uint64)
    margins, differing, real = near_pairs(radius)
    margins, differing = margins[::2], differing[::2]  # the others are for calibration
    picked = _balanced(differing.sum(axis=1), radius, asked, generator)
    places = generator.permuted(np.tile(np.arange(64), (min(asked, 4096), 1)), axis=1)
    places = places[np.arange(asked) % len(places)]
    sizes = np.empty((asked, 64), dtype=np.float32)
    flips = np.empty((asked, 64), dtype=bool)
    rows = np.arange(asked)[:, None]
    sizes[rows, places] = np.abs(margins[picked])
    flips[rows, places] = differing[picked]
    queries = generator.integers(0, 2**64, asked, dtype=np.uint64)
    signs = (queries[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    planted = generator.permutation(stored)[: (asked + 1) // 2].astype(np.int64)
    difference = np.packbits(flips, axis=1, bitorder="little").view("<u8")[:, 0]
    codes[planted] = queries[::2] ^ difference[::2]
    votes = np.where(signs == 1, sizes, -sizes).astype(np.float32)
    return Workload(codes[:, None], queries[:, None], votes, planted, real)


def _balanced(
    distances: NDArray[np.int64], radius: int, asked: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Pairs for queries 0, 1, 2, ..., with distances 1, 1, 2, 2, ... so that each distance is planted equally
    often."""
    wanted = 1 + (np.arange(asked) // 2) % radius
    picked = np.empty(asked, dtype=np.int64)
    for distance in range(1, radius + 1):
        choices = np.flatnonzero(distances == distance)
        where = wanted == distance
        picked[where] = choices[generator.integers(0, len(choices), int(where.sum()))]
    return picked


@lru_cache(maxsize=2)
def near_pairs(radius: int) -> tuple[NDArray[np.float32], NDArray[np.bool_], bool]:
    """(margins of one, differing bits, whether they are real) of pairs of documents at distance 1 to
    radius."""
    folder = Path(os.environ.get("NEARDUP_DATA", "../shared/data"))
    if folder.is_dir():
        from benchmarks.search.text import real_pairs

        margins, differing = real_pairs(folder, radius)
        return margins, differing, True
    return *_laplace_pairs(radius), False


def _laplace_pairs(radius: int) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """A substitute where there is no text: Laplace margins, and edits of many sizes."""
    generator = np.random.default_rng(3)
    margins, differing = [], []
    for _ in range(20):
        votes = np.abs(generator.laplace(size=(5000, 64)))
        edits = generator.laplace(size=votes.shape) * 0.01 * 20 ** generator.random((len(votes), 1))
        failed = edits > votes
        near = (failed.sum(axis=1) >= 1) & (failed.sum(axis=1) <= radius)
        margins.append(votes[near].astype(np.float32))
        differing.append(failed[near])
    return np.concatenate(margins), np.concatenate(differing)
