"""Recall and precision of our own pairs on every labelled set: python -m benchmarks.recall [--check] [--sets NAME ...]

The pairs that `nd.dedup` reports, with the bands it chooses itself, against `exact_pairs.tsv.gz`: every pair of a set
by brute force. Writes benchmarks/results/recall.json and the table in docs/inside/quality.md.

A difference has one of two causes, and they are separated by computing the exact similarity of every pair that one
side has and the other has not: another idea of the text (NFKC and case folding; how a page becomes text), or a search
that missed a pair. HTML is reduced to the text of the whole page, as the file's makers did in their own way.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import machine
from benchmarks.corpus import data
from benchmarks.pipeline.truth import jaccard, tokens
from tools.page_part import write_part

import neardup as nd
from neardup.compare import similarity
from neardup.web import HtmlExtractor

ROOT = Path(__file__).parents[1]
RESULT = ROOT / "benchmarks" / "results" / "recall.json"
PAGE = ROOT / "docs" / "inside" / "quality.md"
THRESHOLDS = (0.8, 0.7, 0.5)
AIMS = {0.8: 0.99, 0.7: 0.98, 0.5: 0.98}
HALF_A_PLACE = 0.00005  # the file's similarities are rounded to four places
Pair = tuple[int, int]
Json = dict[str, Any]


@dataclass(frozen=True)
class Reported:
    """What a run of the pipeline says: pairs of rows, the bands it chose, and buckets it could not pair whole."""

    pairs: set[Pair]
    bands: str
    capped: int


def pipeline(texts: list[str], threshold: float) -> Reported:
    """The one place that calls the pipeline under test; pairs of documents with the same words are spelled out."""
    config = nd.Config().with_threshold(threshold, threshold)
    result = nd.dedup(texts, config, threads=2)
    groups: dict[int, list[int]] = {}
    for row, first in enumerate(result.found.first.tolist()):
        groups.setdefault(first, []).append(row)
    pairs = {(a, b) for group in groups.values() for a in group for b in group if a < b}
    for left, right in zip(result.pairs.left.tolist(), result.pairs.right.tolist(), strict=True):
        pairs.update(ordered(a, b) for a in groups.get(left, [left]) for b in groups.get(right, [right]))
    return Reported(pairs, f"{config.bands.bands}x{config.bands.rows}", result.capped)


def ordered(a: int, b: int) -> Pair:
    return (a, b) if a < b else (b, a)


def load(name: str) -> tuple[list[str], list[str]]:
    """Ids and texts of a set."""
    with gzip.open(data() / name / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    ids = [row["id"] for row in rows]
    if "text" in rows[0]:
        return ids, [row["text"] for row in rows]
    with HtmlExtractor(method="whole", workers=2) as extractor:
        found = extractor.extract([row["html"] for row in rows])
    if found.failures:
        raise SystemExit(f"{name}: {len(found.failures)} pages gave no text: {found.counts}")
    return ids, [text or "" for text in found.texts]


def exact(name: str, ids: list[str]) -> tuple[dict[Pair, float], float]:
    """Every pair of the file, and the lowest similarity of the file."""
    rows = {id_: row for row, id_ in enumerate(ids)}
    facts = json.loads((data() / name / "facts.json").read_text("utf-8"))
    with gzip.open(data() / name / "exact_pairs.tsv.gz", "rt", encoding="utf-8") as lines:
        next(lines)
        found = {
            ordered(rows[a], rows[b]): float(jaccard5)
            for a, b, jaccard5, *_ in csv.reader(lines, delimiter="\t")
        }
    return found, float(facts.get("exact_pairs_min_jaccard", 0.3))


def compare(name: str, texts: list[str], file: dict[Pair, float], threshold: float) -> Json:
    """One row of the table."""
    said = pipeline(texts, threshold)
    due = {pair for pair, value in file.items() if value >= threshold}
    missed, extra = sorted(due - said.pairs), sorted(said.pairs - due)
    own = ours(texts, missed)
    lost = int((own >= threshold).sum())  # similar by our words too, so the search missed them
    wrong = sum(not agrees(texts, file, pair, threshold) for pair in extra)
    return {
        "set": name,
        "threshold": threshold,
        "bands": said.bands,
        "exact_pairs": len(due),
        "reported_pairs": len(said.pairs),
        "recall": share(len(due) - len(missed), len(due)),
        "precision": share(len(said.pairs) - len(extra), len(said.pairs)),
        "missed_by_search": lost,
        "missed_by_definition": len(missed) - lost,
        "extra_by_definition": len(extra) - wrong,
        "wrong": wrong,
        "capped": said.capped,
    }


def ours(texts: list[str], pairs: list[Pair]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The exact similarity of pairs by our own words."""
    rows = sorted({row for pair in pairs for row in pair})
    place = {row: at for at, row in enumerate(rows)}
    features = nd.Shingles().extract([texts[row] for row in rows])
    left, right = (np.array([place[pair[side]] for pair in pairs], np.int64) for side in (0, 1))
    return np.asarray(similarity.jaccard(features, left, right), np.float64)


