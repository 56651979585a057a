"""First rows of equal digests."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.pipeline.equal_words import first_rows

HALF = st.sampled_from([0, 1, 2**63, 2**64 - 1])


@given(st.lists(st.tuples(HALF, HALF, st.booleans()), max_size=40))
def test_equal_digests_have_the_first_row_that_takes_part(rows: list[tuple[int, int, bool]]) -> None:
    digests = np.array([row[:2] for row in rows], np.uint64).reshape(-1, 2)
    seen: dict[tuple[int, int], int] = {}
    expected = [i if out else seen.setdefault((a, b), i) for i, (a, b, out) in enumerate(rows)]
    assert first_rows(digests, np.array([row[2] for row in rows], np.bool_)).tolist() == expected
