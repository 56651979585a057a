"""The exact Jaccard similarity of every pair of a set at once, from lists of the documents that have a feature."""

from __future__ import annotations

import numpy as np
from benchmarks.quality.sets import LabelledSet
from numpy.typing import NDArray

from neardup.features import Features

__all__ = ["all_jaccard"]

RARE = 48
"""Documents up to which a feature's pairs are listed; commoner features are multiplied as columns of a matrix."""
COLUMNS = 2048


def all_jaccard(features: Features, given: LabelledSet) -> NDArray[np.float64]:
    """Jaccard similarity of all pairs, in the order of the set's pairs; exact, for counts are whole numbers."""
    count = len(features)
    shared = _shared(features, count)[given.left, given.right].astype(np.float64)
    whole = features.sizes[given.left] + features.sizes[given.right] - shared
    return np.divide(shared, whole, out=np.zeros(len(shared)), where=whole > 0)


def _shared(features: Features, count: int) -> NDArray[np.float32]:
    """How many features documents i < j have in common."""
    row = np.repeat(np.arange(count), features.sizes)
    order = np.lexsort((row, features.hashes))
    hashes, row = features.hashes[order], row[order]
    starts = np.flatnonzero(np.concatenate([[True], hashes[1:] != hashes[:-1]])) if len(hashes) else hashes
    lengths = np.diff(np.concatenate([starts, [len(hashes)]])).astype(np.int64)
    table = np.zeros(count * count, np.int64)
    for length in range(2, RARE + 1):
        first = starts[lengths == length]
        for i in range(length):
            for j in range(i + 1, length) if len(first) else ():
                at = row[first + i] * count + row[first + j]
                if len(at) * 20 > len(table):
                    table += np.bincount(at, minlength=len(table))
                else:
                    np.add.at(table, at, 1)
    result = table.reshape(count, count).astype(np.float32)
    common = np.flatnonzero(lengths > RARE)
    for begin in range(0, len(common), COLUMNS):
        part = common[begin : begin + COLUMNS]
        column = np.repeat(np.arange(len(part)), lengths[part])
        inside = np.arange(len(column)) - np.repeat(np.cumsum(lengths[part]) - lengths[part], lengths[part])
        matrix = np.zeros((count, len(part)), np.float32)
        matrix[row[np.repeat(starts[part], lengths[part]) + inside], column] = 1
        result += matrix @ matrix.T
    return result
