"""Dense vectors as features: codes and cosines equal naive ones, and what is no vector is refused with its row."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.budgets import budget

import neardup as nd
from neardup import _core
from neardup.compare.similarity import cosine, hamming
from neardup.errors import ConfigError, DataError
from neardup.search.vector_radius import radius_for


def some(rows: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, width)).astype(np.float32)


def naive_cosine(one: np.ndarray, other: np.ndarray) -> float:
    dot = math.fsum(float(a) * float(b) for a, b in zip(one, other, strict=True))
    squares = [math.fsum(float(a) ** 2 for a in vector) for vector in (one, other)]
    return dot / math.sqrt(squares[0] * squares[1])


@settings(max_examples=budget(30))
@given(st.integers(2, 9), st.integers(1, 40), st.integers(0, 1000))
def test_cosines_equal_naive_ones(rows, width, seed):
    vectors = some(rows, width, seed)
    features = nd.Vectors().extract(vectors)
    left, right = np.triu_indices(rows, 1)
    found = cosine(features, left, right)
    expected = [naive_cosine(vectors[a], vectors[b]) for a, b in zip(left, right, strict=True)]
    assert np.allclose(found, expected, rtol=0, atol=1e-12)


def test_bits_differ_as_the_angle_says():
    """P(a bit differs) = angle / pi: counted over many pairs at several angles."""
    width, rows = 48, 400
    for angle in (0.2, 0.5, 1.0, math.pi / 2):
        one, other = some(rows, width, 1), some(rows, width, 2)
        one /= np.linalg.norm(one, axis=1, keepdims=True)
        other -= (other * one).sum(1, keepdims=True) * one
        other /= np.linalg.norm(other, axis=1, keepdims=True)
        turned = math.cos(angle) * one + math.sin(angle) * other
        codes = nd.Simhash(128, gaussian=True).compute(nd.Vectors().extract(np.concatenate([one, turned])))
        distance = hamming(codes, np.arange(rows), rows + np.arange(rows))
        expected = 128 * angle / math.pi
        assert abs(distance.mean() - expected) < 4 * math.sqrt(expected / rows) + 0.3
        within = (distance <= radius_for(math.cos(angle), 128, 0.95)).mean()
        assert within > 0.92


def test_codes_are_the_same_everywhere():
    """For any number of threads and CPU level, and for vectors in other floats, or scaled by a power of two."""
    vectors = some(300, 100)
    made = nd.Simhash(128, gaussian=True, margins="full")
    expected = made.compute(nd.Vectors().extract(vectors))
    for level in _core.Cpu.__members__.values():
        if level.value > _core.best_cpu().value:
            continue
        _core.force_cpu(level)
        try:
            for threads in (1, 2, 5):
                again = made.compute(nd.Vectors().extract(vectors), threads=threads)
                assert np.array_equal(again.codes, expected.codes)
                assert np.array_equal(again.margins, expected.margins)
        finally:
            _core.force_cpu(_core.best_cpu())
    assert np.array_equal(
        made.compute(nd.Vectors().extract(vectors.astype(np.float64))).codes, expected.codes
    )
    assert np.array_equal(made.compute(nd.Vectors().extract(4 * vectors)).codes, expected.codes)
    assert not np.array_equal(made.compute(nd.Vectors(seed=1).extract(vectors)).codes, expected.codes)
    signs = np.where(expected.margins >= 0, 1, 0)
    words = np.packbits(signs.astype(np.uint8), axis=1, bitorder="little").view(np.uint64)
    assert np.array_equal(words, expected.codes)


@pytest.mark.parametrize(
    "value, reason",
    [
        ([1.0, math.nan, 0], "number 1 of its vector is nan"),
        ([1.0, 0, -math.inf], "number 2 of its vector is -inf"),
        ([1e300, 0, 0], "too large for float32"),
        ([0.0, -0.0, 0], "all numbers of its vector are 0"),
        ([1.0, 2.0], "a vector of 2 numbers, where the first one has 3"),
        ([], "a vector has 1 to 65,536 numbers, not 0"),
        (None, "there is none"),
        ("text", "not a list of numbers"),
        ([1, "two", 3], "not a list of numbers"),
        ([[1, 2, 3]], "not a list of numbers"),
        ([True, False, True], "not a list of numbers"),
        ({"a": 1}, "not a list of numbers"),
    ],
)
def test_what_is_no_vector_says_why(value, reason):
    made, reasons = nd.Vectors().matrix([[1, 2, 3], value, np.array([4, 5, 6])])
    assert made.tolist() == [[1, 2, 3], [4, 5, 6]] and list(reasons) == [1]
    assert reason in reasons[1]


def test_a_matrix_is_refused_with_its_row():
    vectors = some(5, 3)
    for bad, reason in ((np.nan, "nan"), (np.inf, "inf")):
        wrong = vectors.copy()
        wrong[3, 1] = bad
        with pytest.raises(DataError, match=f"row 3 is not a vector: number 1 of its vector is {reason}"):
            nd.Vectors().extract(wrong)
    wrong = vectors.copy()
    wrong[2] = 0
    with pytest.raises(DataError, match="row 2 is not a vector: all numbers of its vector are 0"):
        nd.Vectors().extract(wrong)
    for wrong in (vectors[0], vectors.astype(str), vectors[:, :0], [[1, 2], [3]], None):
        with pytest.raises((DataError, ValueError)):
            nd.Vectors().extract(wrong)


def test_negative_zeros_do_not_make_vectors_different():
    features = nd.Vectors().extract(np.array([[0.0, 1.0], [-0.0, 1.0]]))
    assert features.weights[:2].tobytes() == features.weights[2:].tobytes()


def test_a_radius_holds_what_it_promises():
    assert radius_for(1.0, 64, 0.99) == 0
    assert radius_for(0.9, 64, 0.99) < radius_for(0.8, 64, 0.99) < radius_for(0.8, 64, 0.999)
    for similarity in (0.5, 0.9, 0.99):
        differs = math.acos(similarity) / math.pi
        radius = radius_for(similarity, 128, 0.95)
        share = [math.comb(128, k) * differs**k * (1 - differs) ** (128 - k) for k in range(129)]
        assert sum(share[: radius + 1]) >= 0.95 > sum(share[:radius])


def test_wrong_configs():
    for changes, message in (
        ({"verify": nd.Jaccard(0.7)}, "compared by their cosine"),
        ({"near": False}, "near=False"),
        ({"templates": nd.Templates()}, "templates is for words"),
        ({"idf": "count"}, "idf is for words"),
        ({"fingerprint": nd.MinHash()}, "not of MinHash"),
        ({"search": nd.LSH(4, 4)}, "LSH searches"),
    ):
        with pytest.raises(ConfigError, match=message):
            nd.Config(vectors=nd.Vectors(), **changes)
    with pytest.raises(ConfigError, match="give its name"):
        nd.Vectors("")
    with pytest.raises(ConfigError, match="an index compares words"):
        nd.Index("never.nd", nd.Config(vectors=nd.Vectors()))
    config = nd.Config(vectors=nd.Vectors("e"), seed=7)
    assert nd.Config.from_plain(config.to_plain()) == config and config.vectors.seed == 7
    assert (config.verify, config.protect) == (nd.Cosine(0.9), ("language",))
