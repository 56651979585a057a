"""Estimators are unbiased, with the error they state: on synthetic sets and on real text."""

from __future__ import annotations

import numpy as np
import pytest
from reference import prints as reference

from neardup.compare import similarity
from neardup.features import Features
from neardup.fingerprints import BitMinHash, MinHash, Simhash

PAIRS = 1500


def twins(share: float, size: int, pairs: int = PAIRS) -> Features:
    """Rows 2i and 2i + 1 are sets of `size` features with Jaccard similarity as near to `share` as can be."""
    rng = np.random.default_rng(size)
    shared = round(2 * size * share / (1 + share))
    own = size - shared
    hashes = []
    for _ in range(pairs):
        drawn = rng.integers(0, 2**64, shared + 2 * own, dtype=np.uint64)
        hashes += [np.sort(drawn[: shared + own]), np.sort(np.r_[drawn[:shared], drawn[shared + own :]])]
    return Features(
        np.concatenate(hashes),
        np.ones(2 * pairs * size, np.float32),
        np.arange(0, 2 * pairs * size + 1, size, dtype=np.int64),
        "synthetic",
    )


def check(estimates: np.ndarray, truth: np.ndarray, variance: np.ndarray, slack: float) -> None:
    """The mean error is within four standard errors of zero, its spread at most `slack` times the stated
    one."""
    error = estimates - truth
    assert abs(error.mean()) < 4 * np.sqrt(variance.mean() / len(error)) * slack
    assert np.sqrt((error**2).mean()) < np.sqrt(variance.mean()) * slack * 1.08


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8, 0.95])
@pytest.mark.parametrize(
    ("permutations", "size", "slack"),
    # Fewer features than bins: places repeat one another and the spread grows; from about a bin's worth it
    # does not.
    [
        ("one", 30, 2.2),
        ("one", 150, 1.1),
        ("one", 600, 1.0),
        ("independent", 30, 1.0),
        ("independent", 150, 1.0),
    ],
)
def test_sketches(share: float, permutations: str, size: int, slack: float) -> None:
    features = twins(share, size)
    left, right = np.arange(0, 2 * PAIRS, 2), np.arange(1, 2 * PAIRS, 2)
    truth = similarity.jaccard(features, left, right)
    sketches = MinHash(128, permutations).compute(features)
    check(similarity.sketch_similarity(sketches, left, right), truth, truth * (1 - truth) / 128, slack)
    for bits in (1, 2, 4, 8, 16):
        chance = 2.0**-bits
        agree = chance + (1 - chance) * truth
        variance = agree * (1 - agree) / 128 / (1 - chance) ** 2
        got = similarity.sketch_similarity(sketches.pack(bits), left, right)
        check(got, truth, variance, slack)
    codes = BitMinHash(128, permutations).compute(features)
    got = similarity.bit_similarity(codes, left, right)
    check(got, truth, (1 - truth**2) / 128, slack)


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_simhash_distance_follows_the_angle(share: float, gaussian: bool) -> None:
    features = twins(share, 200, pairs=600)
    rng = np.random.default_rng(8)
    weights = np.abs(rng.normal(size=2**16)).astype(np.float32)[features.hashes % np.uint64(2**16)]
    features = Features(features.hashes, weights, features.offsets, features.scheme)
    left, right = np.arange(0, 1200, 2), np.arange(1, 1200, 2)
    codes = Simhash(gaussian=gaussian, margins="none").compute(features)
    distance = similarity.hamming(codes, left, right)
    expected = similarity.expected_distance(similarity.cosine(features, left, right))
    spread = np.sqrt((expected * (1 - expected / 64)).mean())
    # Signed votes follow the angle up to terms of the order of 1 / features; Gaussian ones follow it exactly.
    assert abs((distance - expected).mean()) < 4 * spread / np.sqrt(600) + (0 if gaussian else 0.3)
    assert np.sqrt(((distance - expected) ** 2).mean()) < 1.1 * spread


def real_pairs(manuals: list[str]) -> tuple[Features, np.ndarray, np.ndarray]:
    rows = [reference.word_shingles(text) for text in manuals[:250]]
    features = reference.features_of([row for row in rows if len(row) >= 100])
    left, right = np.triu_indices(len(features), 1)
    truth = similarity.jaccard(features, left, right, threads=2)
    chosen = truth >= 0.05
    return features, left[chosen], right[chosen]


def test_sketches_of_real_text(manuals: list[str]) -> None:
    features, left, right = real_pairs(manuals)
    truth = similarity.jaccard(features, left, right)
    assert len(truth) > 200 and truth.max() > 0.8
    for permutations, values in (("one", 128), ("one", 200), ("independent", 100), ("independent", 200)):
        errors, spreads = [], []
        for seed in range(5):
            sketches = MinHash(values, permutations, seed).compute(features)
            error = similarity.sketch_similarity(sketches, left, right) - truth
            errors.append(error.mean())
            spreads.append(np.sqrt((error**2).mean()))
        stated = np.sqrt((truth * (1 - truth)).mean() / values)
        # Pairs share documents, so their errors move together: 0.01 is for the mean over five seeds.
        assert abs(np.mean(errors)) < 0.01, (permutations, values)
        assert np.mean(spreads) < 1.15 * stated, (permutations, values)


def test_one_bit_codes_of_real_text(manuals: list[str]) -> None:
    features, left, right = real_pairs(manuals)
    truth = similarity.jaccard(features, left, right)
    errors = []
    for seed in range(8):
        got = similarity.bit_similarity(BitMinHash(128, seed=seed).compute(features), left, right)
        errors.append(got - truth)
    assert abs(np.mean(errors)) < 0.02
    assert np.sqrt(np.mean(np.square(errors))) < 1.2 * np.sqrt((1 - truth**2).mean() / 128)
