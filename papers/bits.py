"""Counts set bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["bit_count"]


def bit_count(words: NDArray[Any]) -> NDArray[np.int64]:
    """The set bits of each word. NumPy before 2.0 has no function for this."""
    octets = np.ascontiguousarray(words)[..., None].view(np.uint8)
    return np.unpackbits(octets, axis=-1).sum(axis=-1, dtype=np.int64)
