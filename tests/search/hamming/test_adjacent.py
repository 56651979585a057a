from __future__ import annotations

import numpy as np
import pytest
from reference import join as naive

from neardup.errors import ConfigError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.codes import to_codes
from neardup.search.hamming.adjacent import Adjacent, rotate, sort_order
from neardup.search.hamming.scan import Scan

# The eight 16-bit numbers of the slides, and what they give there.
EIGHT = [37586, 50086, 2648, 934, 40957, 2650, 64475, 40955]
SORTED = [934, 2648, 2650, 37586, 40955, 40957, 50086, 64475]
ROTATED_TWICE = [3736, 3739, 10592, 10600, 19274, 32750, 32758, 61295]
PAIRS = {(2, 5): 1, (1, 3): 2, (4, 7): 2}


def found(candidates) -> dict[tuple[int, int], int]:
    columns = candidates.left.tolist(), candidates.right.tolist(), candidates.distance.tolist()
    return {(left, right): distance for left, right, distance in zip(*columns, strict=True)}


def test_the_eight_numbers_of_the_slides():
    words = np.array(EIGHT, dtype=np.uint64)[:, None]
    assert words[sort_order(words), 0].tolist() == SORTED
    turned = rotate(words, 16, 2)
    assert turned[sort_order(turned), 0].tolist() == ROTATED_TWICE
    codes = to_codes(words, 16)
    # Sorted once, the pairs that differ in low bits; with every rotation the third one too.
    assert found(Adjacent(radius=3, bits=16, rotations=1).candidates(codes)) == {
        pair: d for pair, d in PAIRS.items() if pair != (1, 3)
    }
    assert found(Adjacent(radius=3, bits=16).candidates(codes)) == PAIRS


@pytest.mark.parametrize("bits", [1, 7, 16, 33, 63, 64, 65, 96, 127, 128])
def test_rotation_equals_the_naive_twin(bits):
    words = naive.draw(bits, 20, bits, "uniform")
    numbers = naive.integers(words)
    for by in {0, 1, bits // 2, bits - 1, 63 % bits, 64 % bits, bits}:
        turn = by % bits
        expected = [(n << turn | n >> (bits - turn)) & ((1 << bits) - 1) for n in numbers]
        assert naive.integers(rotate(words, bits, by)) == expected


@pytest.mark.parametrize("bits", [16, 64, 128])
@pytest.mark.parametrize("window", [1, 3])
def test_equals_sorting_by_hand(bits, window):
    words = naive.draw(3, 200, bits, "clustered")
    numbers = naive.integers(words)
    first: dict[int, int] = {}
    for row, number in enumerate(numbers):
        first.setdefault(number, row)
    expected = {(first[n], row): 0 for row, n in enumerate(numbers) if first[n] != row}
    for by in range(bits):
        order = sorted((n << by | n >> (bits - by)) & ((1 << bits) - 1) for n in first)
        back = [(n >> by | n << (bits - by)) & ((1 << bits) - 1) for n in order]
        for step in range(1, window + 1):
            for a, b in zip(back, back[step:], strict=False):
                if naive.distance(a, b) <= 3:
                    rows = sorted((first[a], first[b]))
                    expected[rows[0], rows[1]] = naive.distance(a, b)
    assert len(expected) > 10
    assert found(Adjacent(3, bits, window).candidates(to_codes(words, bits))) == expected


def test_it_finds_a_part_of_what_the_scan_finds_and_a_wider_window_more():
    words = naive.draw(4, 3_000, 64, "clustered")
    codes = to_codes(words)
    every = found(Scan(3).candidates(codes))
    narrow, wide = (found(Adjacent(3, 64, window).candidates(codes)) for window in (1, 8))
    assert narrow.items() <= wide.items() <= every.items()
    assert 0 < len(narrow) < len(wide)
    # A window over all rows misses nothing.
    small = to_codes(words[:150])
    distinct = found(Adjacent(3, 64, 150, rotations=1).candidates(small))
    repeats = {pair for pair, d in found(Scan(3).candidates(small)).items() if d == 0}
    assert {p: d for p, d in distinct.items() if d} == {
        p: d for p, d in found(Scan(3).candidates(small)).items() if d and not _touches_repeat(p, repeats)
    }


def _touches_repeat(pair: tuple[int, int], repeats: set[tuple[int, int]]) -> bool:
    later = {right for _, right in repeats}
    return pair[0] in later or pair[1] in later


def test_empty_rows_and_wrong_settings():
    words = np.array([[1], [1], [3]], dtype=np.uint64)
    codes = Codes("test", np.array([True, False, False]), 64, words)
    assert found(Adjacent(3).candidates(codes)) == {(1, 2): 1}
    assert found(Adjacent(3).candidates(to_codes(np.zeros((0, 1), dtype=np.uint64)))) == {}
    for wrong in ({"bits": 129}, {"radius": 65}, {"window": 0}, {"rotations": 65}):
        with pytest.raises(ConfigError):
            Adjacent(**wrong).candidates(codes)
