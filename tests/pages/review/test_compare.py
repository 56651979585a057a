"""Side by side: both texts are complete, shared words are in one row, and nothing takes forever."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.reviewing import scanned

from neardup.errors import DataError
from neardup.pages.review import Review
from neardup.pages.review.compare import compare, rows_between
from neardup.pages.review.rows import LONGEST_ROW, WINDOW, aligned

TEXT = st.lists(
    st.sampled_from(["a", "b", "c d", "e,", "f\n", "g\n\n", "漢字", "नमस्ते", " ", "B"]), max_size=40
).map(" ".join)


def squeezed(rows, side: str) -> str:
    return "".join("".join(text.split()) for row in rows for _, text in row[side])


@given(TEXT, TEXT)
def test_both_texts_are_whole(left, right):
    found = aligned(left, right)
    assert squeezed(found.rows, "left") == "".join(left.split())
    assert squeezed(found.rows, "right") == "".join(right.split())
    for row in found.rows:
        shared = [
            "".join("".join(text for kind, text in row[side] if kind == "same").split())
            for side in ("left", "right")
        ]
        assert shared[0].casefold() == shared[1].casefold()
        assert row["same"] == all(kind == "same" for side in ("left", "right") for kind, _ in row[side])


def test_words_that_differ_are_marked():
    rows = aligned("The ferry leaves at eight sharp.", "the ferry leaves at nine sharp.").rows
    assert rows == [
        {
            "left": [["same", "The ferry leaves at "], ["changed", "eight"], ["same", " sharp."]],
            "right": [["same", "the ferry leaves at "], ["changed", "nine"], ["same", " sharp."]],
            "same": False,
            "at": 0,
            "lines": [1, 1],
        }
    ]


def test_rows_begin_at_the_lines_of_their_documents():
    rows = aligned("one\n\nnew\n\ntwo\n\nthree", "one\n\ntwo\n\nthree").rows
    assert [row["lines"] for row in rows if row["left"] and row["left"][-1][1].endswith("three")] == [[7, 5]]


def test_a_replaced_passage_is_one_change():
    left = "start one two three four of five six seven eight end " + "tail " * 5
    right = "start uno dos tres cuatro of cinco seis siete ocho end " + "tail " * 5
    (row,) = aligned(left, right).rows
    assert [kind for kind, _ in row["left"]] == ["same", "changed", "same"]


def test_moved_passages_are_not_changes():
    block = "one two three four five six seven eight"
    rows = aligned(
        f"{block} and this is the rest of the text here", f"and this is the rest of the text here {block}"
    ).rows
    kinds = {kind for row in rows for side in ("left", "right") for kind, _ in row[side]}
    assert kinds == {"same", "moved"}


def test_paragraphs_are_in_one_row():
    left, right = "One.\n\nTwo and more.\n\nThree.", "One.\n\nThree."
    rows = aligned(left, right).rows
    assert rows[0]["left"] == rows[0]["right"] == [["same", "One."]]
    assert rows[-1]["right"] == [["same", "Three."]]


@pytest.mark.parametrize(
    "text", ["x" * 200_000, "a b " * 40_000, "漢" * 100_000, "\n" * 100_000, "a\u0301" * 50_000]
)
def test_long_texts_are_compared_whole(text):
    found = aligned(text, text + " other")
    assert found.added == 1 and found.removed == 0 and found.differing <= 1
    assert squeezed(found.rows, "left") == "".join(text.split())
    longest = max(len(part) for row in found.rows for side in ("left", "right") for _, part in row[side])
    assert longest <= 2 * LONGEST_ROW


def test_a_difference_far_behind_is_found():
    words = [f"w{n}" for n in range(100_000)]  # the difference is after character 400,000
    other = [*words[:80_000], "otherwise", *words[80_001:]]
    found = aligned(" ".join(words), " ".join(other))
    assert (found.removed, found.added, found.differing) == (1, 1, 1)
    # Text that only the left one has near its beginning invents no difference further down.
    found = aligned("front " * 9_000 + " ".join(words), " ".join(words))
    assert (found.removed, found.added) == (9_000, 0)


def test_rows_come_in_windows():
    words = [f"w{n}" for n in range(50_000)]
    other = [word if n % 5000 else "changed" for n, word in enumerate(words)]
    found = aligned(" ".join(words), " ".join(other))
    rows, start, folded = [], 0, 0
    while start is not None:
        window = found.window(start)
        assert len(window["rows"]) <= 2 * WINDOW
        for item in window["rows"]:
            if "fold" in item:
                assert item["start"] == len(rows)
                rows += found.rows[item["start"] : item["start"] + item["fold"]]
                folded += item["fold"]
            else:
                rows.append(item)
        start = window["next"]
    assert rows == found.rows and folded > len(rows) / 2


def test_only_words_without_an_equal_are_moved():
    section = " ".join(f"section{n}" for n in range(12))
    rest = " ".join(f"rest{n}" for n in range(20))
    # The section occurs twice on the left, and one copy was deleted: that is a deletion.
    found = aligned(f"{section} {rest} {section}", f"{section} {rest}")
    assert (found.removed, found.moved) == (12, 0)
    found = aligned(f"{section} {section} {rest}", f"{rest} {section}")
    assert (found.removed, found.moved) == (12, 12)


@pytest.mark.parametrize(
    ("left", "right", "numbers"),
    [
        ("pay 1,500 now", "pay 1.500 now", True), ("on 3 May at 8:30", "on 4 May at 9:15", True),
        ("it costs $20.", "it costs €25.", True), ("page 7 of 9", "page 8 of 9", True), ("the 1st", "the 2nd", True),
        ("gauge f17 here", "gauge f18 here", False), ("use utf8 now", "use utf16 now", False),
        ("owe 20", "owe -20 or more", False), ("the same", "the same", False), ("a cat", "a dog", False),
    ],
)  # fmt: skip
def test_numbers_are_not_identifiers(left, right, numbers):
    assert aligned(left, right).numbers == numbers


def test_documents_with_the_same_words_show_their_own_text(tmp_path):
    first = "The ferry costs 1,500 and 200 in C# on each day of this long year, they said."
    other = "The ferry costs 1.500 and -200 in C++ on each day of this long year, they said."
    rows = [{"id": "one", "text": first, "site": "s"}, {"id": "two", "text": other, "site": "s"}]
    rows.append({"id": "three", "text": first, "site": "s"})
    review = Review(scanned(tmp_path, rows))
    answer = compare(review, review.view(0.8), 0, 1)
    shown = "".join(text for row in answer["rows"] for _, text in row["right"])
    assert shown == other and answer["differences"]["rows"] == 1
    assert any("same words" in note for note in answer["notes"])
    answer = compare(review, review.view(0.8), 0, 2)
    assert any("identical" in note for note in answer["notes"]) and not answer["differences"]["rows"]
    (tmp_path / "in.jsonl").write_text("{}\n")
    review = Review(review.findings)
    answer = compare(review, review.view(0.8), 0, 1)
    assert any("two cannot be read again" in note for note in answer["notes"])


def test_more_rows(tmp_path):
    words = [f"w{n}" for n in range(20_000)]
    rows = [{"id": str(n), "text": " ".join([*words, f"x{n}"]), "site": "s"} for n in range(2)]
    review = Review(scanned(tmp_path, rows))
    answer = compare(review, review.view(0.8), 0, 1)
    (fold,) = [row for row in answer["rows"] if "fold" in row]
    inside = rows_between(review, 0, 1, fold["start"], fold["start"] + fold["fold"])["rows"]
    assert len(inside) == fold["fold"] and all(row["same"] for row in inside)


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


def test_an_input_that_changed_is_reported(tmp_path):
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
