"""neardup itself: one native call from strings to fingerprints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import neardup as nd

PACKAGES = ("neardup", "numpy")
INCLUDES = {
    "minhash": "NFKC, case folding, Unicode words, 5-shingles, one-permutation sketch",
    "simhash": "NFKC, case folding, Unicode words, TF x frozen IDF, code, margins kept",
}


def prepare(work: str, texts: list[str], threads: int, arrow: bool = False) -> Callable[[], Any]:
    column: Any = texts
    if arrow:
        import pyarrow as pa

        column = pa.array(texts, pa.large_string())
    if work == "minhash":
        return lambda: nd.fingerprint(
            column, features=nd.Shingles(5), fingerprint=nd.MinHash(128), threads=threads
        )
    # The IDF is fitted once and frozen: a tenth of the corpus is plenty.
    idf = nd.Idf.fit(texts[::10], nd.Words())
    words = nd.Words(weights=idf)
    return lambda: nd.fingerprint(column, features=words, fingerprint=nd.Simhash(64), threads=threads)


def shape(prints: Any) -> tuple[int, int]:
    values = prints.values if hasattr(prints, "values") else prints.codes
    return int(values.shape[0]), int(values.shape[1])


def similarities(texts: list[str], pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    values = prepare("minhash", texts, 1)().values
    return np.asarray((values[pairs[:, 0]] == values[pairs[:, 1]]).mean(axis=1))


def angles(texts: list[str], pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Simhash of plain counts, as that is what the exact angle is computed from."""
    counts = nd.Words(weights="count")
    codes = nd.fingerprint(texts, features=counts, fingerprint=nd.Simhash(64), threads=1).codes[:, 0]
    return np.bitwise_count(codes[pairs[:, 0]] ^ codes[pairs[:, 1]]) / 64
