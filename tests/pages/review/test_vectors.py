"""Findings made from vectors: the review page and the report name the same vector, not the same words."""

from __future__ import annotations

import json

import pytest
from support.reviewing import reviewed

import neardup as nd

ROWS = [[1.0, 0.0, 0.2], [1.0, 0.0, 0.2], [0.0, 1.0, 0.1], [0.0, 1.0, 0.12]]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vectors")
    lines = [
        json.dumps({"id": f"d{i}", "text": f"text number {i}", "v": row}) + "\n" for i, row in enumerate(ROWS)
    ]
    (folder / "in.jsonl").write_text("".join(lines))
    config = nd.Config(vectors=nd.Vectors("v"), recall=0.9999)
    return nd.scan(folder / "in.jsonl", folder / "found", config)


def test_the_review_page_says_vector(found):
    with reviewed(found.path) as server:
        assert server.get("overview")["equal"] == "vector"
        titles = {one["lane"]: one["title"] for one in server.get("verdict", threshold=0.9)["lanes"]}
        assert titles["words"] == "same vector"
        assert "They have the same vector." in server.get("compare", left=0, right=1, threshold=0.9)["notes"]


def test_the_report_says_vector(found, tmp_path):
    nd.report(found, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "The same vector" in page and "same vector" in page
    assert "same words" not in page.lower()
