"""Naive twins of the in-memory Hamming search: every pair compared, every flip set listed and sorted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from papers.bits import bit_count

__all__ = ["brute", "children", "clustered", "first_in_probe_order", "flip_sets", "neighbours", "uniform"]

Columns = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]


def brute(codes: NDArray[np.uint64], queries: NDArray[np.uint64], radius: int) -> Columns:
    """(query, row, distance) of every pair within the radius, by query, then row."""
    distance = bit_count(queries[:, None, :] ^ codes[None, :, :]).sum(axis=2, dtype=np.int64)
    query, row = np.nonzero(distance <= radius)
    return query, row, distance[query, row].astype(np.uint8)


def as_int(code: Iterable[int]) -> int:
    """A code's words as one number."""
    return sum(int(word) << (64 * i) for i, word in enumerate(code))


def highest(mask: int, count: int) -> int:
    """The `count` highest bits of a mask."""
    while mask.bit_count() > count:
        mask &= mask - 1
    return mask


def first_in_probe_order(
    codes: NDArray[np.uint64],
    query: Sequence[int],
    radius: int,
    tables: Sequence[tuple[int, int]],
    header: int,
) -> tuple[int, int] | None:
    """(row, distance) of the first hit: table by table, flip set by flip set, lowest row within a bucket.
    Tables whose key has at least six bits after its header settle on those bits too (the presence map)."""
    numbers = [as_int(code) for code in codes]
    asked = as_int(query)
    for mask, flips in tables:
        bits = min(header, mask.bit_count())
        head = highest(mask, bits)
        present = flips > 0 and mask.bit_count() >= bits + 6
        checked = highest(mask, bits + 6) if present else head
        places = [j for j in range(mask.bit_length()) if head >> j & 1]
        for size in range(min(flips, bits) + 1):
            for flipped in combinations(places, size):
                key = sum(1 << j for j in flipped)
                for row, code in enumerate(numbers):
                    gap = code ^ asked
                    near = gap.bit_count() <= radius and (gap & checked).bit_count() <= flips
                    if gap & head == key and near:
                        return row, gap.bit_count()
    return None


def uniform(rng: np.random.Generator, count: int, bits: int) -> NDArray[np.uint64]:
    """Codes drawn at random."""
    words = max(1, bits // 64)
    codes = rng.integers(0, 2**64, size=(count, words), dtype=np.uint64)
    return codes & np.uint64(2**32 - 1) if bits == 32 else codes


def neighbours(
    rng: np.random.Generator, codes: NDArray[np.uint64], bits: int, most: int
) -> NDArray[np.uint64]:
    """Each code with up to `most` of its bits flipped."""
    out = codes.copy()
    for row in range(len(out)):
        for j in rng.choice(bits, size=rng.integers(0, most + 1), replace=False):
            out[row, j // 64] ^= np.uint64(1) << np.uint64(j % 64)
    return out


def clustered(
    rng: np.random.Generator, count: int, bits: int, centres: int, spread: int
) -> NDArray[np.uint64]:
    """Codes around a few centres, many of them equal."""
    return neighbours(rng, uniform(rng, centres, bits)[rng.integers(0, centres, count)], bits, spread)


def flip_sets(costs: Sequence[float], radius: int) -> list[tuple[int, ...]]:
    """Every non-empty set of at most `radius` places, cheapest first; ties: fewer places, then
    lexicographic."""
    sets = [s for size in range(1, radius + 1) for s in combinations(range(len(costs)), size)]
    return sorted(sets, key=lambda s: (sum(costs[i] for i in s), len(s), s))


def children(ranks: tuple[int, ...], width: int) -> list[tuple[int, ...]]:
    """Algorithm 2 as the errata have it: ranks count from 1; the left child, then the right, as far as they
    exist."""
    out = []
    if ranks[-1] < width:
        out.append((*ranks[:-1], ranks[-1] + 1))
    for j in range(len(ranks) - 2, -1, -1):
        gap = ranks[j + 1] - ranks[j]
        if gap == 2:
            out.append((*ranks[:j], ranks[j] + 1, *ranks[j + 1 :]))
        if gap >= 2:
            break
    return out
