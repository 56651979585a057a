from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.budgets import budget

from neardup.errors import ConfigError
from neardup.search.hamming.optimiser import fewest_tables, longest_prefix, tables_needed

PAPER = {16: 4, 20: 10, 25: 10, 26: 16, 28: 16, 30: 20, 32: 20, 33: 35}


@pytest.mark.parametrize(("prefix", "count"), PAPER.items())
def test_the_recursion(prefix: int, count: int) -> None:
    assert tables_needed(64, 3, prefix) == count


def plain_recursion(bits: float, radius: int, prefix: float, depth: int = 4) -> float:
    """X as corrected, without pruning, at most `depth` steps deep."""
    if prefix <= 0:
        return 1
    if depth == 0:
        return float("inf")
    return min(
        comb(r, radius)
        * plain_recursion(bits * radius / r, radius, prefix - (r - radius) * bits / r, depth - 1)
        for r in range(radius + 1, radius + 10)
    )


@settings(max_examples=budget(40), deadline=None)
@given(radius=st.integers(1, 4), prefix=st.integers(1, 34))
def test_pruning_loses_nothing(radius: int, prefix: int) -> None:
    assert tables_needed(64, radius, prefix) == plain_recursion(64, radius, prefix - 1e-9)


@pytest.mark.parametrize(("tables", "keys"), [(4, {16}), (10, {25, 26}), (16, {28}), (20, {31, 32, 33})])
def test_whole_bits_both_ways(tables: int, keys: set[int]) -> None:
    design = longest_prefix(64, 3, tables)
    assert len(design.tables) == tables
    assert set(design.key_bits) == keys
    assert len(fewest_tables(64, 3, min(keys)).tables) == tables
    assert len(fewest_tables(64, 3, min(keys) + 1).tables) > tables


@settings(max_examples=budget(40), deadline=None)
@given(bits=st.sampled_from([32, 64, 128]), radius=st.integers(0, 8), tables=st.integers(9, 60))
def test_the_two_ways_agree(bits: int, radius: int, tables: int) -> None:
    longest = longest_prefix(bits, radius, tables)
    shortest = min(longest.key_bits)
    assert len(longest.tables) <= tables
    assert len(fewest_tables(bits, radius, shortest).tables) == len(longest.tables)
    assert longest.covers()


def test_impossible_requests_say_so() -> None:
    with pytest.raises(ConfigError, match="shorter prefix"):
        fewest_tables(64, 3, 61)
    with pytest.raises(ConfigError):
        fewest_tables(64, 3, 62)
    with pytest.raises(ConfigError):
        tables_needed(64, 3, 0)
    with pytest.raises(ConfigError):
        longest_prefix(64, 3, 3)
    with pytest.raises(ConfigError):
        fewest_tables(32, 32, 1)
