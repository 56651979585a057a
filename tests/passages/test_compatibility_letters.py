"""Repeats in letters that NFKC writes in another way: what is cut is cut exactly, and nothing occurs twice."""

import json

import pytest

import neardup as nd

WIDE = "".join(chr(ord(c) + 0xFEE0) if c != " " else "\u3000" for c in "zero one two three four")


@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        (WIDE[5:], WIDE + "\u3000ｆｉｖｅ", "ｚｅｒｏ\u3000ｆｉｖｅ"),
        ("１ ２ ３ ４", "０　１　２　３　４　５", "０　５"),
        ("a b c", "q a b c\xa0ﬁ z", "q ﬁ z"),
        ("ﬁ b c", "q\xa0ﬁ b c z", "q\xa0z"),
        ("a\u0327\u0301 b c", "q a\u0327\u0301 b c z", "q z"),
    ],
)
def test_a_passage_is_cut_exactly(tmp_path, first, second, left):
    documents = [nd.Document("a", first), nd.Document("b", second)]
    nd.passages.Passages(3).find(documents, out=tmp_path / "cut.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "cut.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["text"] for row in rows] == [first, left]


def test_marks_that_cannot_be_separated_lose_nothing(tmp_path):
    """A long run of marks in the wrong order is one piece; the words beside it are not changed."""
    marks = "a\u0301" + "\u0323" * 500
    documents = [nd.Document("a", "x y z"), nd.Document("b", f"{marks}\xa0ﬁ x y z {marks}")]
    nd.passages.Passages(3).find(documents, out=tmp_path / "cut.jsonl")
    last = json.loads((tmp_path / "cut.jsonl").read_text(encoding="utf-8").splitlines()[-1])["text"]
    assert last.replace(" ", "") == f"{marks}\xa0ﬁ{marks}"
