"""The seeds' other signature schemes: what each promises, and that all are methods of one pipeline."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.errors import ConfigError
from neardup.features.weights import Frequencies

SCHEMES = [
    nd.fingerprints.SuperFingerprints(),
    nd.fingerprints.BucketChecksums(16),
    nd.fingerprints.IMatch(0, 1),
    nd.fingerprints.IMatch(0, 1, lexicons=5),
]


def fitted(scheme, texts, features):
    return (
        scheme.fit(Frequencies.count(texts, features))
        if isinstance(scheme, nd.fingerprints.IMatch)
        else scheme
    )


def words(rng, many=300):
    return [f"w{rng.randrange(5000)}" for _ in range(many)]


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda s: f"{type(s).__name__}{s.places}")
def test_order_and_neighbours_do_not_matter(scheme):
    rng = random.Random(5)
    texts = [" ".join(words(rng)) for _ in range(20)]
    features = nd.Words()
    made = fitted(scheme, texts, features)
    keys = made.compute(features.extract(texts))
    alone = np.concatenate([made.compute(features.extract([text])).keys for text in texts])
    turned = made.compute(features.extract([" ".join(reversed(text.split())) for text in texts])).keys
    assert np.array_equal(keys.keys, alone) and np.array_equal(keys.keys, turned)
    assert keys.keys.shape == (20, made.places)
    assert len(np.unique(keys.keys[:, 0])) == 20
    empty = made.compute(features.extract(["", "..."]))
    assert empty.empty.all() and not empty.keys.any()


def test_imatch_leaves_out_frequent_and_rare_words():
    """Chowdhury's point: stop words and typing errors do not change the digest, a word of the lexicon does."""
    rng = random.Random(1)
    common = ["the", "of", "and"]
    texts = [
        " ".join(common + [f"topic{rng.randrange(30)}" for _ in range(12)] + [f"once{i}"]) for i in range(200)
    ]
    features = nd.Words()
    scheme = nd.fingerprints.IMatch(0.1, 0.8, least=1).fit(Frequencies.count(texts, features))
    text = texts[7]
    word = next(w for w in text.split() if w.startswith("topic"))
    versions = [
        text,
        text.replace("the", "").replace("and", ""),
        text.replace("once7", "onec7"),
        text.replace(word, "topic999"),
        text + " topic29 topic28 topic27 topic26",
    ]
    keys = scheme.compute(features.extract(versions)).keys[:, 0]
    assert keys[0] == keys[1] == keys[2]
    assert keys[0] not in (keys[3], keys[4])


def test_several_lexicons_forgive_what_one_does_not():
    rng = random.Random(2)
    vocabulary = [f"v{i}" for i in range(400)]
    texts = [" ".join(rng.sample(vocabulary, 60)) for _ in range(300)]
    edited = [" ".join(text.split()[1:]) for text in texts]  # one word less
    features = nd.Words()
    frequencies = Frequencies.count(texts, features)
    found = {}
    for lexicons, share in ((1, 0.7), (10, 0.7)):
        scheme = nd.fingerprints.IMatch(0, 1, lexicons=lexicons, share=share).fit(frequencies)
        left, right = (scheme.compute(features.extract(column)).keys for column in (texts, edited))
        found[lexicons] = (left == right).sum(axis=1)
    assert (found[1] == 0).all()
    # A lexicon without the word, 3 in 10 of them, does not notice that it is missing.
    assert found[10].mean() == pytest.approx(3, abs=0.5)
    assert (found[10] >= 1).mean() > 0.9


def test_a_document_without_lexicon_words_has_no_digest():
    features = nd.Words()
    texts = ["a b c", "a b c", "a b d", "x y z"]
    scheme = nd.fingerprints.IMatch(0.0, 0.5, least=1).fit(Frequencies.count(texts, features))
    keys = scheme.compute(features.extract(texts)).keys[:, 0]
    assert keys[3] == 0 and (keys[:3] != 0).all()
    few = nd.fingerprints.IMatch(0.0, 0.5, least=3).fit(Frequencies.count(texts, features))
    assert few.compute(features.extract(texts)).keys[:, 0].astype(bool).tolist() == [True, True, False, False]


