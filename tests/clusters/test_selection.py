"""What one threshold makes of pairs: the same as documents taken one after another."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import pipeline as reference_pipeline

from neardup.clusters import selection as module
from neardup.clusters.selection import cut
from neardup.compare.verify import Pairs


@st.composite
def corpora(draw, most_sources=4):
    """Words and sources of documents, the similar words, and a rank."""
    rows = draw(st.integers(0, 14))
    words = draw(st.lists(st.integers(0, 6), min_size=rows, max_size=rows))
    sources = draw(st.lists(st.integers(0, most_sources - 1), min_size=rows, max_size=rows))
    share = st.sampled_from([0.5, 0.6, 0.7, 0.8, 0.9])
    near = draw(st.dictionaries(st.frozensets(st.integers(0, 6), min_size=2, max_size=2), share, max_size=12))
    rank = draw(st.permutations(range(rows)))
    return words, sources, near, rank


def columns(words, near):
    first = np.array([words.index(word) for word in words], np.int64)
    known = {pair: how for pair, how in near.items() if all(word in words for word in pair)}
    ends = [sorted(words.index(word) for word in pair) for pair in known]
    left, right = (np.array([pair[side] for pair in ends], np.int64) for side in (0, 1))
    return first, Pairs.of(left, right, np.array(list(known.values()), np.float64))


def same(found, wanted):
    return all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(found, wanted, strict=True))


def check(corpus, threshold, many, among, method, reference):
    words, sources, near, rank = corpus
    first, pairs = columns(words, near)
    reference = min(reference, len(words))
    found = cut(
        pairs, first, np.array(rank, np.int64), threshold=threshold, many=many, among=among,
        sources=np.array(sources, np.int32), method=method, reference=reference,
    )  # fmt: skip
    close = {pair: how for pair, how in near.items() if how >= threshold}
    ties = reference_pipeline.similar(words, close, sources, among, reference)
    twin = reference_pipeline.keepers if method == "keepers" else reference_pipeline.components
    keeper, similarity = twin(ties, len(words), rank, reference)
    assert found.clusters.keeper.tolist() == keeper
    assert same(found.clusters.similarity.tolist(), similarity)
    labels = [
        min(row for row in range(len(words)) if keeper[row] == keeper[one]) for one in range(len(words))
    ]
    assert found.clusters.labels.tolist() == labels
    assert np.flatnonzero(found.kept).tolist() == reference_pipeline.kept(keeper, rank, many)
    assert found.dropped.tolist() == sorted(set(range(len(words))) - set(np.flatnonzero(found.kept).tolist()))


thresholds, counts = st.sampled_from([0.5, 0.7, 0.9]), st.integers(1, 3)


@pytest.mark.parametrize("method", ["keepers", "components"])
@pytest.mark.parametrize("among", ["all", "within", "across"])
@given(corpora(), thresholds, counts)
def test_equal_one_after_another(method, among, corpus, threshold, many):
    check(corpus, threshold, many, among, method, 0)


@pytest.mark.parametrize("method", ["keepers", "components"])
@pytest.mark.parametrize("among", ["all", "within", "across"])
@given(corpora(), thresholds, st.integers(1, 8))
def test_equal_one_after_another_with_a_reference(method, among, corpus, threshold, reference):
    check(corpus, threshold, 1, among, method, reference)


def test_a_reference_is_never_dropped_even_if_it_ranks_last():
    pairs = Pairs(np.array([0, 1]), np.array([1, 2]), np.array([0.9, 0.9]))
    found = cut(pairs, np.arange(3), np.array([2, 1, 0]), threshold=0.8, reference=2)
    assert found.clusters.keeper.tolist() == [0, 1, 1] and found.kept.tolist() == [True, True, False]


def many_similar(sources, among):
    """Two near texts in every source."""
    words = np.tile([0, 1], sources)
    source = np.repeat(np.arange(sources, dtype=np.int32), 2)
    pairs = Pairs(np.array([0]), np.array([1]), np.array([0.9]))
    return cut(pairs, words, np.arange(2 * sources), threshold=0.8, among=among, sources=source)


def test_two_texts_in_many_sources():
    """Beyond the spread not all pairs are spelled out; within a source they always are, and cost no square."""
    sources = 30_000
    assert sources**2 > module.SPREAD
    assert np.flatnonzero(many_similar(sources, "within").kept).tolist() == list(range(0, 2 * sources, 2))
    # Row 0 takes all of other sources; its own source's other text has nobody left.
    assert np.flatnonzero(many_similar(sources, "across").kept).tolist() == [0, 1]
    assert np.flatnonzero(many_similar(3, "across").kept).tolist() == [0, 1]
