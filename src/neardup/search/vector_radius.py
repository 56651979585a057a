"""The radius of codes that finds vectors at an angle."""

from __future__ import annotations

from math import acos, comb, pi

from neardup.values.checks import check_whole, checked

__all__ = ["radius_for"]


@checked
def radius_for(similarity: float, bits: int, recall: float) -> int:
    """The least radius within which the codes of at least the share `recall` of the vectors with this cosine are.

    A bit of Gaussian projections differs with probability angle / pi, and bits are independent.

    >>> radius_for(0.9, 128, 0.99)
    28
    """
    bits = check_whole(bits, "bits", 1, 1024)
    differs = acos(max(-1.0, min(1.0, similarity))) / pi
    within, radius = 0.0, -1
    while within < recall and radius < bits - 1:
        radius += 1
        within += comb(bits, radius) * differs**radius * (1 - differs) ** (bits - radius)
    return radius
