"""Agree against counting every pair, and the seeds' thresholds against their own curve."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.prints import same_everywhere

import neardup as nd
from neardup import _core
from neardup.errors import ConfigError
from neardup.fingerprints.fingerprints import Sketches
from neardup.fingerprints.keyed import Keys
from neardup.search.agreement import Agree


def counted(values, least, blank):
    """The naive twin: every pair, place by place."""
    found = []
    for a, b in itertools.combinations(range(len(values)), 2):
        same = sum(x == y and not (blank and x == 0) for x, y in zip(values[a], values[b], strict=True))
        if same >= least:
            found.append((a, b))
    return found


@st.composite
def tables(draw):
    places = draw(st.integers(1, 9))
    rows = draw(st.lists(st.lists(st.integers(0, 2), min_size=places, max_size=places), max_size=25))
    return np.array(rows, np.uint64).reshape(len(rows), places), draw(st.integers(1, places))


@given(tables(), st.booleans(), st.integers(1, 2))
def test_all_pairs_that_agree_and_no_others(table, sketch, threads):
    values, least = table
    empty = np.zeros(len(values), np.bool_)
    prints = Sketches("s", empty, values.astype(np.uint32)) if sketch else Keys("k", empty, values)
    found = Agree(least).candidates(prints, threads=threads)
    pairs = list(zip(found.left.tolist(), found.right.tolist(), strict=True))
    assert pairs == counted(values.tolist(), least, not sketch)
    differ = [
        sum(x != y or (not sketch and x == 0) for x, y in zip(values[a], values[b], strict=True))
        for a, b in pairs
    ]
    assert found.distance.tolist() == differ


def test_empty_rows_have_no_pairs():
    keys = np.ones((3, 2), np.uint64)
    prints = nd.fingerprints.Keys("k", np.array([False, True, False]), keys)
    found = Agree(2).candidates(prints)
    assert (found.left.tolist(), found.right.tolist()) == ([0], [2])


def test_large_buckets_are_capped_and_counted():
    rng = np.random.default_rng(1)
    keys = np.concatenate(
        [np.ones((500, 1), np.uint64), rng.integers(1, 1 << 60, (500, 1)).astype(np.uint64)], 1
    )
    joined = Agree(1, cap=100).join(keys, np.zeros(500, np.bool_))
    assert joined.capped == 1 and joined.skipped > 0
    left, right = next(joined.chunks())
    assert set(left.tolist()) | set(right.tolist()) == set(range(500))


def test_parts_are_as_many_as_differences_and_one():
    assert [p.stop - p.start for p in Agree(90).parts(100)] == [9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 10]
    assert len(Agree(160).parts(200)) == 41
    assert Agree().needed(7) == 4 and Agree().needed(1) == 1
    with pytest.raises(ConfigError, match="7 places cannot agree of 6"):
        Agree(7).needed(6)
    with pytest.raises(ConfigError, match="7 places cannot agree of 6"):
        nd.Config(fingerprint=nd.fingerprints.SuperFingerprints(), search=Agree(7))


@pytest.mark.parametrize(
    ("many", "least", "expected"),
    [(100, 90, {0.8: 0.0057, 0.9: 0.583, 0.96: 0.998}), (200, 160, {0.75: 0.058, 0.8: 0.542, 0.85: 0.978})],
)
def test_fixed_sketch_thresholds_follow_the_seeds_curve(many, least, expected):
    """P[Bin(k, r) >= m], with the numbers that Mitzenmacher's notes misprint put right."""
    for share, known in expected.items():
        curve = sum(math.comb(many, k) * share**k * (1 - share) ** (many - k) for k in range(least, many + 1))
        assert curve == pytest.approx(known, abs=0.002)
        shared = round(2000 * share / (1 + share))
        rng = np.random.default_rng(int(1000 * share))
        trials = 300
        rows = []
        for _ in range(trials):
            drawn = rng.integers(1, 1 << 62, 2000 - shared, dtype=np.int64).astype(np.uint64)
            own = (2000 - 2 * shared) // 2
            rows += [
                np.sort(drawn[: shared + own]),
                np.sort(np.concatenate([drawn[:shared], drawn[shared + own :]])),
            ]
        offsets = np.concatenate([[0], np.cumsum([len(r) for r in rows])]).astype(np.int64)
        features = nd.features.Features(
            np.concatenate(rows), np.ones(offsets[-1], np.float32), offsets, "given"
        )
        sketches = nd.MinHash(many, "independent").compute(features)
        found = Agree(least).candidates(sketches)
        hits = sum(
            b == a + 1 and a % 2 == 0 for a, b in zip(found.left.tolist(), found.right.tolist(), strict=True)
        )
        assert hits == len(found)
        spread = 4 * math.sqrt(curve * (1 - curve) / trials) + 0.01
        assert abs(hits / trials - curve) < spread


@given(st.integers(0, 2**32), st.integers(1, 70), st.sampled_from([np.uint32, np.uint64]))
def test_places_are_counted_the_same_on_every_cpu(seed, places, dtype):
    random = np.random.default_rng(seed)
    values = random.integers(0, 3, (9, places)).astype(dtype)
    left, right = random.integers(0, 9, (2, 40))
    equal = values[left] == values[right]
    if dtype is np.uint64:
        equal &= values[left] != 0
    found = same_everywhere(lambda threads: _core.agreeing_places(values, left, right, threads))
    assert np.array_equal(found, equal.sum(axis=1))


def test_rows_that_are_not_there_are_refused():
    values, row = np.zeros((2, 3), np.uint32), np.zeros(1, np.int64)
    for left, right in ((row + 2, row), (row, row - 1), (row, np.zeros(2, np.int64))):
        with pytest.raises(ValueError, match=r"range|differ"):
            _core.agreeing_places(values, left, right)
