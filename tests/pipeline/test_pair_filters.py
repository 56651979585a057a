"""Pairs that are never compared: by length, by language; and documents set aside because none can be similar."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.errors import ConfigError
from neardup.pipeline.prefilter import never_duplicates


def pairs_of(texts, **filters):
    config = nd.Config(features=nd.Words(), verify=nd.Jaccard(0.3), filters=nd.Filters(**filters))
    found = nd.dedup(texts, config).pairs
    return list(zip(found.left.tolist(), found.right.tolist(), strict=True))


def test_the_length_rule_is_inclusive():
    """Conrad and Schriber's +-20%: 80 words may be compared with 100, 79 may not."""
    words = [f"w{i}" for i in range(100)]
    texts = [" ".join(words[:n]) for n in (100, 80, 79)]
    assert pairs_of(texts) == [(0, 1), (0, 2), (1, 2)]
    assert pairs_of(texts, length=0.2) == [(0, 1), (1, 2)]
    assert pairs_of(texts, length=0.01) == []
    with pytest.raises(ConfigError, match="a share from 0"):
        nd.Filters(length=1.0)


def test_documents_in_two_languages_are_never_compared():
    pytest.importorskip("resiliparse")
    german = "Der Vertrag wird zwischen den Parteien geschlossen und gilt bis auf weiteres für beide Seiten. "
    english = "The contract is made between the parties and is valid for both sides until further notice. "
    shared = "Neardup Incorporated 4711 Berlin Hamburg Dresden Leipzig Munich 1999 2000 2001 2002 2003 2004 2005 2006 "
    texts = [german * 3 + shared, german * 3 + shared + "Anhang", english * 3 + shared]
    assert pairs_of(texts) == [(0, 1), (0, 2), (1, 2)]
    assert pairs_of(texts, same_language=True) == [(0, 1)]


@given(
    st.lists(st.lists(st.sampled_from("abcdefghijklmnop"), min_size=1, max_size=12), min_size=1, max_size=12),
    st.sampled_from([0.3, 0.5, 0.8, 1.0]),
    st.integers(10, 20),
)
def test_pruning_never_loses_a_pair(rows, least, bits):
    features = nd.features.Features.of(rows)
    never = never_duplicates(lambda: [features], len(rows), least, memory=2 << bits)
    sets = [set(row) for row in rows]
    for a, b in itertools.combinations(range(len(rows)), 2):
        if len(sets[a] & sets[b]) >= least * len(sets[a] | sets[b]):
            assert not never[a] and not never[b]


def test_pruning_sets_aside_and_changes_nothing():
    rng = np.random.default_rng(1)
    texts = [" ".join(f"w{n}" for n in rng.integers(0, 100_000, 200)) for _ in range(40)]
    texts += [text + " more" for text in texts[:5]]
    plain = nd.Config()
    pruned = replace(plain, filters=nd.Filters(prune=True))
    one, other = nd.dedup(texts, plain), nd.dedup(texts, pruned)
    assert np.array_equal(one.pairs.left, other.pairs.left) and np.array_equal(one.kept, other.kept)
    assert other.found.pruned == 35
    with pytest.raises(ConfigError, match="prune is for Jaccard"):
        nd.dedup(texts, replace(pruned, verify=nd.Cosine(0.8)))
