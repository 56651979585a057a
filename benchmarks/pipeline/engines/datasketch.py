"""datasketch: shingles made in Python, its MinHash in bulk and its LSH."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xxhash
from benchmarks.pipeline.rows import Rows, batches, components, main
from datasketch import MinHash, MinHashLSH


def shingles(text: str) -> list[bytes]:
    words = text.encode().split()
    return [b" ".join(words[i : i + 5]) for i in range(max(len(words) - 4, 1))]


def find(corpus: Path, threads: int) -> Rows:
    index = MinHashLSH(threshold=0.8, num_perm=128, params=(16, 8))
    rows = 0
    left: list[int] = []
    right: list[int] = []
    for batch in batches(corpus):
        made = MinHash.bulk(map(shingles, batch), num_perm=128, hashfunc=xxhash.xxh32_intdigest)
        for row, sketch in enumerate(made, rows):
            near = index.query(sketch)
            index.insert(row, sketch, check_duplication=False)
            left += [row] * len(near)
            right += near
        rows += len(batch)
    return components(rows, np.array(left, np.int64), np.array(right, np.int64))


if __name__ == "__main__":
    main(find)
