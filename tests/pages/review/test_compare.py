"""Side by side: both texts are whole, what is shared stands in one row, and nothing takes forever."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.reviewing import scanned

from neardup.errors import DataError
from neardup.pages.review import Review
from neardup.pages.review.compare import SHOWN, aligned, compare

TEXT = st.lists(
    st.sampled_from(["a", "b", "c d", "e,", "f\n", "g\n\n", "漢字", "नमस्ते", " ", "B"]), max_size=40
).map(" ".join)


def squeezed(rows, side: str) -> str:
    return "".join("".join(text.split()) for row in rows for _, text in row[side])


@given(TEXT, TEXT)
def test_both_texts_are_whole(left, right):
    found = aligned(left, right)
    assert found["cut"] == [False, False]
    assert squeezed(found["rows"], "left") == "".join(left.split())
    assert squeezed(found["rows"], "right") == "".join(right.split())
    for row in found["rows"]:
        shared = [
            "".join("".join(text for kind, text in row[side] if kind == "same").split())
            for side in ("left", "right")
        ]
        assert shared[0].casefold() == shared[1].casefold()
        assert row["same"] == all(kind == "same" for side in ("left", "right") for kind, _ in row[side])


def test_words_that_differ_are_marked():
    rows = aligned("The ferry leaves at eight sharp.", "the ferry leaves at nine sharp.")["rows"]
    assert rows == [
        {
            "left": [["same", "The ferry leaves at "], ["changed", "eight"], ["same", " sharp."]],
            "right": [["same", "the ferry leaves at "], ["changed", "nine"], ["same", " sharp."]],
            "same": False,
        }
    ]


def test_a_replaced_passage_is_one_change():
    left = "start one two three four of five six seven eight end " + "tail " * 5
    right = "start uno dos tres cuatro of cinco seis siete ocho end " + "tail " * 5
    (row,) = aligned(left, right)["rows"]
    assert [kind for kind, _ in row["left"]] == ["same", "changed", "same"]


def test_moved_passages_are_not_changes():
    block = "one two three four five six seven eight"
    rows = aligned(
        f"{block} and this is the rest of the text here", f"and this is the rest of the text here {block}"
    )["rows"]
    kinds = {kind for row in rows for side in ("left", "right") for kind, _ in row[side]}
    assert kinds == {"same", "moved"}


def test_paragraphs_stand_in_one_row():
    left, right = "One.\n\nTwo and more.\n\nThree.", "One.\n\nThree."
    rows = aligned(left, right)["rows"]
    assert rows[0]["left"] == rows[0]["right"] == [["same", "One."]]
    assert rows[-1]["right"] == [["same", "Three."]]


@pytest.mark.parametrize(
    "text", ["x" * 2_000_000, "a b " * 400_000, "漢" * 1_000_000, "\n" * 1_000_000, "a\u0301" * 500_000]
)
def test_long_texts_are_cut(text):
    found = aligned(text, text + " other")
    assert sum(len(part) for row in found["rows"] for _, part in row["left"]) <= SHOWN
    assert all(found["cut"])


def test_compare(tmp_path):
    found = scanned(tmp_path)
    review = Review(found)
    a, near = found.row_of("a"), found.row_of("a-near")
    answer = compare(review, review.view(0.8), a, near)
    assert answer["left"]["id"] == "a" and answer["right"]["id"] == "a-near" and answer["together"]
    scores = answer["scores"]
    shared, left, right = answer["shingles"]["counts"]
    assert (
        answer["similarity"]
        == pytest.approx(scores["jaccard"])
        == pytest.approx(shared / (shared + left + right))
    )
    assert scores["containment"] == pytest.approx((shared / (shared + left), shared / (shared + right)))
    assert answer["shingles"]["only_right"][0].startswith("changed0") and answer["decision"] is None
    review.decide("reject", a, near)
    answer = compare(review, review.view(0.8), a, near)
    assert answer["decision"] == "reject" and not answer["together"] and answer["right"]["kept"]
    # A document without a duplicate: its text is read from the input again.
    other = compare(review, review.view(0.8), a, found.row_of("alone"))
    assert other["similarity"] == 0 and "ferry8" in other["rows"][0]["right"][0][1]
    with pytest.raises(DataError):
        compare(review, review.view(0.8), a, len(found))


def test_an_input_that_changed_is_told(tmp_path):
    found = scanned(tmp_path)
    review = Review(found)
    assert review.overview()["changed"] == []
    (tmp_path / "in.jsonl").write_text('{"id": "a", "text": "short"}\n')
    assert review.overview()["changed"] == ["in.jsonl has changed since it was scanned"]
    with pytest.raises(DataError, match="changed"):
        compare(review, review.view(0.8), 0, found.row_of("also alone"))
    assert review.similarity(0, found.row_of("also alone")) is None
    (tmp_path / "in.jsonl").unlink()
    assert review.overview()["changed"] == ["in.jsonl no longer exists"]


def test_figures_alone(tmp_path):
    words = " ".join(f"word{n}x" for n in range(60)).replace("0", "o")
    rows = [{"id": n, "text": f"{words} page {n + 10} {words}", "site": "s"} for n in (1, 2)]
    review = Review(scanned(tmp_path, rows))
    assert any("only in numbers" in note for note in compare(review, review.view(0.8), 0, 1)["notes"])
