"""Short texts: the preset beside the defaults and rapidfuzz, on tldr_short: python -m benchmarks.short [--page]

Pairs of the same page in two years are right, all others wrong. rapidfuzz compares every pair; its threshold is the
best one in hindsight. Writes benchmarks/results/short.json and the table in docs/presets.md. About a minute.
"""

from __future__ import annotations

import argparse
import json
import zlib
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from benchmarks import machine
from benchmarks.guards import Labels, load
from numpy.typing import NDArray

import neardup as nd
from neardup.clusters.protect import held_pairs
from neardup.version import __version__

RESULT = Path(__file__).parent / "results" / "short.json"
PAGE = Path(__file__).parents[1] / "docs" / "presets.md"
BEGIN, END = "<!-- short: begin -->", "<!-- short: end -->"
SET = "tldr_short"
Rows = NDArray[np.int64]


def scored(left: Rows, right: Rows, labels: Labels, true: int) -> dict[str, Any]:
    pairs = zip(left.tolist(), right.tolist(), strict=True)
    right_ones = sum(labels.same(a, b) is True for a, b in pairs)
    precision, recall = right_ones / max(1, len(left)), right_ones / true
    f1 = 2 * precision * recall / (precision + recall) if right_ones else 0.0
    return {"pairs": len(left), "precision": precision, "recall": recall, "f1": f1}


def ours(texts: list[str], labels: Labels, true: int, config: nd.Config) -> dict[str, Any]:
    begin = perf_counter()
    found = nd.dedup(texts, config).found
    seconds = perf_counter() - begin
    rank = nd.Keep().rank(np.array([len(text.encode()) for text in texts], np.int64))
    held = held_pairs(found.pairs, found.changes, config.protect, found.first, rank)
    near = held.counting & (found.pairs.similarity >= config.verify.threshold)
    same = np.flatnonzero(found.first != np.arange(len(texts)))
    left = np.concatenate([found.pairs.left[near], found.first[same]])
    right = np.concatenate([found.pairs.right[near], same])
    return scored(left, right, labels, true) | {"seconds": round(seconds, 2)}


def fuzzy(texts: list[str], labels: Labels, true: int) -> dict[str, Any]:
    from rapidfuzz import fuzz, process

    begin = perf_counter()
    lefts, rights, scores = [], [], []
    for start in range(0, len(texts), 200):
        part = process.cdist(
            texts[start : start + 200], texts, scorer=fuzz.ratio, score_cutoff=50, dtype=np.uint8
        )
        a, b = np.nonzero(part)
        a_row = a + start
        ahead = a_row < b
        lefts.append(a_row[ahead])
        rights.append(b[ahead])
        scores.append(part[a[ahead], b[ahead]])
    seconds = perf_counter() - begin
    left, right, score = (np.concatenate(part) for part in (lefts, rights, scores))
    tried = [
        scored(left[score >= cut], right[score >= cut], labels, true) | {"cut": cut}
        for cut in range(50, 100, 2)
    ]
    return max(tried, key=lambda row: row["f1"]) | {"seconds": round(seconds, 2)}


def measure() -> dict[str, Any]:
    texts, labels = load(SET)
    true = sum(labels.judged.values())
    preset = nd.preset("short")
    unguarded = nd.Config.from_plain({**preset.to_plain(), "protect": []})
    rows = [
        {"name": "defaults", **ours(texts, labels, true, nd.Config())},
        {"name": "--preset short", **ours(texts, labels, true, preset)},
        {"name": "--preset short --protect none", **ours(texts, labels, true, unguarded)},
    ]
    # rapidfuzz compares every pair, which takes minutes: a third of the pages, whole clusters.
    some = [row for row in range(len(texts)) if zlib.crc32(labels.clusters[row].encode()) % 3 == 0]
    place = {row: at for at, row in enumerate(some)}
    third = Labels(
        {place[row]: labels.clusters[row] for row in some},
        {(place[a], place[b]): same for (a, b), same in labels.judged.items() if a in place and b in place},
    )
    fewer, true_here = [texts[row] for row in some], sum(third.judged.values())
    rows.append({"name": "--preset short, a third of the pages", **ours(fewer, third, true_here, preset)})
    best = fuzzy(fewer, third, true_here)
    name = f"rapidfuzz ratio >= {best['cut']} (the best in hindsight), a third of the pages"
    rows.append({"name": name, **best})
    return {
        "date": machine.now(),
        "commit": machine.commit(),
        "machine": machine.describe(),
        "versions": {"neardup": __version__, **machine.versions(("numpy", "rapidfuzz"))},
        "documents": len(texts),
        "true": true,
        "rows": rows,
    }


def page(result: dict[str, Any]) -> str:
    lines = [
        BEGIN,
        f"Made by `python -m benchmarks.short` at commit `{result['commit']}`; do not edit between the marks.",
        "",
        f"{result['documents']:,} short help pages; {result['true']:,} pairs are the same page in two years, and 400 "
        "pages differ from each other in one name. One thread.",
        "",
        "| setting | pairs | precision | recall | F1 | seconds |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for row in result["rows"]:
        shares = " | ".join(f"{row[name]:.3f}" for name in ("precision", "recall", "f1"))
        lines.append(f"| {row['name']} | {row['pairs']:,} | {shares} | {row['seconds']:.1f} |")
    return "\n".join([*lines, END])


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.short", description=__doc__)
    parser.add_argument("--page", action="store_true", help="the page from the kept result")
    if not parser.parse_args().page:
        RESULT.write_text(json.dumps(measure(), indent=1) + "\n", "utf-8")
    text = PAGE.read_text("utf-8")
    before, rest = text.split(BEGIN)
    PAGE.write_text(before + page(json.loads(RESULT.read_text("utf-8"))) + rest.split(END)[1], "utf-8")


if __name__ == "__main__":
    main()
