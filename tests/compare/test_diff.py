"""One alignment: all words are in it, in order, and no shorter way of inserting and deleting exists."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.compare.diff import Block, SplitText, absorb, align, align_short

pytest.importorskip("rapidfuzz")

TEXTS = st.lists(st.sampled_from("abcd"), max_size=12)


def longest_common(left: list[str], right: list[str]) -> int:
    row = [0] * (len(right) + 1)
    for one in left:
        last = 0
        for place, other in enumerate(right, 1):
            last, row[place] = row[place], last + 1 if one == other else max(row[place], row[place - 1])
    return row[-1]


@given(TEXTS, TEXTS)
def test_blocks_are_in_turn_and_hold_the_most_words_in_common(left: list[str], right: list[str]) -> None:
    blocks = align(left, right)
    assert [word for block in blocks for word in left[block.left.start : block.left.stop]] == left
    assert [word for block in blocks for word in right[block.right.start : block.right.stop]] == right
    assert all(one.equal != other.equal for one, other in itertools.pairwise(blocks))
    same = [block for block in blocks if block.equal]
    for block in same:
        assert left[block.left.start : block.left.stop] == right[block.right.start : block.right.stop]
    assert sum(len(block.left) for block in same) == longest_common(left, right)


@given(TEXTS, TEXTS)
def test_what_is_absorbed_leaves_no_word_out(left: list[str], right: list[str]) -> None:
    blocks = absorb(align(left, right), lambda _, same, __: len(same.left) == 1)
    assert [place for block in blocks for place in block.left] == list(range(len(left)))
    assert [place for block in blocks for place in block.right] == list(range(len(right)))
    assert not any(block.equal and len(block.left) == 1 for block in blocks[1:-1])


def test_a_word_by_chance_becomes_part_of_the_change() -> None:
    blocks = align(["x", "x", "a", "y", "y"], ["z", "z", "a", "w", "w"])
    assert [block.equal for block in blocks] == [False, True, False]
    assert absorb(blocks, lambda *_: True) == [Block(False, range(5), range(5))]
    assert absorb(blocks, lambda *_: False) == blocks


@given(st.text("ab \n", max_size=30), st.integers(0, 30), st.integers(0, 6))
def test_words_and_what_follows_them_make_up_the_text(text: str, characters: int, most: int) -> None:
    made = SplitText.of(text, re.compile(r"\S+"), characters, most)
    assert made.keys == text[:characters].split()[:most]
    assert len(made.parts) == len(made.keys)
    if made.keys and not made.cut:
        assert made.between(range(len(made.parts))) == text
    assert [part.strip() for part in made.parts] == made.keys


def test_texts_that_are_too_long_are_not_aligned() -> None:
    assert align_short(["a"] * 10_000, ["a"] * 10_001) is None
    assert align_short(["a"] * 3, ["a"] * 3) == [Block(True, range(3), range(3))]


@pytest.mark.process
def test_without_the_extra_the_first_difference_is_shown() -> None:
    script = (
        "import sys; sys.modules['rapidfuzz'] = None; sys.modules['rapidfuzz.distance'] = None\n"
        "from neardup.compare.diff import align_short, differences\n"
        "print(align_short(['a'], ['b']), differences('a b c', 'a x c'), differences('a', 'a'))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "None [('a b c', 'a x c')] []"
