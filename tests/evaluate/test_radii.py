"""Pairs judged at every distance: drawn evenly, weighed by how many there are, with intervals that cover."""

from __future__ import annotations

import json

import numpy as np
import pytest
from support.command import run

import neardup as nd
from neardup.errors import ConfigError
from neardup.evaluate import DistanceSample, draw_by_distance, score_radii
from neardup.fingerprints import Codes


def codes_of(numbers):
    column = np.array(numbers, np.uint64)[:, None]
    return Codes("given64", np.zeros(len(column), bool), 64, column)


def clustered(random, many=300):
    """Codes around a few centres, so that there are pairs at every small distance, equal ones too."""
    centres = random.integers(0, 1 << 63, 40, np.uint64)
    flips = random.integers(0, 5, many)
    made = []
    for row in range(many):
        code = int(centres[random.integers(40)])
        for bit in random.integers(0, 64, flips[row]).tolist():
            code ^= 1 << bit
        made.append(code)
    return np.array(made, np.uint64)


def distances(left, right):
    return [bin(a ^ b).count("1") for a, b in zip(left.tolist(), right.tolist(), strict=True)]


def test_counts_are_those_of_all_pairs_and_draws_are_even():
    numbers = clustered(np.random.default_rng(5))
    drawn = draw_by_distance(codes_of(numbers), widest=6, each=9, seed=3)
    left, right = np.triu_indices(len(numbers), 1)
    far = distances(numbers[left], numbers[right])
    counts = np.bincount(far, minlength=65)[:7]
    assert drawn.counts.tolist() == counts.tolist()
    assert np.bincount(drawn.distance, minlength=7).tolist() == np.minimum(counts, 9).tolist()
    assert distances(numbers[drawn.left], numbers[drawn.right]) == drawn.distance.tolist()
    pairs = set(zip(drawn.left.tolist(), drawn.right.tolist(), strict=True))
    assert len(pairs) == len(drawn)


def test_a_larger_sample_of_the_same_seed_holds_the_smaller_one():
    codes = codes_of(clustered(np.random.default_rng(6)))
    few, many = (draw_by_distance(codes, widest=5, each=each) for each in (4, 8))
    pairs = [set(zip(d.left.tolist(), d.right.tolist(), strict=True)) for d in (few, many)]
    assert pairs[0] < pairs[1]


def test_answers_are_weighed_by_how_many_pairs_their_distance_has():
    # Distance 0: 10 pairs, all right. Distance 1: 90 pairs, half of them right.
    sample = DistanceSample(
        np.arange(0, 40, 2), np.arange(1, 41, 2), np.repeat([0, 1], [10, 10]), np.array([10, 90])
    )
    scores = score_radii(sample, [1.0] * 10 + [1.0, 0.0] * 5)
    assert scores[0].precision == (1.0, 1.0, 1.0)  # all of them are judged
    value, low, high = scores[1].precision
    assert value == pytest.approx((10 + 45) / 100) and low < value < high
    assert scores[0].recall[0] == pytest.approx(10 / 55)
    assert scores[1].recall == (1.0, 1.0, 1.0)


def test_no_answer_at_a_distance_says_nothing_of_wider_radii():
    sample = DistanceSample(np.array([0, 2]), np.array([1, 3]), np.array([0, 1]), np.array([5, 7]))
    scores = score_radii(sample, {(1, 0): 1.0})
    assert scores[0].precision is not None and scores[0].recall is None
    assert scores[1].precision is None
    assert score_radii(sample, {(0, 1): float("nan")})[0].unsure == 1
    with pytest.raises(ConfigError, match="2 pairs were drawn"):
        score_radii(sample, [1.0])


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_intervals_cover_the_truth(share):
    random, covered = np.random.default_rng(9), 0
    counts = np.array([500, 2000, 6000])
    for _ in range(200):
        truth = [random.random(many) < share * [1, 0.8, 0.4][d] for d, many in enumerate(counts)]
        true = sum(part.sum() for part in truth) / counts.sum()
        answers = np.concatenate([random.choice(part, 30, replace=False) for part in truth]).astype(float)
        rows = np.arange(90)
        sample = DistanceSample(2 * rows, 2 * rows + 1, np.repeat([0, 1, 2], 30), counts)
        _, low, high = score_radii(sample, answers)[2].precision
        covered += low <= true <= high
    assert 183 <= covered <= 199  # 95% of 200, with three standard deviations


def test_pairs_of_one_cluster_widen_the_interval():
    apart = DistanceSample(np.arange(0, 40, 2), np.arange(1, 41, 2), np.zeros(20, np.int64), np.array([1000]))
    star = DistanceSample(np.zeros(20, np.int64), np.arange(1, 21), np.zeros(20, np.int64), np.array([1000]))
    width = [score_radii(s, [1.0] * 15 + [0.0] * 5)[0].precision for s in (apart, star)]
    assert width[1][2] - width[1][1] > 1.5 * (width[0][2] - width[0][1])


def test_the_command_asks_keeps_the_answers_and_continues(tmp_path):
    text = "the ferry number {} leaves the harbour at nine and comes back at noon on every day of the summer"
    rows = [text.format(i % 12) + (" today" if i % 3 else "") for i in range(24)]
    corpus, labels = tmp_path / "texts.jsonl", tmp_path / "labels.jsonl"
    corpus.write_text("".join(json.dumps({"id": f"d{i}", "text": row}) + "\n" for i, row in enumerate(rows)))
    options = ["radius", str(corpus), "--labels", str(labels), "--widest", "12", "--each", "2", "--json"]
    first = run(*options, stdin=b"y\nn\nq\n")
    assert first.returncode == 0, first.stderr
    assert len(labels.read_text().splitlines()) == 2
    again = run(*options, stdin=b"y\n" * 40)
    scores = json.loads(again.stdout)["radii"]
    assert sum(score["judged"] for score in scores) == len(labels.read_text().splitlines()) > 2
    printed = run(*options[:-1], "--no-ask")
    assert b"precision" in printed.stdout
    assert [score["precision"] for score in json.loads(run(*options, "--no-ask").stdout)["radii"]] == [
        score["precision"] for score in scores
    ]


def test_documents_of_the_sample(tmp_path):
    from neardup import sample

    texts = [document.text for document in nd.read(sample.path()).documents()]
    codes = nd.fingerprint(texts, nd.Words(weights="count"), nd.Simhash())
    drawn = draw_by_distance(codes, widest=4, each=6, threads=2)
    assert (drawn.counts > 0).all() and len(drawn) == 30
