"""Findings made without a scan: as many documents, pairs and clusters as one likes, in a second or two."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import neardup as nd
from neardup.compare.changes import COLUMNS
from neardup.compare.verify import Pairs
from neardup.findings import Findings
from neardup.findings.columns import DOCUMENTS, TEXTS
from neardup.findings.manifest import VERSION, write_manifest
from neardup.findings.writer import _columns, write_pairs


def make_findings(folder: Path, clusters: int, pairs: int, seed: int = 1) -> Findings:
    """About so many clusters and pairs of a corpus of twice as many documents as are in clusters, of 50 sources; every
    twentieth document has the words of another."""
    draw = np.random.default_rng(seed)
    sizes = np.minimum(draw.zipf(1.8, clusters) + 1, 60)
    starts = np.cumsum(sizes) - sizes
    possible = sizes * (sizes - 1) // 2
    for share in np.arange(1, 30, 0.1):  # pairs of a document, so that there are about as many in all
        wanted = np.minimum(possible, np.maximum(1, sizes * share).astype(np.int64))
        if wanted.sum() >= min(pairs, possible.sum()):
            break
    left, right = [], []
    for start, size, many in zip(starts.tolist(), sizes.tolist(), wanted.tolist(), strict=True):
        i, j = np.triu_indices(size, 1)
        some = draw.permutation(len(i))[:many]
        left.append(start + i[some])
        right.append(start + j[some])
    inside = int(sizes.sum())
    documents = 2 * inside
    near = Pairs.of(np.concatenate(left), np.concatenate(right), draw.uniform(0.7, 1, sum(map(len, left))))
    first = np.arange(documents)
    repeated = np.arange(inside, documents, 10)
    first[repeated] = draw.integers(0, inside, len(repeated))
    ids = [f"document-{row}".encode() for row in range(documents)]
    lengths = draw.integers(200, 5000, documents)
    folder.mkdir()
    write_pairs(folder, near, np.zeros((len(near), len(COLUMNS)), np.uint16))
    _columns(
        folder / DOCUMENTS,
        documents,
        {
            "first": first.astype("<i8"),
            "tokens": (lengths // 6).astype("<i8"),
            "sizes": lengths.astype("<i8"),
            "empty": np.zeros(documents, "u1"),
            "filtered": np.zeros(documents, "u1"),
            "sources": draw.integers(0, 50, documents).astype("<i4"),
            "scores": np.zeros(documents, "<f8"),
            "files": np.zeros(documents, "<i4"),
            "places": np.arange(1, documents + 1).astype("<i8"),
            "idends": np.cumsum([len(id) for id in ids]).astype("<i8"),
            "ids": np.frombuffer(b"".join(ids), np.uint8),
        },
    )
    rows = np.unique(np.concatenate([near.left, near.right, first[repeated]]))
    texts = [b"The minutes of meeting %d, as they were taken down and agreed." % row for row in rows]
    _columns(
        folder / TEXTS,
        len(rows),
        {
            "rows": rows.astype("<i8"),
            "texts": np.frombuffer(b"".join(texts), np.uint8),
            "ends": np.cumsum([len(text) for text in texts]).astype("<i8"),
        },
    )
    config = nd.Config(verify=nd.Jaccard(0.8, 0.7))
    counts = {
        "documents": documents,
        "reference": 0,
        "shards": 0,
        "empty": 0,
        "filtered": {},
        "pairs": len(near),
    }
    counts |= {"candidates": len(near), "capped": 0, "rejected": {}}
    manifest = {
        "format": VERSION,
        "inputs": [],
        "references": [],
        "file_names": ["made.jsonl"],
        "source_names": [f"source-{number}" for number in range(50)],
        "columns": {"text": None, "id": None, "format": None},
        "limits": {},
        "config": config.to_plain(),
        "counts": counts,
        "seconds": {},
    }
    write_manifest(folder, manifest)
    return Findings(folder)
