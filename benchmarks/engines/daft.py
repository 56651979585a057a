"""daft: the minhash expression of its native runner, over an Arrow column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import daft
import numpy as np
import pyarrow as pa
from daft.functions import minhash
from numpy.typing import NDArray

PACKAGES = ("daft", "pyarrow")
INCLUDES = {"minhash": "split at spaces, 5-shingles, 128 permutations; no normalising; Arrow input ready"}


def prepare(
    work: str, texts: list[str], threads: int, hash_function: str = "murmurhash3"
) -> Callable[[], pa.Table]:
    daft.set_runner_native(num_threads=threads)
    frame = daft.from_arrow(pa.table({"text": pa.array(texts, pa.large_string())}))
    sketch = minhash(daft.col("text"), num_hashes=128, ngram_size=5, seed=1, hash_function=hash_function)
    return lambda: frame.select(sketch).to_arrow()


def matrix(table: pa.Table) -> NDArray[np.uint32]:
    column = table.column(0).combine_chunks()
    return np.asarray(column.flatten()).reshape(len(column), -1)


def shape(table: pa.Table) -> tuple[int, int]:
    rows, values = matrix(table).shape
    return rows, values


def similarities(texts: list[str], pairs: NDArray[np.int64], **options: Any) -> NDArray[np.float64]:
    values = matrix(prepare("minhash", texts, 1, **options)())
    return np.asarray((values[pairs[:, 0]] == values[pairs[:, 1]]).mean(axis=1))
