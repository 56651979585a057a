"""Short texts: the preset beside the defaults, rapidfuzz and TF-IDF neighbours: python -m benchmarks.short [--page]

On tldr_short, pairs of the same page in two years are right, all others wrong; and on titles made from it by rule. The
others compare every pair; their thresholds are the best ones in hindsight. Writes benchmarks/results/short.json and the
table in docs/reference/presets.md. About two minutes; times are CPU seconds, which a busy machine changes little.
"""

from __future__ import annotations

import argparse
import json
import zlib
from itertools import combinations, product
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from benchmarks import machine
from benchmarks.guards import Labels, load
from numpy.typing import NDArray
from tools.page_part import write_part

import neardup as nd
from neardup.clusters.protect import held_pairs
from neardup.version import __version__

RESULT = Path(__file__).parent / "results" / "short.json"
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "presets.md"
SET = "tldr_short"
_DIMENSIONS = 1 << 14
Rows = NDArray[np.int64]


def scored(left: Rows, right: Rows, labels: Labels, true: int) -> dict[str, Any]:
    pairs = zip(left.tolist(), right.tolist(), strict=True)
    right_ones = sum(labels.same(a, b) is True for a, b in pairs)
    precision, recall = right_ones / max(1, len(left)), right_ones / true
    f1 = 2 * precision * recall / (precision + recall) if right_ones else 0.0
    return {"pairs": len(left), "precision": precision, "recall": recall, "f1": f1}


def ours(texts: list[str], labels: Labels, true: int, config: nd.Config) -> dict[str, Any]:
    begin = process_time()
    found = nd.dedup(texts, config).found
    seconds = process_time() - begin
    rank = nd.Keep().rank(np.array([len(text.encode()) for text in texts], np.int64))
    held = held_pairs(found.pairs, found.changes, config.protect, found.first, rank)
    near = held.counting & (found.pairs.similarity >= config.verify.threshold)
    found_pairs = _with_copies(found.first, found.pairs.left[near], found.pairs.right[near])
    left, right = np.array(found_pairs, np.int64).reshape(-1, 2).T
    return scored(left, right, labels, true) | {"seconds": round(seconds, 2)}


def _with_copies(first: Rows, left: Rows, right: Rows) -> list[tuple[int, int]]:
    """Pairs of texts: those of different words, also between their copies with the same words, and of the copies."""
    copies: dict[int, list[int]] = {}
    for row, one in enumerate(first.tolist()):
        copies.setdefault(one, []).append(row)
    pairs = [pair for rows in copies.values() for pair in combinations(rows, 2)]
    for a, b in zip(left.tolist(), right.tolist(), strict=True):
        pairs += product(copies[a], copies[b])
    return pairs


def fuzzy(texts: list[str], labels: Labels, true: int) -> dict[str, Any]:
    from rapidfuzz import fuzz, process

    begin = process_time()
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
    seconds = process_time() - begin
    left, right, score = (np.concatenate(part) for part in (lefts, rights, scores))
    tried = [
        scored(left[score >= cut], right[score >= cut], labels, true) | {"cut": cut}
        for cut in range(50, 100, 2)
    ]
    return max(tried, key=lambda row: row["f1"]) | {"seconds": round(seconds, 2)}


def neighbours(texts: list[str], labels: Labels, true: int) -> dict[str, Any]:
    """The way of embedding-based tools without a model: TF-IDF vectors of runs of 3 characters, and the cosine of every
    pair. Its threshold is the best one in hindsight."""
    begin = process_time()
    vectors = np.zeros((len(texts), _DIMENSIONS), np.float32)
    for row, text in enumerate(texts):
        folded = f" {' '.join(text.lower().split())} "
        for at in range(len(folded) - 2):
            vectors[row, zlib.crc32(folded[at : at + 3].encode()) % _DIMENSIONS] += 1
    weights = np.log((1 + len(texts)) / (1 + (vectors > 0).sum(axis=0))) + 1
    vectors *= weights.astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    cosine = np.triu(vectors @ vectors.T, 1)
    left, right = np.nonzero(cosine >= 0.5)
    score = cosine[left, right]
    seconds = process_time() - begin
    tried = [
        scored(left[score >= cut / 100], right[score >= cut / 100], labels, true) | {"cut": cut / 100}
        for cut in range(50, 100, 2)
    ]
    return max(tried, key=lambda row: row["f1"]) | {"seconds": round(seconds, 2)}


