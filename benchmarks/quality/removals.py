"""What is found and what is removed, beside other packages: python -m benchmarks.quality.removals [--page]

For every labelled set and setting: pairs right, wrong and missed; removals right, wrong and protected; F1 and B-cubed.
Other packages run on the same texts with the threshold that is best for that set in hindsight; ours does not look at
the labels. Writes benchmarks/results/removals.json and the part of docs/inside/quality.md between its marks.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from benchmarks import machine
from benchmarks.guards import SETS, Labels, load
from benchmarks.quality.rivals import ENGINES
from benchmarks.result_file import write_rows
from numpy.typing import NDArray
from tools.page_part import write_part

import neardup as nd
from neardup.clusters.clusters import cluster
from neardup.clusters.protect import held_pairs
from neardup.compare.verify import Pairs
from neardup.version import __version__

ROOT = Path(__file__).parents[2]
RESULT = ROOT / "benchmarks" / "results" / "removals.json"
PAGE = ROOT / "docs" / "inside" / "quality.md"
RIVALS = ROOT / "benchmarks" / ".venv" / "bin" / "python"
OURS = {
    "default": nd.Config(),
    "default, no guards": nd.Config(protect=()),
    "threshold .5": nd.Config(verify=nd.Jaccard(0.5)),
    "threshold .5, no guards": nd.Config(verify=nd.Jaccard(0.5), protect=()),
}
PACKAGES = ["datasketch", "rensa", "simhash-pybind"]
Rows = NDArray[np.int64]


def taken(name: str) -> tuple[list[str], Labels]:
    """A set; of the licences every fourth document, for they have half a million similar pairs."""
    texts, labels = load(name)
    if name != "licenses":
        return texts, labels
    rows = {row: place for place, row in enumerate(range(0, len(texts), 4))}
    clusters = {rows[row]: said for row, said in labels.clusters.items() if row in rows}
    return [texts[row] for row in rows], Labels(clusters, {})


def true_pairs(labels: Labels) -> int:
    """How many pairs are the same by the labels."""
    inside = sum(n * (n - 1) // 2 for n in Counter(labels.clusters.values()).values())
    apart = sum(same and labels.clusters.get(a) is None for (a, _), same in labels.judged.items())
    return inside + apart


def said_of(pairs: Iterable[tuple[int, int]], labels: Labels) -> tuple[int, int]:
    """How many pairs are right, and how many wrong."""
    said = Counter(labels.same(a, b) for a, b in pairs)
    return said[True], said[False]


def b_cubed(keeper: Rows, labels: Labels) -> float | None:
    """B-cubed F1 of the clusters of the labelled documents; None without labelled clusters."""
    if not labels.clusters:
        return None
    rows = sorted(labels.clusters)
    found, true = [int(keeper[row]) for row in rows], [labels.clusters[row] for row in rows]
    both, by_found, by_true = Counter(zip(found, true, strict=True)), Counter(found), Counter(true)
    precision = sum(n * n / by_found[f] for (f, _), n in both.items()) / len(rows)
    recall = sum(n * n / by_true[t] for (_, t), n in both.items()) / len(rows)
    return 2 * precision * recall / (precision + recall)


def row_of(
    labels: Labels, pairs: list[tuple[int, int]], keeper: Rows, dropped: Rows, protected: int
) -> dict[str, Any]:
    right, wrong = said_of(pairs, labels)
    true = true_pairs(labels)
    gone = said_of(((int(row), int(keeper[row])) for row in dropped), labels)
    cubed = b_cubed(keeper, labels)
    return {
        "right": right, "wrong": wrong, "missed": true - right,
        "removed_right": gone[0], "removed_wrong": gone[1], "removed": len(dropped), "protected": protected,
        "f1": round(2 * right / max(1, right + wrong + true), 4),
        "b_cubed": None if cubed is None else round(cubed, 4),
    }  # fmt: skip


def ours(texts: list[str], labels: Labels, config: nd.Config) -> dict[str, Any]:
    result = nd.dedup(texts, config)
    found = result.found
    sizes = np.array([len(text.encode("utf-8", "replace")) for text in texts], np.int64)
    held = held_pairs(found.pairs, found.changes, config.protect, found.first, nd.Keep().rank(sizes))
    near = held.counting & (found.pairs.similarity >= config.verify.threshold)
    pairs = _spread(found.pairs.left[near], found.pairs.right[near], found.first)
    keeper = result.clusters.keeper
    dropped = np.array([row.row for row in result.dropped], np.int64)
    protected = 0 if result.protected is None else len(result.protected)
    return row_of(labels, pairs, keeper, dropped, protected)


def _spread(left: Rows, right: Rows, first: Rows) -> list[tuple[int, int]]:
    """All pairs of documents: those with the same words are pairs of each other and of what their first one is."""
    members: dict[int, list[int]] = {}
    for row, name in enumerate(first.tolist()):
        members.setdefault(name, []).append(row)
    found = [
        (a, b) for rows in members.values() if len(rows) > 1 for i, a in enumerate(rows) for b in rows[i + 1 :]
    ]  # fmt: skip
    for a, b in zip(left.tolist(), right.tolist(), strict=True):
        found += [(x, y) for x in members[a] for y in members[b]]
    return found


def rival(engine: str, texts: list[str], labels: Labels, python: Path, folder: Path) -> dict[str, Any] | None:
    """The row of another package at its best threshold for this set; None if it is not installed."""
    source, target = folder / "texts.json", folder / "pairs.npz"
    source.write_text(json.dumps(texts), "utf-8")
    script = Path(__file__).with_name("rivals.py")
    done = subprocess.run([python, script, engine, source, target], check=False)
    if done.returncode:
        return None
    with np.load(target) as columns:
        left, right, score = columns["left"], columns["right"], columns["score"]
    same = np.array(
        [{True: 1, False: 0, None: -1}[labels.same(a, b)] for a, b in zip(left.tolist(), right.tolist(), strict=True)]
    )  # fmt: skip
    true = true_pairs(labels)

    def reached(cut: float) -> float:
        near = score >= cut
        hits = int((near & (same == 1)).sum())
        return 2 * hits / max(1, hits + int((near & (same == 0)).sum()) + true)

    cut = max(np.unique(np.round(score, 6)).tolist(), key=reached, default=1.0)
    near = score >= cut - 1e-9
    sizes = np.array([len(text.encode("utf-8", "replace")) for text in texts], np.int64)
    pairs = Pairs.of(left[near], right[near], score[near])
    made = cluster(pairs, len(texts), nd.Keep().rank(sizes), method="components")
    row = row_of(
        labels,
        list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)),
        made.keeper,
        np.flatnonzero(~made.kept),
        0,
    )
    return {**row, "cut": round(cut, 4)}


def measure(python: Path, names: tuple[str, ...]) -> dict[str, Any]:
    rows = []
    for name in names:
        print(name, flush=True)
        texts, labels = taken(name)
        rows += [{"set": name, "setting": key, **ours(texts, labels, config)} for key, config in OURS.items()]
        with TemporaryDirectory() as folder:
            for engine in ENGINES:
                made = rival(engine, texts, labels, python, Path(folder))
                if made is not None:
                    rows.append({"set": name, "setting": engine, **made})
    packages = f"import importlib.metadata as m; print(*(m.version(n) for n in {PACKAGES}))"
    asked = subprocess.run([python, "-c", packages], check=False, capture_output=True, text=True)
    versions = dict(zip(ENGINES, asked.stdout.split(), strict=False))
    return {
        "date": machine.now(),
        "commit": machine.commit(),
        "versions": {"neardup": __version__, **versions},
        "rows": rows,
    }


def page(result: dict[str, Any]) -> str:
    versions = result["versions"]
    lines = [
        f"Made by `make quality` (`python -m benchmarks.quality.removals`) at commit `{result['commit']}`; do not edit "
        "between the marks.",
        "",
        "The table counts reported pairs and removed documents by the labels of each set. Pairs and removals without a "
        "label are left out. *Protected* documents are kept by a guard. B-cubed is the F1 of clusters. Every fourth "
        "document of `licenses` is used; its labels are names of licences, and two licences may differ only in a name. "
        "Other packages read the same texts and use, for each set, **the threshold that is best for its "
        "labels** (shown), which nobody knows beforehand; ours has not seen the labels. Their removals are "
        "all documents of a connected component except the longest.",
        "",
        "| set | setting | pairs right | wrong | missed | F1 | B-cubed | removals right | wrong | protected |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in result["rows"]:
        setting = row["setting"]
        if setting in ENGINES:
            setting = f"{setting} {versions.get(setting, '')} at {row['cut']:.2f}"
        cubed = "-" if row["b_cubed"] is None else f"{row['b_cubed']:.3f}"
        lines.append(
            f"| {row['set']} | {setting} | {row['right']:,} | {row['wrong']:,} | {row['missed']:,} | {row['f1']:.3f} | "
            f"{cubed} | {row['removed_right']:,} | {row['removed_wrong']:,} | {row['protected']:,} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.quality.removals", description=__doc__)
    parser.add_argument("--page", action="store_true", help="the page from the kept result")
    parser.add_argument("--rivals", type=Path, default=RIVALS, help="the Python that has the other packages")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    given = parser.parse_args()
    if not given.page:
        write_rows(RESULT, measure(given.rivals, tuple(given.sets)))
    write_part(PAGE, "removals", page(json.loads(RESULT.read_text("utf-8"))))


if __name__ == "__main__":
    main()
