"""Large buckets: where almost no pair is similar enough, few are listed; where many are, all of them."""

from __future__ import annotations

import random

import numpy as np
import pytest
from benchmarks.corpus import documents

import neardup as nd
from neardup.search import crowds


@pytest.fixture(autouse=True)
def few_free_pairs(monkeypatch):
    """Small corpora are checked as large ones are."""
    monkeypatch.setattr(crowds, "FREE", 1 << 16)
    monkeypatch.setattr(crowds, "PER_ROW", 2)


def words_of(draw, many):
    return [f"w{draw.randrange(50_000)}" for _ in range(many)]


def hostile(documents, groups, seed=2):
    """Documents that share bands with most others of their group, and are a duplicate of few."""
    draw = random.Random(seed)
    bases = [words_of(draw, 60) for _ in range(groups)]
    texts = []
    for number in range(documents):
        words = list(bases[number % groups])
        for place in draw.sample(range(60), 2):
            words[place] = f"w{draw.randrange(1 << 20)}"
        texts.append(" ".join(words))
    return texts


def similar(documents, seed=3):
    """Documents that differ in one word each, so that all are duplicates of each other."""
    words = words_of(random.Random(seed), 200)
    return [" ".join([*words[:100], f"page{number}", *words[100:]]) for number in range(documents)]


def pairs_of(result):
    return set(zip(result.pairs.left.tolist(), result.pairs.right.tolist(), strict=True))


def test_documents_that_share_bands_cost_few_comparisons():
    texts = hostile(6000, 3)
    found = nd.dedup(texts)
    assert found.candidates < 40 * len(texts)  # all pairs of their buckets are over 400 for each
    assert found.capped > 0


def test_the_answer_does_not_depend_on_threads_or_memory(tmp_path):
    texts = hostile(6000, 3) + similar(100)
    random.Random(4).shuffle(texts)
    usual = nd.dedup(texts)
    for changed in (nd.dedup(texts, threads=3), nd.dedup(texts, memory="64MB", folder=tmp_path)):
        assert np.array_equal(changed.pairs.left, usual.pairs.left)
        assert np.array_equal(changed.pairs.right, usual.pairs.right)
        assert (changed.candidates, changed.capped) == (usual.candidates, usual.capped)


def test_duplicates_among_them_are_found():
    copies = similar(60)
    texts = hostile(6000, 3) + copies
    random.Random(4).shuffle(texts)
    places = [texts.index(text) for text in copies]
    found = pairs_of(nd.dedup(texts))
    among = {(a, b) for a in places for b in places if a < b}
    assert len(found & among) > 0.99 * len(among)


def test_large_buckets_of_duplicates_list_all_pairs(monkeypatch):
    texts = similar(700)
    found = pairs_of(nd.dedup(texts))
    monkeypatch.setattr(crowds, "FREE", 1 << 40)  # no table is checked
    assert pairs_of(nd.dedup(texts)) == found


def test_nobody_can_hide_duplicates_by_adding_similar_documents():
    """Duplicates share several bands, and are neighbours in the order of the next band in most of them."""
    texts = hostile(6000, 3)
    chosen = random.Random(5).sample(range(len(texts)), 200)
    changed = [texts[row].split() for row in chosen]
    copies = [" ".join([*words[:30], "new", *words[31:]]) for words in changed]
    found = pairs_of(nd.dedup(texts + copies))
    assert sum((row, len(texts) + at) in found for at, row in enumerate(chosen)) >= 190


def test_the_pairs_of_real_texts_do_not_change(data, monkeypatch):
    """Licences share many bands and are not all similar; their buckets are not so large that few pairs are listed."""
    assert (data / "licenses").is_dir()
    monkeypatch.undo()
    texts = [text for _, text in documents("licenses")]
    found = pairs_of(nd.dedup(texts))
    monkeypatch.setattr(crowds, "FREE", 1 << 40)
    assert pairs_of(nd.dedup(texts)) == found
