"""Guards on Spark keep what they keep here, on the driver and in rounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.budgets import SOAK
from support.spark_runs import assert_decided, assert_same, decided_again, write_jsonl

import neardup as nd

pytest.importorskip("pyspark")
ns = pytest.importorskip("neardup.spark")


def pages() -> list[dict[str, str]]:
    """Pages in groups of the same title; within a group a number, a sentence or nothing differs."""
    body = "\n\n".join(
        f"Sentence {n} of {n} says {n} things about {n} and that is all of {n}." for n in range(20)
    )
    rows = []
    for place in range(40):
        title, end = f"Title {'abcde'[place % 5]}", ("", "So.", f"It costs {place} USD.")[place % 3]
        rows.append({"id": f"d{place}", "text": f"# {title}\n\n{body}\n\n{end}"})
    return rows


# Each takes a minute; the default alone in a soak.
GUARDS = [("title", "language", "numbers", "lossless"), *([("title", "language")] if SOAK else [])]


@pytest.mark.slow
@pytest.mark.parametrize("protect", GUARDS)
def test_a_scan_and_its_stages(spark: Any, tmp_path: Path, protect: tuple[Any, ...]) -> None:
    path = write_jsonl(tmp_path / "pages.jsonl", pages())[0]
    config = nd.Config(protect=protect)
    result = nd.dedup(nd.read(path), config)
    assert result.protected is not None and len(result.protected) >= 4
    (tmp_path / "found").mkdir()
    stages = ns.file_stages(path, str(tmp_path / "run"), config, spark=spark, partitions=2, small=0)
    assert_decided(stages, result)
    found = stages.findings(tmp_path / "found", {"text": None, "id": None})
    for one in (found, ns.scan(path, tmp_path / "small", config, spark=spark)):
        assert_same(one, result)
        assert one.cut().protected is not None
        assert one.cut().protected.rows.tolist() == result.protected.rows.tolist()
    run = decided_again(tmp_path / "run", tmp_path / "rounds", config)
    stages = ns.file_stages(path, run, config, spark=spark, partitions=2, finish=0, small=0)
    assert_decided(stages, result)
    assert stages.folder.names("rounds")
