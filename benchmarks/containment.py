"""Containment: recall against every pair, excerpts found, candidates and time, compared with LSH.

python -m benchmarks.containment prints each case and keeps results/containment.json; the table in
docs/how-to/containment.md is made from it by `python -m benchmarks.task_tables`.
"""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import machine
from benchmarks.corpus import data

import neardup as nd

RESULT = Path(__file__).parent / "results" / "containment.json"


def texts_of(folder: Path, name: str) -> list[str]:
    with gzip.open(folder / name / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def excerpts(texts: list[str], words: int, every: int) -> tuple[list[str], list[int]]:
    """Of every so many documents an excerpt of successive words, and the row of the document that it is cut from."""
    pieces, origins = [], []
    for row in range(0, len(texts), every):
        parts = texts[row].split()
        if len(parts) >= 3 * words:
            start = (row * 7919) % (len(parts) - words)
            pieces.append(" ".join(parts[start : start + words]))
            origins.append(row)
    return pieces, origins


def measure(both: list[str], origins: list[int], threshold: float, search: nd.LSH | None) -> dict[str, Any]:
    """One row of the table: one search at one threshold, compared with all pairs."""
    features = nd.Shingles().extract(both, threads=2)
    left, right = np.triu_indices(len(both), 1)
    candidates = nd.search.Candidates(left, right, np.zeros(len(left), np.uint8))
    every_pair = nd.Containment(threshold).check(candidates, features, threads=2)
    start = time.process_time()
    result = nd.dedup(both, nd.Config(verify=nd.Containment(threshold), search=search), threads=2)
    seconds = time.process_time() - start
    first = result.found.first
    alone = (first[every_pair.left] == every_pair.left) & (first[every_pair.right] == every_pair.right)
    true = set(zip(every_pair.left[alone].tolist(), every_pair.right[alone].tolist(), strict=True))
    found = set(zip(result.pairs.left.tolist(), result.pairs.right.tolist(), strict=True))
    excerpts_found = 0
    for number, origin in enumerate(origins):
        a, b = sorted((int(first[origin]), int(first[len(both) - len(origins) + number])))
        excerpts_found += a == b or (a, b) in found
    return {
        "pairs": len(true),
        "recall": round(len(found & true) / len(true), 4),
        "excerpts": len(origins),
        "excerpts_found": excerpts_found,
        "candidates": result.candidates,
        "cpu_seconds": round(seconds, 2),
    }


def main() -> None:
    rows = []
    for name, words, every in (("k8s_docs_rev", 60, 4), ("licenses", 25, 20)):
        texts = texts_of(data(), name)[:: 1 if name == "k8s_docs_rev" else 4]
        pieces, origins = excerpts(texts, words, every)
        both = texts + pieces
        for threshold in (0.9, 0.7, 0.5):
            for label, search in (("Inverted", None), ("LSH 20 x 6", nd.LSH(20, 6))):
                row = {"set": name, "documents": len(both), "threshold": threshold, "search": label}
                rows.append(row | measure(both, origins, threshold, search))
                print(json.dumps(rows[-1]), flush=True)
    kept = {"date": machine.now(), "commit": machine.commit(), "machine": machine.describe(), "rows": rows}
    RESULT.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
