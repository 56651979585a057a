"""What a query reads from memory, counted in two ways."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from papers.memory_references import LINE, Cache, beyond, beyond_bphs
from papers.timing import flips_for

from neardup.search.codes import to_codes
from neardup.search.hamming.tables import BPHS

CODES = 1 << 16


def test_a_cache_keeps_the_lines_used_last():
    cache = Cache(2 * LINE)
    assert [cache.read(0, line) for line in (1, 2, 1, 3, 1, 2)] == [True, True, False, True, False, True]
    assert cache.read(1, 1), "the same line of another table is another line"


@pytest.mark.parametrize("tables", [4, 10])
def test_a_search_without_a_cache_reads_the_places_that_our_tables_count(tables):
    """All but the last places of a binary search, which are in one line."""
    words = np.random.default_rng(1).integers(0, 2**64, CODES, dtype=np.uint64)
    places = (
        BPHS(3, tables=tables, lookup="binary").index(to_codes(words)).lookup_probes(to_codes(words[:1000]))
    )
    random, _ = beyond_bphs(CODES, tables, LINE)
    assert tables * (places - log2(LINE // 8) - 1) <= random <= tables * places


def test_a_cache_helps_a_search_for_keys_and_hardly_the_flips():
    small, large = (beyond(CODES, size) for size in (LINE, CODES * 4))
    flips = flips_for(int(log2(CODES)))
    assert small["psm_random"] == pytest.approx(2 * (flips + 1), rel=0.01)
    assert large["bphs_10_random"] / small["bphs_10_random"] < large["psm_random"] / small["psm_random"]
    everything = beyond(CODES, 1 << 30)
    assert everything["psm_random"] < small["psm_random"] / 2
