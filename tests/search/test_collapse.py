from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import join as naive
from support.budgets import budget

from neardup.errors import ConfigError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.codes import to_codes
from neardup.search.collapse import Groups, collapse


def naive_groups(numbers: list[int | None]) -> list[list[int]]:
    rows: dict[int, list[int]] = {}
    for row, number in enumerate(numbers):
        if number is not None:
            rows.setdefault(number, []).append(row)
    return sorted(rows.values())


def check(groups: Groups, numbers: list[int | None]) -> None:
    expected = naive_groups(numbers)
    large = [rows for rows in expected if len(rows) > 1]
    assert groups.rows == len(numbers)
    assert [part.tolist() for part in np.split(groups.members, groups.offsets[1:-1])][: len(large)] == large
    assert len(groups) == len(large)
    assert groups.offsets.tolist() == np.cumsum([0, *map(len, large)]).tolist()
    assert groups.first_rows.tolist() == [rows[0] for rows in expected]
    labels = list(range(len(numbers)))
    for rows in large:
        for row in rows:
            labels[row] = rows[0]
    assert groups.labels().tolist() == labels
    assert np.flatnonzero(groups.repeats).tolist() == sorted(row for rows in large for row in rows[1:])


@settings(max_examples=budget(150), deadline=None)
@given(
    st.sampled_from([7, 32, 64, 100, 128]),
    st.lists(st.one_of(st.none(), st.integers(0, 12), st.integers(0, 127)), max_size=120),
)
def test_groups_equal_a_dictionary(bits, numbers):
    # Small numbers spread over the whole width.
    spread = [None if n is None else (n << (bits - 7)) | n for n in numbers]
    words = np.zeros((len(numbers), (bits + 63) // 64), dtype=np.uint64)
    for row, number in enumerate(spread):
        for word in range(words.shape[1]):
            words[row, word] = 0 if number is None else number >> (64 * word) & ((1 << 64) - 1)
    empty = np.array([n is None for n in numbers], dtype=bool)
    check(collapse(Codes("test", empty, bits, words)), spread)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bits", [32, 64, 128])
def test_many_partitions(bits, threads):
    words = naive.draw(1, 60_000, bits, "repeated")
    words[::3] = words[7]  # one bucket far beyond the rest
    numbers = naive.integers(words)
    check(collapse(to_codes(words, bits), threads=threads), numbers)


def test_all_equal_and_all_different():
    words = np.full((300_000, 1), 42, dtype=np.uint64)
    groups = collapse(to_codes(words), threads=2)
    assert groups.members.tolist() == list(range(300_000))
    assert groups.first_rows.tolist() == [0]
    distinct = collapse(to_codes(np.arange(300_000, dtype=np.uint64)))
    assert len(distinct) == 0 and not distinct.repeats.any() and len(distinct.members) == 0
    nothing = collapse(to_codes(np.zeros((0, 1), dtype=np.uint64)))
    assert nothing.rows == 0 and nothing.labels().tolist() == []


def test_expansion_is_every_pair_in_bounded_batches():
    words = np.array([5, 9, 5, 7, 9, 5, 1], dtype=np.uint64)
    groups = collapse(to_codes(words))
    pairs = np.array([0, 0, 1]), np.array([1, 3, 6]), np.array([2, 1, 1], dtype=np.uint8)
    members = {0: [0, 2, 5], 1: [1, 4], 3: [3], 6: [6]}
    expected = [
        (min(a, b), max(a, b), d)
        for left, right, d in zip(*(column.tolist() for column in pairs), strict=True)
        for a, b in product(members[left], members[right])
    ]
    for batch in (1, 2, 3, 100):
        batches = list(groups.expand(pairs, batch=batch))
        assert all(len(part[0]) <= batch for part in batches)
        found = [row for part in batches for row in zip(*(c.tolist() for c in part), strict=True)]
        assert found == expected
    equal = [row for part in groups.pairs(batch=2) for row in zip(*(c.tolist() for c in part), strict=True)]
    assert equal == [(a, b, 0) for rows in ([0, 2, 5], [1, 4]) for a, b in combinations(rows, 2)]
    with pytest.raises(ConfigError, match="at least one"):
        next(groups.expand(pairs, batch=0))


def test_a_hundred_thousand_equal_codes_expand_lazily():
    groups = collapse(to_codes(np.zeros(100_000, dtype=np.uint64)))
    first = next(groups.pairs(batch=1_000))
    assert first[0].tolist() == [0] * 1_000 and first[1].tolist() == list(range(1, 1_001))
    assert len(groups.links()[0]) == 99_999
