from itertools import combinations
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.budgets import budget

from neardup.errors import ConfigError
from neardup.search.hamming.designs import (
    Design,
    Table,
    bphs,
    compact,
    covering,
    covering_sizes,
    even_blocks,
    manku,
    nested,
)
from neardup.search.hamming.gaps import gap


def missed_by_all(bits: int, radius: int, tables: list[tuple[int, int]]) -> bool:
    """Try every pattern of at most `radius` bits."""
    return any(
        all((pattern & mask).bit_count() > flips for mask, flips in tables)
        for size in range(radius + 1)
        for pattern in (sum(1 << b for b in where) for where in combinations(range(bits), size))
    )


def test_even_blocks() -> None:
    assert even_blocks(64, 5) == [13, 13, 13, 13, 12]
    assert even_blocks(64, 6) == [11, 11, 11, 11, 10, 10]
    with pytest.raises(ConfigError):
        even_blocks(3, 4)


@pytest.mark.parametrize(("tables", "keys"), [(4, {16}), (10, {25, 26}), (16, {28}), (20, {31, 32, 33})])
def test_the_papers_designs(tables: int, keys: set[int]) -> None:
    design = manku(tables)
    assert len(design.tables) == len({t.mask for t in design.tables}) == tables
    assert set(design.key_bits) == keys
    assert design.probes() == tables
    assert not missed_by_all(64, 3, [(t.mask, 0) for t in design.tables])


@pytest.mark.parametrize(("tables", "shortest"), [(4, 16), (5, 18), (6, 21), (8, 24), (11, 28), (14, 32)])
def test_covering_designs_at_radius_3(tables: int, shortest: int) -> None:
    design = covering(64, 3, tables)
    assert len(design.tables) == tables
    assert min(design.key_bits) == shortest
    assert not missed_by_all(64, 3, [(t.mask, 0) for t in design.tables])


def test_compact_designs_at_radius_3() -> None:
    two, three = compact(64, 3, 2), compact(64, 3, 3)
    assert [(t.key_bits, t.flips) for t in two.tables] == [(32, 1), (32, 1)]
    assert sorted(t.flips for t in three.tables) == [0, 0, 1]
    assert sum(three.key_bits) == 64
    for design in (two, three):
        assert not missed_by_all(64, 3, [(t.mask, t.flips) for t in design.tables])
    assert two.probes() == 66
    assert two.probes(24) == 50
    assert two.candidates(2**24, 24) == 50


@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("radius", range(9))
def test_every_width_and_radius(bits: int, radius: int) -> None:
    for tables in range(1, radius + 2):
        design = compact(bits, radius, tables)
        assert sum(t.flips + 1 for t in design.tables) == radius + 1
        assert sum(t.mask for t in design.tables) == (1 << bits) - 1
    sizes = covering_sizes(bits, radius)
    assert list(sizes.values()) == sorted(sizes.values())
    for tables, key in sizes.items():
        design = covering(bits, radius, tables)
        assert len(design.tables) == tables
        assert abs(sum(design.key_bits) / tables - key) < 1.5
    assert len(bphs(bits, radius, radius + 2, 2).tables) == comb(radius + 2, 2)


@pytest.mark.parametrize("radius", range(1, 6))
def test_designs_survive_every_pattern_of_16_bits(radius: int) -> None:
    designs = [covering(16, radius, tables) for tables in covering_sizes(16, radius, 20)]
    designs += [compact(16, radius, tables) for tables in range(1, radius + 2)]
    designs += [bphs(16, radius, radius + 2, 2), nested(16, radius, [(radius + 1, 1), (radius + 1, 1)])]
    for design in designs:
        assert not missed_by_all(16, radius, [(t.mask, t.flips) for t in design.tables]), design.name


tables = st.lists(st.tuples(st.integers(1, 2**10 - 1), st.integers(0, 2)), min_size=1, max_size=6)


@settings(max_examples=budget(300), deadline=None)
@given(radius=st.integers(0, 5), keys=tables)
def test_the_check_is_exact(radius: int, keys: list[tuple[int, int]]) -> None:
    found = gap(10, radius, tuple(keys))
    assert (found is not None) == missed_by_all(10, radius, keys)
    if found is not None:
        assert found.bit_count() <= radius
        assert all((found & mask).bit_count() > flips for mask, flips in keys)


def test_a_design_that_misses_cannot_be_made() -> None:
    with pytest.raises(ConfigError, match="would miss"):
        Design("three", 64, 3, tuple(Table(0xFFFF << 16 * i) for i in range(3)))
    with pytest.raises(ConfigError):
        bphs(64, 3, 6, 4)
    with pytest.raises(ConfigError):
        bphs(64, 3, 3, 1)
    with pytest.raises(ConfigError, match="too many"):
        bphs(128, 8, 20, 12)
    with pytest.raises(ConfigError, match="there are designs with 4, 5, 6"):
        covering(64, 3, 3)
    with pytest.raises(ConfigError):
        compact(64, 3, 5)
    with pytest.raises(ConfigError):
        manku(12)
    with pytest.raises(ConfigError):
        Design("wide", 32, 1, (Table(1 << 32),))
    with pytest.raises(ConfigError):
        Design("none", 32, 1, ())
