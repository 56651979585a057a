"""Columns of fingerprints: taking, joining, schemes; and seeds."""

from __future__ import annotations

import numpy as np
import pytest
from reference import prints as reference

from neardup.errors import ConfigError, DataError, SchemeError
from neardup.fingerprints import MinHash, Simhash, concatenate, digest_texts, same_scheme
from neardup.values.seeds import DEFAULT_SEED, Seed

ROWS: list[set[int]] = [{1, 2, 3}, set(), {2**63, 5}, {9}]


@pytest.mark.parametrize(
    "make",
    [
        lambda rows: Simhash().compute(reference.features_of(rows)),
        lambda rows: Simhash(margins="bytes").compute(reference.features_of(rows)),
        lambda rows: Simhash(bits=128, margins="ranks").compute(reference.features_of(rows)),
        lambda rows: MinHash().compute(reference.features_of(rows)),
        lambda rows: MinHash().compute(reference.features_of(rows)).pack(4),
        lambda rows: MinHash().compute(reference.features_of(rows)).code(128),
        lambda rows: digest_texts(["x" * len(row) for row in rows]),
    ],
)
def test_take_and_concatenate(make) -> None:  # type: ignore[no-untyped-def]
    whole = make(ROWS)
    assert len(whole) == 4
    taken = whole.take(np.array([2, 0]))
    assert reference.as_bytes(taken) == reference.as_bytes(make([ROWS[2], ROWS[0]]))
    joined = concatenate([make(ROWS[:1]), make([]), make(ROWS[1:])])
    assert reference.as_bytes(joined) == reference.as_bytes(whole)
    assert len(whole.take(slice(1, 3))) == 2


def test_two_schemes_are_never_compared() -> None:
    features, others = reference.features_of(ROWS), reference.features_of(ROWS, scheme="other")
    made = [
        Simhash().compute(features),
        Simhash().compute(others),
        Simhash(bits=128).compute(features),
        Simhash(tie="gt").compute(features),
        Simhash(gaussian=True).compute(features),
        MinHash().compute(features),
        MinHash(100).compute(features),
        MinHash(permutations="independent").compute(features),
        MinHash(seed=1).compute(features),
        MinHash().compute(features).pack(1),
        MinHash().compute(features).pack(2),
        MinHash().compute(features).code(64),
    ]
    assert len({prints.scheme for prints in made}) == len(made)
    same_scheme(made[0], Simhash(margins="none").compute(features))
    with pytest.raises(SchemeError) as caught:
        same_scheme(made[0], made[1])
    assert caught.value.left == made[0].scheme
    with pytest.raises(SchemeError):
        concatenate(made[:2])


def test_concatenate_needs_one_form_of_margins() -> None:
    features = reference.features_of(ROWS)
    with pytest.raises(DataError):
        concatenate([Simhash().compute(features), Simhash(margins="none").compute(features)])
    with pytest.raises(DataError):
        concatenate([])


def test_seeds() -> None:
    assert DEFAULT_SEED.to_bytes(8, "big") == b"neardup."
    assert Seed.of(5) == Seed(5) and Seed.of(Seed(5, secret=True)).secret
    assert Seed(255).identifier == "00000000000000ff"
    hidden = Seed(255, secret=True)
    assert hidden.identifier == Seed(255, secret=True).identifier != Seed(256, secret=True).identifier
    assert hidden.identifier.startswith("secret-") and hidden.identifier[-2:] != "ff"
    assert repr(hidden) == f"Seed({hidden.identifier})"
    fresh = Seed.secret_random()
    assert fresh.secret and fresh != Seed.secret_random() and str(fresh.value) not in repr(fresh)
    for wrong in (-1, 2**64):
        with pytest.raises(ConfigError):
            Seed(wrong)
