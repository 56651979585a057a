"""The keep policy: every rank as a naive sort gives it, and settings that make no sense."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import pipeline as reference_pipeline

import neardup as nd
from neardup.clusters.keepers import Keep
from neardup.errors import ConfigError, DataError

NAMES = ["a", "b", "c"]
rows = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from(NAMES),
        st.sampled_from([0.0, -0.0, 1.0, -1.0, math.nan, math.inf, -math.inf]),
    ),
    max_size=20,
)


@given(
    rows, st.sampled_from(["longest", "first", "last", "score"]), st.permutations(NAMES), st.integers(0, 3)
)
def test_ranks_equal_a_naive_sort(rows, by, prefer, listed):
    lengths, sources, scores = ([row[i] for row in rows] for i in range(3))
    keep = Keep(by, "quality" if by == "score" else None, tuple(prefer[:listed]))
    given = (
        np.array(lengths, np.int64),
        np.array([NAMES.index(source) for source in sources], np.int32),
        NAMES,
        np.array(scores, np.float64),
    )
    if by == "score" and scores and all(map(math.isnan, scores)):
        with pytest.raises(DataError, match="quality"):
            keep.rank(*given)
        return
    found = keep.rank(*given)
    assert found.dtype == np.int64
    assert found.tolist() == reference_pipeline.rank(by, lengths, sources, scores, prefer[:listed])


def test_sources_and_scores_must_be_there():
    lengths = np.array([1, 2], np.int64)
    with pytest.raises(ConfigError, match="no document has the source 'z'; the sources are: a, b"):
        Keep(prefer=("z",)).rank(lengths, np.array([0, 1], np.int32), ["a", "b"])
    with pytest.raises(DataError, match="quality"):
        Keep("score", "quality").rank(lengths)


@pytest.mark.parametrize(
    "wrong",
    [
        {"by": "best"},
        {"by": "score"},
        {"score": "quality"},
        {"prefer": "news"},
        {"many": 0},
        {"many": True},
        {"many": 1.5},
        {"among": "some"},
    ],
)
def test_wrong_policies(wrong):
    with pytest.raises(ConfigError):
        Keep(**wrong)


def document(row, **meta):
    return nd.Document(f"{row}", "the same words every time", meta)


def test_by_score_and_source_of_the_documents():
    documents = [
        document(0, q=1, host="x"),
        document(1, q="2.5", host="y"),
        document(2, host="x"),
        document(3, q=True, host="z"),
    ]
    score = nd.Keep("score", "q")
    assert nd.dedup(documents, keep=score).kept.tolist() == [1]
    prefer = nd.Keep("first", source="host", prefer=("z", "y"))
    assert nd.dedup(documents, keep=prefer).kept.tolist() == [3]
    within = nd.Keep("first", source="host", among="within")
    assert nd.dedup(documents, keep=within).kept.tolist() == [0, 1, 3]
    assert nd.dedup(documents, keep=nd.Keep("first", many=3)).kept.tolist() == [0, 1, 2]


@pytest.mark.parametrize("score", ["good", [1], {}])
def test_scores_that_are_no_numbers(score):
    with pytest.raises(DataError, match=r"'q' is .* not a number or a date to keep by"):
        nd.dedup([document(0, q=score)], keep=nd.Keep("score", "q"))


def test_scores_beyond_floats_are_still_scores():
    documents = [document(0, q=1e300), document(1, q=10**400), document(2, q=-(10**400))]
    assert nd.dedup(documents, keep=nd.Keep("score", "q")).kept.tolist() == [1]
