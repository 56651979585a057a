"""Naive twins of the Hamming searches and joins: python integers, no cleverness."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np

Hits = list[tuple[int, int, int]]


def integers(words: np.ndarray) -> list[int]:
    """Codes as python integers."""
    return [sum(int(word) << (64 * i) for i, word in enumerate(row)) for row in words]


def distance(a: int, b: int) -> int:
    return (a ^ b).bit_count()


def hits(stored: list[int], queries: list[int], radius: int) -> Hits:
    return [
        (q, row, distance(query, code))
        for q, query in enumerate(queries)
        for row, code in enumerate(stored)
        if distance(query, code) <= radius
    ]


def pairs(codes: list[int], radius: int) -> Hits:
    return [(i, j, d) for i, j, d in hits(codes, codes, radius) if i < j]


def labels(rows: int, tied: list[tuple[int, int]]) -> list[int]:
    """The smallest row that each row hangs together with, by flooding."""
    near = defaultdict(list)
    for a, b in tied:
        near[a].append(b)
        near[b].append(a)
    out = [-1] * rows
    for row in range(rows):
        if out[row] >= 0:
            continue
        waiting = [row]
        while waiting:
            at = waiting.pop()
            if out[at] < 0:
                out[at] = row
                waiting += near[at]
    return out


def neighbours(code: int, bits: int, radius: int) -> list[int]:
    """The code itself and every other within the radius: 43,744 + 1 of 64 bits at radius 3."""
    return [
        code ^ sum(1 << bit for bit in flips)
        for count in range(radius + 1)
        for flips in combinations(range(bits), count)
    ]


def hits_by_probing(stored: list[int], queries: list[int], bits: int, radius: int) -> Hits:
    """Ask for every neighbour of each query in one exact table (Manku et al., section 3, first way)."""
    table = defaultdict(list)
    for row, code in enumerate(stored):
        table[code].append(row)
    found = [
        (q, row, distance(query, probe))
        for q, query in enumerate(queries)
        for probe in neighbours(query, bits, radius)
        for row in table.get(probe, ())
    ]
    return sorted(found)


def hits_by_storing(stored: list[int], queries: list[int], bits: int, radius: int) -> Hits:
    """Store every neighbour of each code and ask once (Manku et al., section 3, second way)."""
    table = defaultdict(list)
    for row, code in enumerate(stored):
        for near in neighbours(code, bits, radius):
            table[near].append(row)
    return sorted(
        (q, row, distance(query, stored[row]))
        for q, query in enumerate(queries)
        for row in table.get(query, ())
    )


def draw(seed: int, rows: int, bits: int, kind: str) -> np.ndarray:
    """Test codes as uint64[rows, words]: uniform; clustered (few centres, few flipped bits); repeated (many
    equal); crowded (all within a few bits of one code); skewed (bits that are nearly always 0)."""
    rng = np.random.default_rng(seed)
    words = (bits + 63) // 64

    def uniform(count: int) -> np.ndarray:
        codes = rng.integers(0, 1 << 64, (count, words), dtype=np.uint64)
        if bits % 64:
            codes[:, -1] &= np.uint64((1 << (bits % 64)) - 1)
        return codes

    def flipped(codes: np.ndarray, most: int) -> np.ndarray:
        for _ in range(most):
            bit = rng.integers(0, bits, len(codes))
            flip = rng.random(len(codes)) < 0.7
            where = np.flatnonzero(flip)
            codes[where, bit[where] // 64] ^= np.uint64(1) << (bit[where] % 64).astype(np.uint64)
        return codes

    if kind == "uniform":
        codes = uniform(rows)
        codes[rows // 2 :: 7] = flipped(codes[: len(codes[rows // 2 :: 7])].copy(), 4)
        return codes
    if kind == "clustered":
        centres = max(rows // 40, 1)
        return flipped(uniform(centres)[rng.integers(0, centres, rows)], 6)
    if kind == "repeated":
        distinct = max(rows // 10, 1)
        codes = flipped(np.repeat(uniform(max(distinct // 4, 1)), 4, axis=0), 4)
        return codes[(rng.random(rows) ** 3 * len(codes)).astype(np.int64)]
    if kind == "crowded":
        return flipped(np.repeat(uniform(1), rows, axis=0), 8)
    if kind == "skewed":
        codes = uniform(rows)
        for _ in range(3):
            codes &= uniform(rows)
        return codes
    raise AssertionError(kind)


KINDS = ("uniform", "clustered", "repeated", "crowded", "skewed")
