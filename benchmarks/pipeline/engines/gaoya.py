"""gaoya: its MinHash index, filled and asked in batches by native threads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from benchmarks.pipeline.rows import Rows, batches, components, main
from gaoya.minhash import MinHashStringIndex


def find(corpus: Path, threads: int) -> Rows:
    index = MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=0.8,
        num_bands=16,
        band_size=8,
        analyzer="word",
        lowercase=True,
        ngram_range=(5, 5),
        id_container="vec",
    )
    rows = 0
    left: list[int] = []
    right: list[int] = []
    # A batch is asked for once it is added, so that each pair is found by its later document and no text is kept.
    for batch in batches(corpus):
        ids = list(range(rows, rows + len(batch)))
        index.par_bulk_insert_docs(ids, batch)
        for row, near in zip(ids, index.par_bulk_query(batch), strict=True):
            left += [row] * len(near)
            right += near
        rows += len(batch)
    return components(rows, np.array(left, np.int64), np.array(right, np.int64))


if __name__ == "__main__":
    main(find)
