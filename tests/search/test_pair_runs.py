"""Pairs in memory and in runs on disk: the same, each once, ascending; and the candidates spelled out of groups."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference import pipeline as reference_pipeline
from reference.core import mix

from neardup import _core
from neardup.search.candidates import Joined, best_first, implied_pairs
from neardup.search.collapse import Groups
from neardup.search.pair_runs import PairRuns, pack_pairs, unpack_pairs

numbers = st.lists(st.integers(0, 60) | st.integers(0, 2**64 - 1), max_size=40).map(
    lambda many: np.unique(np.array(many, np.uint64))
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(numbers, max_size=8), st.integers(0, 20), st.integers(1, 50))
def test_runs_on_disk_equal_memory(tmp_path, parts, most, chunk):
    every = np.unique(np.concatenate([np.empty(0, np.uint64), *parts]))
    for runs in (PairRuns(), PairRuns(tmp_path, most)):
        for part in parts:
            runs.add(part)
        for _ in range(2):  # they can be read again
            chunks = list(runs.chunks(chunk))
            assert all(len(part) and part.dtype == np.uint64 for part in chunks)
            assert np.array_equal(np.concatenate([np.empty(0, np.uint64), *chunks]), every)
        runs.close()
        assert list(runs.chunks()) == [] and not list(tmp_path.iterdir())


def test_chunks_are_about_as_large_as_asked_for(tmp_path):
    runs = PairRuns(tmp_path, 10_000)
    rng = np.random.default_rng(1)
    parts = [np.unique(rng.integers(0, 1 << 40, 4000).astype(np.uint64)) for _ in range(30)]
    for part in parts:
        runs.add(part)
    assert len(list(tmp_path.iterdir())) > 5
    sizes = [len(chunk) for chunk in runs.chunks(5000)]
    assert sum(sizes) == len(np.unique(np.concatenate(parts))) and max(sizes) <= 10_000 and len(sizes) < 100


def test_views_may_be_added():
    runs = PairRuns()
    runs.add(np.arange(10, dtype=np.uint64)[::2])
    runs.add(np.arange(10, dtype=np.uint64)[1::2])
    assert np.concatenate(list(runs.chunks())).tolist() == list(range(10))


rows = st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)), max_size=20)


@given(rows)
def test_pairs_are_packed_and_unpacked(pairs):
    left, right = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    low, high = unpack_pairs(pack_pairs(left, right))
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == sorted(
        {tuple(sorted(pair)) for pair in pairs}
    )


@given(numbers, numbers)
def test_merging_is_a_union(a, b):
    assert np.array_equal(_core.merge_pairs(a, b), np.union1d(a, b))


@given(
    st.lists(st.sampled_from([0, 1, 2, 2**63, 2**64 - 1]) | st.integers(0, 2**64 - 1), max_size=40),
    st.integers(1, 8),
    st.sampled_from([1, 2, 3, 5]),
    st.booleans(),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_pairs_of_equal_keys(keys, cap, threads, ranked, ordered, random):
    rank = random.sample(range(len(keys)), len(keys)) if ranked else None
    then = [random.randrange(3) for _ in keys] if ordered else None
    found, capped, skipped = _core.key_pairs(
        np.array(keys, np.uint64),
        np.array(then, np.uint64) if ordered else None,
        np.array(rank, np.uint32) if ranked else None,
        cap,
        threads,
    )
    left, right = unpack_pairs(found)
    pairs = list(zip(left.tolist(), right.tolist(), strict=True))
    assert (pairs, capped, skipped) == reference_pipeline.key_pairs(keys, then, rank, cap)


@given(
    st.lists(st.sampled_from([0, 1, 2, 2**63, 2**64 - 1]), max_size=60),
    st.integers(1, 8),
    st.sampled_from([1, 2, 3, 5]),
    st.randoms(use_true_random=False),
)
def test_buckets_with_few_pairs_and_samples(keys, cap, threads, random):
    rank = random.sample(range(len(keys)), len(keys))
    then = [random.randrange(3) for _ in keys]
    thin = sorted(random.sample([0, 2, 2**63, 17], random.randrange(4)))
    buckets = _core.KeyBuckets(np.array(keys, np.uint64), threads)
    found, capped, skipped = buckets.pairs(
        np.array(then, np.uint64), np.array(rank, np.uint32), cap, np.array(thin, np.uint64)
    )
    pairs = list(zip(*(side.tolist() for side in unpack_pairs(found)), strict=True))
    assert (pairs, capped, skipped) == reference_pipeline.key_pairs(keys, then, rank, cap, thin)
    sample, salt = random.randrange(1, cap + 1), random.randrange(2**64)
    crowds = [column.tolist() for column in buckets.crowds(cap, sample, salt)]
    assert list(zip(*crowds, strict=True)) == reference_pipeline.crowds(
        keys, cap, sample, lambda row: mix(row ^ salt)
    )


def test_keys_of_few_pairs_must_ascend():
    buckets = _core.KeyBuckets(np.zeros(3, np.uint64))
    with pytest.raises(ValueError, match="ascend"):
        buckets.pairs(None, None, 10, np.array([2, 1], np.uint64))
    with pytest.raises(ValueError, match="sample"):
        buckets.crowds(4, 5, 0)
    with pytest.raises(ValueError, match="differ in length"):
        buckets.pairs(np.zeros(2, np.uint64), None, 10)


def test_columns_of_other_lengths_are_refused():
    keys = np.zeros(3, np.uint64)
    with pytest.raises(ValueError, match="differ in length"):
        _core.key_pairs(keys, keys[:2], None, 10)
    with pytest.raises(ValueError, match="differ in length"):
        _core.key_pairs(keys, None, np.zeros(4, np.uint32), 10)


def groups_of(labels):
    """Groups of rows with the same label; None is an empty row."""
    members = {}
    for row, label in enumerate(labels):
        if label is not None:
            members.setdefault(label, []).append(row)
    many = sorted(group for group in members.values() if len(group) > 1)
    repeats = np.zeros(len(labels), bool)
    for group in many:
        repeats[group[1:]] = True
    return Groups(
        repeats,
        np.array([label is None for label in labels], bool),
        np.array([row for group in many for row in group], np.int64),
        np.cumsum([0, *map(len, many)]).astype(np.int64),
    )


labels = st.lists(st.none() | st.integers(0, 6), max_size=20)


@given(labels, st.randoms(use_true_random=False), st.sampled_from([1, 3, 6, 1000]), st.integers(1, 10))
def test_pairs_behind_groups(labels, random, spread, most):
    """Listed and implied pairs together are all pairs of equal and of tied labels; small ones are all listed."""
    rank = np.array(random.sample(range(len(labels)), len(labels)), np.int64)
    groups = best_first(groups_of(labels), rank)
    for group in np.split(groups.members, groups.offsets[1:-1]) if len(groups) else []:
        assert rank[group].tolist() == sorted(rank[group].tolist())
        assert not groups.repeats[group[0]] and groups.repeats[group[1:]].all()
    assert groups.heads.tolist() == sorted(groups.heads.tolist())
    first = groups.first_rows.tolist()
    tied = [pair for pair in combinations(first, 2) if random.random() < 0.4]
    joined = Joined(groups, PairRuns(), spread)
    joined.runs.add(pack_pairs(*(np.array([p[side] for p in tied], np.int64) for side in (0, 1))))
    listed = set()
    for left, right in joined.chunks(most):
        pairs = list(zip(left.tolist(), right.tolist(), strict=True))
        assert pairs == sorted(set(pairs)) and all(a < b for a, b in pairs)
        listed |= set(pairs)
    near = {frozenset((labels[a], labels[b])) for a, b in tied}
    every = {
        (a, b)
        for a, b in combinations(range(len(labels)), 2)
        if None not in (labels[a], labels[b])
        and (labels[a] == labels[b] or frozenset((labels[a], labels[b])) in near)
    }
    assert listed <= every and len(listed) + joined.implied == len(every)
    assert set(tied) <= listed
    if spread == 1000:
        assert listed == every
    head = groups.labels()
    assert all((min(head[row], row), max(head[row], row)) in listed for row in np.flatnonzero(groups.repeats))


def test_pairs_of_a_group_whose_first_row_was_taken():
    groups = groups_of([0, 1, 1, 1, 2, 2])
    keeper = np.array([0, 0, 2, 1, 4, 4])  # row 0 took row 1, the first of its group; row 4 nobody's
    left, right = implied_pairs(groups, keeper)
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == [(0, 2), (0, 3)]
