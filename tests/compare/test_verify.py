"""Verified pairs: every one is as similar as it says and enough, none that is enough is lost."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.stages import jaccard

import neardup as nd
from neardup import _core
from neardup.compare import similarity, verify
from neardup.errors import ConfigError, DataError

rows_of_features = st.lists(st.sets(st.integers(0, 12), max_size=12), min_size=1, max_size=12)
thresholds = st.sampled_from([0.1, 0.25, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1.0])


@dataclass
class Both:
    left: np.ndarray
    right: np.ndarray


def all_pairs(rows):
    left, right = np.triu_indices(rows, 1)
    return Both(left.astype(np.int64), right.astype(np.int64))


def weighted(rows):
    return nd.features.Features.of([{feature: 1.0 + feature % 3 for feature in row} for row in rows])


def as_dict(pairs):
    assert np.all(pairs.left < pairs.right)
    listed = list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    assert listed == sorted(set(listed))
    assert pairs.similarity.dtype == np.float64
    return dict(zip(listed, pairs.similarity.tolist(), strict=True))


@given(rows_of_features, thresholds, st.integers(1, 3), st.integers(1, 40))
def test_jaccard(rows, threshold, threads, batch):
    before, verify.BATCH = verify.BATCH, batch
    try:
        found = as_dict(nd.Jaccard(threshold).check(all_pairs(len(rows)), weighted(rows), threads))
    finally:
        verify.BATCH = before
    want = {(i, j): jaccard(rows[i], rows[j]) for i in range(len(rows)) for j in range(i + 1, len(rows))}
    assert found == {pair: value for pair, value in want.items() if value >= threshold}


@given(rows_of_features, thresholds, st.sampled_from(["smaller", "left", "right"]))
def test_containment(rows, threshold, of):
    found = as_dict(nd.Containment(threshold, of=of).check(all_pairs(len(rows)), weighted(rows)))
    want = {}
    for i in range(len(rows)):
        for j in range(i + 1, len(rows)):
            a, b = rows[i], rows[j]
            whole = {"smaller": min(len(a), len(b)), "left": len(a), "right": len(b)}[of]
            if whole and len(a & b) / whole >= threshold:
                want[i, j] = len(a & b) / whole
    assert found == want


@given(rows_of_features, thresholds)
def test_cosine(rows, threshold):
    features = weighted(rows)
    found = as_dict(nd.Cosine(threshold).check(all_pairs(len(rows)), features))
    vectors = np.zeros((len(rows), 13))
    for i, row in enumerate(rows):
        for feature in row:
            vectors[i, feature] = 1.0 + feature % 3
    for i in range(len(rows)):
        for j in range(i + 1, len(rows)):
            lengths = np.linalg.norm(vectors[i]) * np.linalg.norm(vectors[j])
            want = vectors[i] @ vectors[j] / lengths if lengths else 0.0
            if abs(want - threshold) > 1e-9:
                assert ((i, j) in found) == (want > threshold)
            if (i, j) in found:
                assert found[i, j] == pytest.approx(want, abs=1e-12) and found[i, j] >= threshold


def test_thresholds_are_inclusive():
    features = nd.features.Features.of([range(7), range(10), range(10), range(3)])
    assert as_dict(nd.Jaccard(0.7).check(all_pairs(4), features)) == {(0, 1): 0.7, (0, 2): 0.7, (1, 2): 1.0}
    assert as_dict(nd.Jaccard(0.3).check(all_pairs(4), features))[1, 3] == 0.3


def test_a_floor_keeps_pairs_for_other_thresholds():
    rng = np.random.default_rng(1)
    features = nd.features.Features.of([rng.choice(20, 12, replace=False).tolist() for _ in range(30)])
    low = nd.Jaccard(0.8, floor=0.3).check(all_pairs(30), features)
    assert low.similarity.min() >= 0.3 and low.similarity.min() < 0.5
    for threshold in (0.3, 0.4, 0.5):
        assert as_dict(low.at_least(threshold)) == as_dict(
            nd.Jaccard(threshold).check(all_pairs(30), features)
        )


def test_candidates_in_any_order_come_out_sorted_and_unique():
    features = nd.features.Features.of([[1, 2], [1, 2], [1, 2]])
    given_twice = Both(np.array([2, 1, 0, 2]), np.array([0, 2, 1, 0]))
    assert as_dict(nd.Jaccard().check(given_twice, features)) == {(0, 1): 1.0, (0, 2): 1.0, (1, 2): 1.0}


def test_rows_without_features_are_like_nothing():
    features = nd.features.Features.of([[], [], [1]])
    for strategy in (nd.Jaccard(0.01), nd.Containment(0.01), nd.Cosine(0.01)):
        assert len(strategy.check(all_pairs(3), features)) == 0


@given(st.integers(0, 400), st.integers(0, 400), st.integers(0, 400), st.integers(1, 100))
def test_an_early_end_changes_no_answer(first, second, shared, percent):
    """Rows long enough that a comparison may stop on its way."""
    rng = np.random.default_rng(first * 401 + second)
    hashes = rng.integers(0, 2**63, shared + first + second, dtype=np.uint64)
    features = nd.features.Features.of(
        [hashes[: shared + first].tolist(), [*hashes[:shared], *hashes[shared + first :]]]
    )
    least, zero, one = percent / 100, np.zeros(1, np.int64), np.ones(1, np.int64)
    found = _core.jaccard_at_least(features.hashes, features.offsets, zero, one, least, 1)[0]
    want = similarity.jaccard(features, zero, one)[0]
    assert found == (want if want >= least else -1)


@given(st.integers(0, 1500), st.integers(0, 1500), st.integers(0, 1500), st.integers(1, 100))
def test_a_sample_rules_out_no_pair(first, second, shared, percent):
    """With a probability below one in 10^9 it would. At every CPU level, for blocks of any number."""
    rng = np.random.default_rng(first * 1501 + second)
    hashes = rng.integers(0, 2**64, shared + first + second, dtype=np.uint64)
    features = nd.features.Features.of(
        [hashes[: shared + first].tolist(), [*hashes[:shared], *hashes[shared + first :]]]
    )
    least, zero, one = percent / 100, np.zeros(1, np.int64), np.ones(1, np.int64)
    want = similarity.jaccard(features, zero, one)[0]
    try:
        for level, sampled in product(_core.Cpu, (False, True)):
            if level.value <= _core.best_cpu().value:
                _core.force_cpu(level)
                columns = (features.hashes, features.offsets, zero, one)
                found = _core.jaccard_at_least(*columns, least, 1, sampled)[0]
                assert found == (want if want >= least else -1)
    finally:
        _core.force_cpu(_core.best_cpu())


def test_the_border_checks_its_columns():
    hashes, offsets, row = np.arange(3, dtype=np.uint64), np.array([0, 2, 3]), np.zeros(1, np.int64)
    for wrong in (
        (hashes, offsets[1:], row, row + 1, 0.5, 1),
        (hashes, offsets[:2], row, row + 1, 0.5, 1),
        (hashes, offsets, row, row + 2, 0.5, 1),
        (hashes, offsets, row, row[:0], 0.5, 1),
        (hashes, offsets, row, row + 1, 0.0, 1),
        (hashes, offsets, row, row + 1, 0.5, 0),
    ):
        with pytest.raises(ValueError, match=r"offsets|pair|row|columns|least|threads"):
            _core.jaccard_at_least(*wrong)


def test_threads_and_cpu_levels_give_the_same_bytes(cpu):
    rng = np.random.default_rng(4)
    features = nd.features.Features.of([rng.choice(60, 40, replace=False).tolist() for _ in range(80)])
    for strategy in (nd.Jaccard(0.5), nd.Containment(0.7), nd.Cosine(0.7)):
        one = strategy.check(all_pairs(80), features)
        two = strategy.check(all_pairs(80), features, threads=2)
        assert len(one) > 0
        assert one.left.tobytes() == two.left.tobytes() and one.right.tobytes() == two.right.tobytes()
        assert one.similarity.tobytes() == two.similarity.tobytes()


def test_mistakes_are_reported():
    features = nd.features.Features.of([[1], [2]])
    for wrong in (0, -1, 1.1, float("nan")):
        with pytest.raises(ConfigError, match="threshold"):
            nd.Jaccard(wrong)
    with pytest.raises(ConfigError, match="floor"):
        nd.Cosine(0.8, floor=0.9)
    with pytest.raises(ConfigError, match="smaller"):
        nd.Containment(0.8, of="larger")
    with pytest.raises(DataError, match="outside"):
        nd.Jaccard().check(Both(np.array([0]), np.array([2])), features)
    with pytest.raises(DataError, match="itself"):
        nd.Jaccard().check(Both(np.array([0]), np.array([0])), features)
    with pytest.raises(DataError, match="length"):
        nd.compare.Pairs(np.zeros(1, np.int64), np.zeros(2, np.int64), np.zeros(1))
