"""MinHash against its naive twins; permutations that are bijections; packed and 1-bit forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import prints as reference
from support.budgets import budget

from neardup import _core
from neardup.errors import ConfigError
from neardup.fingerprints import BitMinHash, MinHash
from neardup.values.seeds import DEFAULT_SEED, Seed

HASHES = st.integers(0, 2**64 - 1)
ROWS = st.lists(st.one_of(st.sets(HASHES, max_size=30), st.sets(st.integers(0, 9))), max_size=5)
SEEDS = st.integers(0, 2**64 - 1)


@given(rows=ROWS, values=st.sampled_from([1, 2, 3, 64, 100, 128, 200, 257, 300]), seed=SEEDS)
@settings(deadline=None)
def test_one_permutation_equals_its_twin(rows: list[set[int]], values: int, seed: int) -> None:
    features = reference.features_of(rows)
    made = reference.same_everywhere(lambda threads: MinHash(values, seed=seed).compute(features, threads))
    assert made.values.shape == (len(rows), values)
    for i, row in enumerate(rows):
        assert made.values[i].tolist() == reference.one_permutation(row, values, seed)
        assert made.empty[i] == (not row)


@given(rows=ROWS, values=st.sampled_from([1, 7, 100, 200]), seed=SEEDS)
@settings(deadline=None, max_examples=budget(40))
def test_independent_equals_its_twin(rows: list[set[int]], values: int, seed: int) -> None:
    features = reference.features_of(rows)
    made = reference.same_everywhere(
        lambda threads: MinHash(values, "independent", seed).compute(features, threads)
    )
    for i, row in enumerate(rows):
        assert made.values[i].tolist() == reference.independent(row, values, seed)


@pytest.mark.parametrize(
    ("values", "sizes"), [(128, (1, 2, 50, 3000)), (1000, (9, 3000)), (65536, (40_000,))]
)
def test_dense_and_sparse_rows(values: int, sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(values)
    rows = [set(rng.integers(0, 2**64, size, dtype=np.uint64).tolist()) for size in sizes]
    made = MinHash(values).compute(reference.features_of(rows), threads=2)
    for i, row in enumerate(rows):
        assert made.values[i].tolist() == reference.one_permutation(row, values, DEFAULT_SEED)


def test_a_value_that_looks_like_an_empty_bin() -> None:
    # A single feature whose low 32 bits are all ones: it must still fill its bin.
    key = reference.draw(DEFAULT_SEED, 0)
    feature = reference.unmix(0x12345678FFFFFFFF) ^ key
    made = MinHash(16).compute(reference.features_of([{feature}]))
    assert made.values.tolist() == [[reference.mix32(0xFFFFFFFE)] * 16]
    assert not made.empty[0]


@given(x=HASHES, seed=SEEDS)
@settings(deadline=None)
def test_permutations_are_bijections(x: int, seed: int) -> None:
    key, multipliers, offsets = _core.permutations(100, seed)
    assert (key, multipliers.tolist(), offsets.tolist()) == reference.permutations(100, seed)
    assert reference.unmix(reference.mix(x)) == x and reference.mix(reference.unmix(x)) == x
    for multiplier, offset in zip(multipliers.tolist(), offsets.tolist(), strict=True):
        y = reference.permute(x, key, multiplier, offset)
        assert reference.unpermute(y, key, multiplier, offset) == x
        assert (
            reference.permute(reference.unpermute(x, key, multiplier, offset), key, multiplier, offset) == x
        )


def test_order_of_a_row_never_matters() -> None:
    rng = np.random.default_rng(5)
    hashes = rng.integers(0, 2**64, 500, dtype=np.uint64)
    offsets = np.array([0, 500], dtype=np.int64)
    for independent in (False, True):
        one = _core.minhash(np.sort(hashes), offsets, 128, 1, independent, 1)
        two = _core.minhash(hashes, offsets, 128, 1, independent, 1)
        assert np.array_equal(one, two)


def test_seeds_make_unrelated_sketches() -> None:
    features = reference.features_of([set(range(1, 2000))])
    for permutations in ("one", "independent"):
        left, right = (MinHash(permutations=permutations, seed=seed).compute(features) for seed in (1, 2))
        assert np.count_nonzero(left.values == right.values) == 0
        assert left.scheme != right.scheme


def test_a_secret_seed_is_not_shown() -> None:
    seed = Seed(0xDEADBEEFCAFE1234, secret=True)
    made = MinHash(seed=seed).compute(reference.features_of([{1, 2}]))
    for text in (made.scheme, repr(MinHash(seed=seed)), repr(seed), str(seed)):
        assert "deadbeef" not in text.lower() and str(seed.value) not in text
    assert seed.identifier in made.scheme


@given(
    values=st.integers(1, 40).flatmap(
        lambda k: st.lists(
            st.lists(st.integers(0, 2**32 - 1), min_size=k, max_size=k), min_size=1, max_size=4
        )
    ),
    bits=st.sampled_from([1, 2, 4, 8, 16]),
)
@settings(deadline=None)
def test_packing(values: list[list[int]], bits: int) -> None:
    column = np.array(values, dtype=np.uint32)
    packed = reference.same_everywhere(lambda threads: _core.pack_low_bits(column, bits, threads))
    for row, got in zip(values, packed, strict=True):
        whole = sum((value & (1 << bits) - 1) << bits * j for j, value in enumerate(row))
        assert got.tobytes() == whole.to_bytes((len(row) * bits + 7) // 8, "little")


@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.parametrize("permutations", ["one", "independent"])
def test_codes_of_one_bit(bits: int, permutations: str) -> None:
    rng = np.random.default_rng(bits)
    rows = [set(rng.integers(0, 2**64, n, dtype=np.uint64).tolist()) for n in (0, 1, 200)]
    features = reference.features_of(rows)
    codes = BitMinHash(bits, permutations).compute(features)
    sketches = MinHash(bits, permutations).compute(features)
    for i in range(len(rows)):
        whole = sum((int(value) & 1) << j for j, value in enumerate(sketches.values[i]))
        assert sum(int(word) << 64 * w for w, word in enumerate(codes.codes[i])) == whole
    assert codes.codes.shape == (3, bits // 64) and codes.empty.tolist() == [True, False, False]
    assert codes.codes[0].tolist() == [0] * (bits // 64)
    assert codes.scheme == sketches.code(bits).scheme != sketches.scheme


def test_low_bits_are_even_in_long_documents() -> None:
    # With 100,000 features a bin the raw minima are below 2**16 or so; the stored values must still use all
    # bits.
    rng = np.random.default_rng(3)
    hashes = rng.integers(0, 2**64, 800_000, dtype=np.uint64)
    offsets = np.array([0, 400_000, 800_000], dtype=np.int64)
    values = _core.minhash(hashes, offsets, 64, 1, False, 1)
    for bit in range(32):
        ones = np.count_nonzero(values >> np.uint32(bit) & np.uint32(1))
        assert 64 - 5 * 5.7 < ones < 64 + 5 * 5.7, bit


def test_wrong_settings() -> None:
    for wrong in ({"values": 0}, {"values": 65537}, {"permutations": "two"}, {"seed": -1}, {"seed": 2**64}):
        with pytest.raises(ConfigError):
            MinHash(**wrong)
    with pytest.raises(ConfigError):
        BitMinHash(32)
    sketches = MinHash(100).compute(reference.features_of([{1}]))
    for call in (lambda: sketches.pack(3), lambda: sketches.code(128), lambda: sketches.code(32)):
        with pytest.raises(ConfigError):
            call()


def test_hostile_arrays_end_in_value_error() -> None:
    hashes, offsets = np.zeros(3, np.uint64), np.array([0, 3], np.int64)
    with pytest.raises(ValueError):
        _core.minhash(hashes, np.array([0, 9], np.int64), 8, 0, False, 1)
    with pytest.raises(ValueError):
        _core.minhash(hashes, offsets, 0, 0, False, 1)
    with pytest.raises(ValueError):
        _core.pack_low_bits(np.zeros((2, 4), np.uint32), 3, 1)
    with pytest.raises(ValueError):
        _core.pack_low_bits(np.zeros((2, 0), np.uint32), 1, 1)
    with pytest.raises(ValueError):
        _core.one_bit_codes(np.zeros((2, 4), np.uint32), 5)
