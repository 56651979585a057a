"""What the rivals' scripts share: reading the corpus, joining pairs to clusters, writing them.

Only what a rival does not bring itself; msgspec and scipy are the fastest there are for it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["batches", "components", "in_bands", "main"]

Rows = NDArray[np.int64]


def batches(path: Path, size: int = 2000) -> Iterator[list[str]]:
    """The texts of a corpus, so many at a time."""
    import msgspec

    class Line(msgspec.Struct):
        text: str

    decoder = msgspec.json.Decoder(Line)
    batch: list[str] = []
    with path.open("rb") as lines:
        for line in lines:
            batch.append(decoder.decode(line).text)
            if len(batch) == size:
                yield batch
                batch = []
    if batch:
        yield batch


def in_bands(sketches: NDArray[np.uint32], bands: int) -> tuple[Rows, Rows]:
    """Neighbours in the order of each band's values: a chain through every bucket, which is all components need."""
    width = sketches.shape[1] // bands
    left, right = [], []
    for band in range(bands):
        words = np.ascontiguousarray(sketches[:, band * width : (band + 1) * width]).view(np.uint64)
        keys = np.zeros(len(words), np.uint64)
        for word in words.T:  # 64 bits of the band: false meetings are rarer than any count here
            keys = (keys ^ word) * np.uint64(0x9E3779B97F4A7C15)
            keys ^= keys >> np.uint64(29)
        order = np.argsort(keys)
        same = keys[order[1:]] == keys[order[:-1]]
        left.append(order[:-1][same])
        right.append(order[1:][same])
    return np.concatenate(left), np.concatenate(right)


def components(rows: int, left: Rows, right: Rows) -> Rows:
    """Connected components: what every rival's clusters are."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    joined = coo_array((np.ones(len(left), np.int8), (left, right)), shape=(rows, rows))
    return np.asarray(connected_components(joined, directed=False)[1], np.int64)


def main(find: Callable[[Path, int], Rows]) -> None:
    """The script of an engine: CORPUS OUT THREADS."""
    corpus, out, threads = sys.argv[1:]
    np.save(out, find(Path(corpus), int(threads)))
