"""PSM and BPHS as the papers write them: what a query reads, and how long it takes.

    python -m papers.memory_references --codes 1e6 60e6
    python -m papers.memory_references --codes 60e6 --beyond 2MB 32MB     counted only, in seconds

The paper reports PSM 3.4 to 8.6 times faster than BPHS at 60M codes. This counts what a query reads: steps of the
searches for keys, headers, and lines of memory of the buckets that are read through. Times are CPU seconds of one core;
the machine must be quiet for them to mean anything, the counts do not depend on it. `--beyond` counts the lines that
are not in a cache of some size, which keeps those used last: nothing is built and nothing is timed.
"""

from __future__ import annotations

import argparse
import json
from collections import OrderedDict
from math import log2
from time import process_time

import numpy as np

from neardup import _core
from neardup.search.codes import to_codes
from neardup.search.hamming.tables import BPHS
from neardup.values.sizes import parse_size
from papers.timing import flips_for

LINE = 64
QUERIES = 1 << 14
WARM, COUNTED = 4000, 1000  # queries before and while references to memory are counted


def measure(count: int, tables: int) -> dict[str, float]:
    """One size: references and nanoseconds a query of both methods, with sorted tables."""
    generator = np.random.default_rng(5)
    words = generator.integers(0, 2**64, (count, 1), dtype=np.uint64)
    asked = generator.integers(0, 2**64, (QUERIES, 1), dtype=np.uint64)
    method = BPHS(3, tables=tables, lookup="binary")
    index = method.index(to_codes(words[:, 0]))
    queries = to_codes(asked[:, 0])
    steps = index.lookup_probes(queries) * tables
    run = count / 2.0 ** min(method.design.key_bits)
    bphs_lines = tables * max(1.0, run * 8 / LINE)
    start = process_time()
    index.search(queries)
    bphs = (process_time() - start) / QUERIES
    del index
    header = int(log2(count))
    flips = flips_for(header)
    costs = np.abs(generator.laplace(size=(QUERIES, 64))).astype(np.float32)
    table = _core.SortedPsm(words, 64, 3, header)
    start = process_time()
    table.search_heap(asked, costs, flips)
    psm = (process_time() - start) / QUERIES
    return {
        "codes": count,
        "tables": tables,
        "bphs_search_steps": steps,
        "bphs_bucket_lines": bphs_lines,
        "psm_headers": flips + 1,
        "psm_bucket_lines": (flips + 1) * max(1.0, count / 2**header * 8 / LINE),
        "bphs_ns": bphs * 1e9,
        "psm_ns": psm * 1e9,
        "gain_in_references": (steps + bphs_lines) / (2 * (flips + 1)),
        "gain_in_time": bphs / psm,
    }


class Cache:
    """The lines of memory used last."""

    def __init__(self, size: int) -> None:
        self.lines, self.held = size // LINE, OrderedDict[tuple[int, int], None]()

    def read(self, table: int, line: int) -> bool:
        """Whether a line comes from memory."""
        key = table, line
        if key in self.held:
            self.held.move_to_end(key)
            return False
        self.held[key] = None
        if len(self.held) > self.lines:
            self.held.popitem(last=False)
        return True


def beyond_bphs(count: int, tables: int, size: int) -> tuple[float, float]:
    """Lines a query of uniform codes reads from memory: at random places, and one after the other in runs."""
    run = max(1, round(count / 2.0 ** min(BPHS(3, tables=tables).design.key_bits)))
    cache, places, each = Cache(size), np.random.default_rng(6), LINE // 8
    random = following = 0
    for query in range(WARM + COUNTED):
        if query == WARM:
            random = following = 0
        for table, target in enumerate(places.integers(0, count - run, tables).tolist()):
            low, high = 0, count
            while low < high:
                middle = (low + high) // 2
                random += cache.read(table, middle // each)
                low, high = (middle + 1, high) if middle < target else (low, middle)
            for line in range(target // each + 1, (target + run - 1) // each + 1):
                following += cache.read(table, line)
    return random / COUNTED, following / COUNTED


def beyond_psm(count: int, size: int) -> float:
    """Lines that PSM reads from memory: a header and a bucket for each set of flips, all at random places."""
    header = int(log2(count))
    asked = flips_for(header) + 1
    cache, places = Cache(size), np.random.default_rng(7)
    random = 0
    for query in range(WARM + COUNTED):
        if query == WARM:
            random = 0
        for place in places.integers(0, 2**header, asked).tolist():
            random += cache.read(0, place * 8 // LINE)
            random += cache.read(1, int(place * count / 2**header) * 8 // LINE)
    return random / COUNTED


def beyond(count: int, size: int) -> dict[str, float]:
    """Lines a query reads from memory, with a cache of so many bytes."""
    (four, run_four), (ten, run_ten) = (beyond_bphs(count, tables, size) for tables in (4, 10))
    return {
        "codes": count,
        "cache": size,
        "bphs_4_random": four,
        "bphs_4_following": run_four,
        "bphs_10_random": ten,
        "bphs_10_following": run_ten,
        "psm_random": beyond_psm(count, size),
        "psm_places": 2 * (flips_for(int(log2(count))) + 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--codes", type=float, nargs="+", default=[2.0**20])
    parser.add_argument("--beyond", nargs="+", default=[], metavar="CACHE")
    given = parser.parse_args()
    for count in given.codes:
        for size in given.beyond:
            found = beyond(int(count), parse_size(size))
            print(json.dumps({name: round(value, 1) for name, value in found.items()}), flush=True)
        for tables in () if given.beyond else (4, 10):
            found = measure(int(count), tables)
            print(json.dumps({name: round(value, 2) for name, value in found.items()}), flush=True)


if __name__ == "__main__":
    main()
