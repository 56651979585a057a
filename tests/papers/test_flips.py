"""Flips counted against full enumeration of flip sets."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from papers.flips import NEVER, NearPairs, flips_needed, header_steps, near_pairs, quantile_flips, recall_at

from neardup.fingerprints import Codes
from neardup.search.psm.psm import PSM
from neardup.search.psm.vosh import vosh


def word(bits) -> int:
    return sum(1 << int(bit) for bit in bits)


def clustered(generator: np.random.Generator, families: int, members: int) -> Codes:
    """Codes of families whose weak bits differ, with margins that say which are weak."""
    sizes = generator.exponential(size=(families, 64))
    signs = generator.integers(0, 2, (families, 64)) * 2 - 1
    votes = np.repeat(sizes * signs, members, axis=0)
    votes = votes + generator.normal(0, 0.03, votes.shape)
    bits = (votes >= 0).astype(np.uint8)
    words = np.packbits(bits, axis=1, bitorder="little").view("<u8")
    return Codes(
        "test", np.zeros(len(words), bool), 64, np.ascontiguousarray(words), votes.astype(np.float32)
    )


@pytest.mark.parametrize("size", [1, 2, 3])
def test_flips_needed_is_the_place_in_the_full_order(size):
    generator = np.random.default_rng(size)
    margins = generator.laplace(size=(6, 64)).astype(np.float32)
    chosen = [sorted(generator.choice(64, size, replace=False)) for _ in margins]
    # One cheap set as well, whose place is low.
    chosen[0] = sorted(np.argsort(np.abs(margins[0]))[:size])
    needed = flips_needed(margins, np.array([word(bits) for bits in chosen], np.uint64), size)
    assert needed[0] == 1
    for row, bits, place in zip(margins, chosen, needed, strict=True):
        costs = np.abs(row).astype(np.float64)
        own = costs[bits].sum()
        cheaper = sum(costs[list(other)].sum() < own - 1e-12 for other in combinations(range(64), size))
        assert place == cheaper + 1


def test_flips_needed_is_the_place_that_the_heap_gives():
    margins = np.random.default_rng(7).laplace(size=(3, 64)).astype(np.float32)
    for row in margins:
        order = [bits for bits in vosh(np.abs(row), None, 2) if len(bits) == 2]
        for place in (1, 5, 100, 2016):
            found = flips_needed(row[None], np.array([word(order[place - 1])], np.uint64), 2)
            assert found[0] == place


def test_among_equal_sums_the_middle_place_counts():
    margins = np.ones((1, 64), np.float32)
    assert flips_needed(margins, np.array([1 << 5], np.uint64), 1)[0] == 32


def test_near_pairs_are_those_of_brute_force():
    codes = clustered(np.random.default_rng(1), 30, 5)
    pairs = near_pairs("test", codes, codes, 3)
    words = codes.codes[:, 0].tolist()
    distinct = sorted(set(words))
    expected = sorted(
        (q, a ^ b) for q, a in enumerate(words) for b in distinct if 1 <= (a ^ b).bit_count() <= 3
    )
    assert sorted(zip(pairs.query.tolist(), pairs.differing.tolist(), strict=True)) == expected
    assert np.all(np.diff(pairs.query) >= 0)
    assert np.array_equal(pairs.margins, codes.margins[pairs.query])
    capped = np.bincount(pairs.query[pairs.capped], minlength=len(codes))
    assert np.array_equal(capped, np.minimum(np.bincount(pairs.query, minlength=len(codes)), 4))


def test_header_steps_are_places_in_the_full_order():
    codes = clustered(np.random.default_rng(2), 60, 5)
    # Margins that say nothing about what differs lead to late places and to none.
    blind = np.random.default_rng(3).exponential(size=codes.margins.shape).astype(np.float32)
    pairs = near_pairs("test", codes, replace(codes, margins=blind), 3)
    header, most = 16, 100
    step = header_steps(pairs, header, 3, most)
    assert (step == 0).any() and (step == NEVER).any() and ((step > 0) & (step < NEVER)).sum() > 20
    for margins, differing, place in zip(pairs.margins, pairs.differing, step, strict=True):
        costs = np.abs(margins[64 - header :]).astype(np.float64)
        wanted = [bit for bit in range(header) if int(differing) >> (64 - header + bit) & 1]
        sets = (s for size in (1, 2, 3) for s in combinations(range(header), size))
        expected = (
            0 if not wanted else 1 + sum(costs[list(s)].sum() < costs[wanted].sum() - 1e-9 for s in sets)
        )
        assert place == (expected if expected <= most else NEVER)


@pytest.mark.parametrize("mode", ["all", "first"])
def test_recall_is_that_of_the_library_s_own_calibration(mode):
    codes = clustered(np.random.default_rng(3), 300, 3)
    pairs = near_pairs("test", codes, codes, 3)
    # Equal codes are one to the library, which asks each row; both leave pairs at distance 0 out.
    step = header_steps(pairs, 14, 3, 4096)
    curve = PSM(radius=3, header_bits=14, order="heap").calibrate(codes, mode=mode).curve
    for flips in (0, 1, 3, 10, 50):
        assert recall_at(step, pairs.query, flips, mode) == pytest.approx(curve[flips])


def test_quantile_is_the_fewest_flips_that_reach_the_recall():
    step = np.array([0, 4, 2, NEVER, 1, 1, 9, 3, 0, 5])
    query = np.array([0, 0, 1, 1, 2, 3, 3, 4, 5, 5])
    for mode in ("all", "first"):
        for recall in (0.3, 0.5, 0.8, 0.9):
            fewest = quantile_flips(step, query, recall, mode)
            assert recall_at(step, query, fewest, mode) >= recall
            assert fewest == 0 or recall_at(step, query, fewest - 1, mode) < recall
    assert recall_at(step, query, 2, "first") == 5 / 6


def test_where_keeps_columns_together():
    codes = clustered(np.random.default_rng(4), 20, 4)
    pairs = near_pairs("test", codes, codes, 3)
    kept = pairs.distance == 2
    some = pairs.where("some", kept)
    assert isinstance(some, NearPairs) and len(some) == kept.sum()
    assert np.array_equal(some.differing, pairs.differing[kept])
