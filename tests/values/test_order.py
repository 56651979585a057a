"""The order of numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.values.order import stable_order


@given(st.lists(st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1)))
def test_the_order_of_a_stable_sort(numbers: list[int]) -> None:
    column = np.array(numbers, np.int64)
    found = stable_order(column)
    assert found.tolist() == sorted(range(len(numbers)), key=numbers.__getitem__) and found.dtype == np.int64
    assert column.tolist() == numbers


@pytest.mark.parametrize("high", [0, 1, 2**60 - 1, 2**60, 2**61])
def test_numbers_whose_places_just_fit_beside_them(high: int) -> None:
    column = np.array([high, -1, high, -1, 0], np.int64)
    assert stable_order(column).tolist() == sorted(range(5), key=column.tolist().__getitem__)
