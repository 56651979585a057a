"""Wilson's interval of a share."""

from __future__ import annotations

from math import sqrt

__all__ = ["wilson"]

_Z = 1.959964  # 95% of a normal distribution are within this many standard deviations


def wilson(value: float, cases: float) -> tuple[float, float]:
    """Wilson's 95% interval of a share in `cases` cases, which may be an effective number."""
    if not cases > 0:
        return 0.0, 1.0
    z2 = _Z * _Z
    middle = (value + z2 / (2 * cases)) / (1 + z2 / cases)
    reach = _Z * sqrt(value * (1 - value) / cases + z2 / (4 * cases * cases)) / (1 + z2 / cases)
    # At a share of 0 or 1 the end of the interval equals the share, except for rounding.
    low = 0.0 if value == 0 else max(0.0, middle - reach)
    high = 1.0 if value == 1 else min(1.0, middle + reach)
    return float(low), float(high)
