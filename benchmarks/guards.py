"""What guards prevent and what they cost, on the labelled sets: python -m benchmarks.guards [--page]

For every set and guard: near-duplicates that are removed, right and wrong by the labels, at the default threshold and
at .5. Writes benchmarks/results/guards.json and the part of docs/inside/quality.md between its marks. About a minute.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from benchmarks import machine
from benchmarks.corpus import data
from benchmarks.result_file import write_rows
from tools.page_part import write_part

import neardup as nd
from neardup.clusters.protect import DEFAULT, GUARDS
from neardup.clusters.selection import select
from neardup.compare.changes import AT, describe
from neardup.version import __version__
from neardup.web import HtmlExtractor

RESULT = Path(__file__).parent / "results" / "guards.json"
PAGE = Path(__file__).parents[1] / "docs" / "inside" / "quality.md"
SETS = (
    "gov2_human", "wiki_html_variants", "pydoc_html_versions", "k8s_docs_rev", "electron_i18n_rev", "tldr_short",
    "licenses",
)  # fmt: skip
FLOORS = {"licenses": 0.8}  # it has a million pairs from .3 up
THRESHOLDS = (0.8, 0.5)
SETTINGS: dict[str, tuple[Any, ...]] = {
    "none": (),
    **{guard: (guard,) for guard in GUARDS},
    "default": DEFAULT,
    "default, lossless": (*DEFAULT, "lossless"),
}
WEAK = "licenses"


@dataclass(frozen=True)
class Labels:
    """Which documents are the same by the labels of a set."""

    clusters: dict[int, str]
    judged: dict[tuple[int, int], bool]

    def same(self, a: int, b: int) -> bool | None:
        pair = (min(a, b), max(a, b))
        if pair in self.judged:
            return self.judged[pair]
        if a in self.clusters and b in self.clusters:
            return self.clusters[a] == self.clusters[b]
        return None


def load(name: str) -> tuple[list[str], Labels]:
    with gzip.open(data() / name / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    if "text" in rows[0]:
        texts = [row["text"] for row in rows]
    else:
        with HtmlExtractor(workers=2) as extractor:
            texts = [text or "" for text in extractor.extract([row["html"] for row in rows]).texts]
    place = {row["id"]: at for at, row in enumerate(rows)}
    clusters = {place[row["id"]]: row["cluster"] for row in _table(name, "truth_clusters.tsv")}
    judged = {}
    for row in _table(name, "truth_pairs.tsv"):
        a, b = sorted((place[row["id_a"]], place[row["id_b"]]))
        judged[a, b] = int(row["label"]) >= 1
    return texts, Labels(clusters, judged)


def _table(name: str, file: str) -> list[dict[str, str]]:
    path = data() / name / file
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def measure_set(name: str) -> list[dict[str, Any]]:
    texts, labels = load(name)
    floor = FLOORS.get(name, min(THRESHOLDS))
    begin = perf_counter()
    found = nd.dedup(texts, threshold=0.8, floor=floor, protect=()).found
    searched = perf_counter() - begin
    raw = [text.encode("utf-8", "replace") for text in texts]
    sizes = np.array([len(text) for text in raw], np.int64)
    begin = perf_counter()
    changes = describe(found.pairs, sizes, lambda rows: [raw[row] for row in rows])
    described = perf_counter() - begin
    rank, rows = nd.Keep().rank(sizes), []
    for threshold in THRESHOLDS:
        if threshold < floor:
            continue
        for setting, guards in SETTINGS.items():
            cut = select(
                found.pairs, found.first, rank, nd.Keep(), threshold=threshold,
                sources=np.zeros(len(texts), np.int32), method="keepers", guards=guards, changes=changes,
            )  # fmt: skip
            dropped = cut.dropped
            keeper = cut.clusters.keeper[dropped]
            near = found.first[dropped] != found.first[keeper]
            pairs = list(zip(dropped[near].tolist(), keeper[near].tolist(), strict=True))
            said = [labels.same(a, b) for a, b in pairs]
            keys = found.pairs.left * len(texts) + found.pairs.right
            lost = 0
            for a, b in pairs:
                a, b = int(found.first[a]), int(found.first[b])
                at = int(np.searchsorted(keys, min(a, b) * len(texts) + max(a, b)))
                lost += int(changes[at, AT["lost_left" if a < b else "lost_right"]] > 0)
            rows.append(
                {
                    "set": name, "threshold": threshold, "setting": setting, "right": said.count(True),
                    "wrong": said.count(False), "unlabelled": said.count(None), "near": len(pairs),
                    "protected": 0 if cut.protected is None else len(cut.protected), "lossy": lost,
                    "pairs": len(found.pairs), "megabytes": round(int(sizes.sum()) / 1e6, 1),
                    "seconds": {"dedup": round(searched, 2), "changes": round(described, 2)},
                }
            )  # fmt: skip
    return rows


def measure() -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for name in SETS:
        print(name, flush=True)
        rows += measure_set(name)
    return {
        "date": machine.now(),
        "commit": machine.commit(),
        "machine": machine.describe(),
        "versions": {"neardup": __version__, **machine.versions(("numpy", "resiliparse"))},
        "rows": rows,
    }


def total(rows: list[dict[str, Any]], setting: str, threshold: float, name: str) -> int:
    """A count over all sets with sure labels."""
    chosen = (
        row
        for row in rows
        if (row["setting"], row["threshold"]) == (setting, threshold) and row["set"] != WEAK
    )
    return sum(row[name] for row in chosen)


def page(result: dict[str, Any]) -> str:
    rows = result["rows"]
    lines = [
        f"Made by `make quality` (`python -m benchmarks.guards`) at commit `{result['commit']}`; do not edit between "
        "the marks.",
        "",
        "Near-duplicates that are removed, right / wrong by the labels, with each guard alone and with the default "
        f"guards ({', '.join(DEFAULT)}). Documents with the same words are not counted. *All* "
        "leaves `licenses` out: its "
        "labels are names of licences, and two licences may differ only in a name.",
        "",
    ]
    for threshold in THRESHOLDS:
        sets = [name for name in SETS if any((r["set"], r["threshold"]) == (name, threshold) for r in rows)]
        lines += [
            f"Threshold {threshold:g}:",
            "",
            f"| guards | {' | '.join(sets)} | all | all, kept by a guard |",
            f"|---|{'---:|' * (len(sets) + 2)}",
        ]
        for setting in SETTINGS:
            cells = []
            for name in sets:
                row = next(
                    r for r in rows if (r["set"], r["threshold"], r["setting"]) == (name, threshold, setting)
                )
                cells.append(f"{row['right']:,} / {row['wrong']:,}")
            right, wrong, held = (total(rows, setting, threshold, n) for n in ("right", "wrong", "protected"))
            lines.append(f"| {setting} | {' | '.join(cells)} | {right:,} / {wrong:,} | {held:,} |")
        lines.append("")
    before, after = ({n: total(rows, s, 0.8, n) for n in ("right", "wrong")} for s in ("none", "default"))
    lossy, near = total(rows, "none", 0.8, "lossy"), total(rows, "none", 0.8, "near")
    seconds = {r["set"]: r["seconds"] for r in rows}
    spent = ", ".join(
        f"{name} {s['changes']:.2f} s beside {s['dedup']:.2f} s" for name, s in seconds.items() if s["dedup"]
    )
    lines += [
        f"At the default threshold the default guards prevent {before['wrong'] - after['wrong']:,} of "
        f"{before['wrong']:,} wrong removals and {1 - after['right'] / before['right']:.1%} of the right ones. Without "
        f"guards, {1 - lossy / near:.0%} of the removed near-duplicates have no passage of 8 words or more that their "
        "keeper does not have.",
        "",
        f"The time to compare all pairs, beside that of `nd.dedup` without guards, on one thread: {spent}.",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.guards", description=__doc__)
    parser.add_argument("--page", action="store_true", help="the page from the kept result")
    if not parser.parse_args().page:
        write_rows(RESULT, measure())
    write_part(PAGE, "guards", page(json.loads(RESULT.read_text("utf-8"))))


if __name__ == "__main__":
    main()
