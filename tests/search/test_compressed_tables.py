"""Compressed permuted tables: the same answers as direct ones, in fewer bytes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from neardup.fingerprints import Codes
from neardup.search.hamming.compressed_tables import _Permutation


def made(random, bits, many):
    """Codes around a few centres, some equal, some empty."""
    words = (bits + 63) // 64
    high = (1 << min(bits, 64)) - 1
    centres = random.integers(0, high, (max(1, many // 8), words), np.uint64, endpoint=True)
    codes = centres[random.integers(0, len(centres), many)]
    for row in range(many):
        for bit in random.integers(0, bits, random.integers(0, 6)).tolist():
            codes[row, bit // 64] ^= np.uint64(1 << bit % 64)
    return Codes("made", random.random(many) < 0.05, bits, codes)


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from([32, 64, 128]), st.integers(0, 3), st.integers(1, 150))
def test_the_same_hits_as_direct_tables(seed, bits, radius, many):
    random = np.random.default_rng(seed)
    stored, queries = made(random, bits, many), made(random, bits, 20)
    for method in (nd.BPHS(radius, bits=bits), nd.BPHS(radius, blocks=radius + 3, bits=bits)):
        direct = method.index(stored)
        compressed = nd.BPHS(radius, blocks=method.blocks, bits=bits, lookup="compressed").index(
            stored, threads=2
        )
        for asked in (stored, queries):
            want, found = direct.search(asked), compressed.search(asked, threads=2)
            for name in ("query", "row", "distance"):
                assert np.array_equal(getattr(want, name), getattr(found, name)), name
            groups, sizes = direct.search_groups(asked)
            other, others = compressed.search_groups(asked)
            assert np.array_equal(groups.row, other.row) and np.array_equal(sizes, others)
            first = compressed.search(asked, mode="first")
            assert first.query.tolist() == sorted(set(want.query.tolist()))
            assert set(zip(first.query, first.row, strict=True)) <= set(
                zip(want.query, want.row, strict=True)
            )


def test_covering_designs_too():
    codes = made(np.random.default_rng(1), 64, 500)
    want = nd.search.Covering(3).candidates(codes)
    found = nd.search.Covering(3, lookup="compressed").candidates(codes)
    assert (
        len(want.left) and np.array_equal(want.left, found.left) and np.array_equal(want.right, found.right)
    )


@given(st.integers(1, 2**64 - 1), st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=9))
def test_a_permutation_is_undone(mask, numbers):
    codes = np.array(numbers, np.uint64)[:, None]
    place = _Permutation(mask, 64)
    permuted = place.permute(codes)
    assert np.array_equal(place.restore(permuted), codes)
    for code, made_code in zip(numbers, permuted[:, 0].tolist(), strict=True):
        assert bin(code).count("1") == bin(made_code).count("1")
        key = [code >> j & 1 for j in range(64) if mask >> j & 1]
        assert [made_code >> (64 - len(key) + i) & 1 for i in range(len(key))] == key


def test_tables_are_smaller_than_the_codes_they_hold():
    words = np.random.default_rng(2).integers(0, 2**64, (200_000, 1), np.uint64)
    codes = Codes("many", np.zeros(len(words), bool), 64, words)
    compressed = nd.BPHS(3, lookup="compressed").index(codes)
    tables = len(nd.BPHS(3).design.tables)
    assert compressed.bytes < 0.9 * 8 * tables * len(codes)
    assert compressed.lookup_probes(codes.take(np.arange(100))) < 30


def test_an_unknown_lookup_is_refused():
    with pytest.raises(nd.errors.ConfigError, match="compressed"):
        nd.BPHS(3, lookup="squeezed")
