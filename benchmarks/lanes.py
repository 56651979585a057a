"""How soon a review shows the wrong removals, on the labelled sets: python -m benchmarks.lanes [--page]

For every set, threshold and guards: the removals in the order of the review page, and which share of the wrong ones is
in the first 5, 10, 20, 30 and 50 of 100. Beside it the order by the risk score of earlier versions, the best order that
is possible, and a random one, whose share is that of the removals. Removals without a label are left out. Texts that
are the same byte by byte with different labels are counted apart: nobody can find these. Writes
benchmarks/results/lanes.json and the part of docs/inside/quality.md between its marks. About a minute.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import machine
from benchmarks.guards import load
from benchmarks.result_file import write_rows
from numpy.typing import NDArray
from tools.page_part import write_part

import neardup as nd
from neardup.clusters.selection import Cut
from neardup.findings import Findings, decided_cut
from neardup.findings.cluster_table import ClusterTable, cluster_table
from neardup.findings.lanes import LANES
from neardup.findings.scan import scan
from neardup.version import __version__

RESULT = Path(__file__).parent / "results" / "lanes.json"
PAGE = Path(__file__).parents[1] / "docs" / "inside" / "quality.md"
SETS = ("tldr_short", "k8s_docs_rev", "gov2_human", "electron_i18n_rev", "pydoc_html_versions")
THRESHOLDS = (0.8, 0.5)
SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)
Floats = NDArray[np.float64]


def old_risk(findings: Findings, cut: Cut, table: ClusterTable, threshold: float) -> Floats:
    """The risk score of earlier versions, for each cluster: just above the threshold, a chain, 20 documents or more, or
    several texts of one source that are equally similar to the keeper."""
    clusters, members = cut.clusters, table.members
    inside = np.repeat(np.arange(len(table)), table.sizes)
    similarity, many = clusters.similarity[members], len(table)
    through = np.isnan(similarity)
    near = ~through & (findings.first[members] != findings.first[clusters.keeper[members]])
    most, tied = np.zeros(many), np.ones(many)
    np.maximum.at(most, inside[near], similarity[near])
    np.minimum.at(tied, inside[near], similarity[near])
    rows = len(findings)
    texts = np.bincount(np.unique(inside * rows + findings.first[members]) // rows, minlength=many)
    place = np.full(rows, -1, np.int64)
    place[members] = inside
    pairs = findings.pairs.at_least(threshold)
    at = place[pairs.left]
    at = at[(at == place[pairs.right]) & (at >= 0)]
    apart = np.clip(1 - np.bincount(at, minlength=many) / np.maximum(texts * (texts - 1) / 2, 1), 0, 1)
    chain = (texts > 2) & (apart > 0.5)
    chain[inside[through]] = True
    low, high = np.full(many, np.iinfo(np.int64).max), np.full(many, -1)
    np.minimum.at(low, inside, findings.sources[members])
    np.maximum.at(high, inside, findings.sources[members])
    template = (texts > 2) & (low == high) & (most < 0.97) & (most - tied <= 0.05)
    margin = np.clip(1 - (table.least - threshold) / 0.03, 0, 1)
    margin[inside[through]] = 1.0
    large = np.minimum(np.log10(table.sizes) / 3, 1) * (table.sizes >= 20)
    return np.asarray(margin * (texts > 1) + apart * chain + large + 0.5 * template)


def found_early(score: Floats, wrong: NDArray[np.bool_]) -> list[float]:
    """The share of the wrong removals in the first removals by a score, for each of SHARES."""
    ordered = wrong[np.argsort(-score, kind="stable")]
    return [
        round(float(ordered[: int(np.ceil(share * len(score)))].sum() / wrong.sum()), 3) for share in SHARES
    ]


def measure_set(name: str, folder: Path) -> list[dict[str, Any]]:
    texts, labels = load(name)
    file = folder / f"{name}.jsonl"
    file.write_text(
        "".join(json.dumps({"id": str(i), "text": t}) + "\n" for i, t in enumerate(texts)), "utf-8"
    )
    findings = scan(file, folder / name, nd.Config(verify=nd.Jaccard(max(THRESHOLDS), min(THRESHOLDS))))
    rows = []
    for threshold in THRESHOLDS:
        for guards in ("none", "default"):
            cut = decided_cut(findings, threshold, protect=() if guards == "none" else None)
            table = cluster_table(findings, cut)
            removals = table.removals
            pairs = zip(removals.rows.tolist(), removals.keepers.tolist(), strict=True)
            said = np.array([{True: 1, False: 0, None: -1}[labels.same(a, b)] for a, b in pairs], np.int8)
            identical = removals.lanes == LANES.index("identical")
            wrong, judged = (said == 0) & ~identical, said >= 0
            row: dict[str, Any] = {
                "set": name, "threshold": threshold, "guards": guards, "removals": len(removals),
                "judged": int(judged.sum()), "wrong": int(wrong.sum()),
                "identical_with_other_labels": int(((said == 0) & identical).sum()),
                "lanes": {
                    lane: [int((judged & there).sum()), int((wrong & there).sum())]
                    for lane in LANES
                    if (there := removals.lanes == LANES.index(lane)).any()
                },
            }  # fmt: skip
            if wrong.any():
                risk = old_risk(findings, cut, table, threshold)[table.places]
                row |= {
                    "order": found_early(table.removal_doubt[judged], wrong[judged]),
                    "old": found_early(risk[judged], wrong[judged]),
                    "best": found_early(wrong[judged].astype(np.float64), wrong[judged]),
                }
            rows.append(row)
    return rows


def measure(sets: tuple[str, ...]) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in sets:
            print(name, flush=True)
            rows += measure_set(name, Path(folder))
    return {
        "date": machine.now(),
        "commit": machine.commit(),
        "versions": {"neardup": __version__},
        "shares": SHARES,
        "rows": rows,
    }


def page(result: dict[str, Any]) -> str:
    at = result["shares"].index(0.2)
    lines = [
        f"Made by `python -m benchmarks.lanes` at commit `{result['commit']}`; do not edit between the marks.",
        "",
        "The table shows the share of the wrong removals that is in the first 20% of the list on the review page. A "
        "random order finds 20%. *Best* is the most that any order can find; if more than 20% of the removals are "
        "wrong, it is below 100%.",
        "",
        "| set | threshold | guards | removals with a label | wrong | the page | risk score of before | best |",
        "|---|---:|---|---:|---:|---:|---:|---:|",
    ]
    for row in result["rows"]:
        if "order" not in row:
            continue
        cells = " | ".join(f"{row[name][at]:.0%}" for name in ("order", "old", "best"))
        lines.append(
            f"| {row['set']} | {row['threshold']:g} | {row['guards']} | {row['judged']:,} | {row['wrong']:,} | "
            f"{cells} |"
        )
    none = [
        f"{r['set']} at {r['threshold']:g} with{'out' * (r['guards'] == 'none')} guards"
        for r in result["rows"]
        if not r["wrong"]
    ]
    noise = max((r["identical_with_other_labels"] for r in result["rows"]), default=0)
    lines += [
        "",
        f"Nothing is removed wrongly from {'; '.join(none)}." if none else "",
        "",
        f"Up to {noise} removals of a set are identical byte by byte and have different labels; they do not count.",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.lanes", description=__doc__)
    parser.add_argument("--page", action="store_true", help="the page from the kept result")
    parser.add_argument("--sets", nargs="*", default=SETS, help="print the figures of some sets alone")
    given = parser.parse_args()
    if tuple(given.sets) != SETS:
        print(json.dumps(measure(tuple(given.sets)), indent=1))
        return
    if not given.page:
        write_rows(RESULT, measure(SETS))
    write_part(PAGE, "lanes", page(json.loads(RESULT.read_text("utf-8"))))


if __name__ == "__main__":
    main()
