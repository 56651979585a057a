"""Naive twins of the stages after fingerprints: banding, verification, cohesive clusters."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

MASK = (1 << 64) - 1


def mix(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def band_key(values):
    key = 0x9E3779B97F4A7C15
    for i in range(0, len(values) - 1, 2):
        key = mix(key ^ (values[i] | values[i + 1] << 32))
    return mix(key ^ values[-1]) if len(values) % 2 else key


def banding(sketches, empty, bands, rows):
    """All pairs of rows that agree on a band."""
    pairs = set()
    for band in range(bands):
        buckets = {}
        for row, sketch in enumerate(sketches):
            if not empty[row]:
                buckets.setdefault(tuple(sketch[band * rows : (band + 1) * rows]), []).append(row)
        for bucket in buckets.values():
            pairs.update(combinations(bucket, 2))
    return pairs


def jaccard(a, b):
    return len(a & b) / len(a | b) if a | b else 0.0


def keepers(pairs, rows, rank):
    """Each row's keeper, by the rule as it is written."""
    neighbours = {row: set() for row in range(rows)}
    for left, right in pairs:
        neighbours[left].add(right)
        neighbours[right].add(left)
    keeper = {}
    for row in sorted(range(rows), key=lambda row: (rank[row], row)):
        if row not in keeper:
            keeper[row] = row
            for other in neighbours[row]:
                keeper.setdefault(other, row)
    return [keeper[row] for row in range(rows)]


def components(pairs, rows):
    """Each row's label: the smallest row of its component."""
    label = list(range(rows))
    for left, right in pairs:
        low, high = sorted((label[left], label[right]))
        label = [low if one == high else one for one in label]
    return label


def edit_similarity(left, right):
    """2 L / (n + m), L the length of the longest common subsequence, by the table of its definition."""
    row = [0] * (len(right) + 1)
    for one in left:
        before, row = row, [0]
        for place, other in enumerate(right):
            row.append(before[place] + 1 if one == other else max(before[place + 1], row[place]))
    return 2 * row[-1] / (len(left) + len(right)) if left and right else 0.0


def identity(left, right, differences="relative"):
    """Hoad and Zobel's identity of two lists of words, as its definition says."""
    one, other = Counter(left), Counter(right)
    if not one or not other:
        return 0.0

    def relative(x, y):
        return abs(x - y) / max(x, y)

    if differences == "relative":
        total, lengths = sum(1 / (1 + relative(one[w], other[w])) for w in one if w in other), relative
    else:
        total = sum(1 / (1 + abs(one[w] - other[w])) for w in one if w in other)

        def lengths(x, y):
            return math.log(1 + abs(x - y))

    return total / max(len(one), len(other)) / (1 + lengths(len(left), len(right)))
