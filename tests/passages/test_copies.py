"""Passages that two texts share, and the pairs that share one."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import copied as reference_copied

import neardup as nd
from neardup import _core
from neardup.compare.passages import matched_spans
from neardup.passages import copies as copying

WORDS = st.lists(st.sampled_from("abcd"), max_size=30)


def longest_common(left, right):
    """Words of the longest run that occurs in both."""
    best = 0
    for a in range(len(left)):
        for b in range(len(right)):
            length = 0
            while (
                a + length < len(left) and b + length < len(right) and left[a + length] == right[b + length]
            ):
                length += 1
            best = max(best, length)
    return best


@given(WORDS, WORDS, st.integers(1, 6))
def test_spans_equal_the_definition(left, right, width):
    spans = matched_spans(left, right, width)
    used = min(width, len(left), len(right))
    expected = reference_copied.passages(left, right, used) if used else []
    assert [(span.left, span.right, span.words) for span in spans] == expected
    for span in spans:
        assert left[span.left : span.left + span.words] == right[span.right : span.right + span.words]
        assert span.text.split() == left[span.left : span.left + span.words]


@given(st.lists(WORDS, min_size=1, max_size=8), st.integers(1, 4), st.data())
def test_many_pairs_at_once_are_the_pairs_one_by_one(texts, width, draw):
    tokens = np.array([ord(word) for text in texts for word in text], np.uint64)
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    row = st.integers(0, len(texts) - 1)
    pairs = draw.draw(st.lists(st.tuples(row, row), max_size=12))
    parts, wholes = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    one = _core.shared_passages(tokens, offsets, parts, wholes, width, True, 1)
    two = _core.shared_passages(tokens, offsets, parts, wholes, width, True, 2)
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    words, longest, ends, *columns = (column.tolist() for column in one)
    for i, (a, b) in enumerate(pairs):
        expected = reference_copied.passages(texts[a], texts[b], width)
        assert list(zip(*(column[ends[i] : ends[i + 1]] for column in columns), strict=True)) == expected
        assert words[i] == sum(length for _, _, length in expected)
        assert longest[i] == max((length for _, _, length in expected), default=0)
    short = _core.shared_passages(tokens, offsets, parts, wholes, width, False, 2)
    assert (short[0].tolist(), short[1].tolist()) == (words, longest)


def test_columns_that_do_not_fit_are_refused():
    tokens, offsets, row = np.zeros(3, np.uint64), np.array([0, 3]), np.zeros(1, np.int64)
    for bad in (
        (tokens, np.array([0, 2]), row, row, 1),
        (tokens, np.array([1, 3]), row, row, 1),
        (tokens, np.array([0, 4, 3]), row, row, 1),
        (tokens, offsets, row + 1, row, 1),
        (tokens, offsets, row, row - 1, 1),
        (tokens, offsets, row, np.zeros(2, np.int64), 1),
        (tokens, offsets, row, row, 0),
    ):
        with pytest.raises(ValueError, match=r"must|differ|range|least"):
            _core.shared_passages(*bad, True)


def test_what_repeats_everywhere_takes_no_longer():
    many = ["a"] * 100_000
    (span,) = matched_spans(many, [*many, "b"])
    assert (span.left, span.right, span.words) == (0, 0, 100_000)
    assert len(matched_spans(["a", "a", "c"] * 30_000, many, 2)) == 30_000


def test_spans_need_words():
    assert matched_spans([], ["a"]) == ()
    with pytest.raises(nd.ConfigError):
        matched_spans(["a"], ["a"], 0)


@given(st.lists(WORDS, max_size=6), st.integers(1, 4), st.integers(0, 5))
def test_every_pair_with_a_passage_is_found(texts, width, more):
    words = width + more
    found = nd.passages.find_copies([" ".join(text) for text in texts], words=words, width=width, threads=2)
    expected = {
        (a, b) for b in range(len(texts)) for a in range(b) if longest_common(texts[a], texts[b]) >= words
    }
    pairs = {tuple(sorted((int(pair.part), int(pair.whole)))) for pair in found}
    assert pairs == expected
    assert found.candidates >= len(expected) == len(found)
    assert [pair.share for pair in found] == sorted((pair.share for pair in found), reverse=True)
    by_words = nd.passages.find_copies(
        [" ".join(text) for text in texts], words=words, width=width, by="words", least=0.5
    )
    assert [pair.words for pair in by_words] == sorted((pair.words for pair in by_words), reverse=True)
    assert {(p.part, p.whole) for p in by_words} == {(p.part, p.whole) for p in found if p.share >= 0.5}
    for pair in found:
        assert pair.words == sum(span.words for span in pair.spans)
        assert pair.longest == max(span.words for span in pair.spans) >= words
    assert found[:] == list(found) == [found[i] for i in range(len(found))]


def test_candidates_that_come_in_parts_are_the_same(monkeypatch):
    texts = ["x " * 3 + "a b c d e f g h i j k l m n " + str(row % 7) for row in range(40)]
    whole = nd.passages.find_copies(texts, cap=10)
    monkeypatch.setattr(copying, "_PAIRS_AT_ONCE", 20)
    monkeypatch.setattr(copying, "_MATCHED_AT_ONCE", 7)
    parts = nd.passages.find_copies(texts, cap=10)
    assert parts.to_json() == whole.to_json()
    assert whole.capped
    assert whole.skipped


def test_many_copies_of_one_page_list_few_pairs_and_all_are_linked():
    words = [f"word{i}" for i in range(60)]
    texts = [" ".join([*words[:30], f"page{number}", *words[30:]]) for number in range(500)]
    found = nd.passages.find_copies(texts)
    assert len(found) <= 8 * len(texts)
    assert found.capped > 0
    assert found.skipped + found.candidates >= 500 * 499 // 2
    linked = {0}
    for a, b in sorted(tuple(sorted(pair)) for pair in zip(found.part, found.whole, strict=True)):
        assert a in linked  # each document is a pair of an earlier one
        linked.add(b)
    assert len(linked) == 500
    every = nd.passages.find_copies(texts, cap=500)
    assert (len(every), every.capped, every.skipped) == (500 * 499 // 2, 0, 0)


def test_partners_in_large_groups_are_those_of_most_groups():
    """Of 300 pages with a template, each also has the words of one of two sources: its partners are pages of it."""
    template, *sources = ([f"{kind}{i}" for i in range(200)] for kind in ("t", "a", "b"))
    texts = [
        " ".join([*template[:20], f"x{number}", *sources[number % 2], f"y{number}"]) for number in range(300)
    ]
    found = nd.passages.find_copies(texts, cap=100)
    assert len(found) <= 5 * len(texts)
    same = [a % 2 == b % 2 for a, b in zip(found.part.tolist(), found.whole.tolist(), strict=True)]
    assert sum(same) >= 298


def test_stop_words_may_be_between():
    found = nd.passages.find_copies(
        ["cat climbed roof dog chased ball", "the cat climbed on the roof and the dog chased a ball"],
        words=6,
        width=3,
        normalize=nd.Normalize(stopwords=("en",)),
    )
    assert [pair.words for pair in found] == [6]


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(nd.ConfigError, match="width"):
        nd.passages.find_copies(["a"], words=3, width=4)
    with pytest.raises(nd.ConfigError, match="cap"):
        nd.passages.find_copies(["a"], cap=1)


def test_a_quote_in_real_text_is_found_in_its_place(data):
    with gzip.open(data / "k8s_docs_rev" / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines][:60]
    words = nd.features.tokens([texts[7]])[0]
    quote = "Someone wrote: " + " ".join(words[100:140]) + " and we agree."
    found = nd.passages.find_copies([*texts, quote])
    mine = [pair for pair in found if pair.part == "60" and pair.whole == "7"]
    assert len(mine) == 1
    best = max(mine[0].spans, key=lambda span: span.words)
    assert best.words >= 40
    assert best.left <= 12 <= best.left + best.words
    assert words[best.right : best.right + best.words] == best.text.split()


def test_explain_shows_the_passages():
    text = " ".join(f"word{i}" for i in range(60))
    quote = " ".join(f"word{i}" for i in range(20, 40))
    found = nd.explain(f"they said {quote} last week", text)
    (span,) = found.spans
    assert (span.left, span.right, span.words, span.text) == (2, 20, 20, quote)
    assert found.to_json()["spans"][0]["words"] == 20
