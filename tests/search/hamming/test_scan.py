from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import join as naive
from support.budgets import budget

from neardup import _core
from neardup.errors import ConfigError, DataError, SchemeError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.codes import to_codes
from neardup.search.hamming.scan import Scan, count_distances, distances
from neardup.search.interface import Candidates, Hits


def as_list(hits: Hits) -> list[tuple[int, int, int]]:
    return list(zip(hits.query.tolist(), hits.row.tolist(), hits.distance.tolist(), strict=True))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("kind", naive.KINDS)
def test_scan_equals_the_naive_twin(kind, bits, threads, cpu):
    stored, queries = naive.draw(1, 300, bits, kind), naive.draw(1, 90, bits, kind)
    queries[::3] = stored[:30] ^ np.uint64(5)
    radius = 6
    searcher = Scan(radius, bits).index(to_codes(stored, bits))
    expected = naive.hits(naive.integers(stored), naive.integers(queries), radius)
    assert len(expected) >= 30
    found = searcher.search(to_codes(queries, bits), threads=threads)
    assert as_list(found) == expected
    assert (found.query.dtype, found.row.dtype, found.distance.dtype) == (np.int64, np.int64, np.uint8)
    first = searcher.search(to_codes(queries, bits), mode="first", threads=threads)
    kept = {}
    for q, row, d in expected:
        kept.setdefault(q, (q, row, d))
    assert as_list(first) == list(kept.values())


def test_scan_over_several_blocks_and_cuts():
    # More rows than one block holds, a few queries only: stored rows are cut among threads.
    stored = naive.draw(2, 20_000, 64, "clustered")
    queries = stored[[0, 9_999, 19_999]]
    expected = [
        (q, row, d)
        for q, code in enumerate(naive.integers(queries))
        for row, d in enumerate(naive.distance(code, other) for other in naive.integers(stored))
        if d <= 8
    ]
    for threads in (1, 2, 3):
        found = Scan(8).index(to_codes(stored)).search(to_codes(queries), threads=threads)
        assert as_list(found) == expected


@settings(max_examples=budget(60), deadline=None)
@given(
    st.sampled_from([32, 64, 128]).flatmap(
        lambda bits: st.tuples(
            st.just(bits),
            st.integers(0, bits),
            st.lists(st.integers(0, 2**bits - 1), max_size=80),
            st.lists(st.integers(0, 2**bits - 1), max_size=20),
        )
    )
)
def test_scan_property(case):
    bits, radius, stored, queries = case

    def words(values):
        mask = (1 << 64) - 1
        rows = [[value >> (64 * i) & mask for i in range((bits + 63) // 64)] for value in values]
        return np.array(rows, dtype=np.uint64).reshape(len(values), (bits + 63) // 64)

    left, right = to_codes(words(stored), bits), to_codes(words(queries), bits)
    assert as_list(Scan(radius, bits).index(left).search(right)) == naive.hits(stored, queries, radius)
    counts = count_distances(left, right)
    assert len(counts) == bits + 1
    expected = [0] * (bits + 1)
    for a in stored:
        for b in queries:
            expected[naive.distance(a, b)] += 1
    assert counts.tolist() == expected


@pytest.mark.parametrize("threads", [1, 2])
def test_counts_by_distance(cpu, threads):
    left, right = naive.draw(3, 700, 64, "uniform"), naive.draw(4, 5_000, 64, "uniform")
    counts = count_distances(to_codes(left), to_codes(right), threads=threads)
    bits = np.unpackbits((left[:50] ^ right[:, 0]).view(np.uint8).reshape(50, 5_000, 8), axis=2)
    apart = bits.sum(axis=2, dtype=np.int64)
    part = count_distances(to_codes(left[:50]), to_codes(right), threads=threads)
    assert part.tolist() == np.bincount(apart.ravel(), minlength=65).tolist()
    assert counts.sum() == 700 * 5_000


def test_empty_rows_neither_ask_nor_answer():
    words = np.array([[0], [7], [0], [1]], dtype=np.uint64)
    empty = np.array([True, False, False, False])
    codes = Codes("test", empty, 64, words)
    hits = Scan(1).index(codes).search(codes)
    assert as_list(hits) == [(1, 1, 0), (2, 2, 0), (2, 3, 1), (3, 2, 1), (3, 3, 0)]
    assert Scan(1).candidates(codes).left.tolist() == [2]
    assert distances(codes, np.array([1]), np.array([3])).tolist() == [2]
    with pytest.raises(DataError, match="empty"):
        distances(codes, np.array([0]), np.array([1]))


def test_both_naive_ways_of_section_3_agree_with_the_scan():
    assert len(naive.neighbours(0, 64, 3)) == 43_744 + 1
    rng = np.random.default_rng(5)
    stored = rng.integers(0, 1 << 16, (60, 1), dtype=np.uint64)
    queries = rng.integers(0, 1 << 16, (40, 1), dtype=np.uint64)
    stored[:20] |= np.uint64(1 << 31)
    for radius in (0, 1, 2, 3):
        expected = as_list(Scan(radius, 32).index(to_codes(stored, 32)).search(to_codes(queries, 32)))
        numbers = naive.integers(stored), naive.integers(queries)
        assert naive.hits_by_probing(*numbers, 32, radius) == expected
        assert naive.hits_by_storing(*numbers, 32, radius) == expected
    assert len(expected) > 10


def test_wrong_settings_and_data_are_refused():
    with pytest.raises(ConfigError, match="32, 64 or 128"):
        Scan(3, 48)
    with pytest.raises(ConfigError, match="radius"):
        Scan(65, 64)
    with pytest.raises(DataError, match="128"):
        Scan(3, 64).index(to_codes(np.zeros((2, 2), dtype=np.uint64), 128))
    with pytest.raises(DataError, match="beyond"):
        Scan(3, 32).index(to_codes(np.array([1 << 32], dtype=np.uint64), 32))
    with pytest.raises(SchemeError):
        Scan().index(to_codes(np.zeros(1, dtype=np.uint64))).search(
            to_codes(np.zeros(1, dtype=np.uint64), scheme="another")
        )
    words = np.zeros((3, 1), dtype=np.uint64)
    with pytest.raises(ValueError, match="out of range"):
        _core.distances_at(words, words, np.array([3]), np.array([0]))
    with pytest.raises(ValueError, match="threads"):
        _core.scan(words, words, 64, 3, False, 0)
    with pytest.raises(TypeError):
        _core.scan(words[::2], words.astype(np.int64), 64, 3)
    with pytest.raises(DataError, match="itself"):
        Candidates.of(np.array([1]), np.array([1]), np.zeros(1, dtype=np.uint8))
    with pytest.raises(DataError, match="length"):
        Hits(np.zeros(2, dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros(2, dtype=np.uint8))
