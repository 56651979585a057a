"""The estimators behind docs/inside/quality.md, on tiny sets against counting by hand."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from benchmarks.quality import failures, human, overlaps, page
from benchmarks.quality.compare import candidate_pairs
from benchmarks.quality.recipes import distances
from benchmarks.quality.scores import best, score, sweep
from benchmarks.quality.sets import APART, SAME, UNKNOWN, LabelledSet, of_labels
from hypothesis import given as drawn
from hypothesis import strategies as some

import neardup as nd
from neardup.compare import similarity

ROOT = Path(__file__).parents[2]


def tiny(seed: int = 0, documents: int = 40) -> LabelledSet:
    """Documents of few words in families, some of unknown family, with two pairs judged."""
    draw = np.random.default_rng(seed)
    stems = draw.integers(0, 60, (documents // 4, 30))
    texts, clusters = [], {}
    for row in range(documents):
        words = stems[row // 4].copy()
        words[draw.integers(0, 30, row % 4 * 3)] = draw.integers(0, 60, row % 4 * 3)
        texts.append(" ".join(f"w{word}" for word in words))
        if row % 7:
            clusters[row] = f"c{row // 4}"
    judged = [(0, 1, 3, "human"), (0, 14, 0, "human")]
    return of_labels("tiny", [f"d{row}" for row in range(documents)], texts, clusters, judged)


def test_labels_of_all_pairs():
    given = tiny()
    at = {
        (int(a), int(b)): int(label) for a, b, label in zip(given.left, given.right, given.label, strict=True)
    }
    assert list(at) == list(combinations(range(40), 2))
    assert at[1, 2] == SAME and at[1, 5] == APART and at[7, 8] == UNKNOWN
    assert at[0, 1] == SAME and at[0, 14] == APART, "the judge is heard where clusters say nothing"
    assert at[0, 2] == UNKNOWN
    places = given.place(given.right, given.left)
    assert np.array_equal(places, np.arange(len(given.left))), "pairs may be turned either way"
    assert given.group[0] == given.group[1] == given.group[14]


@pytest.mark.parametrize("rare", [1, 3, 48])
def test_jaccard_of_all_pairs_is_exact(monkeypatch, rare):
    monkeypatch.setattr(overlaps, "RARE", rare)
    monkeypatch.setattr(overlaps, "COLUMNS", 7)
    given = tiny()
    for features in (nd.Words(), nd.Shingles(width=3)):
        made = features.extract(["", *given.texts[1:]])
        expected = similarity.jaccard(made, given.left, given.right)
        assert np.array_equal(overlaps.all_jaccard(made, given), expected)


@pytest.mark.parametrize("bits", [64, 128])
def test_distances_of_all_pairs(bits):
    given = tiny()
    codes = nd.Simhash(bits, margins="none").compute(nd.Words().extract(["", *given.texts[1:]]))
    whole = [int.from_bytes(row.tobytes(), "little") for row in codes.codes.reshape(len(given), -1)]
    expected = [(whole[a] ^ whole[b]).bit_count() for a, b in zip(given.left, given.right, strict=True)]
    found = distances(codes, given)
    empty = given.left == 0
    assert np.array_equal(found[~empty], np.array(expected)[~empty])
    assert (found[empty] == bits + 1).all()


@drawn(some.integers(0, 2**32 - 1), some.floats(0, 1))
def test_scores_are_those_of_counting(seed, chance):
    given = tiny(3)
    found = np.flatnonzero(np.random.default_rng(seed).random(len(given.left)) < chance)
    right = sum(given.label[at] == SAME for at in found)
    wrong = sum(given.label[at] == APART for at in found)
    same = int((given.label == SAME).sum())
    said = score(given, found)
    assert said["found"] == len(found)
    assert said["recall"][0] == pytest.approx(right / same, abs=6e-5)
    if right + wrong:
        assert said["precision"][0] == pytest.approx(right / (right + wrong), abs=6e-5)
        assert said["f1"][0] == pytest.approx(2 * right / (right + wrong + same), abs=6e-5)
    else:
        assert said["precision"][0] is None
    for value, low, high in (said["recall"], said["f1"]):
        assert low <= value <= high


def test_a_sweep_is_its_scores_one_by_one():
    given = tiny(1)
    close = overlaps.all_jaccard(nd.Words().extract(given.texts), given)
    also = given.right % 3 > 0
    columns = sweep(given, close, [0.2, 0.5, 0.9], also)
    for at, cut in enumerate(columns["cuts"]):
        expected = score(given, np.flatnonzero((close >= cut) & also))
        assert {name: columns[name][at] for name in expected} == expected
    assert columns["f1"][best(columns)] == max(columns["f1"])


def test_candidates_are_the_pairs_that_agree_on_a_band():
    given = tiny(2)
    sketches = nd.MinHash(32, "independent").compute(nd.Words().extract(given.texts))
    parts = sketches.values.reshape(len(given), 8, 4)
    expected = (parts[given.left] == parts[given.right]).all(axis=2).any(axis=1)
    assert np.array_equal(candidate_pairs(given, sketches, nd.LSH(8, 4)), expected)
    assert 0 < expected.sum() < len(expected)


@drawn(some.lists(some.tuples(some.integers(0, 8), some.booleans()), min_size=2, max_size=30))
def test_best_threshold_against_trying_all(pairs):
    scores, truth = np.array([s / 8 for s, _ in pairs]), np.array([t for _, t in pairs])
    if not truth.any():
        return
    at = human.best_threshold(scores, truth)
    tried = [human.f1(scores >= cut, truth) for cut in np.unique(scores)]
    assert human.f1(scores >= at, truth) == pytest.approx(max(tried))


def test_folds_keep_groups_whole_and_cover_all():
    groups = np.array([5, 5, 1, 2, 3, 2, 9, 9, 4, 6, 7])
    parts = list(human.folds(groups, 4, seed=1))
    assert np.array_equal(np.sum(parts, axis=0), np.ones(len(groups)))
    for part in parts:
        assert not set(groups[part]) & set(groups[~part])


def test_no_threshold_sees_its_own_test_pairs():
    """Labels of a fold are turned round: what is said of that fold must not change."""
    draw = np.random.default_rng(0)
    truth = draw.random(60) < 0.5
    measured = {"x": truth + draw.normal(0, 0.5, 60), "y": draw.random(60)}
    groups = np.arange(60) // 2
    for rule in (human.Rule("x", ("x",)), human.Rule("both", ("x", "y"), "logistic")):
        said = human.cross_validated(rule, measured, truth, groups, seed=3)
        for test in human.folds(groups, human.FOLDS, 3):
            turned = np.where(test, ~truth, truth)
            again = human.cross_validated(rule, measured, turned, groups, seed=3)
            assert np.array_equal(again[test], said[test])


def test_logistic_regression_is_at_its_optimum():
    draw = np.random.default_rng(4)
    table = draw.normal(size=(80, 2))
    truth = table @ [1.5, -0.5] + draw.normal(size=80) > 0

    def loss(weights):
        votes = table @ weights[:-1] + weights[-1]
        return np.logaddexp(0, np.where(truth, -votes, votes)).sum() + (weights[:-1] ** 2).sum() / 2

    found = human.fit_logistic(table, truth)
    assert all(loss(found) < loss(found + step) for step in np.vstack([np.eye(3), -np.eye(3)]) * 1e-3)


def test_cases_change_what_they_say():
    draw = np.random.default_rng(0)
    text = "In 1984 there were 7 of 12 left; 7 stayed."
    other = failures.change_numbers(text, draw)
    assert failures.NUMBER.sub("#", other) == failures.NUMBER.sub("#", text)
    assert all(a != b for a, b in zip(text.split(), other.split(), strict=True) if a.isdigit())
    words = " ".join(f"word{at}" for at in range(2000))
    new = failures.change_words(words, 0.1, ["other"], draw).split()
    assert 140 < new.count("other") < 260 and len(new) == 2000


def test_the_page_is_made_of_the_kept_result():
    """Nothing between the marks is typed in."""
    kept = json.loads((ROOT / "benchmarks" / "results" / "quality.json").read_text("utf-8"))
    whole = (ROOT / "docs" / "inside" / "quality.md").read_text("utf-8")
    assert page.text(kept) in whole
    assert "<!-- recall table: begin -->" in whole, "the table of benchmarks.recall stays"
