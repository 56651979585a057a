"""gaoya: signatures of its MinHash and simhash indexes, without the index around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gaoya.minhash import MinHashStringIndex
from gaoya.simhash import SimHashStringIndex
from numpy.typing import NDArray

PACKAGES = ("gaoya",)
INCLUDES = {
    "minhash": "split at white space, 5-shingles, 128 permutations; no normalising",
    "simhash": "split at white space, each word one vote, code; no normalising, no margins",
    "minhash lowercase": "lower case, split at white space, 5-shingles, 128 permutations",
    "simhash lowercase": "lower case, split at white space, each word one vote, code; no margins",
}


def prepare(work: str, texts: list[str], threads: int, lowercase: bool = False) -> Callable[[], Any]:
    if work == "simhash":
        codes = SimHashStringIndex(
            hash_size=64, num_blocks=4, hamming_distance=3, analyzer="word", lowercase=lowercase
        ).index
        return lambda: codes.par_bulk_doc2signatures(texts)
    index = MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=0.8,
        num_bands=1,
        band_size=128,
        analyzer="word",
        lowercase=lowercase,
        ngram_range=(5, 5),
    ).minhash_index
    return lambda: index.bulk_hash_docs(texts)


def shape(answer: list[Any]) -> tuple[int, int]:
    return len(answer), 1 if isinstance(answer[0], int) else len(answer[0])


def similarities(texts: list[str], pairs: NDArray[np.int64], **options: Any) -> NDArray[np.float64]:
    values = np.array(prepare("minhash", texts, 1, **options)(), np.uint32)
    return np.asarray((values[pairs[:, 0]] == values[pairs[:, 1]]).mean(axis=1))


def angles(texts: list[str], pairs: NDArray[np.int64], **options: Any) -> NDArray[np.float64]:
    codes = np.array(prepare("simhash", texts, 1, **options)(), np.uint64)
    return np.bitwise_count(codes[pairs[:, 0]] ^ codes[pairs[:, 1]]) / 64
