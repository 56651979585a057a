"""Sorted, permuted tables as the papers have them: the same answers as brute force and as direct address."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reference.engine import brute, clustered, first_in_probe_order, neighbours, uniform
from support.budgets import budget

from neardup import _core
from neardup.errors import ConfigError, SchemeError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.hamming.tables import BPHS, Covering, Lookup, TableMethod, design_arrays
from neardup.search.interface import Hits

CODES = NDArray[np.uint64]
SEARCHED: tuple[Lookup, Lookup] = ("binary", "interpolation")

METHODS: list[BPHS | Covering] = [
    *[BPHS(tables=tables) for tables in (4, 10, 16, 20)],
    BPHS(radius=0),
    BPHS(radius=2, blocks=7, chosen=5),
    BPHS(radius=4, blocks=5),
    BPHS(radius=1, bits=32),
    BPHS(radius=3, blocks=6, bits=32),
    BPHS(radius=8, blocks=9, bits=32),
    BPHS(radius=3, blocks=6, bits=128),
    BPHS(radius=5, blocks=6, bits=128),
    Covering(),
    Covering(tables=11),
]


def codes_of(words: CODES, bits: int, empty: NDArray[np.bool_] | None = None) -> Codes:
    return Codes("test", np.zeros(len(words), bool) if empty is None else empty, bits, words)


def mixed(rng: np.random.Generator, count: int, bits: int, spread: int) -> CODES:
    """Uniform codes, a cluster, one code many times, and the two ends of the range."""
    ends = np.array([[0] * max(1, bits // 64), [2 ** min(bits, 64) - 1] * max(1, bits // 64)], np.uint64)
    rows = [uniform(rng, count, bits), clustered(rng, count, bits, 5, spread), ends]
    rows.append(np.repeat(uniform(rng, 1, bits), count // 4 + 1, axis=0))
    codes = np.concatenate(rows)
    return codes[rng.permutation(len(codes))]


def same(got: Hits, want: Hits | tuple[NDArray[np.generic], ...]) -> None:
    columns = (want.query, want.row, want.distance) if isinstance(want, Hits) else want
    for a, b in zip((got.query, got.row, got.distance), columns, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def firsts(method: TableMethod, stored: Codes, asked: CODES) -> list[tuple[int, int, int]]:
    """(query, row, distance) of each query's first hit, keys taken whole."""
    alive = np.flatnonzero(~stored.empty)
    tables = [(table.mask, table.flips) for table in method.design.tables]
    hits = [
        first_in_probe_order(stored.codes[alive], q, method.radius, tables, method.bits)  # type: ignore[arg-type]
        for q in asked
    ]
    return [(i, int(alive[hit[0]]), hit[1]) for i, hit in enumerate(hits) if hit]