def agrees(texts: list[str], file: dict[Pair, float], pair: Pair, threshold: float) -> bool:
    """Whether a reported pair is similar after all: by the file but for its rounding, or counted the slow way."""
    if file.get(pair, 0.0) >= threshold - HALF_A_PLACE:
        return True
    return jaccard(tokens(texts[pair[0]]), tokens(texts[pair[1]])) >= threshold


def share(part: int, whole: int) -> float | None:
    return round(part / whole, 5) if whole else None


def judge(rows: Iterable[Json]) -> list[str]:
    """What does not hold: recall of the file's pairs, and that what is reported is similar."""
    failures = []
    for row in rows:
        where = f"{row['set']} at {row['threshold']}"
        aim = AIMS[row["threshold"]]
        if row["recall"] is not None and row["recall"] < aim:
            failures.append(f"{where}: recall {row['recall']:.4f} against the file, not {aim}")
        if row["wrong"]:
            failures.append(f"{where}: {row['wrong']} reported pairs are not similar")
    return failures


def table(result: Json) -> str:
    lines = [
        f"Made by `python -m benchmarks.recall` at commit `{result['commit']}`; do not edit between the marks.",
        "",
        "| set | threshold | bands | pairs | reported | recall | precision | missed | of other words | wrong |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in result["rows"]:
        recall, precision = (
            "-" if row[key] is None else f"{row[key]:.5f}" for key in ("recall", "precision")
        )
        lines.append(
            f"| {row['set']} | {row['threshold']:g} | {row['bands']} | {row['exact_pairs']:,} "
            f"| {row['reported_pairs']:,} | {recall} | {precision} | {row['missed_by_search']:,} "
            f"| {row['missed_by_definition'] + row['extra_by_definition']:,} | {row['wrong']} |"
        )
    lines += ["", *(f"Not reached: {failure}." for failure in result["failures"])]
    if not result["failures"]:
        lines.append(
            "Every aim is reached: recall of .99 at .8 and .98 at .7 and .5; no reported pair is wrong."
        )
    return "\n".join(lines)


def main() -> int:
    kept = "--page" in sys.argv  # the page needs no corpora
    known = [] if kept else sorted(path.parent.name for path in data().glob("*/exact_pairs.tsv.gz"))
    parser = argparse.ArgumentParser("python -m benchmarks.recall", description=__doc__.split("\n")[0])  # type: ignore[union-attr]
    parser.add_argument(
        "--sets", nargs="+", choices=known, default=known, help="only these; the result is not kept"
    )
    parser.add_argument("--check", action="store_true", help="exit 1 unless the aims are reached")
    parser.add_argument("--page", action="store_true", help="the page from the kept result")
    asked = parser.parse_args()
    if asked.page:
        write_part(PAGE, "recall table", table(json.loads(RESULT.read_text("utf-8"))))
        return 0
    rows = []
    for name in asked.sets:
        ids, texts = load(name)
        file, lowest = exact(name, ids)
        for threshold in THRESHOLDS:
            if threshold < lowest:
                continue
            row = compare(name, texts, file, threshold)
            rows.append(row)
            print(
                f"{name:22}{threshold:4g} {row['bands']:>6} {row['exact_pairs']:8,} pairs"
                f"  recall {row['recall']}  precision {row['precision']}"
                f"  missed {row['missed_by_search']}+{row['missed_by_definition']}"
                f"  extra {row['extra_by_definition']}  wrong {row['wrong']}  capped {row['capped']}",
                flush=True,
            )
    result = {"date": machine.now(), "commit": machine.commit(), "rows": rows, "failures": judge(rows)}
    for failure in result["failures"]:
        print("MISS", failure)
    if asked.sets == known:
        RESULT.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
        write_part(PAGE, "recall table", table(result))
    return 1 if asked.check and result["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
