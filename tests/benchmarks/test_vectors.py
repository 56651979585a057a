"""The benchmark of vectors knows all pairs, measures our searches, and keeps what other runs measured."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import task_tables, vectors

CASE = {"size": 3000, "width": 64, "share": 0.1, "threshold": 0.9, "threads": 1, "asked": 500}


def test_the_planted_pairs_are_all_there_are():
    made, planted = vectors.made(500, 96, 0.1)
    cosine = made @ made.T
    near = {(int(a), int(b)) for a, b in zip(*np.nonzero(np.triu(cosine >= 0.9, 1)), strict=True)}
    assert near == vectors.true_pairs(made, planted, 0.9) and 10 < len(near) < 50
    assert np.allclose(np.linalg.norm(made, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("name", [name for name in vectors.ENGINES if name.startswith("neardup")])
def test_our_searches_are_measured(name):
    (row,) = vectors.measured(name, CASE)
    assert row["engine"] == name and row["wrong"] == 0 and row["pairs"] > 100
    assert row["recall"] == 1 if "exact" in name else row["recall"] >= 0.9
    assert row["cpu_seconds"] >= row["build_cpu_seconds"] > 0


def test_rows_of_the_same_case_are_kept():
    old = {**CASE, "results": [{"engine": "faiss flat"}, {"engine": "faiss IVF, 4 of 9 lists"}]}
    new = [{"engine": "faiss HNSW 8/20"}, {"engine": "faiss IVF, 5 of 9 lists"}]
    kept = vectors.merged(old, CASE, new, {})["results"]
    assert [row["engine"] for row in kept] == ["faiss flat", "faiss IVF, 5 of 9 lists", "faiss HNSW 8/20"]
    assert vectors.merged(old, CASE | {"size": 5}, new, {})["results"] == [new[1], new[0]]
    assert [row["engine"] for row in vectors.merged(old, CASE, [], {})["results"]] == [
        "faiss flat",
        "faiss IVF, 4 of 9 lists",
    ]


def test_what_is_not_run_is_listed_with_the_reason_until_it_is():
    first = vectors.merged(None, CASE, [], {"faiss IVF": "no faiss", "faiss flat": "no faiss"})
    assert first["not_run"] == {"faiss IVF": "no faiss", "faiss flat": "no faiss"}
    then = vectors.merged(first, CASE, [{"engine": "faiss flat"}], {})
    assert then["not_run"] == {"faiss IVF": "no faiss"}
    machine = {"cpu": "a processor"}
    assert "Not run: faiss IVF (no faiss)." in "\n".join(
        task_tables.vectors(then | {"results": [], "machine": machine})
    )


def test_an_engine_that_fails_says_why(monkeypatch):
    monkeypatch.setattr(vectors.sys, "executable", "false")
    rows, why = vectors.apart("faiss flat", CASE, [4, 8])
    assert rows == [] and "code 1" in why
