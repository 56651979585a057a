"""Distinct numbers of a column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.values.distinct import distinct, places_of_parts


@given(st.lists(st.integers(-5, 5)))
def test_ascending_and_each_once(numbers: list[int]) -> None:
    found = distinct(np.array(numbers, np.int64))
    assert found.tolist() == sorted(set(numbers)) and found.dtype == np.int64


@pytest.mark.parametrize("scale", [1, 1 << 20])
def test_places_of_parts(scale: int) -> None:
    rng = np.random.default_rng(1)
    part = rng.integers(0, 7, 100) * scale
    found = places_of_parts(part)
    assert [part[places[0]] for places in found] == sorted(set(part.tolist()))
    assert all((np.diff(places) > 0).all() and (part[places] == part[places[0]]).all() for places in found)
    assert sum(map(len, found)) == 100
    assert len(places_of_parts(part[:0])) == 0
