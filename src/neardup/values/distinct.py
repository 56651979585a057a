"""Distinct numbers of a column, the places of each, and hashes among others. numpy's own function for distinct numbers
first loads masked arrays, which slows the start of commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["distinct", "hashes_among", "places_of_parts"]

_Number = TypeVar("_Number", bound=np.integer)


def distinct(numbers: NDArray[_Number]) -> NDArray[_Number]:
    """The numbers of a flat column, ascending, each once."""
    ordered = np.sort(numbers)
    fresh = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    found: NDArray[_Number] = ordered[fresh]
    return found


def hashes_among(hashes: NDArray[np.uint64], known: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which of the hashes are known ones."""
    # By sorting: the other way of numpy 2.0 fails for close numbers above 2**63.
    return np.isin(hashes, known, kind="sort")


def places_of_parts(part: NDArray[np.int64]) -> Sequence[NDArray[np.int64]]:
    """The places of each number that a column of numbers from 0 on has, ascending, number by number."""
    # Small numbers are sorted by their digits, in a tenth of the time.
    short = part.astype(np.uint16) if len(part) and part.max() < 1 << 16 else part
    order = np.argsort(short, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(part[order])) + 1) if len(part) else []
