"""The pairs that decide about the keepers of a batch give the same keepers as all pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.budgets import budget

import neardup as nd
from neardup.index.batch_pairs import CandidatePairs, ListedPairs, PairSource, SharedKeys, decide
from neardup.index.clusters import choose_keepers
from neardup.index.matches import Matches
from neardup.index.tables import equal_pairs

SEEDS = st.integers(0, 2**32 - 1)


def cost(left: np.ndarray, right: np.ndarray, seed: int) -> np.ndarray:
    """A similarity of each pair, the same whenever it is asked for, with ties."""
    mixed = (left * 7919 + right * 104729 + seed) % 5
    return mixed / 4


@given(
    seed=SEEDS,
    count=st.integers(1, 40),
    values=st.integers(1, 12),
    columns=st.integers(0, 3),
    fixed=st.integers(0, 5),
    rounds=st.sampled_from([1, 2, 32]),
    listed=st.booleans(),
)
def test_the_same_keepers_as_with_all_pairs(
    seed: int, count: int, values: int, columns: int, fixed: int, rounds: int, listed: bool
) -> None:
    rng = np.random.default_rng(seed)
    fixed = min(fixed, count)
    keys = rng.integers(0, values, (count, columns)).astype(np.uint64)
    # Some documents are equal to an earlier one; only the first of them has pairs.
    first = np.arange(count)
    for at in range(1, count):
        if rng.random() < 0.2:
            first[at] = first[rng.integers(at)]
    chosen = np.flatnonzero(first == np.arange(count))
    left, right = equal_pairs(keys[chosen])
    source: PairSource = SharedKeys(keys[chosen])
    if listed:
        source = ListedPairs(CandidatePairs(left, right, np.zeros(len(left), np.int64)))
    assert source.involved.tolist() == sorted({*left.tolist(), *right.tolist()})
    asked: list[tuple[int, int]] = []

    def verified(pairs: CandidatePairs) -> Matches:
        asked.extend(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
        similarity = cost(chosen[pairs.left], chosen[pairs.right], seed)
        found = Matches(pairs.left, pairs.right, np.full(len(similarity), -1), similarity)
        return found.where(similarity >= 0.5)

    stored = np.flatnonzero(rng.random(count) < 0.3)
    known = Matches(stored, 1000 + stored, np.full(len(stored), -1), rng.integers(2, 5, len(stored)) / 4)
    undecided, repeated = np.ones(count, bool), np.zeros(count, bool)
    undecided[stored] = False
    repeated[first[first != np.arange(count)]] = True
    kept = int(np.searchsorted(chosen, fixed))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("neardup.index.batch_pairs.ROUNDS", rounds)
        parts = decide(source, verified, undecided[chosen], kept, repeated[chosen])
    assert len(asked) == len(set(asked))
    some = Matches.joined(parts)
    everything = verified(CandidatePairs(left, right, np.zeros(len(left), np.int64)))

    def keepers(matches: Matches) -> list[list[float]]:
        shown = Matches(chosen[matches.left], chosen[matches.right], matches.distance, matches.similarity)
        found = choose_keepers(np.arange(count) + 50, known, first, shown, (-1, 1.0), fixed)
        return [found.row.tolist(), np.nan_to_num(found.similarity, nan=-1).tolist()]

    assert keepers(some) == keepers(everything)


@pytest.mark.parametrize("method", ["minhash", "bits"])
def test_similar_pages_are_compared_with_their_keeper_only(method: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    words = [f"word{number}" for number in range(120)]
    pages = []
    for number in range(budget(200)):
        page = list(words)
        page[rng.integers(120)] = f"other{number}"
        pages.append(" ".join(page))
    config = nd.Config.of(method, threshold=0.8)
    with nd.Index(tmp_path / "index.nd", config) as index:
        matcher = index._store.matcher
        first, inner = matcher.together(matcher.of_texts(pages))
        assert first.tolist() == list(range(len(pages)))
        assert len(set(inner.left.tolist())) < 10
        assert len(inner) < 5 * len(pages)