@given(st.sets(st.text("abcdef", min_size=1, max_size=4), min_size=1, max_size=40), st.integers(1, 20))
def test_a_changed_word_spoils_one_bucket(vocabulary, buckets):
    """Pugh and Henzinger: the checksums of similar documents agree for most buckets."""
    scheme, features = nd.fingerprints.BucketChecksums(buckets), nd.Words()
    text = " ".join(sorted(vocabulary))
    before, after = scheme.compute(features.extract([text, text + " another9"])).keys
    assert (before != after).sum() == 1
    assert (before != 0).sum() <= min(buckets, len(vocabulary))


def test_super_fingerprints_are_two_of_six():
    """Made for near-identical copies: P(2 of 6) is .9 at similarity .95 and .06 at .8."""
    scheme = nd.fingerprints.SuperFingerprints()
    assert (scheme.places, scheme.agreeing, scheme.sketch().values) == (6, 2, 84)
    rng = random.Random(3)
    texts = []
    for _ in range(150):
        text = words(rng, 600)
        texts += [" ".join(text), " ".join(text[:-15]), " ".join(text[:-67] + words(rng, 67))]
    keys = scheme.compute(nd.Words().extract(texts)).keys.reshape(150, 3, 6)
    near = ((keys[:, 0] == keys[:, 1]).sum(axis=1) >= 2).mean()
    far = ((keys[:, 0] == keys[:, 2]).sum(axis=1) >= 2).mean()
    assert near > 0.9
    assert far < 0.2


@pytest.mark.parametrize("method", ["imatch", "supers", "buckets", "sketch"])
def test_methods_of_the_pipeline(method, tmp_path):
    rng = random.Random(4)
    texts = [" ".join(words(rng)) for _ in range(60)]
    texts += [f"{text} addendum{i}" for i, text in enumerate(texts[:20])] + ["", "too short"]
    config = nd.Config.of(method, short=0)
    result = nd.dedup(texts, config)
    pairs = list(zip(result.pairs.left.tolist(), result.pairs.right.tolist(), strict=True))
    assert set(pairs) <= {(i, 60 + i) for i in range(20)}
    assert len(pairs) >= 18
    again = nd.dedup(
        texts, nd.Config.from_plain(config.to_plain()), memory="64MB", folder=tmp_path, threads=2
    )
    assert np.array_equal(again.pairs.left, result.pairs.left)
    assert np.array_equal(again.kept, result.kept)


def test_what_does_not_go_together(tmp_path):
    with pytest.raises(ConfigError, match="IMatch with LSH"):
        nd.Config(fingerprint=nd.fingerprints.IMatch(), search=nd.LSH(5, 5))
    with pytest.raises(ConfigError, match="Simhash with Agree"):
        nd.Config(fingerprint=nd.Simhash(), search=nd.search.Agree(3))
    with pytest.raises(ConfigError, match="low below high"):
        nd.fingerprints.IMatch(0.9, 0.1)
    with pytest.raises(ConfigError, match="use Agree in scan and dedup"):
        nd.Index(tmp_path / "supers.nd", nd.Config.of("supers"))


WAYS = ["characters", "prefix", "hash", "positions", "digest"]


@given(st.lists(st.text("ab\n", max_size=6), max_size=30), st.sampled_from(WAYS), st.integers(1, 4))
def test_ways_to_identical_pages_agree(texts, way, many):
    found = nd.fingerprints.identical(texts, way, many=many, reach=8)
    assert found.first.tolist() == [texts.index(text) for text in texts]


def test_pages_with_equal_beginnings_make_prefixes_slow():
    """The slides' objection: what about pages that all begin with <HTML>?"""
    pages = [f"<HTML><HEAD><TITLE>{'x' * 80}</TITLE>{i * 7919:040}" for i in range(100)]
    every = nd.fingerprints.identical(pages, "characters").compared
    assert nd.fingerprints.identical(pages, "prefix", many=6).compared == every == 100 * 99 // 2
    assert nd.fingerprints.identical(pages, "positions", many=64, reach=147).compared < every
    assert nd.fingerprints.identical(pages, "digest").compared == 0
    with pytest.raises(ConfigError, match="way must be"):
        nd.fingerprints.identical(pages, "telepathy")
