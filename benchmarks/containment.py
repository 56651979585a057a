"""Containment: recall against every pair, excerpts found, candidates and time, beside LSH. Prints Markdown.

python benchmarks/containment.py FOLDER_OF_LABELLED_CORPORA
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from pathlib import Path

import numpy as np

import neardup as nd


def texts_of(folder: Path, name: str) -> list[str]:
    with gzip.open(folder / name / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def excerpts(texts: list[str], words: int, every: int) -> tuple[list[str], list[int]]:
    pieces, origins = [], []
    for row in range(0, len(texts), every):
        parts = texts[row].split()
        if len(parts) >= 3 * words:
            start = (row * 7919) % (len(parts) - words)
            pieces.append(" ".join(parts[start : start + words]))
            origins.append(row)
    return pieces, origins


def main(folder: Path) -> None:
    print(
        "| corpus | threshold | search | pairs there are | recall | excerpts found | candidates | seconds |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name, words, every in (("k8s_docs_rev", 60, 4), ("licenses", 25, 20)):
        texts = texts_of(folder, name)[:: 1 if name == "k8s_docs_rev" else 4]
        pieces, origins = excerpts(texts, words, every)
        both = texts + pieces
        features = nd.Shingles().extract(both, threads=2)
        left, right = np.triu_indices(len(both), 1)
        for threshold in (0.9, 0.7, 0.5):
            candidates = nd.search.Candidates(left, right, np.zeros(len(left), np.uint8))
            every_pair = nd.Containment(threshold).check(candidates, features, threads=2)
            for label, search in (("Inverted", None), ("LSH 20 x 6", nd.LSH(20, 6))):
                start = time.perf_counter()
                result = nd.dedup(both, nd.Config(verify=nd.Containment(threshold), search=search), threads=2)
                seconds = time.perf_counter() - start
                first = result.found.first
                alone = (first[every_pair.left] == every_pair.left) & (
                    first[every_pair.right] == every_pair.right
                )
                true = set(
                    zip(every_pair.left[alone].tolist(), every_pair.right[alone].tolist(), strict=True)
                )
                found = set(zip(result.pairs.left.tolist(), result.pairs.right.tolist(), strict=True))
                met = 0
                for number, origin in enumerate(origins):
                    a, b = sorted((int(first[origin]), int(first[len(texts) + number])))
                    met += a == b or (a, b) in found
                recall = len(found & true) / len(true)
                print(
                    f"| {name}, {len(both):,} | {threshold} | {label} | {len(true):,} | {recall:.4f} | "
                    f"{met} of {len(origins)} | {result.candidates:,} | {seconds:.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
