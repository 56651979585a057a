"""Estimates from drawn pairs against all pairs: unbiased over many draws, with intervals that hold the truth."""

import numpy as np
import pytest

import neardup as nd
from neardup import sample
from neardup.compare import similarity
from neardup.errors import ConfigError
from neardup.evaluate.sample import (
    LOOSE,
    PairSample,
    _draw_rest,
    draw_documents,
    draw_queries,
    exact_similarity,
    near_pairs,
    sample_pairs,
)

N = 60


@pytest.fixture(scope="module")
def world():
    """Sixty documents; a similarity of each pair; a cheap look that finds most, not all, of the similar ones."""
    draw = np.random.default_rng(0)
    similarity = np.triu(draw.random((N, N)) ** 6, 1)
    similarity += similarity.T
    seen = np.triu((similarity > 0.3) & (draw.random((N, N)) < 0.9), 1)
    return similarity, seen | seen.T


def drawn(world, queries, budget, seed) -> PairSample:
    similarity, seen = world
    asked = draw_queries(N, queries, seed)
    place, row = np.nonzero(seen[asked])
    strata = np.digitize(similarity[asked[place], row], [0.4, 0.6, 0.8])
    return sample_pairs(asked, N, (place, row), strata, budget, seed)


def test_weights_add_up_to_all_pairs(world, monkeypatch):
    for queries in (20, 40, N):
        for budget in (1000, 1200, 5000):
            pairs = drawn(world, queries, budget, 3)
            assert pairs.weight.sum() == pytest.approx(queries * (N - 1))
            assert len(pairs) <= budget and (pairs.left != pairs.right).all()
            assert len(np.unique(pairs.left * N + pairs.right)) == len(pairs)
            assert pairs.total(np.ones(len(pairs))) == pytest.approx(N * (N - 1) / 2)
            assert pairs.census == (queries == N and budget >= N * (N - 1))
            assert (np.bincount(pairs.stratum, minlength=len(pairs.drawn)) == pairs.drawn).all()


@pytest.mark.parametrize(("queries", "budget"), [(25, 1000), (N, 1500)])
def test_totals_are_unbiased(world, queries, budget):
    """The mean of many draws is within three standard errors of the truth: for a rare kind of pair, a common one, and
    one that the cheap look never sees."""
    similarity, seen = world
    kinds = {"rare": similarity >= 0.9, "common": similarity < 0.1, "unseen": (similarity > 0.5) & ~seen}
    totals = {name: [] for name in kinds}
    for seed in range(400):
        pairs = drawn(world, queries, budget, seed)
        for name, kind in kinds.items():
            totals[name].append(pairs.total(kind[pairs.left, pairs.right]))
    for name, kind in kinds.items():
        truth = (kind.sum() - kind.diagonal().sum()) / 2
        error = np.std(totals[name]) / np.sqrt(len(totals[name]))
        assert truth > 0 and abs(np.mean(totals[name]) - truth) <= 3 * error + 1e-9, name


def test_intervals_of_shares_hold_the_truth(world):
    similarity, _ = world
    true, found = similarity >= 0.6, (similarity >= 0.5) & (np.arange(N)[:, None] + np.arange(N) > 30)
    truth = (found & true).sum() / true.sum()
    held, means = 0, []
    for seed in range(300):
        pairs = drawn(world, 30, 1000, seed)
        of = true[pairs.left, pairs.right]
        share = pairs.share(of & found[pairs.left, pairs.right], of)
        held += share.low <= truth <= share.high
        means.append(share.value)
    assert held / 300 >= 0.9 and np.mean(means) == pytest.approx(truth, abs=0.01)


def test_a_census_is_exact(world):
    similarity, _ = world
    pairs = drawn(world, N, 100_000, 0)
    of = similarity[pairs.left, pairs.right] >= 0.7
    share = pairs.share(of & (similarity[pairs.left, pairs.right] >= 0.8), of)
    upper = similarity[np.triu_indices(N, 1)]
    assert share.value == share.low == share.high == (upper >= 0.8).sum() / (upper >= 0.7).sum()
    assert share.of == (upper >= 0.7).sum()
    assert np.isnan(pairs.share(of & False, of & False).value)


