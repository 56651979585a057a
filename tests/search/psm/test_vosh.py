"""The order of flips against brute force, and the paper's trees."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.engine import children, flip_sets

from neardup.errors import ConfigError, DataError
from neardup.search.psm.vosh import FlipModel, expected_costs, laplace_costs, volatility_tree, vosh


def total(costs: list[float], bits: tuple[int, ...]) -> float:
    return sum(costs[j] for j in bits)


@pytest.mark.parametrize(("width", "size", "count"), [(8, 3, 56), (9, 4, 126), (12, 3, 220)])
def test_every_set_of_one_size_once(width: int, size: int, count: int) -> None:
    nodes = [node for level in volatility_tree(size, width, 1000) for node in level]
    assert len(nodes) == len(set(nodes)) == count
    assert set(nodes) == set(combinations(range(1, width + 1), size))


def test_all_flips_of_up_to_three_of_64_bits() -> None:
    sets = vosh(np.arange(64, dtype=np.float32), None, 3)
    assert len(sets) == len(set(sets)) == 43_744


def test_known_costs() -> None:
    # Four bits with margins .15, .05, .01, .09: bits count from 1 in the expected order.
    order = [(3,), (2,), (2, 3), (4,), (3, 4), (2, 4), (1,), (2, 3, 4), (1, 3), (1, 2), (1, 2, 3), (1, 4)]
    order += [(1, 3, 4), (1, 2, 4)]
    assert [tuple(j + 1 for j in s) for s in vosh([15, 5, 1, 9], None, 3)] == order


def test_the_trees_of_the_paper() -> None:
    assert volatility_tree(1, 64, 5) == [[(1,)], [(2,)], [(3,)], [(4,)], [(5,)]]
    assert volatility_tree(2, 64, 5) == [
        [(1, 2)],
        [(1, 3)],
        [(1, 4), (2, 3)],
        [(1, 5), (2, 4)],
        [(1, 6), (2, 5), (3, 4)],
    ]
    assert volatility_tree(3, 64, 5) == [
        [(1, 2, 3)],
        [(1, 2, 4)],
        [(1, 2, 5), (1, 3, 4)],
        [(1, 2, 6), (1, 3, 5), (2, 3, 4)],
        [(1, 2, 7), (1, 3, 6), (1, 4, 5), (2, 3, 5)],
    ]


@given(st.integers(1, 5), st.integers(1, 9))
def test_trees_follow_the_rules_of_children(size: int, width: int) -> None:
    size = min(size, width)
    tree = volatility_tree(size, width, 100)
    for above, below in pairwise(tree):
        assert below == [child for node in above for child in children(node, width)]


@settings(deadline=None)
@given(
    st.lists(st.floats(0, 100, width=32), min_size=1, max_size=9),
    st.integers(0, 5),
    st.integers(0, 300),
)
def test_order_is_that_of_brute_force(costs: list[float], radius: int, limit: int) -> None:
    want = flip_sets(costs, radius)[:limit]
    got = vosh(costs, limit, radius)
    assert len(set(got)) == len(got) == len(want)
    np.testing.assert_allclose([total(costs, s) for s in got], [total(costs, s) for s in want], rtol=1e-6)


@given(st.permutations(range(10)), st.integers(1, 4))
def test_ties_are_settled(numbers: list[int], radius: int) -> None:
    # Powers of two: no two sets cost the same, so the order is that of brute force, set by set.
    costs = [float(2**j) for j in numbers]
    assert vosh(costs, None, radius) == flip_sets(costs, radius)
    assert vosh([1.0] * 6, None, 3) == flip_sets([1.0] * 6, 3)


def test_model_gives_the_share_of_moves_that_reach_a_margin() -> None:
    rng = np.random.default_rng(0)
    left, right = rng.laplace(size=(2, 5000, 16)).astype(np.float32)
    model = FlipModel.fit(left, right)
    moves = (left - right).ravel()
    for margin in (0.0, 0.3, 1.0, 2.5, 5.0):
        share = float((moves > margin).mean())
        assert model.probabilities(np.array([margin], np.float32))[0] == pytest.approx(share, abs=0.005)
    margins = np.linspace(0, 1000, 5000, dtype=np.float32)
    costs = model.costs(margins)
    assert (costs >= 0).all() and (np.diff(costs) >= 0).all() and np.isfinite(costs).all()
    # Beyond the sample the tail continues to fall, so that far margins still have an order.
    assert costs[200] < costs[400]
    each = FlipModel.fit(left, right * np.arange(1, 17, dtype=np.float32), per_bit=True)
    p = each.probabilities(np.ones((1, 16), np.float32))[0]
    assert (np.diff(p) > -0.02).all() and p[-1] > p[0] + 0.1


def test_expected_costs_of_ranks() -> None:
    costs = np.array([[3, 1, 2], [0, 8, -4]], np.float32)
    assert expected_costs(costs).tolist() == [0.5, 3.0, 5.5]
    assert (np.diff(laplace_costs(26)) > 0).all()


def test_mistakes() -> None:
    with pytest.raises(ConfigError):
        vosh([-1.0], None, 1)
    with pytest.raises(ConfigError):
        vosh([float("nan")], None, 1)
    with pytest.raises(ConfigError):
        vosh([1.0], None, 17)
    with pytest.raises(ConfigError):
        volatility_tree(3, 2, 5)
    with pytest.raises(DataError):
        FlipModel.fit(np.ones((2, 3), np.float32), np.ones((3, 3), np.float32))
    with pytest.raises(DataError):
        FlipModel.fit(np.full((2, 3), np.nan, np.float32), np.ones((2, 3), np.float32))