@pytest.mark.parametrize("lookup", SEARCHED)
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_finds_what_brute_force_and_direct_address_find(method: BPHS | Covering, lookup: Lookup) -> None:
    rng = np.random.default_rng(method.bits + method.radius)
    bits, radius = method.bits, method.radius
    words = mixed(rng, 250, bits, radius + 2)
    asked = np.concatenate([neighbours(rng, words[::4], bits, radius + 1), uniform(rng, 10, bits), words[:5]])
    stored = codes_of(words, bits, rng.random(len(words)) < 0.1)
    queries = codes_of(asked, bits, rng.random(len(asked)) < 0.1)
    searched = replace(method, lookup=lookup)
    index, direct = searched.index(stored), method.index(stored)
    assert len(index) == len(words)
    assert index.bytes == len(method.design.tables) * (~stored.empty).sum() * max(1, bits // 64) * 8
    assert index.row_bytes == len(method.design.tables) * (~stored.empty).sum() * 4
    assert index.tables.codes == direct.tables.codes
    query, row, distance = brute(words, asked, radius)
    alive = ~stored.empty[row] & ~queries.empty[query]
    hits = index.search(queries)
    same(hits, (query[alive], row[alive], distance[alive]))
    same(hits, direct.search(queries))
    groups, size = index.search_groups(queries)
    direct_groups, direct_size = direct.search_groups(queries)
    same(groups, direct_groups)
    np.testing.assert_array_equal(size, direct_size)
    first = index.search(codes_of(asked, bits), mode="first")
    got = list(zip(first.query.tolist(), first.row.tolist(), first.distance.tolist(), strict=True))
    assert got == firsts(method, stored, asked)
    pairs, want = searched.candidates(stored), method.candidates(stored)
    np.testing.assert_array_equal(pairs.left, want.left)
    np.testing.assert_array_equal(pairs.right, want.right)


@pytest.mark.parametrize("lookup", SEARCHED)
def test_first_equals_direct_address_on_whole_keys(lookup: Lookup) -> None:
    # Keys of 16 bits fit the address of a bucket, so both go by the same keys.
    rng = np.random.default_rng(8)
    words = mixed(rng, 400, 64, 5)
    asked = neighbours(rng, words[::2], 64, 5)
    masks, flips = design_arrays(BPHS(tables=4).design)
    direct = _core.HammingTables(words, 64, 3, masks, flips, 16).search(asked, _core.Mode.first)
    found = BPHS(tables=4, lookup=lookup).index(codes_of(words, 64))
    same(found.search(codes_of(asked, 64), mode="first"), direct)


def test_same_bytes_for_any_threads_and_level(cpu: _core.Cpu) -> None:
    rng = np.random.default_rng(11)
    words = mixed(rng, 3000, 64, 5)
    asked = codes_of(np.concatenate([neighbours(rng, words[::3], 64, 5), uniform(rng, 300, 64)]), 64)
    want = brute(words, asked.codes, 3)
    for lookup in SEARCHED:
        method = BPHS(tables=10, lookup=lookup)
        one = method.index(codes_of(words, 64))
        first, probes = one.search(asked, mode="first"), one.lookup_probes(asked)
        for threads in (1, 2, 3):
            many = method.index(codes_of(words, 64), threads=threads)
            same(many.search(asked, threads=threads), want)
            same(many.search(asked, mode="first", threads=threads), first)
            assert many.lookup_probes(asked, threads=threads) == probes


def test_equal_codes() -> None:
    rng = np.random.default_rng(3)
    words = np.concatenate([np.repeat(uniform(rng, 1, 64), 20_000, axis=0), uniform(rng, 10, 64)])
    for lookup in SEARCHED:
        index = BPHS(lookup=lookup).index(codes_of(words, 64))
        asked = codes_of(words[[5, 20_003]], 64)
        groups, size = index.search_groups(asked)
        assert groups.row.tolist() == [0, 20_003] and size.tolist() == [20_000, 1]
        assert index.search(asked).row.tolist() == [*range(20_000), 20_003]
        assert index.search(asked, mode="first").row.tolist() == [0, 20_003]
        assert index.tables.codes == 11


@settings(max_examples=budget(60), deadline=None)
@given(
    st.sampled_from([32, 64, 128]),
    st.integers(0, 5),
    st.integers(1, 3),
    st.sampled_from(SEARCHED),
    st.lists(st.integers(0, 2**128 - 1), max_size=40),
    st.integers(0, 2**32 - 1),
)
def test_any_codes(
    bits: int, radius: int, chosen: int, lookup: Lookup, numbers: list[int], seed: int
) -> None:
    count = max(1, bits // 64)
    words = np.array(
        [[n >> (64 * w) & (2 ** min(bits, 64) - 1) for w in range(count)] for n in numbers], np.uint64
    ).reshape(-1, count)
    rng = np.random.default_rng(seed)
    words = np.concatenate([words, neighbours(rng, words, bits, radius)])
    asked = neighbours(rng, words, bits, radius + 1)
    method = BPHS(radius, blocks=radius + chosen, chosen=chosen, bits=bits, lookup=lookup)
    index = method.index(codes_of(words, bits))
    same(index.search(codes_of(asked, bits)), brute(words, asked, radius))


def test_interpolation_reads_fewer_codes_than_binary_search() -> None:
    rng = np.random.default_rng(12)
    stored, asked = codes_of(uniform(rng, 100_000, 64), 64), codes_of(uniform(rng, 2000, 64), 64)
    binary = BPHS(tables=10, lookup="binary").index(stored).lookup_probes(asked)
    interpolation = BPHS(tables=10, lookup="interpolation").index(stored).lookup_probes(asked)
    assert log2(100_000) - 1 <= binary <= ceil(log2(100_000))
    assert interpolation < 0.6 * binary
    assert BPHS(tables=10).index(stored).lookup_probes(asked) == 1


def test_no_codes_and_no_queries() -> None:
    none, some = np.empty((0, 1), np.uint64), np.arange(10, dtype=np.uint64)[:, None]
    for lookup in SEARCHED:
        method = BPHS(lookup=lookup)
        empty = method.index(codes_of(none, 64))
        assert len(empty.search(codes_of(some, 64))) == 0 and empty.lookup_probes(codes_of(some, 64)) == 0
        index = method.index(codes_of(some, 64))
        assert len(index.search(codes_of(none, 64))) == 0 and index.lookup_probes(codes_of(none, 64)) == 0


@pytest.mark.parametrize("bits", [32, 64, 128])
def test_psm_as_written_equals_the_batched_heap(bits: int, cpu: _core.Cpu) -> None:
    rng = np.random.default_rng(bits)
    words = mixed(rng, 600, bits, 5)
    asked = neighbours(rng, words[::2], bits, 5)
    costs = rng.laplace(size=(len(asked), bits)).astype(np.float32)
    costs[::5, :: bits // 8] = 0  # ties
    costs[::7, -3:] = np.nan
    numbers = rng.permutation(10_000)[: len(words)].astype(np.uint32)
    for header, radius, sets in ((1, 3, 10), (9, 3, 0), (9, 3, 20), (12, 6, 300)):
        plain = _core.SortedPsm(words, bits, radius, header, numbers)
        batched = _core.PsmTable(words, bits, radius, header, 1, numbers)
        for mode in _core.Mode:
            want = batched.search_heap(asked, costs, sets, mode)
            for threads in (1, 2):
                same(Hits(*plain.search_heap(asked, costs, sets, mode, threads)), want)
    assert plain.row_bytes == 4 * len(words)
    assert plain.bytes == words.nbytes + 4 * (2**12 + 1)


def test_mistakes() -> None:
    words = np.arange(5, dtype=np.uint64)[:, None]
    with pytest.raises(ConfigError, match=r"BPHS: lookup must be 'direct', .* or 'compressed', not 'linear'"):
        BPHS(lookup="linear")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"Covering: lookup must be 'direct', .* not 'hash'"):
        Covering(lookup="hash")  # type: ignore[arg-type]
    index = BPHS(lookup="binary").index(codes_of(words, 64))
    with pytest.raises(SchemeError):
        index.lookup_probes(replace(codes_of(words, 64), scheme="other"))
    masks, flips = design_arrays(BPHS().design)
    seek = _core.Seek.binary
    with pytest.raises(ValueError, match="without flips"):
        _core.SortedTables(words, 64, 3, masks, flips + np.uint8(1), seek)
    with pytest.raises(ValueError, match="one row number"):
        _core.SortedTables(words, 64, 3, masks, flips, seek, 1, np.zeros(3, np.uint32))
    with pytest.raises(ValueError, match="uint64"):
        _core.SortedTables(words, 64, 3, masks, flips, seek).search(np.ones((2, 2), np.uint64))
    with pytest.raises(TypeError):
        _core.SortedTables(words.astype(np.int64), 64, 3, masks, flips, seek)
    for bits, header in ((48, 8), (64, 0), (64, 33)):
        with pytest.raises(ValueError, match="bits"):
            _core.SortedPsm(words, bits, 3, header)
    with pytest.raises(ValueError, match="at most 16"):
        _core.SortedPsm(words, 64, 17, 8)
    with pytest.raises(ValueError, match="costs"):
        _core.SortedPsm(words, 64, 3, 8).search_heap(words, np.zeros((5, 63), np.float32), 3)
