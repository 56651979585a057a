"""Repeated passages: the same as the definition says, as a full suffix array says, and the same for any settings."""

import dataclasses
import gzip
import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from reference.repeats import cut_words, maximal_repeats, suffix_repeats

import neardup as nd
from neardup import _core
from neardup.features.texts import as_texts
from neardup.passages import windows
from neardup.passages.removal import trim, without

WORDS = st.lists(st.sampled_from("abcd"), max_size=25)
CORPORA = st.lists(WORDS, min_size=1, max_size=6)


def documents_of(corpus: list[list[str]]) -> list[nd.Document]:
    return [nd.Document(str(row), " ".join(words)) for row, words in enumerate(corpus)]


def listed(found: nd.passages.Repeats) -> dict[tuple[str, ...], list[tuple[int, int]]]:
    return {
        tuple(one.text.split()): [(int(place.id), place.first) for place in one.occurrences]
        for one in found.top
    }


def plain(found: nd.passages.Repeats) -> nd.passages.Repeats:
    """Without what may differ from run to run."""
    return dataclasses.replace(found, seconds={}, spilled=0)


def find(corpus, out=None, how=None, **settings) -> nd.passages.Repeats:
    return (how or nd.passages.Passages(3)).find(
        documents_of(corpus), out=out, top=10_000, examples=10_000, **settings
    )


@given(CORPORA, st.integers(2, 5), st.integers(2, 4))
@example([["a"] * 60], 3, 2)
@example([["a", "b"] * 20, ["b", "a"] * 20], 4, 2)
def test_all_maximal_repeats_are_listed(corpus, width, least):
    expected = maximal_repeats(corpus, width, least)
    found = find(corpus, how=nd.passages.Passages(width, least=least))
    assert listed(found) == expected and found.distinct == len(expected)
    saved = [(one.count - 1) * one.words for one in found.top]
    assert saved == sorted(saved, reverse=True)
    for one in found.top:
        assert one.words == len(one.text.split()) and one.count == len(one.occurrences)
        assert one.documents == len({place.id for place in one.occurrences})


@given(CORPORA, st.integers(2, 4), st.none() | st.integers(1, 3), st.integers(2, 3))
def test_what_occurred_before_is_cut(tmp_path_factory, corpus, width, most, least):
    out = tmp_path_factory.mktemp("cut") / "out.jsonl"
    found = find(corpus, out, nd.passages.Passages(width, most=most, least=least))
    dropped = cut_words(corpus, width, least, most)
    left = [json.loads(line)["text"].split() for line in out.read_text().splitlines()]
    assert left == [
        [word for word, cut in zip(words, flags, strict=True) if not cut]
        for words, flags in zip(corpus, dropped, strict=True)
    ]
    assert found.written == len(corpus) and found.changed == sum(map(any, dropped))
    assert found.emptied == sum(all(cut) and len(cut) > 0 for cut in dropped)
    if least == 2:
        unbroken = [
            tuple(words[at : at + width])
            for words, cut in zip(corpus, dropped, strict=True)
            for at in range(len(words) - width + 1)
            if not any(cut[at : at + width])
        ]
        assert len(set(unbroken)) == len(unbroken)
    if most is None:
        assert {word for words in left for word in words} == {word for words in corpus for word in words}


@given(CORPORA, st.integers(2, 4))
def test_within_a_document(corpus, width):
    found = listed(find(corpus, how=nd.passages.Passages(width, within="document")))
    expected = {}
    for row, words in enumerate(corpus):
        for passage, where in maximal_repeats([words], width).items():
            expected.setdefault(passage, []).append([(row, at) for _, at in where])
    assert set(found) == set(expected)
    assert all(found[passage] in groups for passage, groups in expected.items())


