"""The exact join of small sets: every pair of Jaccard at least the threshold, for any memory, batches and threads."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference import pipeline as reference_pipeline
from support.budgets import budget

import neardup as nd
from neardup.errors import ConfigError
from neardup.search import short_documents as short
from neardup.search.pair_runs import unpack_pairs
from neardup.search.short_documents import ShortJoin


@pytest.fixture(autouse=True)
def _few_counts(monkeypatch):
    """Counting by fewer bits changes no answer, and is quicker for small sets."""
    monkeypatch.setattr(short, "_COUNTED_BITS", 10)


def features_of(sets):
    return nd.features.Features.of([sorted(one) for one in sets])


def joined(sets, least, most, rows=None, rank=None, batch=None, **room):
    rows = np.arange(len(sets)) if rows is None else rows
    parts = [sets[i : i + (batch or len(sets) or 1)] for i in range(0, len(sets), batch or len(sets) or 1)]
    join = ShortJoin(least, most)
    runs = join.pairs(rows, lambda: map(features_of, parts), rank, **room)
    found = [unpack_pairs(chunk) for chunk in runs.chunks()]
    pairs = [pair for left, right in found for pair in zip(left.tolist(), right.tolist(), strict=True)]
    assert pairs == sorted(set(pairs))
    return set(pairs), join


# Hashes that share their leading bits, and such that do not.
elements = st.integers(0, 14) | st.integers(1, 9).map(lambda i: i << 60)
collections = st.lists(st.frozensets(elements, max_size=12), max_size=25)
leasts = st.sampled_from([0.1, 0.3, 0.5, 0.6, 2 / 3, 0.7, 0.75, 0.8, 0.9, 1.0])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(collections, leasts, st.integers(1, 12), st.sampled_from([400, 2000, 1 << 30]), st.integers(1, 30))
def test_no_pair_is_missed(sets, least, most, memory, batch):
    found, join = joined(sets, least, most, memory=memory, batch=batch)
    wanted = {
        pair
        for pair in reference_pipeline.jaccard_pairs(sets, least)
        if min(len(sets[pair[0]]), len(sets[pair[1]])) <= most
    }
    assert wanted <= found and join.capped == join.skipped == 0
    for a, b in found:  # candidates share a feature, and their sizes do not rule them out
        small, large = sorted((len(sets[a]), len(sets[b])))
        assert sets[a] & sets[b] and small <= most and small >= least * large - 1e-6


@settings(max_examples=budget(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(collections, leasts, st.randoms(use_true_random=False))
def test_rows_and_ranks(sets, least, random):
    rows = np.array(sorted(random.sample(range(1000), len(sets))), np.int64)
    plain, _ = joined(sets, least, 12)
    moved, _ = joined(sets, least, 12, rows=rows, rank=np.arange(1000)[::-1].copy(), threads=2)
    assert moved == {(rows[a], rows[b]) for a, b in plain}


def test_a_large_bucket_is_capped_and_counted():
    """All share their rarest feature: each is still paired with the best-ranked ones."""
    sets = [frozenset({1, 10 + i}) for i in range(50)]
    rank = np.arange(50)[::-1].copy()
    join = ShortJoin(0.3, 5, cap=20)
    runs = join.pairs(np.arange(50), lambda: iter([features_of(sets)]), rank)
    left, right = unpack_pairs(np.concatenate(list(runs.chunks())))
    found = set(zip(left.tolist(), right.tolist(), strict=True))
    assert join.capped == 1 and len(found) + join.skipped == 50 * 49 // 2
    assert all((row, 49) in found for row in range(49))


def test_at_the_threshold_and_just_below():
    tens = [frozenset(range(10)), frozenset(range(8)), frozenset(range(7))]
    assert joined(tens, 0.8, 10)[0] >= {(0, 1)}
    assert not {(0, 2)} & joined(tens, 0.8, 10)[0]
    for size in range(1, 120):  # no rounding of threshold times size loses a pair
        for least in (0.7, 0.8, 0.9):
            needed = next(many for many in range(size + 1) if many / size >= least)
            assert joined([frozenset(range(size)), frozenset(range(needed))], least, size)[0] == {(0, 1)}


def test_nothing_and_wrong_thresholds():
    assert joined([], 0.5, 3)[0] == set() and joined([frozenset()] * 3, 0.5, 3)[0] == set()
    for least in (0, -1, 1.1, float("nan")):
        with pytest.raises(ConfigError):
            ShortJoin(least, 3)


def test_many_sets_equal_brute_force():
    rng = np.random.default_rng(4)
    base = [rng.integers(0, 3000, rng.integers(1, 30)).tolist() for _ in range(150)]
    sets = []
    for words in base:
        for _ in range(3):
            sets.append(frozenset(word for word in words if rng.random() > 0.1))
    wanted = set(reference_pipeline.jaccard_pairs(sets, 0.7))
    assert len(wanted) > 100
    for memory in (1 << 12, 1 << 30):
        found, _ = joined(sets, 0.7, 30, memory=memory, batch=37, threads=2)
        assert wanted <= found < set(combinations(range(len(sets)), 2))
