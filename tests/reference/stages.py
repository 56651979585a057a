"""Naive twins of the stages after fingerprints: banding, verification, cohesive clusters."""

from __future__ import annotations

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
    """Each row's keeper, by the rule as it is told."""
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
