"""The alignment of long texts: complete, right, and the best chain of passages."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from neardup.compare import diff
from neardup.compare.anchors import anchored, in_order
from neardup.compare.passages import Span

WORDS = st.lists(st.sampled_from("abcd"), max_size=60)


@given(WORDS, WORDS, st.sampled_from([0, 4, 100, 10_000]))
def test_every_word_is_in_one_piece(left, right, most):
    pieces = list(anchored(left, right, diff._fewest_edits, most))
    assert [word for _, one, _ in pieces for word in left[one.start : one.stop]] == left
    assert [word for _, _, other in pieces for word in right[other.start : other.stop]] == right
    for equal, one, other in pieces:
        if equal:
            assert left[one.start : one.stop] == right[other.start : other.stop]


@given(WORDS, st.integers(0, 60), st.sampled_from([0, 100]))
def test_one_deleted_run_is_one_difference(words, at, most):
    at = min(at, len(words))
    shorter = words[:at] + words[at + 5 :]
    changed = [piece for piece in anchored(words, shorter, diff._fewest_edits, most) if not piece[0]]
    assert sum(len(one) for _, one, _ in changed) == len(words) - len(shorter)
    assert not any(other for _, _, other in changed)


def test_long_texts_are_divided_at_what_they_share():
    passages = [[f"w{p}-{i}" for i in range(40)] for p in range(6)]
    left = [word for p in (0, 1, 2, 3, 4, 5) for word in [*passages[p], "old"]]
    right = [word for p in (0, 3, 1, 2, 4, 5) for word in [*passages[p], "new"]]  # one passage moved
    equal = sum(len(one) for same, one, _ in anchored(left, right, diff._fewest_edits, 10) if same)
    assert equal == 5 * 40


@st.composite
def spans(draw):
    """Spans in the order of the left text that do not overlap there."""
    found, at = [], 0
    for _ in range(draw(st.integers(0, 9))):
        at += draw(st.integers(0, 3))
        words = draw(st.integers(1, 5))
        found.append(Span(at, draw(st.integers(0, 20)), words, ""))
        at += words
    return found


@given(spans())
def test_the_chain_has_the_most_words(found):
    def fits(chain):
        return all(a.right + a.words <= b.right for a, b in pairwise(chain))

    chosen = in_order(found)
    assert fits(chosen) and chosen == sorted(chosen, key=lambda span: span.left)
    chains = [[s for i, s in enumerate(found) if bits >> i & 1] for bits in range(1 << len(found))]
    assert sum(s.words for s in chosen) == max(sum(s.words for s in chain) for chain in chains if fits(chain))
