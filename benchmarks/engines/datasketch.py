"""datasketch: MinHash.bulk over shingles made in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xxhash
from datasketch import MinHash
from numpy.typing import NDArray

PACKAGES = ("datasketch", "numpy", "xxhash")
INCLUDES = {"minhash": "str.split and joined 5-shingles in Python, 128 permutations in numpy"}


def shingles(text: str) -> list[bytes]:
    words = text.encode("utf-8", "surrogatepass").split()
    return [b" ".join(words[i : i + 5]) for i in range(max(len(words) - 4, 1))]


def prepare(
    work: str, texts: list[str], threads: int, fast_hash: bool = False
) -> Callable[[], list[MinHash]]:
    options: dict[str, Any] = {"hashfunc": short_hash} if fast_hash else {}
    return lambda: MinHash.bulk(map(shingles, texts), num_perm=128, **options)


def short_hash(shingle: bytes) -> int:
    return xxhash.xxh32_intdigest(shingle)


def shape(sketches: list[MinHash]) -> tuple[int, int]:
    return len(sketches), len(sketches[0].hashvalues)


def similarities(texts: list[str], pairs: NDArray[np.int64], **options: Any) -> NDArray[np.float64]:
    sketches = prepare("minhash", texts, 1, **options)()
    return np.array([sketches[left].jaccard(sketches[right]) for left, right in pairs])
