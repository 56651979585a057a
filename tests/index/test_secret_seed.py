"""An attacker who knows the code but not the seed cannot make unrelated pages match.

The attack: mine shingles whose hashes are the smallest of many; appended to any page they take over its MinHash
values, so that all pages that carry them look similar.
"""

from __future__ import annotations

import numpy as np
import pytest

import neardup as nd

PAGES = 6
CONFIG = nd.Config(
    features=nd.Words(),
    fingerprint=nd.BitMinHash(64, permutations="independent"),
    search=nd.search.Compact(3),
)


def pages() -> list[str]:
    rng = np.random.default_rng(5)
    return [" ".join(f"{rng.integers(10**9):x}" for _ in range(60)) for _ in range(PAGES)]


def sticky(seed: int) -> str:
    """Words that win every one of the 64 permutations under this seed, among 40,000 tried."""
    words = [f"w{number}" for number in range(40_000)]
    config = nd.Config(
        features=nd.Words(seed=seed), fingerprint=nd.MinHash(64, permutations="independent", seed=seed)
    )
    # A text of all words shows which values win; the words that have them alone are the winners.
    won = nd.fingerprint([" ".join(words)], config.features, config.prints).values
    alone = nd.fingerprint(words, config.features, config.prints).values
    return " ".join(words[row] for row in np.flatnonzero((alone == won).any(axis=1)))


@pytest.fixture(scope="module")
def mined() -> str:
    return sticky(nd.fingerprints.DEFAULT_SEED)


def new_pages(index: nd.Index, mined: str) -> int:
    return index.add([nd.Document(str(n), f"{text} {mined}") for n, text in enumerate(pages())])


def test_the_attack_works_where_the_seed_is_known(tmp_path, mined):
    with nd.Index(tmp_path / "i", CONFIG, store="none", seed=nd.fingerprints.DEFAULT_SEED) as index:
        assert new_pages(index, mined) < PAGES


def test_and_fails_where_it_is_secret(tmp_path, mined):
    """The mined words are a bit more than half of each page, no more than any others, so a radius of 3 parts them."""
    for trial in range(5):
        with nd.Index(tmp_path / str(trial), CONFIG, store="none") as index:
            assert new_pages(index, mined) == PAGES


def test_verification_holds_even_where_the_seed_is_known(tmp_path, mined):
    few = " ".join(mined.split()[:10])
    with nd.Index(tmp_path / "i", CONFIG, store="text", seed=nd.fingerprints.DEFAULT_SEED) as index:
        assert new_pages(index, few) == PAGES


def test_the_seed_is_not_shown(tmp_path):
    with nd.Index(tmp_path / "i") as index:
        value = index._recipe.seed.value
        for said in (index.scheme, repr(index.config), str(index.stats())):
            assert str(value) not in said and f"{value:016x}" not in said
