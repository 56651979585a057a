"""Passages that two texts share, and the pairs that share one."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.spans import matched_spans

WORDS = st.lists(st.sampled_from("abcd"), max_size=30)


def longest_common(left, right):
    """Words of the longest run that stands in both."""
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
def test_spans_are_what_stands_in_both(left, right, width):
    spans = matched_spans(left, right, width)
    used = min(width, len(left), len(right))
    end = 0
    covered = set()
    for span in spans:
        assert span.left >= end
        assert left[span.left : span.left + span.words] == right[span.right : span.right + span.words]
        assert span.text.split() == left[span.left : span.left + span.words]
        assert span.words >= used > 0
        end = span.left + span.words
        covered |= set(range(span.left, end))
        # The longest that begins there.
        assert not any(
            left[span.left : end + 1] == right[b : b + span.words + 1] for b in range(len(right))
        ) or (end == len(left))
    # Every run of the width that begins outside of the passages is not in the right text.
    runs = {tuple(right[b : b + used]) for b in range(len(right) - used + 1)}
    for start in range(len(left) - used + 1):
        if used and start not in covered:
            assert tuple(left[start : start + used]) not in runs


def test_spans_need_words():
    assert matched_spans([], ["a"]) == ()
    with pytest.raises(nd.ConfigError):
        matched_spans(["a"], ["a"], 0)


@given(st.lists(WORDS, max_size=6), st.integers(1, 4), st.integers(0, 5))
def test_every_pair_with_a_passage_is_found(texts, width, more):
    words = width + more
    found = nd.find_copies([" ".join(text) for text in texts], words=words, width=width, threads=2)
    expected = {
        (a, b) for b in range(len(texts)) for a in range(b) if longest_common(texts[a], texts[b]) >= words
    }
    # Passages are taken from left to right, and one that overlaps a longer one can hide it: none is invented.
    pairs = {tuple(sorted((int(pair.part), int(pair.whole)))) for pair in found}
    assert pairs <= expected
    assert found.candidates >= len(expected)
    assert [pair.words for pair in found] == sorted((pair.words for pair in found), reverse=True)


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(nd.ConfigError, match="width"):
        nd.find_copies(["a"], words=3, width=4)
    with pytest.raises(nd.ConfigError, match="cap"):
        nd.find_copies(["a"], cap=1)


def test_a_quote_in_real_text_is_found_where_it_stands(data):
    with gzip.open(data / "k8s_docs_rev" / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines][:300]
    words = nd.tokens([texts[7]])[0]
    quote = "Someone wrote: " + " ".join(words[100:140]) + " and we agree."
    found = nd.find_copies([*texts, quote])
    mine = [pair for pair in found if pair.part == "300" and pair.whole == "7"]
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
