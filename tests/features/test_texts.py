"""One pass over texts: fingerprints as `fingerprint` makes them, digests equal for equal tokens, and token counts."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.budgets import budget

import neardup as nd
from neardup.fingerprints.one_pass import read_texts

WORDS = st.sampled_from(
    ["a", "A", "b", "ab", "é", "e\u0301", "the", "1", "世界", "ﬁ", "fi", "x_y", "-", "\u00ad", "\ufffd"]
)
texts = st.lists(st.lists(WORDS, max_size=5).map(" ".join) | st.text(max_size=6), max_size=12)
PRINTS = [nd.MinHash(32), nd.MinHash(16, permutations="independent"), nd.BitMinHash(), nd.Simhash(), None]
FEATURES = [
    nd.Shingles(2),
    nd.Words(weights="log"),
    nd.Words(normalize=nd.Normalize(accents="strip", digits="fold")),
]


@pytest.mark.parametrize("prints", PRINTS, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("features", FEATURES, ids=lambda f: type(f).__name__)
@settings(max_examples=budget(25))
@given(texts, st.sampled_from([1, 2, 3]))
def test_one_pass_gives_every_column(prints, features, texts, threads):
    reading = read_texts(texts, features, prints, threads=threads)
    tokens = [tuple(part) for part in nd.features.tokens(texts, features.normalize)]
    assert reading.tokens.tolist() == [len(part) for part in tokens]
    assert reading.empty.tolist() == [not part for part in tokens]
    digests = [bytes(row) for row in reading.digests]
    for i, one in enumerate(tokens):
        for j, other in enumerate(tokens):
            assert not one or not other or (digests[i] == digests[j]) == (one == other)
    if prints is None:
        assert reading.prints is None
        return
    alone = nd.fingerprint(texts, features, prints)
    assert reading.prints.scheme == alone.scheme and np.array_equal(reading.prints.empty, alone.empty)
    column = "values" if isinstance(prints, nd.MinHash) else "codes"
    assert np.array_equal(getattr(reading.prints, column), getattr(alone, column))


def test_digests_see_stop_words_and_are_seeded():
    stop = nd.Words(normalize=nd.Normalize(stopwords=("en",), stem="english"))
    reading = read_texts(["the falcon flies", "falcon flies", "falcon fly"], stop, None)
    assert len({bytes(row) for row in reading.digests}) == 3
    other = read_texts(["the falcon flies"], nd.Words(seed=5), None)
    assert bytes(other.digests[0]) != bytes(reading.digests[0])
    assert read_texts([b"\xff\xff"], nd.Words(), None).replaced == 2


def test_characters_and_sentences():
    """There are never more features than tokens were counted; equal digests of characters are equal characters."""
    texts = ["ab cd. ef", "ab cd ef", "abcd. ef", "ab  cd. ef", "a. b! c? d", "ab\ncd", ""]
    for features in (nd.Characters(3), nd.features.Sentences()):
        tokens = read_texts(texts, features, nd.MinHash(8)).tokens
        assert (features.extract(texts).sizes <= tokens).all()
    digests = [bytes(row) for row in read_texts(texts, nd.Characters(3), None).digests]
    rows = nd.Characters(3).extract(texts)
    for i, j in combinations(range(len(texts) - 1), 2):
        assert (digests[i] == digests[j]) <= (rows.row(i)[0].tolist() == rows.row(j)[0].tolist())
    assert digests[0] == digests[3] != digests[2]
