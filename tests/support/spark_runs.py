"""Corpora on Spark beside the local pipeline: both must give the same answers."""

from __future__ import annotations

import gzip
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.spark.same import pairs_of, said_by, said_here, said_there

import neardup as nd
from neardup.storage.checked_json import read_checked, write_checked

__all__ = [
    "assert_decided",
    "assert_same",
    "decided_again",
    "said_by",
    "said_here",
    "said_there",
    "write_jsonl",
]


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


def decided_again(before: Path, run: Path, config: nd.Config) -> str:
    """The folder of a run with the pairs of another, whose config differs only in what is decided on them."""
    shutil.copytree(before, run, ignore=shutil.ignore_patterns("clusters*", "decisions*", "rounds", ".*"))
    mark = run / "run.json"
    facts, _ = read_checked(mark, "the mark of a run")
    # The seed was drawn from the documents, which are the same.
    drawn = nd.Config.from_plain(facts["identity"]["config"])
    config = replace(drawn, keep=config.keep, clusters=config.clusters)
    facts["identity"]["config"] = json.loads(json.dumps(config.to_plain()))
    write_checked(mark, facts)
    return str(run)


def assert_decided(stages: Any, result: nd.Result) -> None:
    """The same clusters and keepers where the cluster decides."""
    here, there = said_here(result), said_there(stages)
    assert here.keys() == there.keys()
    assert [(k, here[k], there[k]) for k in here if here[k] != there[k]] == []


def assert_same(findings: nd.Findings, result: nd.Result) -> None:
    """The same clusters, keepers, pairs and counts."""
    here, there = said_here(result), said_by(findings)
    assert list(here) == list(there)
    assert [(k, here[k], there[k]) for k in here if here[k] != there[k]] == []
    assert pairs_of(findings) ^ pairs_of(result) == set()
    counts, found = findings.manifest["counts"], result.found
    assert (counts["documents"], counts["empty"]) == (result.documents, result.empty)
    assert sum(counts["filtered"].values()) == result.filtered
    assert (counts["capped"], counts["skipped"], counts["implied"], counts["figures"]) == (
        found.capped,
        found.skipped,
        found.implied,
        found.figures,
    )
