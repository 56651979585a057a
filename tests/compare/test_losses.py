"""What two texts lost their similarity to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.compare.losses import similarity_losses

BODY = "the ferry leaves the north pier at eight and returns by noon except on public holidays when it sails twice"


def causes(left, right):
    return {loss.cause: (loss.left, loss.right) for loss in similarity_losses(left, right)}


@pytest.mark.parametrize(
    ("left", "right", "cause"),
    [
        ("eight", "eight", None),
        (f"{BODY} 1500", f"{BODY} 1700", "numbers"),
        (f"{BODY} for Alice", f"{BODY} for Robert", "names"),
        (f"{BODY} on amd64", f"{BODY} on i386", "names"),
        (f"{BODY} slowly", f"{BODY} quickly", "words"),
        (f"{BODY} and then it rests", BODY, "only left"),
        (BODY, f"{BODY} and then it rests", "only right"),
    ],
)
def test_causes(left, right, cause):
    assert set(causes(left, right)) == ({cause} if cause else set())


def test_a_moved_passage_costs_its_ends_alone():
    other = "nobody has ever seen our harbour master without his green hat or his two small dogs"
    found = causes(f"{BODY} {other}", f"{other} {BODY}")
    assert set(found) == {"moved"} and sum(found["moved"]) == 8


TEXTS = st.lists(st.sampled_from(["a", "b", "C", "7", "8", "d."]), max_size=40).map(" ".join)


@given(TEXTS, TEXTS, st.integers(1, 4))
def test_similarity_and_losses_are_one(left, right, width):
    losses = similarity_losses(left, right, width)
    found = nd.explain(left, right, width=width)
    if found.verdict == "empty":
        return
    assert sum(loss.left for loss in losses) == found.shingles[1]
    assert sum(loss.right for loss in losses) == found.shingles[2]
    assert sum(loss.share for loss in losses) + found.jaccard == pytest.approx(1)
