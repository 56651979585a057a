"""Labels of pairs: yes, no, unknown."""

from __future__ import annotations

import numpy as np
from papers.corpus import PLAIN, Collection
from papers.labels import NO, UNKNOWN, YES, Labels

from neardup.fingerprints import Simhash

PAGE = "the quick brown fox jumps over the lazy dog while seven old ships leave port in heavy rain"
OTHER = "nothing at all in this page is like any other text that was ever written down by anyone here"


def labels() -> Labels:
    texts = [PAGE, PAGE + " today", PAGE + " again", OTHER, OTHER, PAGE, ""]
    features = PLAIN.extract(texts)
    source = np.array([0, 0, 0, 0, 1, 1, 0])
    ids = [str(row) for row in range(len(texts))]
    collection = Collection(
        "test", ("a", "b"), source, ids, texts, PLAIN, features, Simhash().compute(features)
    )
    return Labels(collection, np.array([0, 0, 1, 2, -1, -1, 0]), {(4, 5): NO, (0, 3): YES})


def test_each_rule():
    left, right = np.array([0, 0, 1, 3, 4, 0, 2]), np.array([1, 2, 3, 4, 5, 3, 6])
    expected = [
        YES,  # one cluster
        UNKNOWN,  # clusters apart, most of the text shared
        NO,  # clusters apart, nothing shared
        NO,  # sets apart
        NO,  # judged
        YES,  # judged, against the rule
        NO,  # clusters apart, one text empty
    ]
    assert labels().of(left, right).tolist() == expected
    assert labels().of(right, left).tolist() == expected


def test_unjudged_pairs_of_a_set_without_clusters_are_unknown():
    made = labels()
    without = Labels(made.collection, np.full(7, -1), {})
    assert without.of(np.array([0]), np.array([1])).tolist() == [UNKNOWN]


def test_positives_are_pairs_of_clusters_and_judgements_that_have_codes():
    left, right = labels().positives()
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == [(0, 1), (0, 3)]
