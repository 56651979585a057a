"""Corpora on Spark beside the local pipeline: what both must say alike."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import neardup as nd


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


def rows_of(data: Path, name: str) -> list[dict[str, Any]]:
    """The documents of a labelled corpus."""
    with gzip.open(data / name / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def told(similarity: float) -> float | None:
    return None if math.isnan(similarity) else similarity


def said_here(result: nd.Result) -> dict[str, tuple[Any, ...]]:
    """What the local pipeline says of each document: kept, cluster, keeper, similarity."""
    ids, clusters = result.ids, result.clusters
    return {
        ids[row]: (
            bool(result.cut.kept[row]),
            ids[clusters.labels[row]],
            ids[clusters.keeper[row]],
            told(float(clusters.similarity[row])),
        )
        for row in range(len(ids))
    }


def said_there(stages: Any) -> dict[str, tuple[Any, ...]]:
    """The same of a run on Spark."""
    rows = stages.decisions().toArrow().to_pylist()
    assert len({row["id"] for row in rows}) == len(rows)
    return {r["id"]: (r["kept"], r["cluster"], r["keeper"], told(r["similarity"])) for r in rows}


def pairs_here(result: nd.Result) -> set[tuple[str, str, float]]:
    """Verified pairs by id."""
    pairs, ids = result.pairs, result.ids
    return {
        (ids[a], ids[b], s)
        for a, b, s in zip(pairs.left, pairs.right, pairs.similarity.tolist(), strict=True)
    }


def pairs_there(stages: Any) -> set[tuple[str, str, float]]:
    names = {r["row"]: r["id"] for r in stages.fingerprints().select("row", "id").toArrow().to_pylist()}
    rows = stages.pairs().toArrow().to_pylist()
    assert len({(r["left"], r["right"]) for r in rows}) == len(rows)
    return {(names[r["left"]], names[r["right"]], r["similarity"]) for r in rows}


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
