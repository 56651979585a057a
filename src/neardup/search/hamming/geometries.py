"""Small covering designs: sets of blocks such that any few blocks are missed by at least one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

__all__ = ["Inner", "inner_designs"]


@dataclass(frozen=True)
class Inner:
    """A covering design inside one group of bits: `keys` are sets of the blocks 0 to blocks - 1 such that any
    `radius` blocks are missed by one of them."""

    blocks: int
    radius: int
    keys: tuple[tuple[int, ...], ...]

    @property
    def share(self) -> float:
        """Which share of the group's bits is in each key."""
        return len(self.keys[0]) / self.blocks


def _choices(blocks: int, radius: int) -> Inner:
    return Inner(blocks, radius, tuple(combinations(range(blocks), blocks - radius)))


def _cyclic(blocks: int, radius: int, key: Sequence[int]) -> Inner:
    return Inner(blocks, radius, tuple(tuple(sorted((b + i) % blocks for b in key)) for i in range(blocks)))


def _without(blocks: int, dropped: Sequence[int]) -> tuple[int, ...]:
    return tuple(b for b in range(blocks) if b not in dropped)


@lru_cache(maxsize=1)
def inner_designs() -> dict[int, list[Inner]]:
    """Small designs by radius. Beyond plain choices of blocks they come from finite geometries: what a table
    drops are the lines of PG(2,2), PG(2,3) or AG(2,3) (any two points lie on one), the planes of AG(3,2) (any
    three points lie on one), or the complements of a biplane's blocks on 11 points."""
    fano = _cyclic(7, 2, _without(7, (0, 1, 3)))
    plane3 = _cyclic(13, 2, _without(13, (0, 1, 3, 9)))
    biplane = _cyclic(11, 3, (1, 3, 4, 5, 9))
    lines = {
        tuple(sorted({3 * ((x + i * dx) % 3) + (y + i * dy) % 3 for i in range(3)}))
        for x in range(3)
        for y in range(3)
        for dx, dy in ((0, 1), (1, 0), (1, 1), (1, 2))
    }
    affine2 = Inner(9, 2, tuple(_without(9, line) for line in sorted(lines)))
    affine3 = Inner(
        8,
        3,
        tuple(
            tuple(v for v in range(8) if (v & normal).bit_count() % 2 == side)
            for normal in range(1, 8)
            for side in range(2)
        ),
    )
    found: dict[int, list[Inner]] = {0: [_choices(1, 0)]}
    for radius in range(1, 5):
        found[radius] = [_choices(blocks, radius) for blocks in range(radius + 1, radius + 7)]
    found[2] += [fano, plane3, affine2]
    found[3] += [biplane, affine3]
    return found
