"""What labels choose: rules are scored as a scan scores them, and the rule that labels follow is found."""

import math
import random

import numpy as np
import pytest

import neardup as nd
from neardup.clusters.protect import DEFAULT, held_reasons
from neardup.compare.changes import changes_of
from neardup.compare.similarity import containment, jaccard
from neardup.evaluate import Rule, measure_documents
from neardup.evaluate.rules import RULES, rule_scores, rules_for
from neardup.evaluate.tuner import ENOUGH, Tuner


def titled_pages(count: int = 60) -> list[str]:
    """Pages in pairs: every other pair has the same title, and all pairs differ in a few words."""
    draw = random.Random(2)
    made = []
    for number in range(count // 2):
        words = [f"word{draw.randrange(4000)}" for _ in range(120)]
        for side in range(2):
            changed = list(words)
            for at in draw.sample(range(120), draw.randrange(2, 25)):
                changed[at] = f"other{draw.randrange(4000)}"
            title = f"Subject{number}" if number % 2 else f"Subject{number} part{'ab'[side]}"
            made.append(f"# {title}\n\n{' '.join(changed)}.")
    return made


def test_scores_are_those_of_a_scan() -> None:
    texts = titled_pages()
    raw = [text.encode() for text in texts]
    rank = nd.Keep().rank(np.array([len(text) for text in raw]))
    left, right = np.arange(0, 60, 2), np.arange(1, 60, 2)
    rules = rules_for({"main": raw}, len(texts))
    assert rules[0] == Rule() and not any(rule.templates or rule.html == "whole" for rule in rules)
    scores = rule_scores({"main": raw}, rank, left, right, rules)
    held = held_reasons(changes_of(raw, left, right), DEFAULT, rank[left] <= rank[right]) != 0
    assert held.any() and not held.all()
    for place, rule in enumerate(rules):
        features = nd.Shingles(rule.width).extract(texts)
        plain = (
            jaccard(features, left, right)
            if rule.measure == "jaccard"
            else containment(features, left, right, of="smaller")
        )
        assert np.array_equal(scores[place], np.where(held & bool(rule.guards), 0, plain))
    found = nd.dedup(texts, rules[0].config(0.5)).pairs
    named = dict(zip(zip(left.tolist(), right.tolist(), strict=True), scores[0].tolist(), strict=True))
    for a, b, near in zip(found.left.tolist(), found.right.tolist(), found.similarity.tolist(), strict=True):
        assert named[a, b] in (0, pytest.approx(near))


def test_labels_that_follow_the_title_choose_the_guard() -> None:
    """And labels that do not care choose none; twenty answers each."""
    texts = titled_pages(120)
    documents = [nd.Document(str(row), text) for row, text in enumerate(texts)]
    chosen = {}
    for cares in (True, False):
        measured = measure_documents(documents)
        labels: list[tuple[str, str, float]] = []
        while len(labels) < 20 and (pair := measured.question(measured.known(labels)[0])) is not None:
            a, b = int(pair.left), int(pair.right)
            same = a // 2 == b // 2 and (not cares or bool(a // 2 % 2)) and pair.similarity >= 0.3
            labels.append((pair.left, pair.right, float(same)))
        assert len({id for label in labels for id in label[:2]}) == 2 * len(labels)  # each document once
        found = measured.calibrated(labels)
        assert found.tuned is not None and found.tuned.answers == len(labels) >= ENOUGH
        assert 0 <= found.tuned.agrees.low <= found.tuned.agrees.value <= found.tuned.agrees.high <= 1
        chosen[cares] = found.tuned
        assert nd.Config.from_plain(found.tuned.config.to_plain()) == found.tuned.config
        assert found.to_json()["tuned"]["options"] == found.tuned.options
    assert chosen[True].rule.guards == DEFAULT and chosen[False].rule.guards == ()
    assert "--protect none" in chosen[False].options and "--protect" not in chosen[True].options


def test_few_labels_choose_nothing() -> None:
    texts = titled_pages()
    measured = measure_documents([nd.Document(str(row), text) for row, text in enumerate(texts)])
    few = [(str(row), str(row + 1), 1.0) for row in range(0, 12, 2)]
    assert measured.calibrated(few).tuned is None
    same = [(str(row), str(row + 1), 1.0) for row in range(0, 40, 2)]
    assert measured.calibrated(same).tuned is None  # no pair is called different
    unsure = [(str(row), str(row + 1), math.nan) for row in range(0, 40, 2)]
    assert measured.calibrated(unsure).tuned is None


def test_a_pair_that_was_not_drawn_has_the_same_scores() -> None:
    raw = [text.encode() for text in titled_pages()]
    rank = nd.Keep().rank(np.array([len(text) for text in raw]))
    left, right = np.arange(0, 60, 2), np.arange(1, 60, 2)
    whole = Tuner.of({"main": raw}, rank, left, right, np.ones(30))
    some = Tuner.of({"main": raw}, rank, left[:10], right[:10], np.ones(10))
    for _ in range(2):
        given = [t.answers(left, right, np.ones(30, np.bool_)).scores for t in (whole, some)]
        assert np.array_equal(*given)


def test_rules_have_options_and_configs() -> None:
    assert len(set(RULES)) == 64 and RULES[0] == Rule()
    for rule in RULES:
        config = rule.config(0.4)
        assert config.verify.threshold == 0.4 and config.features.width == rule.width
        assert (config.templates is not None) == rule.templates and config.protect == rule.guards
    odd = Rule(3, "containment", True, "whole", ())
    assert odd.options(0.35) == (
        "--threshold 0.35 --width 3 --measure containment --templates 0.01 --html whole --protect none"
    )
