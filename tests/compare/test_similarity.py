"""Similarities against plain Python, worked examples, and the axioms of distances."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import prints as reference
from support.budgets import budget

from neardup import _core
from neardup.compare import similarity
from neardup.errors import ConfigError, DataError, SchemeError
from neardup.fingerprints import Codes, MinHash, Simhash

ELEMENTS = st.one_of(st.integers(0, 12), st.integers(0, 2**64 - 1))
SETS = st.lists(st.sets(ELEMENTS, max_size=12), min_size=1, max_size=6)
VECTORS = st.lists(
    st.dictionaries(st.integers(0, 12), st.floats(-50, 50, width=32), max_size=8), min_size=3, max_size=5
)


def all_pairs(count: int) -> tuple[np.ndarray, np.ndarray]:
    left, right = np.meshgrid(np.arange(count), np.arange(count), indexing="ij")
    return left.ravel(), right.ravel()


@given(SETS)
@settings(deadline=None)
def test_overlaps_equal_sets(rows: list[set[int]]) -> None:
    features = reference.features_of(rows)
    left, right = all_pairs(len(rows))
    jaccard = reference.same_everywhere(lambda t: similarity.jaccard(features, left, right, threads=t))
    in_right = similarity.containment(features, left, right, of="left")
    in_left = similarity.containment(features, left, right, of="right")
    smaller = similarity.containment(features, left, right, of="smaller")
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        shared, union = len(rows[a] & rows[b]), len(rows[a] | rows[b])
        assert jaccard[i] == (shared / union if union else 0)
        assert in_right[i] == (shared / len(rows[a]) if rows[a] else 0)
        assert in_left[i] == (shared / len(rows[b]) if rows[b] else 0)
        least = min(len(rows[a]), len(rows[b]))
        assert smaller[i] == (shared / least if least else 0)


@given(st.sets(st.integers(0, 5000), max_size=8), st.sets(st.integers(0, 5000), min_size=600, max_size=900))
@settings(deadline=None, max_examples=budget(20))
def test_a_small_set_in_a_large_one(small: set[int], large: set[int]) -> None:
    features = reference.features_of([small, large])
    assert (
        similarity.jaccard(features, [0, 1], [1, 0]).tolist() == [len(small & large) / len(small | large)] * 2
    )


@given(VECTORS)
@settings(deadline=None)
def test_products_equal_plain_sums(rows: list[dict[int, float]]) -> None:
    features = reference.features_of(rows)
    left, right = all_pairs(len(rows))
    cosine = reference.same_everywhere(lambda t: similarity.cosine(features, left, right, threads=t))
    distance = reference.same_everywhere(lambda t: similarity.euclidean(features, left, right, threads=t))
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        v, w = rows[a], rows[b]
        dot = math.fsum(v[k] * w[k] for k in v.keys() & w.keys())
        lengths = math.sqrt(math.fsum(x * x for x in v.values())) * math.sqrt(
            math.fsum(x * x for x in w.values())
        )
        assert cosine[i] == pytest.approx(dot / lengths if lengths > 1e-150 else cosine[i], abs=1e-9)
        apart = math.sqrt(math.fsum((v.get(k, 0) - w.get(k, 0)) ** 2 for k in v.keys() | w.keys()))
        assert distance[i] == (pytest.approx(apart, rel=1e-12, abs=1e-300) if v or w else math.inf)


def test_across_two_tables() -> None:
    one, two = reference.features_of([{1, 2}, {3}]), reference.features_of([{9}, {2, 1}, {3, 4}])
    assert similarity.jaccard(one, [0, 1, 1], [1, 2, 0], two).tolist() == [1, 0.5, 0]
    with pytest.raises(SchemeError):
        similarity.jaccard(one, [0], [0], reference.features_of([{1}], scheme="other"))


def test_worked_examples() -> None:
    known = reference.known_answers()["jaccard"]
    a, b = {0, 1, 2, 5, 6}, {0, 2, 3, 5, 7, 9}
    features = reference.features_of([a, b])
    assert similarity.jaccard(features, [0], [1])[0] == known["J"]
    assert similarity.containment(features, [0], [1])[0] == known["containment_A_in_B"]
    assert similarity.containment(features, [0], [1], of="right")[0] == known["containment_B_in_A"]
    # The slides' clusters of items: each set becomes the union of the clusters it touches.
    clusters = [{0, 1, 2}, {3, 4}, {5, 6}, {7, 8, 9}]
    clusters = [set().union(*(c for c in clusters if c & items)) for items in (a, b)]
    assert similarity.jaccard(reference.features_of(clusters), [0], [1])[0] == known["cluster_J"]


def test_sketch_curves_of_the_lecture_notes() -> None:
    for name, values, needed in (("p90of100", 100, 90), ("p160of200", 200, 160)):
        known = reference.known_answers()[name]
        got = similarity.sketch_curve([float(r) for r in known], values, needed)
        np.testing.assert_allclose(got, list(known.values()), rtol=1e-11)
    assert similarity.sketch_curve([0.0, 1.0], 100, 90).tolist() == [0, 1]
    assert similarity.sketch_curve([0.0, 0.3], 100, 0).tolist() == [1, pytest.approx(1)]
    assert similarity.sketch_curve(1e-3, 100, 100) == pytest.approx(1e-300, rel=1e-9)
    for wrong in ((0.5, 100, 101), (0.5, 0, 0)):
        with pytest.raises(ConfigError):
            similarity.sketch_curve(*wrong)
    with pytest.raises(DataError):
        similarity.sketch_curve(1.5, 100, 90)


@given(st.integers(0, 1000), st.integers(1, 60), st.data())
@settings(deadline=None)
def test_sketch_curve_equals_exact_fractions(thousandths: int, values: int, data: st.DataObject) -> None:
    needed = data.draw(st.integers(0, values))
    r = Fraction(thousandths, 1000)
    exact = sum(math.comb(values, i) * r**i * (1 - r) ** (values - i) for i in range(needed, values + 1))
    got = similarity.sketch_curve(thousandths / 1000, values, needed)
    assert float(got) == pytest.approx(float(exact), rel=1e-10)


def test_expected_distance() -> None:
    known = reference.known_answers()["E[H] b=64"]
    got = similarity.expected_distance([float(c) for c in known], 64)
    np.testing.assert_allclose(got, list(known.values()), rtol=1e-12)
    np.testing.assert_allclose(
        similarity.cosine_from_distance(got, 64), [float(c) for c in known], rtol=1e-12
    )
    # Radius 3 is far from "cosine 0.9" at 64 bits.
    np.testing.assert_allclose(similarity.within_radius([0.9, 0.98, 0.99], 3), [0.013, 0.41, 0.67], atol=0.01)
    assert similarity.within_radius([1.0, -1.0], 3).tolist() == [1, 0]
    assert similarity.within_radius(0.2, 64) == pytest.approx(1)
    with pytest.raises(ConfigError):
        similarity.within_radius(0.9, 65)
    with pytest.raises(DataError):
        similarity.expected_distance(1.1)


def codes_of(numbers: list[int], bits: int = 32) -> Codes:
    column = np.array(numbers, dtype=np.uint64).reshape(-1, 1)
    return Codes("test", np.zeros(len(numbers), np.bool_), bits=bits, codes=column)


def test_hamming_of_the_slides() -> None:
    known = reference.known_answers()["eight16"]
    numbers = codes_of(known["numbers"])
    left, right = (rows for rows in np.triu_indices(8, 1))
    distances = similarity.hamming(numbers, left, right)
    near = [
        [int(d), int(a) + 1, int(b) + 1] for d, a, b in zip(distances, left, right, strict=True) if d <= 3
    ]
    assert sorted(near) == known["pairs_H<=3 (H,i,j 1-based)"]
    assert similarity.hamming(codes_of(known["phrases"]), [0, 0, 1], [1, 2, 2]).tolist() == known["phrase_H"]


@given(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1)), min_size=1, max_size=9))
@settings(deadline=None)
def test_hamming_equals_bit_counts(rows: list[tuple[int, int]]) -> None:
    codes = Codes("test", np.zeros(len(rows), np.bool_), bits=128, codes=np.array(rows, dtype=np.uint64))
    left, right = all_pairs(len(rows))
    got = reference.same_everywhere(lambda t: similarity.hamming(codes, left, right, threads=t))
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        assert got[i] == sum((x ^ y).bit_count() for x, y in zip(rows[a], rows[b], strict=True))


@given(
    st.integers(1, 70).flatmap(
        lambda k: st.lists(st.lists(st.integers(0, 3), min_size=k, max_size=k), min_size=2, max_size=3)
    ),
    st.sampled_from([1, 2, 4, 8, 16]),
)
@settings(deadline=None)
def test_equal_places(rows: list[list[int]], bits: int) -> None:
    column = np.array(rows, dtype=np.uint32) * np.uint32(0x01010101)
    left, right = all_pairs(len(rows))
    equal = reference.same_everywhere(lambda t: _core.equal_values(column, column, left, right, t))
    packed = _core.pack_low_bits(column, bits, 1)
    low = reference.same_everywhere(
        lambda t: _core.equal_packed(packed, packed, len(rows[0]), bits, left, right, t)
    )
    mask = np.uint32((1 << bits) - 1)
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        assert equal[i] == np.count_nonzero(column[a] == column[b])
        assert low[i] == np.count_nonzero((column[a] & mask) == (column[b] & mask))


def test_empty_documents_are_never_similar() -> None:
    features = reference.features_of([set(), set(), {1}])
    left, right = [0, 0, 0, 2], [0, 1, 2, 1]
    for measure in (similarity.jaccard, similarity.containment, similarity.cosine):
        assert measure(features, left, right).tolist() == [0] * 4
    assert similarity.angle(features, left, right).tolist() == [math.pi / 2] * 4
    assert similarity.euclidean(features, left, right).tolist() == [math.inf, math.inf, 1, 1]
    assert similarity.hamming(Simhash().compute(features), left, right).tolist() == [65] * 4
    sketches = MinHash().compute(features)
    assert similarity.sketch_similarity(sketches, left, right).tolist() == [0] * 4
    assert similarity.sketch_similarity(sketches.pack(2), left, right).tolist() == [0] * 4
    assert similarity.bit_similarity(sketches.code(64), left, right).tolist() == [0] * 4
    assert similarity.edit_similarity(["", "a"], ["", ""]).tolist() == [0, 0]


def triples(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    a, b, c = np.meshgrid(*[np.arange(count)] * 3, indexing="ij")
    return a.ravel(), b.ravel(), c.ravel()


def check_axioms(
    distance: Callable[[np.ndarray, np.ndarray], np.ndarray], same: np.ndarray, slack: float
) -> None:
    """Never negative; zero exactly for the same; symmetric; no detour is shorter."""
    left, right = all_pairs(len(same))
    table = distance(left, right).astype(np.float64).reshape(len(same), len(same))
    assert np.all(table >= 0)
    assert np.all((table <= slack) >= same) and np.all(table[~same] > 0)
    assert np.array_equal(table, table.T)
    a, b, c = triples(len(same))
    assert np.all(table[a, c] <= table[a, b] + table[b, c] + slack)


FULL_SETS = st.lists(st.sets(st.integers(0, 15), min_size=1, max_size=10), min_size=3, max_size=5)
POSITIVE = st.lists(
    st.dictionaries(st.integers(0, 9), st.integers(1, 20).map(float), min_size=1, max_size=6),
    min_size=3,
    max_size=5,
)


@given(FULL_SETS)
@settings(deadline=None)
def test_jaccard_distance_is_a_metric(rows: list[set[int]]) -> None:
    features = reference.features_of(rows)
    same = np.array([[a == b for b in rows] for a in rows])
    check_axioms(lambda a, b: 1 - similarity.jaccard(features, a, b), same, 1e-12)


@given(POSITIVE)
@settings(deadline=None)
def test_euclidean_distance_is_a_metric(rows: list[dict[int, float]]) -> None:
    features = reference.features_of(rows)
    same = np.array([[a == b for b in rows] for a in rows])
    check_axioms(lambda a, b: similarity.euclidean(features, a, b), same, 1e-9)


@given(POSITIVE)
@settings(deadline=None)
def test_angle_is_a_metric_of_directions(rows: list[dict[int, float]]) -> None:
    features = reference.features_of(rows)

    def parallel(v: dict[int, float], w: dict[int, float]) -> bool:
        key = next(iter(v))
        return v.keys() == w.keys() and all(v[k] * w[key] == w[k] * v[key] for k in v)

    same = np.array([[parallel(v, w) for w in rows] for v in rows])
    check_axioms(lambda a, b: similarity.angle(features, a, b), same, 1e-7)


@given(st.lists(st.integers(0, 2**32 - 1), min_size=3, max_size=6))
@settings(deadline=None)
def test_hamming_distance_is_a_metric(numbers: list[int]) -> None:
    same = np.array([[a == b for b in numbers] for a in numbers])
    check_axioms(lambda a, b: similarity.hamming(codes_of(numbers), a, b), same, 0)


@given(st.lists(st.text("abc", max_size=8), min_size=3, max_size=5))
@settings(deadline=None)
def test_edit_distance_is_a_metric(texts: list[str]) -> None:
    pytest.importorskip("rapidfuzz")
    same = np.array([[a == b for b in texts] for a in texts])

    def distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return similarity.edit_distance([texts[i] for i in a], [texts[i] for i in b])

    check_axioms(distance, same, 0)


@given(st.text(max_size=12), st.text(max_size=12))
@settings(deadline=None)
def test_edit_distance_is_by_insertions_and_deletions(a: str, b: str) -> None:
    pytest.importorskip("rapidfuzz")
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], last if x == y else 1 + min(row[j], row[j - 1])
    assert similarity.edit_distance([a], [b]).tolist() == [row[-1]]
    expected = 1 - row[-1] / (len(a) + len(b)) if a or b else 0
    assert similarity.edit_similarity([a], [b])[0] == pytest.approx(expected)


def test_edit_similarity_of_batches_and_threads() -> None:
    pytest.importorskip("rapidfuzz")
    left, right = ["abcd", "", "same"] * 50, ["abxd", "x", "same"] * 50
    for threads in (1, 2):
        assert similarity.edit_similarity(left, right, threads).tolist() == [0.75, 0, 1] * 50
    assert similarity.edit_similarity([], []).tolist() == []
    with pytest.raises(DataError):
        similarity.edit_distance(["a"], [])


@pytest.mark.process
def test_a_missing_extra_says_what_to_type() -> None:
    script = (
        "import sys; sys.modules['rapidfuzz'] = None; sys.modules['rapidfuzz.distance'] = None\n"
        "from neardup import errors\n"
        "from neardup.compare import similarity\n"
        "try: similarity.edit_distance(['a'], ['b'])\n"
        "except errors.MissingExtra as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "neardup[edit]" in done.stdout


def test_wrong_rows_are_refused() -> None:
    features = reference.features_of([{1}, {2}])
    for left, right in (([0], [2]), ([-1], [0]), ([0, 1], [0]), ([0.5], [0]), ([[0]], [[1]])):
        with pytest.raises(DataError):
            similarity.jaccard(features, left, right)
    assert similarity.jaccard(features, [], []).tolist() == []
    with pytest.raises(ConfigError):
        similarity.containment(features, [0], [1], of="both")  # type: ignore[arg-type]
    with pytest.raises(ConfigError):
        similarity.bit_similarity(Simhash().compute(features), [0], [1])
    rows = np.array([5], dtype=np.int64)
    with pytest.raises(ValueError):
        _core.shared_features(
            features.hashes, features.offsets, features.hashes, features.offsets, rows, rows, 1
        )
