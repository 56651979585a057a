"""Spark says what the local pipeline says of every labelled corpus: the same clusters, keepers and pairs, in 1, 2 and 8
partitions. Here each corpus runs in one of them and a small one in two; `python -m benchmarks.spark.same` runs all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.spark import same
from support.spark_runs import assert_same

import neardup as nd
import neardup.spark as ns
from neardup.spark.findings import read_origin

# The larger ones in few partitions, for a task takes longer to start here than to run.
RUNS = [
    ("electron_i18n_rev", 1),
    ("gov2_human", 1),
    ("k8s_docs_rev", 2),
    ("licenses", 2),
    ("pydoc_html_versions", 2),  # pages, all of them
    ("tldr_short", 2),
    ("udhr_multilingual", 1),
    ("udhr_multilingual", 8),
    ("wiki_html_variants", 2),  # pages
]


@pytest.fixture(scope="module")
def answers() -> dict[str, nd.Result]:
    """What the local pipeline said, by input."""
    return {}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "partitions"), RUNS)
def test_a_corpus(
    spark: Any, data: Path, tmp_path: Path, answers: dict[str, nd.Result], name: str, partitions: int
) -> None:
    one = same.given(name, data, tmp_path, extract=False)
    path = one.path(partitions)
    if path.name not in answers:
        answers[path.name] = nd.dedup(nd.read(path), one.config, threads=2)
    found = ns.scan(str(path), tmp_path / "run", one.config, spark=spark, partitions=partitions, small=0)
    assert len(read_origin(found)["pieces"]) == partitions
    assert_same(found, answers[path.name])


def test_no_corpus_is_left_out(data: Path) -> None:
    names = {name for name, _ in RUNS}
    assert all((data / name).is_dir() for name in names)
    assert names == set(same.names_of(data))
    assert {partitions for _, partitions in RUNS} == set(same.PARTITIONS)


def test_the_page_shows_what_was_found(tmp_path: Path) -> None:
    """The table in the docs is that of the kept rows, and all of these rows are equal in both."""
    rows = json.loads(same.RESULTS.read_text("utf-8"))["rows"]
    assert same.table(rows) in same.PAGE.read_text("utf-8")
    assert all(
        row["same_clusters"] and row["same_pairs"] and row["pieces"] == row["partitions"] for row in rows
    )
    wrong = [rows[0] | {"same_pairs": False}]
    assert "**other pairs**" in same.table(wrong) and "not run" in same.table(wrong)
