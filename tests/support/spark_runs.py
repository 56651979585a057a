"""Corpora on Spark beside the local pipeline: what both must say alike."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

from benchmarks.spark.same import pairs_here, pairs_there, said_here, said_there

import neardup as nd

__all__ = ["assert_same", "decided_anew", "said_here", "said_there", "write_jsonl"]


def write_jsonl(path: Path, rows: list[dict[str, Any]], files: int = 1) -> list[str]:
    """Rows in some files, compressed where the name says so; their paths."""
    paths = []
    for number in range(files):
        name = path if files == 1 else path.with_name(f"{number}-{path.name}")
        step = -(-len(rows) // files)
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows[number * step :][:step])
        data = lines.encode()
        name.write_bytes(gzip.compress(data, 1) if name.suffix == ".gz" else data)
        paths.append(str(name))
    return paths


def decided_anew(before: Path, run: Path, config: nd.Config) -> str:
    """The folder of a run with the pairs of another, whose config differs only in what is decided on them."""
    shutil.copytree(before, run, ignore=shutil.ignore_patterns("clusters*", "removals*", "rounds", ".*"))
    mark = run / "run.json"
    facts = json.loads(mark.read_text())
    facts["identity"]["config"] = json.loads(json.dumps(config.to_plain()))
    mark.write_text(json.dumps(facts))
    return str(run)


def assert_same(stages: Any, result: nd.Result, pairs: bool = True) -> None:
    """The same clusters and keepers, and the same pairs."""
    here, there = said_here(result), said_there(stages)
    assert here.keys() == there.keys()
    assert [(k, here[k], there[k]) for k in here if here[k] != there[k]] == []
    if pairs:
        assert pairs_there(stages) ^ pairs_here(result) == set()
    summary, kept = stages.summary(), int(result.cut.kept.sum())
    found = (summary.documents, summary.kept, summary.gone, summary.exact, summary.empty, summary.filtered)
    gone = len(result) - kept - result.filtered
    assert found == (len(result), kept, gone, result.exact, result.empty, result.filtered)
    assert (summary.clusters, summary.pairs) == (len(result.clusters.sizes()[0]), len(result.pairs))
    assert (summary.capped, summary.skipped, summary.implied) == (
        result.found.capped,
        result.found.skipped,
        result.found.implied,
    )
