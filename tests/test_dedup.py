"""The whole job: one answer for any threads, memory, shards and order of files, and the right one."""

import gzip
import itertools
import json
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import core as reference
from reference import pipeline as reference_pipeline
from support.budgets import budget

import neardup as nd
from neardup import sample
from neardup.errors import ConfigError, DataError
from neardup.pipeline import sharder as sharding
from neardup.values.wording import counted


def pages(most=400):
    with gzip.open(sample.path(), "rt", encoding="utf-8") as file:
        found = [nd.Document(page["id"], page["text"]) for page in map(json.loads, file)][:most]
    # Equal words, other marks: an exact duplicate here and there, and a few without words.
    return (
        found
        + [nd.Document(f"again{i}", found[i].text + " !") for i in range(0, len(found), 40)]
        + [nd.Document("", "")]
    )


def answer_of(result):
    """All that a result says, but for how long it took."""
    columns = [result.clusters.labels, result.clusters.keeper, result.clusters.similarity, result.cut.kept]
    columns += [result.found.first, result.pairs.left, result.pairs.right, result.pairs.similarity]
    counts = (result.candidates, result.capped, result.found.skipped, result.found.implied, result.exact)
    return result.ids, [column.tobytes() for column in columns], counts, result.summary()


METHODS = ["minhash", "simhash", "bits", "exact"]


@pytest.mark.parametrize("method", METHODS)
def test_threads_memory_and_shards_do_not_matter(tmp_path, monkeypatch, method):
    documents = pages()
    config = nd.Config.of(method, threshold=0.7, floor=0.6)
    wanted = answer_of(nd.dedup(documents, config))
    assert answer_of(nd.dedup(documents, config, threads=2)) == wanted
    monkeypatch.setattr(sharding, "_MOST_DOCUMENTS", 37)
    monkeypatch.setattr("neardup.pipeline.inputs._BATCH", 20)
    assert answer_of(nd.dedup(documents, config)) == wanted
    assert answer_of(nd.dedup(documents, config, memory="20MB", folder=tmp_path, threads=2)) == wanted
    assert answer_of(nd.dedup(documents, config, memory=1)) == wanted
    assert not list(tmp_path.iterdir())  # nothing is left behind


