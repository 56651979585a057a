"""Documents that can have no near-duplicate: before any search, they are those of which too few features are shared."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from neardup.features.features import Features

__all__ = ["never_duplicates"]


def never_duplicates(
    batches: Callable[[], Iterable[Features]], rows: int, least: float, *, memory: int = 1 << 28
) -> NDArray[np.bool_]:
    """Which of `rows` documents cannot have a Jaccard similarity of `least` with any other among them.

    |A and B| is at most the features of A that some other document has, and |A or B| at least those of A; so where
    fewer than `least` of A's features occur elsewhere, no document can be similar enough. Two passes over the
    batches: features seen once and twice are marked in tables of `memory` bytes in all. If two features are marked at
    one place, a document may be kept without need, but is never set aside wrongly.
    """
    bits = max(10, min(32, (memory // 2).bit_length() - 1))
    once, twice = np.zeros(1 << bits, np.bool_), np.zeros(1 << bits, np.bool_)
    shift = np.uint64(64 - bits)
    for features in batches():
        place = np.sort(features.hashes >> shift)
        again = np.concatenate([place[1:][place[1:] == place[:-1]], place[once[place]]])
        twice[again] = True
        once[place] = True
    never, at = np.zeros(rows, np.bool_), 0
    for features in batches():
        shared = np.concatenate([[0], np.cumsum(twice[features.hashes >> shift])])
        common = shared[features.offsets[1:]] - shared[features.offsets[:-1]]
        never[at : at + len(features)] = common < least * features.sizes - 1e-9
        at += len(features)
    assert at == rows
    return never
