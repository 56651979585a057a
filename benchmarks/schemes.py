"""The seeds' signature schemes side by side: python -m benchmarks.schemes [--sets NAME ...]

Each scheme proposes pairs; what it proposes is judged as it is, as the seeds use it, and after verification, as the
pipeline does. Writes benchmarks/results/schemes.json and the table in docs/concepts/schemes.md.

Truth of similarity: every pair of word 5-shingle Jaccard .8 or more, by brute force (`exact_pairs.tsv.gz`). Truth of
labels: pairs of one cluster, among documents that have one. Cost: from texts at hand to pairs, one thread, and the
bytes of fingerprints that the search keeps of a document.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import machine
from benchmarks.corpus import data
from tools.page_part import write_part

import neardup as nd
from neardup.features.weights import Frequencies
from neardup.web import HtmlExtractor

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "benchmarks" / "results" / "schemes.json"
PAGE = ROOT / "docs" / "concepts" / "schemes.md"
SETS = ("pydoc_html_versions", "tldr_short", "licenses", "wiki_html_variants")
THRESHOLD = 0.8
Pairs = set[tuple[int, int]]


@dataclass(frozen=True)
class Scheme:
    """A way to propose pairs of texts; `source` is what of a page it looks at."""

    name: str
    propose: Callable[[list[str]], Any]
    bytes: int
    source: str = "whole"


def _minhash(texts: list[str], features: Any = None) -> Any:
    lsh = nd.LSH.for_threshold(THRESHOLD, 0.99)
    return lsh.candidates(nd.MinHash(lsh.values).compute((features or nd.Shingles()).extract(texts)))


def _keys(scheme: Any, features: Any, search: nd.search.Agree | None = None) -> Callable[[list[str]], Any]:
    def propose(texts: list[str]) -> Any:
        made = (
            scheme.fit(Frequencies.count(texts, features))
            if isinstance(scheme, nd.fingerprints.IMatch)
            else scheme
        )
        rule = search or nd.search.Agree(made.agreeing)
        return rule.candidates(made.compute(features.extract(texts)))

    return propose


def _sketch(values: int, least: int) -> Callable[[list[str]], Any]:
    return lambda texts: nd.search.Agree(least).candidates(
        nd.MinHash(values).compute(nd.Shingles().extract(texts))
    )


def _simhash(texts: list[str]) -> Any:
    words = nd.Words(weights=nd.Idf.fit(texts))
    return nd.search.Join(radius=3).candidates(nd.Simhash(margins="none").compute(words.extract(texts)))


def _bits(texts: list[str]) -> Any:
    return nd.search.Join(radius=8).candidates(nd.BitMinHash().compute(nd.Shingles().extract(texts)))


def _identical(way: Any) -> Callable[[list[str]], Any]:
    def propose(texts: list[str]) -> Any:
        first = np.asarray(nd.fingerprints.identical(texts, way).first)
        groups: dict[int, list[int]] = {}
        for row, head in enumerate(first.tolist()):
            groups.setdefault(head, []).append(row)
        pairs = [pair for rows in groups.values() for pair in combinations(rows, 2)]
        left, right = np.array(pairs, np.int64).reshape(-1, 2).T
        return nd.search.Candidates(left, right, np.zeros(len(left), np.uint8))

    return propose


_LSH = nd.LSH.for_threshold(THRESHOLD, 0.99)
_TEN = nd.fingerprints.IMatch(lexicons=10, share=0.3)
SCHEMES = (
    Scheme(f"MinHash, {_LSH.bands} bands of {_LSH.rows}", _minhash, 8 * _LSH.bands + 16),
    Scheme("sketch, 90 of 100", _sketch(100, 90), 400),
    Scheme("sketch, 160 of 200", _sketch(200, 160), 800),
    Scheme("super-fingerprints, 2 of 6", _keys(nd.fingerprints.SuperFingerprints(), nd.Shingles()), 48),
    Scheme("I-Match", _keys(nd.fingerprints.IMatch(), nd.Words()), 8),
    Scheme("I-Match, 3 of 10 lexicons", _keys(_TEN, nd.Words(), nd.search.Agree(3)), 80),
    Scheme("I-Match, most of 10 lexicons", _keys(_TEN, nd.Words()), 80),
    Scheme("bucket checksums, 33 of 64", _keys(nd.fingerprints.BucketChecksums(), nd.Words()), 512),
    Scheme("simhash TF-IDF words, radius 3", _simhash, 8),
    Scheme("1-bit MinHash, radius 8", _bits, 8),
    Scheme("identical: character by character", _identical("characters"), 0),
    Scheme("identical: hash of the first 64 bytes", _identical("prefix"), 8),
    Scheme("identical: hash of 64 random positions", _identical("positions"), 8),
    Scheme("identical: 64-bit hash", _identical("hash"), 8),
    Scheme("identical: SHA-256", _identical("digest"), 32),
    Scheme("HTML tags, MinHash", _minhash, 8 * _LSH.bands + 16, "tags"),
    Scheme(
        "anchor texts, MinHash",
        lambda t: _minhash(t, nd.features.Sentences()),
        8 * _LSH.bands + 16,
        "anchors",
    ),
    Scheme(
        "link URLs, MinHash", lambda t: _minhash(t, nd.features.Sentences()), 8 * _LSH.bands + 16, "links"
    ),
)


SOURCES = ("whole", "tags", "anchors", "links")  # what a text may be of a page


def load(name: str, sources: Iterable[str] = SOURCES) -> tuple[list[str], dict[str, list[str]]]:
    """Ids of a set, and its texts by what of a page they are."""
    with gzip.open(data() / name / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    ids = [row["id"] for row in rows]
    if "text" in rows[0]:
        return ids, {"whole": [row["text"] for row in rows]}
    texts = {}
    for method in sources:
        with HtmlExtractor(method, workers=2) as extractor:  # type: ignore[arg-type]
            texts[method] = [text or "" for text in extractor.extract([row["html"] for row in rows]).texts]
    return ids, texts


def truths(name: str, ids: list[str]) -> tuple[Pairs, dict[int, str]]:
    """Pairs of the threshold or more, and the cluster of each row that has one."""
    place = {id_: row for row, id_ in enumerate(ids)}
    with gzip.open(data() / name / "exact_pairs.tsv.gz", "rt", encoding="utf-8") as lines:
        table = csv.DictReader(lines, delimiter="\t")
        column = next(field for field in table.fieldnames or () if field.startswith("j"))
        first, second = (table.fieldnames or [])[:2]
        similar = {
            _ordered(place[row[first]], place[row[second]])
            for row in table
            if float(row[column]) >= THRESHOLD
        }
    with open(data() / name / "truth_clusters.tsv", encoding="utf-8") as file:
        clusters = {place[row["id"]]: row["cluster"] for row in csv.DictReader(file, delimiter="\t")}
    return similar, clusters


def _ordered(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def _every(found: Any) -> tuple[np.ndarray, np.ndarray]:
    if not hasattr(found, "every"):
        return found.left, found.right
    parts = list(found.every())
    return np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts])


def measure(
    scheme: Scheme, texts: dict[str, list[str]], similar: Pairs, clusters: dict[int, str]
) -> dict[str, Any]:
    """One row of the table."""
    began = time.perf_counter()
    left, right = _every(scheme.propose(texts[scheme.source]))
    seconds = time.perf_counter() - began
    proposed = set(zip(left.tolist(), right.tolist(), strict=True))
    features = nd.Shingles().extract(texts["whole"])
    order = np.lexsort((right, left))
    candidates = nd.search.Candidates(left[order], right[order], np.zeros(len(left), np.uint8))
    verified = nd.Jaccard(THRESHOLD).check(candidates, features)
    kept = set(zip(verified.left.tolist(), verified.right.tolist(), strict=True))
    sizes: dict[str, int] = {}
    for cluster in clusters.values():
        sizes[cluster] = sizes.get(cluster, 0) + 1
    same = sum(n * (n - 1) // 2 for n in sizes.values())
    judged = [(a, b) for a, b in proposed if a in clusters and b in clusters]
    right_ones = sum(clusters[a] == clusters[b] for a, b in judged)
    return {
        "scheme": scheme.name,
        "proposed": len(proposed),
        "recall": _share(len(proposed & similar), len(similar)),
        "precision": _share(len(proposed & similar), len(proposed)),
        "verified_recall": _share(len(kept & similar), len(similar)),
        "label_recall": _share(right_ones, same),
        "label_precision": _share(right_ones, len(judged)),
        "bytes": scheme.bytes,
        "seconds": round(seconds, 3),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def table(results: dict[str, list[dict[str, Any]]], where: str) -> str:
    lines = [f"Made by `python -m benchmarks.schemes` {where}; do not edit between the marks.", ""]
    for name, rows in results.items():
        lines += [
            f"**{name}**",
            "",
            "| scheme | pairs proposed | recall | precision | recall, verified | labels: recall | labels: precision "
            "| bytes | seconds |",
            "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
        ]
        shares = ("recall", "precision", "verified_recall", "label_recall", "label_precision")
        for row in rows:
            cells = [row["scheme"], f"{row['proposed']:,}"]
            cells += ["" if row[key] is None else f"{row[key]:.3f}" for key in shares]
            lines.append(f"| {' | '.join([*cells, str(row['bytes']), format(row['seconds'], '.2f')])} |")
        lines.append("")
    return "\n".join(lines[:-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=SETS, choices=SETS)
    parser.add_argument("--page", action="store_true", help="the page from the kept result")
    asked = parser.parse_args()
    if asked.page:
        write_page(json.loads(RESULT.read_text("utf-8")))
        return
    named = asked.sets
    results: dict[str, list[dict[str, Any]]] = {}
    for name in named:
        ids, texts = load(name)
        similar, clusters = truths(name, ids)
        results[name] = [measure(s, texts, similar, clusters) for s in SCHEMES if s.source in texts]
        print(table({name: results[name]}, ""))
    if set(named) != set(SETS):
        return
    facts = machine.describe()
    made = {"date": machine.now(), "commit": machine.commit(), "machine": facts, "threshold": THRESHOLD}
    RESULT.write_text(json.dumps(made | {"sets": results}, indent=1) + "\n")
    write_page(made | {"sets": results})


def write_page(result: dict[str, Any]) -> None:
    """Put the table between its marks."""
    write_part(PAGE, "schemes table", table(result["sets"], f"at commit `{result['commit']}`"))


if __name__ == "__main__":
    main()