def write(folder, documents, names):
    folder.mkdir()
    size = -(-len(documents) // len(names))
    for i, name in enumerate(names):
        rows = documents[i * size : (i + 1) * size]
        (folder / name).write_text("".join(json.dumps({"id": d.id, "text": d.text}) + "\n" for d in rows))
    return [folder / name for name in names]


def test_the_order_of_files_does_not_matter(tmp_path):
    documents = pages(200)
    paths = write(tmp_path / "in", documents, ["a.jsonl", "b.jsonl", "c.jsonl"])
    wanted = answer_of(nd.dedup(nd.read(tmp_path / "in"), threshold=0.7))
    assert wanted[0] == tuple(d.id or "c.jsonl:68" for d in documents)
    for order in itertools.permutations(paths):
        assert answer_of(nd.dedup(nd.read([os.fspath(path) for path in order]), threshold=0.7)) == wanted
    fixed = nd.Config(seed=5)  # the seed of files is drawn from their bytes, that of a list from its texts
    wanted = answer_of(nd.dedup(nd.read(tmp_path / "in"), fixed, threshold=0.7))
    assert wanted[1:] == answer_of(nd.dedup(documents, fixed, threshold=0.7))[1:]


def test_files_tables_and_lists_are_the_same(tmp_path):
    documents = pages(100)[:-1]
    write(tmp_path / "in", documents, ["a.jsonl"])
    fixed = nd.Config(
        seed=5
    )  # without it, that of a file is drawn from its bytes, that of a list from its texts
    wanted = answer_of(nd.dedup(documents, fixed))
    assert answer_of(nd.dedup(tmp_path / "in" / "a.jsonl", fixed)) == wanted
    assert np.array_equal(nd.dedup(documents).kept, nd.dedup(tmp_path / "in" / "a.jsonl").kept)
    scored = nd.Config(keep=nd.Keep("longest", source="id"), seed=5)  # read with fields, not in columns
    assert answer_of(nd.dedup(tmp_path / "in" / "a.jsonl", scored)) == wanted
    import pandas

    table = pandas.DataFrame([{"id": d.id, "text": d.text} for d in documents])
    assert answer_of(nd.dedup(table, fixed)) == wanted


@pytest.mark.parametrize("method", ["simhash", "bits", "minhash"])
def test_verified_pairs_are_right(method):
    documents = pages(200)
    rows = [set(reference.word_shingles(d.text, 5, nd.fingerprints.DEFAULT_SEED)) for d in documents]
    exact = reference_pipeline.jaccard_pairs(rows, 0.6)
    result = nd.dedup(documents, nd.Config.of(method, threshold=0.6))
    found = zip(result.pairs.left.tolist(), result.pairs.right.tolist(), result.pairs.similarity, strict=True)
    pairs = {(a, b): similarity for a, b, similarity in found}
    assert len(pairs) > 30
    for pair, similarity in pairs.items():
        assert similarity == pytest.approx(exact[pair])
    first = result.found.first
    wanted = {pair for pair in exact if first[pair[0]] == pair[0] and first[pair[1]] == pair[1]}
    assert len(wanted & set(pairs)) >= {"minhash": 0.98, "bits": 0.6, "simhash": 0.7}[method] * len(wanted)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("memory", [None, "20MB"])
def test_tiny_and_odd_corpora(method, memory):
    config = nd.Config.of(method)
    for texts, kept in (
        ([], 0),
        (["alone"], 1),
        ([""], 1),
        (["", " ", "...", ""], 4),
        (["same words here"] * 7, 1),
        (["", "x", "", "x"], 3),
        (["\0", "\ufffd", "a\0b", "a\ufffdb"], None),
    ):
        result = nd.dedup(texts, config, memory=memory)
        assert len(result) == len(texts) and kept in (None, len(result.kept))
        assert result.summary().startswith(counted(len(texts), "document"))
        assert len(result.kept) + len(result.dropped) == len(texts)


@pytest.mark.parametrize("memory", [None, "20MB"])
def test_one_very_long_document(memory):
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in rng.integers(0, 1 << 40, 1_200_000)]
    long = " ".join(words)
    other = " ".join(words[: len(words) * 9 // 10])
    assert len(long) > 15_000_000
    result = nd.dedup(["short one", long, "w1 w2 w3 w4 w5 w6", other], memory=memory)
    assert result.kept.tolist() == [0, 1, 2] and result.pairs.similarity[0] == pytest.approx(0.9, abs=1e-3)


def test_many_identical_documents_on_disk():
    texts = ["the same page again and again and again"] * 200_000 + ["another page altogether, other words"]
    result = nd.dedup(texts, memory="50MB")
    assert len(result.kept) == 2 and result.exact == 199_999 and len(result.pairs) == 0


FEATURES = {
    "shingles": nd.Shingles(),
    "pairs of words": nd.Shingles(2),
    "words": nd.Words(),
    "characters": nd.Characters(4),
    "sentences": nd.features.Sentences(),
    "stop words": nd.Words(normalize=nd.Normalize(stopwords=("en",))),
}


def brute(texts, features, threshold):
    made = features.extract(texts)
    return reference_pipeline.jaccard_pairs(
        [set(made.row(i)[0].tolist()) for i in range(len(texts))], threshold
    )


def check_short(texts, features, threshold, **others):
    result = nd.dedup(texts, nd.Config(features, **others), threshold=threshold)
    first = result.found.first.tolist()
    found = zip(result.pairs.left.tolist(), result.pairs.right.tolist(), result.pairs.similarity, strict=True)
    wanted = {
        (a, b): similarity
        for (a, b), similarity in brute(texts, features, threshold).items()
        if first[a] == a and first[b] == b
    }
    assert {(a, b): pytest.approx(s) for a, b, s in found} == wanted
    return wanted


words = st.sampled_from(["alpha", "beta", "gamma", "delta", "the", "of", "and", "to.", "is", "a"])
short_texts = st.lists(st.lists(words, max_size=14).map(" ".join), max_size=14)


@pytest.mark.parametrize("name", FEATURES)
@settings(max_examples=budget(40))
@given(short_texts, st.sampled_from([0.3, 0.5, 0.7, 0.8, 1.0]))
def test_short_documents_equal_brute_force(name, texts, threshold):
    check_short(texts, FEATURES[name], threshold)


@pytest.mark.parametrize("name", FEATURES)
def test_short_near_duplicates_equal_brute_force(name):
    """Texts of 1 to 39 words, each with a few words changed, dropped or added; and some a little longer."""
    rng = np.random.default_rng(7)
    vocabulary = [f"word{i}" for i in range(300)] + ["the", "of", "and", "a"] * 20
    texts = []
    for size in [*range(1, 40)] * 2 + [*range(40, 60)]:
        base = rng.choice(vocabulary, size).tolist()
        for _ in range(3):
            changed = [w for w in base if rng.random() > 0.03]
            texts.append(" ".join(changed + rng.choice(vocabulary, int(rng.random() < 0.2)).tolist()))
    # At such a recall bands find all that is not short here.
    assert len(check_short(texts, FEATURES[name], 0.7, recall=0.999999)) > (-1 if name == "sentences" else 40)


def test_a_short_text_and_a_long_one_that_says_no_more():
    """A long text may have few features: the same words over and over."""
    texts = [
        "spam spam spam spam spam spam spam",
        "spam " * 200,
        "ham eggs " * 10,
        "ham eggs " * 300,
        "other",
    ]
    assert set(check_short(texts, nd.Shingles(), 0.8)) == {(0, 1), (2, 3)}
    stop = FEATURES["stop words"]
    texts = ["falcon eagle heron", "the falcon of the eagle and the heron " + "the of and to " * 60]
    assert set(check_short(texts, stop, 0.8)) == {(0, 1)}


def test_many_short_texts_in_little_room():
    rng = np.random.default_rng(3)
    texts = [" ".join(f"w{i}" for i in rng.integers(0, 12, 8)) for _ in range(1500)]
    one = nd.dedup(texts, nd.Config(nd.Words()), threshold=0.6)
    assert len(one.pairs) > 1000
    assert answer_of(nd.dedup(texts, nd.Config(nd.Words()), threshold=0.6, memory=1, threads=2)) == answer_of(
        one
    )


def test_pages_without_text_are_reported_and_not_written(tmp_path):
    """The kept documents are written, also those after one that could not be read."""
    pytest.importorskip("resiliparse")
    page = "<html><body><p>This is the main text of page {}, with words of its own. {}</p></body></html>"
    texts = [page.format(i, " ".join(f"w{i}x{j}" for j in range(80))) for i in range(4)]
    texts[1] += "<!-- " + "x" * (17 << 20) + " -->"
    texts.append(texts[3])
    with open(tmp_path / "a.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": f"{i}", "html": text}) + "\n" for i, text in enumerate(texts))
    result = nd.dedup(tmp_path / "a.jsonl")
    assert result.ids == ("0", "1", "2", "3", "4") and result.kept.tolist() == [0, 2, 3]
    assert [(one.row, one.id, one.reason) for one in result.rejected] == [(1, "1", "no text")]
    assert result.dropped == [nd.result.Dropped(4, 3, 1.0)] and result.documents == 4
    assert result.failed == 1 and "5 rows read: 4 documents, 1 rejected\n    HTML:" in result.summary()
    assert result.write(tmp_path / "out.jsonl") == 3
    assert [d.id for d in nd.read(tmp_path / "out.jsonl").documents()] == ["0", "2", "3"]


@pytest.mark.parametrize("memory", [None, "20MB"])
def test_texts_that_are_no_unicode(memory):
    """A lone surrogate is read as U+FFFD, here as in fingerprints; bytes too where they are no UTF-8."""
    texts = ["one \ud800x two", "one \ufffdx two", b"one \xffx two", "one éx two"]
    assert nd.dedup(texts, memory=memory).found.first.tolist() == [0, 0, 0, 3]
    with pytest.raises(DataError, match="id"):
        nd.dedup([nd.Document("\udfff", "text")], memory=memory)


def test_wrong_settings():
    for wrong in ({"keep": 5}, {"memory": "much"}, {"memory": 0}, {"threads": 0}, {"floor": 0.9}):
        with pytest.raises((ConfigError, ValueError)):
            nd.dedup(["x"], **wrong)


def test_files_of_which_nothing_can_be_read_are_an_error(tmp_path):
    (tmp_path / "a.jsonl").write_text("no\nno\n")
    with pytest.raises(nd.DataError, match="nothing could be read: 2 of 2 rows were rejected"):
        nd.dedup(tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").write_text("")
    assert len(nd.dedup(tmp_path / "b.jsonl")) == 0, "an empty file was read whole"
