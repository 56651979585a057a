"""Clusters: the rule as it is written, the same by rounds, and no member below the threshold to its keeper."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.stages import components, keepers

import neardup as nd
from neardup import _core
from neardup.clusters.clusters import keepers_in_rounds, rank_by
from neardup.compare import similarity as measure
from neardup.errors import ConfigError, DataError


def pairs_of(pairs, rows):
    left = np.array([a for a, _ in pairs], dtype=np.int64)
    right = np.array([b for _, b in pairs], dtype=np.int64)
    return nd.compare.Pairs.of(left, right, 0.5 + (left * rows + right) / (4 * rows * rows + 4))


graphs = st.integers(1, 30).flatmap(
    lambda rows: st.tuples(
        st.just(rows),
        st.sets(
            st.tuples(st.integers(0, rows - 1), st.integers(0, rows - 1)).filter(lambda p: p[0] < p[1]),
            max_size=60,
        ),
        st.lists(st.integers(0, 8), min_size=rows, max_size=rows),
    )
)


@given(graphs)
def test_keepers_follow_the_rule(graph):
    rows, ties, rank = graph
    pairs = pairs_of(sorted(ties), rows)
    found = nd.cluster(pairs, rows, rank)
    assert found.keeper.tolist() == keepers(ties, rows, rank)
    weight = dict(
        zip(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True), pairs.similarity, strict=True)
    )
    for row, keeper in enumerate(found.keeper.tolist()):
        assert found.keeper[keeper] == keeper
        tie = (min(row, keeper), max(row, keeper))
        assert found.similarity[row] == (1.0 if row == keeper else weight[tie])
        members = np.flatnonzero(found.keeper == keeper)
        assert found.labels[row] == members.min()
    kept = set(np.flatnonzero(found.kept).tolist())
    assert not any(a in kept and b in kept for a, b in ties)


@given(graphs)
def test_rounds_give_the_same_clusters(graph):
    rows, ties, rank = graph
    pairs = pairs_of(sorted(ties), rows)
    one, other = nd.cluster(pairs, rows, rank), keepers_in_rounds(pairs, rows, rank)
    assert one.labels.tobytes() == other.labels.tobytes()
    assert one.keeper.tobytes() == other.keeper.tobytes()
    assert one.similarity.tobytes() == other.similarity.tobytes()


def test_rounds_on_many_rows():
    rng = np.random.default_rng(6)
    rows = 20_000
    left, right = rng.integers(0, rows, (2, 60_000))
    apart = left != right
    pairs = nd.compare.Pairs.of(left[apart], right[apart], rng.random(int(apart.sum())))
    rank = rng.integers(0, 50, rows)
    one, other = nd.cluster(pairs, rows, rank), keepers_in_rounds(pairs, rows, rank)
    assert np.array_equal(one.keeper, other.keeper) and np.array_equal(one.similarity, other.similarity)
    assert 0 < one.kept.sum() < rows


def test_a_chain_is_cut():
    pairs = pairs_of([(0, 1), (1, 2), (2, 3), (3, 4)], 5)
    assert nd.cluster(pairs, 5).keeper.tolist() == [0, 0, 2, 2, 4]
    assert keepers_in_rounds(pairs, 5).keeper.tolist() == [0, 0, 2, 2, 4]
    assert nd.cluster(pairs, 5, rank=[1, 0, 1, 1, 1]).keeper.tolist() == [1, 1, 1, 3, 3]
    assert nd.cluster(pairs, 5, method="components").keeper.tolist() == [0] * 5


@given(graphs)
def test_components(graph):
    rows, ties, rank = graph
    pairs = pairs_of(sorted(ties), rows)
    found = nd.cluster(pairs, rows, rank, method="components")
    assert found.labels.tolist() == components(ties, rows)
    for row in range(rows):
        members = np.flatnonzero(found.labels == found.labels[row]).tolist()
        keeper = min(members, key=lambda one: (rank[one], one))
        assert found.keeper[row] == keeper
        tie = (min(row, keeper), max(row, keeper))
        if row == keeper:
            assert found.similarity[row] == 1.0
        elif tie in ties:
            assert found.similarity[row] == pairs_of([tie], rows).similarity[0]
        else:
            assert np.isnan(found.similarity[row])


def test_sizes():
    found = nd.cluster(pairs_of([(1, 3), (1, 4), (2, 5)], 6), 6)
    labels, counts = found.sizes()
    assert labels.tolist() == [1, 2] and counts.tolist() == [3, 2] and len(found) == 6


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_no_pairs(rows):
    nothing = nd.compare.Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    for found in (
        nd.cluster(nothing, rows),
        keepers_in_rounds(nothing, rows),
        nd.cluster(nothing, rows, method="components"),
    ):
        assert found.labels.tolist() == found.keeper.tolist() == list(range(rows))
        assert found.similarity.tolist() == [1.0] * rows and found.kept.all()


@given(st.lists(st.integers(0, 5), max_size=20))
def test_rank_policies(lengths):
    rows = range(len(lengths))
    for column in (np.array(lengths, np.uint32), np.array(lengths, np.int64)):
        order = sorted(rows, key=lambda row: (-lengths[row], row))
        assert np.argsort(rank_by(column), kind="stable").tolist() == order
        assert rank_by(column, "first").tolist() == list(rows)
        assert rank_by(column, "last").tolist() == list(rows)[::-1]


def test_mistakes_are_reported():
    pairs = pairs_of([(0, 1)], 2)
    with pytest.raises(DataError, match="outside"):
        nd.cluster(pairs, 1)
    with pytest.raises(DataError, match="rank"):
        nd.cluster(pairs, 2, rank=[1])
    with pytest.raises(DataError, match="finite"):
        nd.cluster(pairs, 2, rank=[1.0, float("nan")])
    with pytest.raises(ConfigError, match="components"):
        nd.cluster(pairs, 2, method="chains")
    with pytest.raises(ConfigError, match="longest"):
        rank_by([1], "shortest")
    with pytest.raises(ConfigError, match="rows"):
        nd.cluster(pairs, -1)
    zero, one = np.zeros(1, np.int64), np.ones(1, np.int64)
    for left, right, order in (
        (zero, one, np.zeros(2, np.int64)),
        (zero, one, zero),
        (zero, zero, np.arange(2)),
        (-one, one, np.arange(2)),
        (zero, one[:0], np.arange(2)),
    ):
        with pytest.raises(ValueError, match=r"order|pair|row|columns"):
            _core.first_keepers(left, right, order)


def test_members_of_real_clusters_reach_the_threshold(data):
    with gzip.open(data / "licenses" / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    features = nd.Shingles(5).extract(texts, threads=2)
    lsh = nd.LSH.for_threshold(0.7)
    candidates = lsh.candidates(nd.MinHash(lsh.values).compute(features, threads=2), threads=2)
    pairs = nd.Jaccard(0.7).check(candidates, features, threads=2)
    assert pairs.similarity.min() >= 0.7
    rank = rank_by([len(text) for text in texts])
    found = nd.cluster(pairs, len(texts), rank)
    members = np.flatnonzero(~found.kept)
    assert len(members) > 2000
    exact = measure.jaccard(features, members, found.keeper[members])
    assert exact.min() >= 0.7 and np.array_equal(exact, found.similarity[members])
    other = keepers_in_rounds(pairs, len(texts), rank)
    assert np.array_equal(found.keeper, other.keeper) and np.array_equal(found.labels, other.labels)
    # Single links chain documents that are not similar: that is why they are not the default.
    chained = nd.cluster(pairs, len(texts), rank, method="components")
    ends = np.flatnonzero(~chained.kept)
    assert measure.jaccard(features, ends, chained.keeper[ends]).min() < 0.7