@pytest.mark.parametrize(
    "settings", [{"threads": 2}, {"memory": 1_000_000}, {"memory": 2_000_000, "threads": 2}]
)
def test_memory_and_threads_change_nothing(data, tmp_path, settings):
    path = data / "tldr_short" / "docs.jsonl.gz"
    outs = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    found = nd.passages.Passages(20).find(path, out=outs[0])
    again = nd.passages.Passages(20).find(nd.read(path, batch=77), out=outs[1], scratch=tmp_path, **settings)
    assert plain(found) == dataclasses.replace(plain(again), out=str(outs[0]))
    assert outs[0].read_bytes() == outs[1].read_bytes() and found.changed > 100
    assert sorted(tmp_path.iterdir()) == outs  # no scratch is left
    if "memory" in settings:
        assert again.spilled > found.spilled


def test_the_seed_changes_nothing(data):
    path = data / "tldr_short" / "docs.jsonl.gz"
    found, other = (nd.passages.Passages(20, seed=seed).find(path) for seed in (1, 2))
    assert plain(found) == plain(other)


def test_colliding_hashes_are_noticed_and_replaced(monkeypatch):
    corpus = [[f"w{i * i % 61}" for i in range(100)], [f"w{i % 7}" for i in range(50)]]
    expected = plain(find(corpus))
    tried = []
    original = windows._WindowSearch.verify

    def verify(self, *arguments):
        tried.append(original(self, *arguments))
        return tried[-1]

    monkeypatch.setattr(windows._WindowSearch, "verify", verify)
    monkeypatch.setattr(windows, "_ATTEMPTS", (2, 3, 64))
    assert plain(find(corpus)) == expected and tried == [False, False, True]
    tried.clear()
    apart = nd.passages.Passages(3, within="document")
    assert plain(find(corpus, how=apart)) == plain(find(corpus, how=apart)) and tried[-1]


@pytest.mark.parametrize(
    ("name", "most"), [("tldr_short", 2000), pytest.param("k8s_docs_rev", 300, marks=pytest.mark.slow)]
)
def test_a_full_suffix_array_finds_the_same(data, name, most):
    path = data / name / "docs.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in islice(file, most)]
    hashes, offsets, _, _ = _core.token_stream(as_texts(texts), nd.Normalize().native(), 3, False, 1)
    expected = suffix_repeats(np.split(hashes, offsets[1:-1]), 50)
    documents = list(islice(nd.read(path).documents(), most))
    found = nd.passages.Passages().find(documents, top=10**9, examples=1)
    rows = {document.id: row for row, document in enumerate(documents)}
    assert expected == sorted(
        (one.words, one.count, int(offsets[rows[one.occurrences[0].id]]) + one.occurrences[0].first)
        for one in found.top
    )
    assert len(expected) > 40


@pytest.mark.slow
def test_licences_lose_what_they_share(data, tmp_path):
    """After the cut no 50 words in a row that occurred together are left twice, and nothing is lost for good."""
    path, out = data / "licenses" / "docs.jsonl.gz", tmp_path / "out.jsonl"
    found = nd.passages.Passages().find(path, out=out, top=3)
    assert 0.6 < found.cut / found.size < 0.8 and found.written == found.documents == 6389
    before = {d.id: nd.features.tokens([d.text])[0] for d in nd.read(path).documents()}
    after = {d.id: nd.features.tokens([d.text])[0] for d in nd.read(out).documents()}
    assert sum(map(len, after.values())) < 0.4 * sum(map(len, before.values()))
    assert {word for words in after.values() for word in words} == {
        w for words in before.values() for w in words
    }
    again = nd.passages.Passages().find(out, top=0)
    assert again.cut < 0.005 * again.size  # what cutting has brought together
    top = found.top[0]
    assert top.count > 20 and top.words > 1000
    texts = {document.id: document.text for document in nd.read(path).documents()}
    for place in top.occurrences:
        assert nd.features.tokens([texts[place.id][place.begin : place.end]]) == nd.features.tokens(
            [top.text]
        )
        assert before[place.id][place.first : place.last] == nd.features.tokens([top.text])[0]


