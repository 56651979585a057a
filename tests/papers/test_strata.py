"""Estimates from sampled pairs against all pairs of small sets."""

from __future__ import annotations

import numpy as np
import pytest
from papers.bits import bit_count
from papers.strata import crossing, mean_by_distance, precision_recall, sample_pairs

from neardup.compare.similarity import cosine
from neardup.features import Words
from neardup.fingerprints import Simhash

RADII = np.arange(0, 21)


@pytest.fixture(scope="module")
def pages():
    """Texts of few topics, many of them similar."""
    generator = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(400)])
    texts = []
    for _ in range(40):
        base = words[generator.integers(0, 400, 60)]
        for _ in range(4):
            page = base.copy()
            changed = generator.random(60) < generator.choice([0.0, 0.05, 0.2, 0.5])
            page[changed] = words[generator.integers(0, 400, int(changed.sum()))]
            texts.append(" ".join(page))
    features = Words(weights="count").extract(texts)
    return features, Simhash().compute(features)


def everything(features, codes, rows):
    """Every pair of rows: distance and cosine."""
    left, right = (rows[part] for part in np.triu_indices(len(rows), 1))
    apart = bit_count(codes.codes[left, 0] ^ codes.codes[right, 0]).astype(np.int64)
    return apart, cosine(features, left, right)


def test_counts_are_those_of_all_pairs(pages):
    features, codes = pages
    rows = np.arange(0, len(codes), 2)
    sample = sample_pairs(codes, rows, nearest=12, each=20, far=500, seed=1)
    apart, _ = everything(features, codes, rows)
    assert np.array_equal(sample.counts, np.bincount(apart, minlength=65))
    assert np.isin(sample.left, rows).all() and np.isin(sample.right, rows).all()
    assert np.array_equal(
        sample.distance, bit_count(codes.codes[sample.left, 0] ^ codes.codes[sample.right, 0])
    )
    for distance in range(13):
        inside = sample.distance == distance
        assert inside.sum() == min(20, sample.counts[distance])
        assert sample.weight[inside].sum() == pytest.approx(sample.counts[distance])
    assert sample.weight.sum() == pytest.approx(len(apart))


def test_precision_and_recall_are_exact_when_near_pairs_are_all_taken(pages):
    features, codes = pages
    rows = np.arange(len(codes))
    apart, exact = everything(features, codes, rows)
    assert (exact >= 0.8)[apart > 30].sum() == 0
    sample = sample_pairs(codes, rows, nearest=30, each=10**6, far=100, seed=1)
    near = cosine(features, sample.left, sample.right)
    found = precision_recall(sample.distance, sample.weight, near >= 0.8, RADII)
    expected = precision_recall(apart, np.ones(len(apart)), exact >= 0.8, RADII)
    for mine, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, right)
    # And eq. 24 and 25 counted plainly.
    for h in (3, 9):
        within, similar = apart <= h, exact >= 0.8
        assert expected[0][h] == (within & similar).sum() / within.sum()
        assert expected[1][h] == (within & similar).sum() / similar.sum()
    means = mean_by_distance(sample.distance, sample.weight, near, RADII)
    assert means[5] == pytest.approx(exact[apart == 5].mean())


def test_samples_are_unbiased(pages):
    features, codes = pages
    rows = np.arange(len(codes))
    apart, exact = everything(features, codes, rows)
    right = ((apart <= 8) & (exact >= 0.8)).sum(), (exact >= 0.8).sum(), exact.sum()
    estimates = []
    for seed in range(200):
        sample = sample_pairs(codes, rows, nearest=16, each=8, far=300, seed=seed)
        near = cosine(features, sample.left, sample.right)
        similar = sample.weight * (near >= 0.8)
        estimates.append((similar[sample.distance <= 8].sum(), similar.sum(), (sample.weight * near).sum()))
    mean, error = np.mean(estimates, axis=0), np.std(estimates, axis=0) / np.sqrt(len(estimates))
    assert np.all(np.abs(mean - right) < 4 * error + 1e-9)
    assert np.all(error[:2] > 0)


def test_crossing_is_where_precision_equals_recall():
    radii = np.arange(5)
    assert crossing(radii, np.array([np.nan, 1, 0.8, 0.5, 0.1]), np.array([0, 0.2, 0.7, 0.9, 1])) == 2