def built(texts: list[str], count: int = 600) -> tuple[list[str], Labels]:
    """Questions and titles made by rule from the descriptions of pages. Of each, four forms that a person calls the
    same (another case, other punctuation, a letter mistyped, a polite opening), and one that differs in what matters
    (another number, or `not`)."""
    found = dict.fromkeys(
        line[2:].rstrip(". ")
        for text in texts
        for line in text.splitlines()
        if line.startswith("> ") and "://" not in line and 5 <= len(line.split()) <= 14
    )
    made: list[str] = []
    clusters: dict[int, str] = {}
    for number, line in enumerate(list(found)[:count]):
        words, at = line.split(), 1 + number % (len(line.split()) - 1)
        typo = words[at][:-2] + words[at][-2:][::-1]
        same = [
            line,
            line.upper() if number % 2 else line.lower() + "!",
            " ".join([*words[:at], typo, *words[at + 1 :]]),
            f"Please: {line[0].lower()}{line[1:]}?",
        ]
        other = (
            f"{line} in {2 + number % 7} steps" if number % 2 else " ".join([*words[:at], "not", *words[at:]])
        )
        for name, text in [(f"{number}", one) for one in same] + [(f"{number} other", other)]:
            clusters[len(made)] = name
            made.append(text)
    return made, Labels(clusters, {})


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
    # The others compare every pair, which takes minutes: a third of the pages, whole clusters.
    some = [row for row in range(len(texts)) if zlib.crc32(labels.clusters[row].encode()) % 3 == 0]
    place = {row: at for at, row in enumerate(some)}
    third = Labels(
        {place[row]: labels.clusters[row] for row in some},
        {(place[a], place[b]): same for (a, b), same in labels.judged.items() if a in place and b in place},
    )
    fewer = [texts[row] for row in some]
    rows += _beside(fewer, third, sum(third.judged.values()), "a third of the pages")
    titles, forms = built(texts)
    pairs = len(titles) // 5 * 6  # of four forms
    rows += _beside(titles, forms, pairs, f"{len(titles):,} titles by rule")
    guarded = nd.Config.from_plain({**preset.to_plain(), "protect": ["numbers", "negation"]})
    name = f"--preset short --protect numbers,negation, {len(titles):,} titles by rule"
    rows.append({"name": name, **ours(titles, forms, pairs, guarded)})
    return {
        "date": machine.now(),
        "commit": machine.commit(),
        "machine": machine.describe(),
        "versions": {"neardup": __version__, **machine.versions(("numpy", "rapidfuzz"))},
        "documents": len(texts),
        "true": true,
        "rows": rows,
    }


def _beside(texts: list[str], labels: Labels, true: int, what: str) -> list[dict[str, Any]]:
    """The preset and the two others, whose thresholds are the best in hindsight, on the same texts."""
    rows = [{"name": f"--preset short, {what}", **ours(texts, labels, true, nd.preset("short"))}]
    for name, run in (("rapidfuzz ratio", fuzzy), ("3-character TF-IDF cosine", neighbours)):
        best = run(texts, labels, true)
        rows.append({"name": f"{name} >= {best['cut']} (the best in hindsight), {what}", **best})
    return rows


def page(result: dict[str, Any]) -> str:
    lines = [
        f"Made by `python -m benchmarks.short` at commit `{result['commit']}`; do not edit between the marks.",
        "",
        f"{result['documents']:,} short help pages; {result['true']:,} pairs are the same page in two years, and 400 "
        "pages differ from each other in one name. One thread.",
        "",
        "| setting | pairs | precision | recall | F1 | CPU seconds |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for row in result["rows"]:
        shares = " | ".join(f"{row[name]:.3f}" for name in ("precision", "recall", "f1"))
        lines.append(f"| {row['name']} | {row['pairs']:,} | {shares} | {row['seconds']:.1f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.short", description=__doc__)
    parser.add_argument("--page", action="store_true", help="the page from the kept result")
    if not parser.parse_args().page:
        RESULT.write_text(json.dumps(measure(), indent=1) + "\n", "utf-8")
    write_part(PAGE, "short", page(json.loads(RESULT.read_text("utf-8"))))


if __name__ == "__main__":
    main()
