"""Permuted tables compressed in memory beside plain ones: python -m benchmarks.search.compressed_tables [CODES ...]

Uniform codes of 64 bits, radius 3, the paper's 10 tables (BPHS of 5 blocks). Prints bytes a code of all tables, without
the map from codes to rows, and queries a processor second; every lookup must find the same rows. 60 million codes take
about 8 GB.
"""

from __future__ import annotations

import sys
from time import process_time
from typing import get_args

import numpy as np

import neardup as nd
from neardup.fingerprints import Codes
from neardup.search.hamming.tables import Lookup

QUERIES = 2000


def codes_of(words: np.ndarray) -> Codes:
    return Codes("uniform", np.zeros(len(words), bool), 64, words)


def main(sizes: list[int]) -> None:
    random = np.random.default_rng(1)
    for size in sizes:
        words = random.integers(0, 2**64, (size, 1), np.uint64)
        asked = words[random.integers(0, size, QUERIES)] ^ np.uint64(1 << 40 | 1 << 3)
        want = None
        for lookup in get_args(Lookup):
            searcher = nd.BPHS(3, lookup=lookup).index(codes_of(words))
            searcher.search(codes_of(asked[:10]))
            began = process_time()
            found = searcher.search(codes_of(asked))
            seconds = process_time() - began
            rows = (found.query.tolist(), found.row.tolist())
            if want not in (None, rows):
                raise SystemExit(f"{lookup} finds other rows")
            want = rows
            speed, width = QUERIES / seconds, searcher.bytes / size
            print(f"{size:>12,} {lookup:13} {width:7.1f} bytes a code {speed:12,.0f} queries/s", flush=True)


if __name__ == "__main__":
    main([int(float(size)) for size in sys.argv[1:]] or [1_000_000])
