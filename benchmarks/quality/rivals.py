"""Pairs that another package finds, as anyone would use it: python benchmarks/quality/rivals.py ENGINE TEXTS OUT

It runs in the environment of the rivals and imports nothing of ours. TEXTS is a JSON list; OUT gets left, right and
score of every pair that may be similar, as numpy columns. The caller chooses the best threshold.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

VALUES, BANDS = 128, 32  # bands of 4 rows: half of the pairs of Jaccard .42 share one
LEAST, FARTHEST = 0.2, 16
WORDS = re.compile(r"\w+")
Pairs = tuple[Any, Any, Any]


def shingles(text: str, width: int = 5) -> list[str]:
    words = WORDS.findall(text.lower())
    return [" ".join(words[i : i + width]) for i in range(max(len(words) - width + 1, 1))]


def datasketch(texts: list[str]) -> Pairs:
    """MinHash of 128 values and MinHashLSH; the score is the estimate of both sketches."""
    from datasketch import MinHash, MinHashLSH

    made = MinHash.bulk(([s.encode() for s in shingles(text)] for text in texts), num_perm=VALUES)
    index = MinHashLSH(params=(BANDS, VALUES // BANDS), num_perm=VALUES)
    found: list[tuple[int, int, float]] = []
    for row, sketch in enumerate(made):
        found += [(int(other), row, float(made[other].jaccard(sketch))) for other in index.query(sketch)]
        index.insert(row, sketch)
    return _columns(found)


def rensa(texts: list[str]) -> Pairs:
    """R-MinHash of 128 values; candidates share one of 32 bands, the score is the share of equal values."""
    from rensa import RMinHash

    made = RMinHash.digest_matrix_from_token_sets([shingles(text) for text in texts], VALUES, 42)
    values = np.array(made.to_rows(), np.uint32)
    keys: set[tuple[int, int]] = set()
    for band in np.split(values, BANDS, axis=1):
        buckets: dict[bytes, list[int]] = {}
        for row, key in enumerate(band):
            mine = buckets.setdefault(key.tobytes(), [])
            keys.update((other, row) for other in mine)
            mine.append(row)
    return _columns([(a, b, float((values[a] == values[b]).mean())) for a, b in sorted(keys)])


def simhash(texts: list[str]) -> Pairs:
    """Codes of 64 bits of word shingles (simhash-pybind); the score is the share of equal bits."""
    from simhash import compute, unsigned_hash

    made = (compute([unsigned_hash(s.encode()) for s in shingles(text, 2)]) for text in texts)
    codes = np.fromiter(made, np.uint64, len(texts))
    found: list[tuple[int, int, float]] = []
    for row in range(len(codes) - 1):
        apart = np.bitwise_count(codes[row + 1 :] ^ codes[row])
        near = np.flatnonzero(apart <= FARTHEST)
        found += [(row, row + 1 + int(at), 1 - int(apart[at]) / 64) for at in near]
    return _columns(found)


def _columns(found: list[tuple[int, int, float]]) -> Pairs:
    rows = np.array([(a, b) for a, b, _ in found], np.int64).reshape(-1, 2)
    score = np.array([s for _, _, s in found], np.float64)
    kept = score >= LEAST
    return rows[kept, 0], rows[kept, 1], score[kept]


ENGINES: dict[str, Callable[[list[str]], Pairs]] = {
    "datasketch": datasketch,
    "rensa": rensa,
    "simhash": simhash,
}


def main() -> None:
    engine, source, target = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        left, right, score = ENGINES[engine](json.load(file))
    np.savez(target, left=left, right=right, score=score)


if __name__ == "__main__":
    main()
