"""Features against the naive twin: shingles of every unit, weights, selections, and inputs of every kind."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import core as reference

import neardup as nd
from neardup.features import Frequencies, weigh

SEED = nd.fingerprints.DEFAULT_SEED
WORDS = st.text(st.sampled_from("ab c.é漢\n!?"), max_size=60)
TWINS = {
    nd.Words: reference.word_shingles,
    nd.Shingles: reference.word_shingles,
    nd.Characters: reference.character_shingles,
    nd.features.Sentences: reference.sentence_shingles,
}


def as_dict(features: nd.features.Features, row: int = 0) -> dict[int, float]:
    hashes, weights = features.row(row)
    return dict(zip(hashes.tolist(), weights.tolist(), strict=True))


@pytest.mark.parametrize("kind", TWINS)
@given(text=WORDS, width=st.integers(1, 6), weights=st.sampled_from(["constant", "count", "log"]))
def test_features_equal_the_naive_twin(kind, text, width, weights):
    features = kind(width, weights=weights).extract([text])
    expected = reference.row(TWINS[kind](text, width, SEED), weights)
    assert list(as_dict(features)) == list(expected)
    assert as_dict(features) == pytest.approx(expected)


@pytest.mark.parametrize("whitespace", ["collapse", "keep", "drop"])
@pytest.mark.parametrize("punctuation", ["drop", "keep"])
@given(text=WORDS)
def test_characters_by_white_space_and_punctuation(whitespace, punctuation, text):
    steps = {"whitespace": whitespace, "punctuation": punctuation}
    features = nd.Characters(3, normalize=nd.Normalize(**steps)).extract([text])
    assert set(as_dict(features)) == set(reference.character_shingles(text, 3, SEED, **steps))


def test_real_pages_at_every_level(cpu, manuals):
    pages = manuals[:60]
    features = nd.Shingles(5, weights="count").extract(pages)
    for row, page in enumerate(pages):
        assert as_dict(features, row) == reference.row(reference.word_shingles(page, 5, SEED), "count")


def test_all_languages(udhr):
    texts = udhr[::10]
    for kind, width in ((nd.Shingles, 3), (nd.Characters, 4), (nd.features.Sentences, 1)):
        features = kind(width).extract(texts)
        for row, text in enumerate(texts):
            assert set(as_dict(features, row)) == set(TWINS[kind](text, width, SEED))


def same(left: nd.features.Features, right: nd.features.Features) -> bool:
    columns = ("hashes", "weights", "offsets")
    return all(getattr(left, c).tobytes() == getattr(right, c).tobytes() for c in columns)


def test_threads_and_batches_do_not_matter(manuals):
    strategy = nd.Shingles(4, weights="log")
    whole = strategy.extract(manuals[:700])
    assert same(whole, strategy.extract(manuals[:700], threads=2))
    assert same(whole, strategy.extract(manuals[:700], threads=5))
    halves = [strategy.extract(manuals[:333]), strategy.extract(manuals[333:700])]
    assert whole.hashes.tolist() == halves[0].hashes.tolist() + halves[1].hashes.tolist()


def test_arrow_columns_are_the_same_texts(udhr):
    pa = pytest.importorskip("pyarrow")
    texts = [*udhr[:50], None, ""]
    expected = nd.Shingles().extract(texts)
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        array = pa.array(texts, kind)
        assert same(expected, nd.Shingles().extract(array))
        assert same(expected, nd.Shingles().extract(pa.chunked_array([array[:7], array[7:7], array[7:]])))
    assert same(nd.Shingles().extract(texts[3:9]), nd.Shingles().extract(pa.array(texts)[3:9]))
    with pytest.raises(nd.DataError, match="int64"):
        nd.Words().extract(pa.array([1, 2]))


def test_arrow_is_taken_without_copying():
    pa = pytest.importorskip("pyarrow")
    array = pa.array(["some words here"] * 3)
    before = pa.total_allocated_bytes()
    nd.Words().extract(array)
    assert pa.total_allocated_bytes() == before


def test_documents_bytes_and_none():
    rows = [nd.Document("a", "one two"), b"one two", "one two", None]
    features = nd.Words().extract(rows)
    assert features.sizes.tolist() == [2, 2, 2, 0]
    assert len(set(features.hashes.tolist())) == 2


def test_one_text_is_not_a_column():
    with pytest.raises(nd.DataError, match="list"):
        nd.Words().extract("one text")
    with pytest.raises(nd.DataError, match="text 1 is int"):
        nd.Words().extract(["fine", 3])


def known() -> dict:
    path = Path(__file__).parents[1] / "fixtures" / "known_answers.json"
    return json.loads(path.read_text())["shingles"]


def test_a_rose_is_a_rose():
    bag = nd.Shingles(4, weights="count").extract(["a rose is a rose is a rose"])
    assert bag.weights.sum() == known()["rose4_bag"]
    assert len(bag.hashes) == known()["rose4_set"]


def test_tropical_fish():
    text = (
        "Tropical fish include fish found in tropical environments around the world, "
        "including both freshwater and salt water species"
    )
    assert len(nd.Shingles(3).extract([text]).hashes) == known()["tropical3"]
    values = [938, 664, 463, 822, 492, 798, 78, 969, 143, 236, 913, 908, 694, 553, 870, 779]
    assert nd.features.Modulo(4).select(np.array(values, np.uint64)).tolist() == known()["mod4"]


def test_bigrams_of_the_cat():
    bag = nd.Characters(2, weights="count").extract(["the cat sat on a mat"])
    assert bag.weights.sum() == known()["cat_bigrams_bag"]
    assert len(bag.hashes) == known()["cat_bigrams_set"]


def test_four_score():
    text = "Four score and seven years ago our founding"
    expected = {reference.word_shingles(part, 4, SEED)[0] for part in known()["gettysburg4"]}
    assert set(nd.Shingles(4).extract([text]).hashes.tolist()) == expected


@given(st.lists(st.integers(0, 30), max_size=60), st.integers(1, 12))
def test_winnowing_equals_the_naive_twin(sequence, window):
    kept = nd.features.Winnow(window).select(np.array(sequence, np.uint64))
    assert kept.tolist() == reference.winnow(sequence, window)


@given(st.lists(st.sampled_from("abcdefgh"), min_size=9, max_size=9), st.data())
def test_winnowing_keeps_its_promise(shared, data):
    """Two texts that share window + width - 1 tokens share a feature."""
    around = st.lists(st.sampled_from("abcdefgh"), max_size=20)
    texts = [" ".join(data.draw(around) + shared + data.draw(around)) for _ in range(2)]
    features = nd.Shingles(4, select=nd.features.Winnow(6)).extract(texts)
    assert set(features.row(0)[0].tolist()) & set(features.row(1)[0].tolist())


@given(WORDS, st.integers(1, 5), st.integers(0, 9))
def test_selections_equal_their_definitions(text, modulus, floor):
    every = sorted(set(reference.word_shingles(text, 2, SEED)))
    kept = [h for h in every if h % modulus == 0]
    others = [h for h in every if h % modulus != 0]
    expected = sorted(kept + others[: max(0, floor - len(kept))])
    assert (
        nd.Shingles(2, select=nd.features.Modulo(modulus, floor)).extract([text]).hashes.tolist() == expected
    )
    assert nd.features.Modulo(modulus, floor).select(np.array(every, np.uint64)).tolist() == expected
    smallest = nd.Shingles(2, select=nd.features.Smallest(floor + 1)).extract([text])
    assert smallest.hashes.tolist() == every[: floor + 1]


CORPUS = ["the cat sat", "the dog sat", "the bird flew away", "a cat and a cat", ""]


def test_idf_is_the_formula():
    idf = nd.Idf.fit(CORPUS)
    features = nd.Words(weights=idf).extract(["cat cat bird unseen"])
    tf = {"cat": 2, "bird": 1, "unseen": 1}
    df = {"cat": 2, "bird": 1, "unseen": 0}
    raw = {reference.word_hash(w, SEED): tf[w] * (math.log(6 / (1 + df[w])) + 1) for w in tf}
    norm = math.sqrt(sum(w * w for w in raw.values()))
    assert as_dict(features) == pytest.approx({h: w / norm for h, w in raw.items()}, rel=1e-6)


@pytest.mark.parametrize("tf", ["constant", "count", "log"])
def test_weights_made_in_the_core_equal_those_made_from_counts(manuals, tf):
    idf = nd.Idf.fit(manuals[:300], tf=tf)
    native = nd.Words(weights=idf).extract(manuals[:100])
    counts = nd.Words(weights="count").extract(manuals[:100])
    plain = nd.features.Features(counts.hashes, counts.weights, counts.offsets, nd.Words().scheme)
    assert np.allclose(native.weights, weigh(plain, idf).weights, rtol=1e-6)


def test_idf_streams_and_threads_give_the_same_counts(manuals):
    one = Frequencies.count(manuals[:300], nd.Words())
    other = Frequencies.count(iter(manuals[:300]), nd.Words(), threads=3)
    assert one.identifier == other.identifier


def test_idf_is_frozen_saved_and_versioned(tmp_path):
    idf = nd.Idf.fit(CORPUS, tf="log")
    idf.save(tmp_path / "idf")
    again = nd.Idf.load(tmp_path / "idf")
    assert again.scheme == idf.scheme and again.tf == "log"
    assert nd.Words(weights=again).scheme == nd.Words(weights=idf).scheme
    assert nd.Idf.fit(CORPUS[:4]).scheme != idf.scheme
    with pytest.raises(nd.ConfigError, match="other features"):
        nd.Shingles(3, weights=idf)


def test_common_features_go_but_never_all():
    words = nd.Words()
    common = nd.features.Common.fit([f"menu home text{i}" for i in range(50)], words, share=0.5)
    features = nd.Words(common=common).extract(["menu home story", "menu home"])
    story = reference.word_hash("story", SEED)
    assert features.row(0)[0].tolist() == [story]
    assert len(features.row(1)[0]) == 1
    two = nd.Words(common=nd.features.Common(common.frequencies, 0.5, floor=2)).extract(["menu home"])
    assert len(two.hashes) == 2


def test_common_is_saved(tmp_path):
    common = nd.features.Common.fit(CORPUS, nd.Words(), share=0.3)
    common.save(tmp_path / "common")
    assert nd.features.Common.load(tmp_path / "common").scheme == common.scheme


def test_phrases_join_frequent_pairs(tmp_path):
    texts = ["new york is big", "i love new york", "new york new york", "york is old", "a new day"] * 4
    phrases = nd.features.Phrases.fit(texts, at_least=8, lift=1.5)
    assert len(phrases) >= 1
    joined = nd.Words(phrases=phrases, weights="count").extract(["new york is new"])
    pair = reference.shingle([reference.word_hash(w, SEED) for w in ("new", "york")], SEED)
    assert pair in joined.hashes
    assert reference.word_hash("york", SEED) not in joined.hashes
    phrases.save(tmp_path / "phrases")
    assert nd.features.Phrases.load(tmp_path / "phrases").scheme == phrases.scheme
    with pytest.raises(nd.ConfigError, match="other words"):
        nd.Words(phrases=phrases, seed=5)


def test_fields_have_multipliers():
    fields = {"title": ["cat", "dog"], "body": ["cat cat bird", ""]}
    features = nd.Words(weights="count").extract_fields(fields, {"title": 5, "body": 1})
    cat, bird, dog = (reference.word_hash(w, SEED) for w in ("cat", "bird", "dog"))
    assert as_dict(features, 0) == {cat: 7, bird: 1}
    assert as_dict(features, 1) == {dog: 5}
    with pytest.raises(nd.ConfigError, match="body"):
        nd.Words().extract_fields(fields, {"title": 5})
    with pytest.raises(nd.DataError):
        nd.Words().extract_fields({"a": ["x"], "b": []}, {"a": 1, "b": 1})


def test_features_of_the_callers_own():
    features = nd.features.Features.of([{"a": 0.5, "b": 2}, ["a", "a", 7], {}])
    a, b = (reference.word_hash(w, SEED) for w in "ab")
    assert as_dict(features, 0) == {a: 0.5, b: 2}
    assert as_dict(features, 1) == {a: 2, 7: 1}
    assert features.sizes.tolist() == [2, 2, 0]
    for bad in ([[-1]], [[1 << 64]], [{"a": math.nan}]):
        with pytest.raises(nd.DataError):
            nd.features.Features.of(bad)


def test_every_setting_changes_the_scheme():
    idf = nd.Idf.fit(CORPUS)
    variants = [
        nd.Words(),
        nd.Words(seed=1),
        nd.Words(hash="murmur64a"),
        nd.Words(weights="count"),
        nd.Words(weights=idf),
        nd.Words(normalize=nd.Normalize(digits="fold")),
        nd.Words(select=nd.features.Modulo(4)),
        nd.Shingles(3),
        nd.Shingles(5),
        nd.Characters(5),
        nd.features.Sentences(),
    ]
    assert len({variant.scheme for variant in variants}) == len(variants)


def test_a_secret_seed_is_never_shown():
    seed = nd.Seed(0x1234567890ABCDEF, secret=True)
    scheme = nd.Words(seed=seed).scheme
    assert "1234567890abcdef" not in scheme.lower() and seed.identifier in scheme
    assert str(0x1234567890ABCDEF) not in repr(nd.Words(seed=seed))


@pytest.mark.parametrize("bad", [{"width": 0}, {"width": 5000}, {"hash": "md5"}, {"weights": "heavy"}])
def test_wrong_settings(bad):
    with pytest.raises(nd.ConfigError):
        nd.Shingles(**bad)
