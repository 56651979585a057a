"""Chance hits: how many codes are within a radius although nothing makes them similar.

Of n uniform codes of b bits, n V(b, r) / 2**b are within radius r of any query, where V is the number of codes in a
ball. A search that finds many more of these than near-duplicates cannot be used, however fast it is.
"""

from __future__ import annotations

from math import comb

from neardup.errors import ConfigError
from neardup.values.checks import check_whole, checked

__all__ = ["SAFE", "ball_size", "chance_hits", "safe_radius"]

SAFE = 1.0
"""The most chance hits a query that still count as safe."""


def ball_size(bits: int, radius: int) -> int:
    """V(b, r): how many codes of `bits` bits are within `radius` of one, itself included.

    >>> ball_size(64, 3)
    43745
    """
    bits = check_whole(bits, "bits", 1, 1 << 16)
    radius = check_whole(radius, "radius", 0, bits)
    return sum(comb(bits, size) for size in range(radius + 1))


@checked
def chance_hits(codes: float, bits: int, radius: int) -> float:
    """How many of `codes` uniform codes are within `radius` of a query.

    bits    the width of the codes, 1 to 65,536
    raises  ConfigError for a number that is out of bounds

    >>> round(chance_hits(1e9, 32, 3))
    1278
    """
    if codes < 0:
        raise ConfigError(f"codes must be a number from 0 up, not {codes!r}")
    return codes * (ball_size(bits, radius) / (1 << bits))


@checked
def safe_radius(codes: float, bits: int, most: float = SAFE) -> int:
    """The widest radius with at most `most` chance hits a query; -1 if even equal codes are more.

    bits    the width of the codes, 1 to 65,536
    raises  ConfigError for a number that is out of bounds

    >>> safe_radius(1e9, 64)
    8
    """
    radius = -1
    while radius < bits and chance_hits(codes, bits, radius + 1) <= most:
        radius += 1
    return radius
