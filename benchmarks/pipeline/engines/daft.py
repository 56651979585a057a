"""daft: JSON and sketches by its native runner; the bands are grouped in numpy, which is faster than its group-by."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import daft
import numpy as np
from benchmarks.pipeline.rows import Rows, components, in_bands, main
from daft.functions import minhash


def find(
    corpus: Path, threads: int, hash_function: Literal["murmurhash3", "xxhash3_64"] = "murmurhash3"
) -> Rows:
    daft.set_runner_native(num_threads=threads)
    sketch = minhash(daft.col("text"), num_hashes=128, ngram_size=5, seed=1, hash_function=hash_function)
    table = daft.read_json(str(corpus)).select(daft.col("id"), sketch.alias("sketch")).to_arrow()
    column = table.column("sketch").combine_chunks()
    sketches = np.asarray(column.flatten()).reshape(len(column), -1)
    found = components(len(sketches), *in_bands(sketches, 16))
    # Its order is its own: back to the rows.
    labels = np.empty(len(found), np.int64)
    labels[np.array([int(name[1:]) for name in table.column("id").to_pylist()])] = found
    return labels


if __name__ == "__main__":
    main(find)