def test_spans_are_characters_of_the_original(tmp_path):
    shared = "Der Fluß trägt die Fähre “über” das ½ Meer; 船は港を出る。"
    documents = [
        nd.Document("a", f"Eins. {shared} Ende"),
        nd.Document("b", f"(ZWEI) {shared.upper()}\n\nDrei vier."),
    ]
    out = tmp_path / "out.jsonl"
    found = nd.passages.Passages(5).find(documents, out=out)
    (one,) = found.top
    assert one.text == shared[:-1] and one.count == 2
    assert [json.loads(line)["text"] for line in out.read_text().splitlines()] == [
        documents[0].text,
        "(ZWEI)\n\nDrei vier.",
    ]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("A b. [C d.] E f.", "A b. E f."),
        ("[C d.] E f.", "E f."),
        ("A b. [C d.]\n", "A b.\n"),
        ("A b.\n\n[C d.]\n\nE f.", "A b.\n\nE f."),
        ("A b. [C d.]\n\nE f.", "A b.\n\nE f."),
        ("A b. “[C d]”, E f.", "A b. E f."),
        ("A b-[C d]-E f", "A b--E f"),
        ("A b. =====[C d]===== E f.", "A b. ========== E f."),
        ("A b [C d] *** ♥♥♥♥ *** E", "A b *** ♥♥♥♥ *** E"),
    ],
)
def test_cuts_are_clean(text, left):
    begin, end = text.index("["), text.index("]") - 1
    text = text.replace("[", "").replace("]", "")
    words = [i for i, c in enumerate(text) if c.isalnum()]
    inside = [i for i in range(begin, end) if text[i].isalnum()]
    before = max((i + 1 for i in words if i < begin), default=0)
    behind = min((i for i in words if i >= end), default=len(text))
    cut = trim(text, inside[0], inside[-1] + 1, before, behind)
    assert without(text, [cut]) == left


@pytest.mark.parametrize("corpus", [[[]], [[], []], [["a"]], [["a"] * 3], [["a", "b"]] * 2])
def test_tiny_corpora(tmp_path, corpus):
    out = tmp_path / "out.jsonl"
    found = find(corpus, out)
    assert found.documents == found.written == len(corpus) and found.cut == 0 and found.top == ()
    assert len(out.read_text().splitlines()) == len(corpus)


def test_an_empty_file(tmp_path):
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_text("")
    for how in (nd.passages.Passages(), nd.passages.Lines()):
        found = how.find(path, out=out)
        assert found.documents == found.written == 0 and out.read_bytes() == b""


def test_all_the_same(tmp_path):
    corpus = [[f"w{i}" for i in range(80)]] * 3000
    found = nd.passages.Passages().find(documents_of(corpus), memory="1MB", top=5)
    (one,) = found.top
    assert (one.words, one.count, one.documents, len(one.occurrences)) == (80, 3000, 3000, 5)
    assert found.emptied == found.changed == 2999


def test_one_word_over_and_over():
    found = nd.passages.Passages().find(documents_of([["ha"] * 20_000]), top=3)
    assert found.distinct == 20_000 - 50 and found.top[0].words * (found.top[0].count - 1) > 10**8 - 10**6
    assert found.cut == 19_999 * 3


def test_mistakes(tmp_path):
    path = Path(tmp_path / "in.jsonl")
    path.write_text('{"id": 1, "text": "a b c d e f"}\n')
    with pytest.raises(nd.ConfigError, match="one of the inputs"):
        nd.passages.Passages().find(path, out=path)
    with pytest.raises(nd.DataError, match="read only once"):
        nd.passages.Passages(2).find(iter([nd.Document("a", "b c d b c d")]))
    for bad in ({"min_length": 1}, {"least": 1}, {"most": 0}, {"within": "page"}, {"min_length": 5.0}):
        with pytest.raises(nd.ConfigError):
            nd.passages.Passages(**bad)
    with pytest.raises(nd.ConfigError, match="stems"):
        nd.passages.Passages(normalize=nd.Normalize(stem="english"))
    for settings in ({"threads": 0}, {"memory": "much"}, {"top": -1}, {"examples": 0}):
        with pytest.raises(nd.ConfigError):
            nd.passages.Passages().find(path, **settings)
