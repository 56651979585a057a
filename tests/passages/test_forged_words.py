"""Words forged for the public seed, and documents that share all fingerprints, against the searches for passages."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support.attacks import PAGE, forged_page
from support.corpora import read_jsonl, write_jsonl

import neardup as nd
from neardup.fingerprints import DEFAULT_SEED
from neardup.passages.copies import _distinct_groups
from neardup.pipeline.templates import learn_templates

SENTENCE = " ".join(PAGE.split()[:16])  # nothing in it is repeated


def test_no_text_is_cut_because_of_forged_words(tmp_path):
    rows = [{"id": "forged", "text": forged_page(SENTENCE)}, {"id": "page", "text": SENTENCE}]
    path = write_jsonl(tmp_path / "in.jsonl", rows)
    for kind in (nd.passages.Passages, nd.passages.Lines, nd.passages.Paragraphs):
        found = kind(min_length=8).find(path, out=tmp_path / f"{kind.unit}.jsonl")
        assert found.distinct == 0
        assert read_jsonl(tmp_path / f"{kind.unit}.jsonl") == rows
        known = kind(min_length=8, seed=DEFAULT_SEED).find(path)
        assert known.distinct == (kind is nd.passages.Passages)  # the attack works where the seed is known


def test_forged_words_are_no_copy():
    assert len(nd.passages.find_copies([forged_page(), PAGE], words=8)) == 0
    assert len(nd.passages.find_copies([f"{PAGE} more", PAGE], words=8)) == 1


def test_forged_lines_are_no_template():
    pages = [{"id": f"{n}", "text": f"{forged_page()}\nown words of page {n}"} for n in range(120)]
    learnt = learn_templates([*pages, {"id": "page", "text": f"{PAGE}\nother words"}])
    assert learnt.lines
    source = next(iter(learnt.lines))
    assert learnt.strip(f"{PAGE}\nother words", source) == f"{PAGE}\nother words"
    assert learnt.strip(f"{forged_page()}\nother words", source).strip() == "other words"


def test_the_same_documents_have_the_same_copies():
    texts = [f"{PAGE} {n % 3} {PAGE[n:]}" for n in range(30)]
    assert nd.passages.find_copies(texts).to_json() == nd.passages.find_copies(texts).to_json()


@given(st.dictionaries(st.integers(0, 50), st.sets(st.integers(0, 6), min_size=1), max_size=20))
def test_groups_of_the_same_rows_are_taken_once(groups):
    keys = np.array([key for key in sorted(groups) for _ in groups[key]], np.uint64)
    rows = np.array([row for key in sorted(groups) for row in sorted(groups[key])], np.int64)
    kept: dict[int, set[int]] = {}
    for key, row in zip(*(column.tolist() for column in _distinct_groups(keys, rows)), strict=True):
        kept.setdefault(key, set()).add(row)
    assert all(groups[key] == rows for key, rows in kept.items())
    expected = {frozenset(rows) for rows in groups.values() if len(rows) > 1}
    assert len(kept) == len(expected) and {frozenset(rows) for rows in kept.values()} == expected