def test_a_share_of_all_or_nothing_still_has_an_interval(world):
    pairs = drawn(world, 30, 1000, 0)
    of = world[0][pairs.left, pairs.right] >= 0.7
    assert pairs.share(of, of).low < 1 == pairs.share(of, of).high
    assert pairs.share(of & False, of).high > 0 == pairs.share(of & False, of).low


def test_the_cheap_look_finds_what_is_near():
    texts = [document.text for document in nd.read(sample.path()).documents()]
    shingles = nd.Shingles()
    features = shingles.extract(texts)
    sketches = nd.fingerprint(texts, shingles, nd.MinHash(LOOSE.values))
    codes = nd.fingerprint(texts, nd.Words(weights=nd.Idf.fit(texts)), nd.Simhash(margins="none"))
    queries = np.arange(0, len(texts), 3)
    (place, row), strata = near_pairs(codes, sketches, queries)
    assert len(place) == len(strata) and (np.diff(place * len(texts) + row) > 0).all()
    found = set(zip(queries[place].tolist(), row.tolist(), strict=True))
    left, right = (side.ravel() for side in np.meshgrid(queries, np.arange(len(texts)), indexing="ij"))
    exact = similarity.jaccard(features, left, right)
    distance = similarity.hamming(codes, left, right)
    for a, b, near, bits in zip(left.tolist(), right.tolist(), exact, distance, strict=True):
        assert a == b or (near < 0.6 and bits > 20) or (a, b) in found
    assert all(a != b for a, b in found)
    few, _ = near_pairs(codes, sketches, queries, most=100)
    assert len(few[0]) < len(place)


def test_exact_similarity_in_pieces(monkeypatch):
    texts = [document.text for document in nd.read(sample.path()).documents()][:50]
    monkeypatch.setattr("neardup.evaluate.sample.DOCUMENTS_AT_ONCE", 7)
    draw = np.random.default_rng(1)
    left, right = draw.integers(0, 50, 300), draw.integers(0, 50, 300)
    words = nd.Words(weights="count")
    whole = similarity.cosine(words.extract(texts), left, right)
    assert (exact_similarity(texts, words, left, right, kind="cosine") == whole).all()
    shingles = nd.Shingles(2)
    assert (
        exact_similarity(texts, shingles, left, right)
        == similarity.jaccard(shingles.extract(texts), left, right)
    ).all()
    with pytest.raises(ConfigError):
        exact_similarity(texts, words, left, right, kind="odd")


def test_documents_are_drawn_evenly_and_in_order():
    kept, read = draw_documents(iter(range(10)), 20, 0)
    assert (kept, read) == (list(range(10)), 10)
    counts = np.zeros(30)
    for seed in range(2000):
        kept, read = draw_documents(range(30), 6, seed)
        assert read == 30 and len(kept) == 6 and kept == sorted(kept)
        counts[kept] += 1
    assert abs(counts / 2000 - 0.2).max() < 0.04


@pytest.mark.parametrize("universe", [60, 400])
def test_the_rest_is_drawn_evenly(universe):
    """By listing what is left, and by trying until enough were free."""
    taken, counts = np.arange(0, 40, 2), np.zeros(universe)
    for seed in range(3000):
        rest = _draw_rest(np.random.default_rng(seed), universe, taken, 10)
        assert len(np.unique(rest)) == 10 and not np.isin(rest, taken).any()
        counts[rest] += 1
    free = np.setdiff1d(np.arange(universe), taken)
    chance = 10 / len(free)
    spread = np.sqrt(chance * (1 - chance) / 3000)
    assert abs(counts[free] / 3000 - chance).max() < 4.5 * spread


def test_too_few_pairs_are_refused(world):
    with pytest.raises(ConfigError, match="at least 1,000"):
        drawn(world, 20, 10, 0)
