"""rensa: shingles made in Python, its sketches and its LSH."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from benchmarks.pipeline.rows import Rows, batches, components, main
from rensa import RMinHash, RMinHashLSH


def shingles(text: str) -> list[str]:
    words = text.split()
    return [" ".join(words[i : i + 5]) for i in range(max(len(words) - 4, 1))]


def find(corpus: Path, threads: int) -> Rows:
    index = RMinHashLSH(threshold=0.8, num_perm=128, num_bands=16)
    rows = 0
    left: list[int] = []
    right: list[int] = []
    for batch in batches(corpus):
        sketches = RMinHash.from_token_sets(list(map(shingles, batch)), 128, 42)
        index.insert_pairs(list(enumerate(sketches, rows)))
        for row, near in enumerate(index.query_all(sketches), rows):
            left += [row] * len(near)
            right += near
        rows += len(batch)
    return components(rows, np.array(left, np.int64), np.array(right, np.int64))


if __name__ == "__main__":
    main(find)
