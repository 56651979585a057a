"""A result as tables and in a notebook."""

from __future__ import annotations

import re

import pytest

import neardup as nd
from neardup.errors import ConfigError

TEXTS = {
    "a": "the ferry leaves the north pier at eight and returns at noon",
    "b": "The FERRY leaves the north pier at eight, and returns at noon.",
    "c": "whisk the eggs with the sugar until pale, then fold in the flour and the salt of the sea",
    "d": "whisk the eggs with the sugar until pale, then fold in the flour and the salt of the lake",
    "e": None,
    "f": True,
    "g": "short",
    "h": "something else that no other text says in any of its words at all",
}
NAMES = ("position", "id", "decision", "keeper", "keeper_id", "similarity", "reason")
ROWS = [
    (0, "a", "dropped", 1, "b", 1.0, "same words"),
    (1, "b", "kept", 1, "b", 1.0, "keeper of its cluster"),
    (2, "c", "dropped", 3, "d", 0.875, "near-duplicate"),
    (3, "d", "kept", 3, "d", 1.0, "keeper of its cluster"),
    (4, "e", "filtered", None, None, None, "too short"),
    (5, "f", "rejected", None, None, None, "wrong type"),
    (6, "g", "filtered", None, None, None, "too short"),
    (7, "h", "kept", 7, "h", 1.0, "no duplicates"),
]
WANTED = [dict(zip(NAMES, row, strict=True)) for row in ROWS]


@pytest.fixture(scope="module")
def result():
    return nd.dedup(TEXTS, nd.Config(filters=nd.Filters(min_words=3)), threshold=0.7)


def plain(frame):
    """The rows of a table of pandas, with None for what is missing."""
    rows = frame.astype(object).where(frame.notna(), None)
    return rows.to_dict("records")


def test_decisions(result):
    assert (
        result.to_arrow().to_pylist() == result.to_polars().to_dicts() == plain(result.to_pandas()) == WANTED
    )
    assert str(result.to_pandas().dtypes["keeper"]) == "Int64"
    assert result.kept.tolist() == [row["position"] for row in WANTED if row["decision"] == "kept"]
    assert result.filtered_rows.tolist() == [4, 6] and [one.row for one in result.rejected] == [5]
    assert result.kept_ids == ["b", "d", "h"]


def test_pairs(result):
    wanted = [{"left": 2, "right": 3, "similarity": 0.875, "left_id": "c", "right_id": "d"}]
    assert result.to_arrow("pairs").to_pylist() == result.to_polars("pairs").to_dicts() == wanted
    assert plain(result.to_pandas("pairs")) == wanted
    with pytest.raises(ConfigError, match="'decisions' or 'pairs', not 'clusters'"):
        result.to_pandas("clusters")


def test_several_are_kept_and_some_are_empty():
    table = (
        nd.dedup(["same words", "same words", "same words", ""], keep=nd.Keep(many=2)).to_arrow().to_pylist()
    )
    assert [(row["decision"], row["reason"]) for row in table] == [
        ("kept", "keeper of its cluster"),
        ("kept", "one of several kept"),
        ("dropped", "same words"),
        ("kept", "no words"),
    ]


def test_chains_have_no_similarity_of_their_own():
    words = [f"w{i}" for i in range(60)]
    chain = [" ".join(words[at : at + 40]) for at in (0, 6, 12)]
    table = nd.dedup(chain, nd.Config(clusters="components"), threshold=0.6).to_arrow()
    assert None in table["similarity"].to_pylist() and len(set(table["keeper"].to_pylist())) == 1


def test_nothing():
    empty = nd.dedup([])
    assert empty.to_arrow().num_rows == empty.to_polars("pairs").height == len(empty.to_pandas()) == 0
    assert empty.keep([]) == [] and "<table>" not in empty._repr_html_()


def test_notebook():
    """Small, with nothing in it that a document's name could make run, and nothing to fetch."""
    attack = "<script>alert(1)</script>" + "x" * 500
    result = nd.dedup([nd.Document(f"{attack}{row}", "the same words again") for row in range(50)])
    page = result._repr_html_()
    assert "<script" not in page and "&lt;script&gt;" in page
    assert len(page) < 10_000 and "39 more" in page
    assert not re.search(r"src|href|url\(|https?:", page)
    assert result.summary().splitlines()[0] in page


def test_one_line(result):
    assert repr(result) == "<Result: 7 documents, 3 kept, 2 dropped, 2 filtered, 1 rejected>"
