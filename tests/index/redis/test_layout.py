"""The tables on the server: every code within the radius is in a bucket that is asked for; sizes are as promised."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.index.recipe import Recipe
from neardup.index.redis.layout import KeyLayout, _extract
from neardup.search.hamming.tables import extract_bits
from neardup.values.seeds import Seed


def layout_of(radius: int, expected: int, bits: int = 64) -> KeyLayout:
    config = nd.Config(fingerprint=nd.Simhash(bits=bits), search=nd.search.Compact(radius, bits=bits))
    return KeyLayout.of("name", Recipe(config, Seed(1), "none", "bare64"), expected)


@given(
    bits=st.sampled_from([64, 128]),
    radius=st.integers(0, 7),
    expected=st.sampled_from([1, 100, 10**4, 10**6, 10**8]),
    seed=st.integers(0, 2**32 - 1),
)
def test_nothing_within_the_radius_is_missed(bits: int, radius: int, expected: int, seed: int) -> None:
    layout = layout_of(radius, expected, bits)
    rng = np.random.default_rng(seed)
    stored = rng.integers(0, 2**64, (20, bits // 64), dtype=np.uint64)
    asked = stored.copy()
    for row in range(20):
        for bit in rng.choice(bits, rng.integers(0, radius + 1), replace=False).tolist():
            asked[row, bit // 64] ^= np.uint64(1 << bit % 64)
    homes = layout.homes(stored)
    shares_key = np.zeros(20, bool)
    probes = layout.probes(asked)
    for table in range(len(layout.tables)):
        shares_key |= (probes[:, layout.probed == table] == homes[:, table, None]).any(axis=1)
    assert shares_key.all()


@given(mask=st.integers(1, 2**128 - 1), seed=st.integers(0, 2**32 - 1))
def test_bits_are_taken_in_runs(mask: int, seed: int) -> None:
    words = np.random.default_rng(seed).integers(0, 2**64, (5, 2), dtype=np.uint64)
    places = [j for j in range(128) if mask >> j & 1][-40:]
    small = sum(1 << j for j in places)
    assert (_extract(words, small) == extract_bits(words, small)).all()


@pytest.mark.parametrize("expected", [10**4, 10**6, 10**8, 10**10])
def test_a_bucket_holds_a_few_dozen(expected: int) -> None:
    """A query at radius 3 asks for a few buckets, and these are neither crowded nor mostly empty."""
    layout = layout_of(3, expected)
    assert layout.probe_count <= 24
    for _, mask, _ in layout.tables:
        assert 4 <= expected / 2 ** mask.bit_count() <= 1000


def test_a_radius_that_tables_cannot_serve_is_refused() -> None:
    with pytest.raises(nd.ConfigError, match="smaller radius"):
        layout_of(31, 10**6)


def test_keys_of_a_shard_share_its_slot() -> None:
    layout = layout_of(3, 10**6)
    keys = [
        layout.buckets(b"k", 1, [77])[0],
        layout.record(5)[0],
        layout.content(5)[0],
        layout.id(b"0" * 12)[0],
    ]
    assert all(key.startswith(b"{name:") and key.count(b"{") == key.count(b"}") == 1 for key in keys)
    assert layout.record(5)[0].split(b"}")[0] == layout.content(5)[0].split(b"}")[0]
