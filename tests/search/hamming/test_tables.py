"""The tables against brute force, pair by pair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reference.engine import brute, clustered, first_in_probe_order, neighbours, uniform
from support.budgets import budget

from neardup import _core
from neardup.errors import ConfigError, DataError, SchemeError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.hamming.designs import Design, bphs, compact, covering, manku
from neardup.search.hamming.tables import BPHS, Compact, Covering, TableMethod

CODES = NDArray[np.uint64]


def build(design: Design, codes: CODES, header_bits: int = 0, threads: int = 1) -> _core.HammingTables:
    words = codes.shape[1]
    masks = np.array(
        [[t.mask >> (64 * w) & (2**64 - 1) for w in range(words)] for t in design.tables], dtype=np.uint64
    )
    flips = np.array([t.flips for t in design.tables], dtype=np.uint8)
    return _core.HammingTables(codes, design.bits, design.radius, masks, flips, header_bits, threads)


def same(got: tuple[NDArray[np.generic], ...], want: tuple[NDArray[np.generic], ...]) -> None:
    for a, b in zip(got, want, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def mixed(rng: np.random.Generator, count: int, bits: int, spread: int) -> CODES:
    """Uniform codes, a cluster, and one code many times."""
    rows = [uniform(rng, count, bits), clustered(rng, count, bits, 5, spread)]
    rows.append(np.repeat(uniform(rng, 1, bits), count // 4 + 1, axis=0))
    codes = np.concatenate(rows)
    return codes[rng.permutation(len(codes))]


def design_of(bits: int, radius: int, name: str) -> Design:
    kind, _, number = name.partition("-")
    if kind == "compact":
        return compact(bits, radius, int(number))
    if kind == "covering":
        return covering(bits, radius, int(number))
    if kind == "manku":
        return manku(int(number))
    return bphs(bits, radius, radius + int(number), int(number))


DESIGNS = [
    *[
        (bits, radius, f"compact-{min(radius + 1, 2 if radius < 6 else 3)}")
        for bits in (32, 64, 128)
        for radius in range(9)
    ],
    *[(bits, radius, "bphs-1") for bits in (32, 64, 128) for radius in range(9)],
    *[(bits, radius, "bphs-2") for bits in (32, 64, 128) for radius in range(5)],
    *[(64, 3, f"covering-{tables}") for tables in (5, 6, 8, 11, 14)],
    *[(64, 3, f"manku-{tables}") for tables in (4, 10, 16, 20)],
]


@pytest.mark.parametrize(("bits", "radius", "name"), DESIGNS)
def test_equals_brute_force(bits: int, radius: int, name: str) -> None:
    rng = np.random.default_rng(bits * 100 + radius)
    codes = mixed(rng, 300, bits, radius + 2)
    queries = np.concatenate(
        [neighbours(rng, codes[::7], bits, radius + 1), uniform(rng, 20, bits), codes[:5]]
    )
    want = brute(codes, queries, radius)
    design = design_of(bits, radius, name)
    same(build(design, codes).search(queries), want)
    same(build(design, codes, header_bits=9).search(queries), want)


@pytest.mark.parametrize("name", ["covering-6", "compact-2", "manku-4"])
def test_equals_brute_force_on_many_codes(name: str) -> None:
    rng = np.random.default_rng(5)
    codes = np.concatenate([uniform(rng, 60_000, 64), clustered(rng, 40_000, 64, 20, 6)])
    queries = np.concatenate([neighbours(rng, codes[:: len(codes) // 150], 64, 4), uniform(rng, 50, 64)])
    same(build(design_of(64, 3, name), codes, threads=2).search(queries), brute(codes, queries, 3))


@pytest.mark.parametrize(
    ("bits", "name"), [(64, "covering-6"), (64, "compact-2"), (128, "compact-2"), (32, "bphs-1")]
)
def test_first_is_the_first_in_probe_order(bits: int, name: str) -> None:
    rng = np.random.default_rng(bits)
    codes = mixed(rng, 150, bits, 5)
    queries = np.concatenate([neighbours(rng, codes[::5], bits, 5), uniform(rng, 10, bits)])
    design = design_of(bits, 3, name)
    for header_bits in (0, 5):
        tables = build(design, codes, header_bits)
        keys = [(t.mask, t.flips) for t in design.tables]
        want = [first_in_probe_order(codes, q, 3, keys, tables.header_bits[0]) for q in queries]
        query, row, distance = tables.search(queries, _core.Mode.first)
        assert query.tolist() == [i for i, hit in enumerate(want) if hit]
        assert list(zip(row.tolist(), distance.tolist(), strict=True)) == [hit for hit in want if hit]


def test_same_bytes_for_any_threads_and_batches(cpu: _core.Cpu) -> None:
    rng = np.random.default_rng(11)
    codes = mixed(rng, 4000, 64, 5)
    queries = np.concatenate([neighbours(rng, codes[::2], 64, 5), uniform(rng, 500, 64)])
    want = brute(codes, queries, 3)
    for name in ("covering-6", "compact-2"):
        one = build(design_of(64, 3, name), codes)
        firsts = one.search(queries, _core.Mode.first)
        same(one.search(queries), want)
        for threads in (2, 3):
            many = build(design_of(64, 3, name), codes, threads=threads)
            assert many.bytes == one.bytes
            same(many.search(queries, threads=threads), want)
            same(many.search(queries, _core.Mode.first, threads=threads), firsts)
        parts = [one.search(queries[i : i + 1000], _core.Mode.first) for i in range(0, len(queries), 1000)]
        rows = np.concatenate([part[1] for part in parts])
        np.testing.assert_array_equal(rows, firsts[1])


def test_equal_codes_are_groups() -> None:
    rng = np.random.default_rng(3)
    codes = np.concatenate([np.repeat(uniform(rng, 1, 64), 100_000, axis=0), uniform(rng, 10, 64)])
    tables = build(covering(64, 3, 6), codes)
    assert (tables.rows, tables.codes) == (100_010, 11)
    query, row, distance, size = tables.search_groups(codes[[5, 100_003]])
    assert query.tolist() == [0, 1] and row.tolist() == [0, 100_003]
    assert distance.tolist() == [0, 0] and size.tolist() == [100_000, 1]
    assert tables.search(codes[:1])[1].tolist() == list(range(100_000))
    assert tables.search(codes[:1], _core.Mode.first)[1].tolist() == [0]
    assert tables.bytes < 20_000


def test_buckets_far_larger_than_their_share() -> None:
    # 2,000 codes that agree in one half: their buckets there outgrow the 8-byte groups.
    rng = np.random.default_rng(4)
    codes = uniform(rng, 2000, 64) & np.uint64(2**32 - 1)
    queries = neighbours(rng, codes[::20], 64, 3)
    for name in ("covering-6", "compact-2", "manku-4"):
        same(build(design_of(64, 3, name), codes).search(queries), brute(codes, queries, 3))


def test_no_codes_and_no_queries() -> None:
    none = np.empty((0, 1), dtype=np.uint64)
    some = np.arange(10, dtype=np.uint64)[:, None]
    assert [len(column) for column in build(covering(64, 3, 6), none).search(some)] == [0, 0, 0]
    assert [len(column) for column in build(covering(64, 3, 6), some).search(none)] == [0, 0, 0]


@settings(max_examples=budget(60), deadline=None)
@given(
    st.sampled_from([32, 64, 128]),
    st.integers(0, 8),
    st.integers(1, 2),
    st.integers(0, 12),
    st.integers(0, 2**32 - 1),
)
def test_any_design_and_header(bits: int, radius: int, tables: int, header_bits: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = clustered(rng, int(rng.integers(1, 200)), bits, int(rng.integers(1, 6)), radius + 3)
    queries = neighbours(rng, codes[rng.integers(0, len(codes), 20)], bits, radius + 2)
    design = compact(bits, radius, min(tables + radius // 4, radius + 1))
    same(build(design, codes, header_bits).search(queries), brute(codes, queries, radius))


def test_wrong_arguments_are_refused() -> None:
    codes = np.arange(10, dtype=np.uint64)[:, None]
    mask, flips = np.array([[1]], dtype=np.uint64), np.array([0], dtype=np.uint8)
    with pytest.raises(ValueError, match="32, 64 or 128"):
        _core.HammingTables(codes, 48, 3, mask, flips)
    with pytest.raises(ValueError, match="radius"):
        _core.HammingTables(codes, 64, 65, mask, flips)
    with pytest.raises(ValueError, match="at least one"):
        _core.HammingTables(codes, 64, 3, mask[:0], flips[:0])
    with pytest.raises(ValueError, match="uint64"):
        _core.HammingTables(codes, 128, 3, np.ones((1, 2), dtype=np.uint64), flips)
    with pytest.raises(ValueError, match="low half"):
        _core.HammingTables(codes << np.uint64(40), 32, 3, mask, flips)
    with pytest.raises(ValueError, match="do not have"):
        _core.HammingTables(codes, 32, 3, mask << np.uint64(40), flips)
    with pytest.raises(TypeError):
        _core.HammingTables(codes.astype(np.int64), 64, 3, mask, flips)
    tables = _core.HammingTables(codes, 64, 3, mask, flips)
    with pytest.raises(ValueError, match="uint64"):
        tables.search(np.ones((3, 2), dtype=np.uint64))


def codes_of(words: CODES, bits: int, empty: NDArray[np.bool_] | None = None) -> Codes:
    return Codes("test", np.zeros(len(words), bool) if empty is None else empty, bits, words)


METHODS: list[TableMethod] = [
    BPHS(),
    BPHS(tables=4),
    BPHS(blocks=6),
    BPHS(radius=2, bits=32),
    Covering(),
    Covering(radius=5, bits=128),
    Compact(),
    Compact(radius=6, bits=128),
]


@pytest.mark.parametrize("method", METHODS)
def test_methods_find_what_a_scan_finds(method: TableMethod) -> None:
    rng = np.random.default_rng(9)
    bits, radius = method.bits, method.radius
    words = mixed(rng, 200, bits, radius + 2)
    empty = rng.random(len(words)) < 0.1
    stored = codes_of(words, bits, empty)
    asked = codes_of(neighbours(rng, words[::3], bits, radius + 1), bits, rng.random(len(words[::3])) < 0.1)
    index = method.index(stored)
    assert len(index) == len(words) and index.bytes > 0 and index.row_bytes > 0
    hits = index.search(asked)
    query, row, distance = brute(words, asked.codes, radius)
    alive = ~empty[row] & ~asked.empty[query]
    same((hits.query, hits.row, hits.distance), (query[alive], row[alive], distance[alive]))
    first = index.search(asked, mode="first")
    assert first.query.tolist() == np.unique(hits.query).tolist()
    assert set(zip(first.query, first.row, strict=True)) <= set(zip(hits.query, hits.row, strict=True))
    groups, size = index.search_groups(asked)
    assert size.sum() == len(hits) and len(groups) == len(
        np.unique(np.stack([groups.query, groups.row]), axis=1).T
    )
    pairs = method.candidates(stored)
    left, right, _ = brute(words, words, radius)
    keep = (left < right) & ~empty[left] & ~empty[right]
    np.testing.assert_array_equal(pairs.left, left[keep])
    np.testing.assert_array_equal(pairs.right, right[keep])


@pytest.mark.parametrize(
    "method", [BPHS(), BPHS(radius=2, bits=32), Covering(), Compact(), Compact(4, bits=128)]
)
def test_keys_and_probes_join_to_the_same_pairs(method: TableMethod) -> None:
    rng = np.random.default_rng(10)
    bits, radius = method.bits, method.radius
    words = mixed(rng, 60, bits, radius + 2)
    asked = neighbours(rng, words[::3], bits, radius + 1)
    keys, probes = method.keys(codes_of(words, bits)), method.probes(codes_of(asked, bits))
    assert len(keys) == len(words) * len(method.design.tables)
    held: dict[tuple[int, int], list[int]] = {}
    for row, table, key in zip(keys.row.tolist(), keys.table.tolist(), keys.key.tolist(), strict=True):
        held.setdefault((table, key), []).append(row)
    sharing = {
        (query, row)
        for query, table, key in zip(
            probes.row.tolist(), probes.table.tolist(), probes.key.tolist(), strict=True
        )
        for row in held.get((table, key), [])
    }
    query, row, _ = brute(words, asked, radius)
    assert set(zip(query.tolist(), row.tolist(), strict=True)) <= sharing


def test_users_mistakes() -> None:
    words = np.arange(5, dtype=np.uint64)[:, None]
    index = Compact().index(codes_of(words, 64))
    with pytest.raises(SchemeError):
        index.search(replace(codes_of(words, 64), scheme="other"))
    with pytest.raises(DataError, match="128"):
        Compact(bits=128).index(codes_of(words, 64))
    with pytest.raises(ConfigError, match="either tables"):
        BPHS(tables=4, blocks=5)
    with pytest.raises(ConfigError, match="64 bits and radius 3"):
        BPHS(radius=2, tables=4)
    with pytest.raises(ConfigError, match="relied on"):
        BPHS(blocks=4, chosen=2)
    with pytest.raises(ConfigError):
        Covering(tables=7_000)
    with pytest.raises(ConfigError, match="radius"):
        Compact(radius=-1)


def test_covering_takes_few_tables_unless_keys_would_be_short() -> None:
    taken = {(b, r): len(Covering(r, bits=b).design.tables) for b in (32, 64, 128) for r in (1, 2, 3, 4)}
    assert taken == {
        (32, 1): 3, (32, 2): 7, (32, 3): 14, (32, 4): 35,
        (64, 1): 2, (64, 2): 3, (64, 3): 6, (64, 4): 10,
        (128, 1): 2, (128, 2): 3, (128, 3): 4, (128, 4): 5,
    }  # fmt: skip
