"""Twenty answers beside hindsight: python -m benchmarks.calibration [--page] [--questions N] [SET ...]

SET is a labelled set of the shared data, or a folder of your own with docs.jsonl.gz (id, text or html) and
truth_clusters.tsv (id, cluster) or truth_pairs.tsv (id_a, id_b, label). `neardup calibrate` asks its questions, the
labels answer them, and the settings it recommends are run on the whole set. Beside it: the best threshold of the
default features in hindsight, that is with all labels. Each draw leaves out a part of what may be asked. Writes
benchmarks/results/calibration.json and the part of docs/inside/quality.md between its marks; with SETs of your own it
only prints.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import machine
from benchmarks.corpus import data
from benchmarks.guards import Labels, load
from benchmarks.quality.removals import ours, true_pairs
from tools.page_part import write_part

import neardup as nd
from neardup.evaluate import measure_documents
from neardup.evaluate.tuner import Tuner
from neardup.version import __version__
from neardup.web import HtmlExtractor

RESULT = Path(__file__).parent / "results" / "calibration.json"
PAGE = Path(__file__).parents[1] / "docs" / "inside" / "quality.md"
SETS = (
    "gov2_human", "wiki_html_variants", "pydoc_html_versions", "k8s_docs_rev", "electron_i18n_rev", "tldr_short",
)  # fmt: skip
DRAWS, SHARE = 5, 0.7
CUTS = np.round(np.arange(0.2, 0.96, 0.01), 2)


def whole_pages(name: str) -> list[str] | None:
    """The texts of whole pages; None for a set of texts."""
    with gzip.open(data() / name / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    if "text" in rows[0]:
        return None
    with HtmlExtractor("whole", workers=2) as extractor:
        return [text or "" for text in extractor.extract([row["html"] for row in rows]).texts]


def f1(right: float, wrong: float, true: float) -> float:
    return 2 * right / max(1e-9, right + wrong + true)


def on_versions(name: str, questions: int, draw: int) -> dict[str, Any]:
    """Questions about the corpus; the pairs of the settings that follow, on all labelled pairs of the set."""
    texts, labels = load(name)
    whole = whole_pages(name)
    documents = [nd.Document(str(row), text) for row, text in enumerate(texts)]
    by_id = None if whole is None else {str(row): text for row, text in enumerate(whole)}
    measured = measure_documents(documents, limit=round(SHARE * len(texts)), whole=by_id, seed=draw)
    given: list[tuple[str, str, float]] = []
    while len(given) < 2 * questions and sum(not math.isnan(label[2]) for label in given) < questions:
        pair = measured.question(measured.known(given)[0])
        if pair is None:
            break
        same = labels.same(int(pair.left), int(pair.right))
        given.append((pair.left, pair.right, math.nan if same is None else float(same)))
    tuned = measured.tuned(measured.known(given)[0])
    assert tuned is not None, f"{name}: {len(given)} answers choose nothing"
    config = tuned.config
    chosen = whole if config.html == "whole" and whole is not None else texts
    made = ours(chosen, labels, config)
    return {
        "f1": made["f1"], "right": made["right"], "wrong": made["wrong"], "missed": made["missed"],
        "options": tuned.options, "agrees": tuned.agrees.value, "expected": round(tuned.f1, 4),
    }  # fmt: skip


def on_judged(name: str, questions: int, draw: int) -> dict[str, Any]:
    """Questions about judged pairs alone; F1 on the judged pairs that were not asked about."""
    texts, labels = load(name)
    raw = [text.encode("utf-8", "replace") for text in texts]
    rank = nd.Keep().rank(np.fromiter(map(len, raw), np.int64, len(raw)))
    left, right = np.array(sorted(labels.judged), np.int64).T
    tuner = Tuner.of({"main": raw}, rank, left, right, np.ones(len(left)))
    same = np.array(
        [labels.same(a, b) is True for a, b in zip(tuner.left.tolist(), tuner.right.tolist(), strict=True)]
    )
    may = np.random.default_rng(draw).random(len(same)) < SHARE
    asked: list[int] = []
    for _ in range(questions):
        at = np.array(asked, np.int64)
        doubt = tuner.doubt(tuner.answers(tuner.left[at], tuner.right[at], same[at]))
        rows = np.concatenate([tuner.left[at], tuner.right[at]])
        doubt[~may | np.isin(tuner.left, rows) | np.isin(tuner.right, rows)] = -1
        if doubt.max() < 0:
            break
        asked.append(int(np.argmax(doubt)))
    at = np.array(asked, np.int64)
    tuned = tuner.tuned(tuner.answers(tuner.left[at], tuner.right[at], same[at]))
    assert tuned is not None, f"{name}: {len(asked)} answers choose nothing"
    rest = np.ones(len(same), np.bool_)
    rest[at] = False
    plain = next(place for place, rule in enumerate(tuner.rules) if rule.width == 5 and not rule.guards)

    def reached(score: Any, cut: float) -> float:
        near, true = score[rest] >= cut, same[rest]
        return f1(float((near & true).sum()), float((near & ~true).sum()), float(true.sum()))

    mine = reached(tuner.scores[tuner.rules.index(tuned.rule)], tuned.threshold)
    return {
        "f1": round(mine, 4),
        "hindsight": round(max(reached(tuner.scores[plain], float(cut)) for cut in CUTS), 4),
        "options": tuned.options, "agrees": tuned.agrees.value, "expected": round(tuned.f1, 4),
    }  # fmt: skip


def hindsight(name: str) -> float:
    """F1 of the default features at the threshold that is best for all labels."""
    texts, labels = load(name)
    found = nd.dedup(texts, nd.Config(verify=nd.Jaccard(0.2, 0.2), protect=())).found
    members: dict[int, list[int]] = {}
    for row, name_of in enumerate(found.first.tolist()):
        members.setdefault(name_of, []).append(row)
    # Documents of the same words are pairs of each other, and of all that one of them is similar to.
    rows = [(a, b, 1.0) for same in members.values() for i, a in enumerate(same) for b in same[i + 1 :]]
    columns = (found.pairs.left, found.pairs.right, found.pairs.similarity)
    for a, b, near in zip(*(column.tolist() for column in columns), strict=True):
        rows += [(x, y, near) for x in members[a] for y in members[b]]
    score = np.array([near for *_, near in rows])
    said = [labels.same(a, b) for a, b, _ in rows]
    same = np.array([one is True for one in said])
    other = np.array([one is False for one in said])
    true = true_pairs(labels)
    return max(f1(int((same & (score >= c)).sum()), int((other & (score >= c)).sum()), true) for c in CUTS)


def measure_set(name: str, questions: int, draws: int) -> dict[str, Any]:
    judged = _judged_only(load(name)[1])
    rows = [(on_judged if judged else on_versions)(name, questions, draw) for draw in range(draws)]
    best = np.mean([row["hindsight"] for row in rows]) if judged else hindsight(name)
    return {
        "set": Path(name).name,
        "questions": questions,
        "judged": judged,
        "f1": round(float(np.mean([row["f1"] for row in rows])), 4),
        "least": min(row["f1"] for row in rows),
        "hindsight": round(float(best), 4),
        "draws": rows,
    }


def _judged_only(labels: Labels) -> bool:
    return not labels.clusters


def line(row: dict[str, Any]) -> str:
    chosen = [draw["options"] for draw in row["draws"]]
    usual = max(chosen, key=chosen.count)  # the first of the most frequent
    return (
        f"| {row['set']} | {row['f1']:.3f} | {row['least']:.3f} | {row['hindsight']:.3f} | "
        f"{row['f1'] - row['hindsight']:+.3f} | `{usual}` |"
    )


HEAD = [
    "| set | F1 with 20 answers | least of the draws | best threshold in hindsight | difference | one of the choices |",
    "|---|---:|---:|---:|---:|---|",
]


def page(result: dict[str, Any]) -> str:
    return "\n".join(
        [
            f"Made by `make quality` (`python -m benchmarks.calibration`) at commit `{result['commit']}`; do not edit "
            "between the marks.",
            "",
            "`neardup calibrate` asks 20 questions, the labels answer them, and the recommended settings are run on "
            "the whole set. The table shows the mean F1 of several draws; each draw leaves out a part of the possible "
            "questions. For comparison, it shows the default features at the threshold that is best when all labels "
            "are known. `gov2_human` has only judged pairs; its F1 is that of the judged pairs that were not asked "
            "about.",
            "",
            *HEAD,
            *(line(row) for row in result["rows"]),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--page", action="store_true", help="the page from the kept result")
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("sets", nargs="*")
    given = parser.parse_args()
    if given.sets:
        print("\n".join(HEAD))
        for name in given.sets:
            path = str(Path(name).resolve()) if Path(name).is_dir() else name
            print(line(measure_set(path, given.questions, given.draws)), flush=True)
        return
    if not given.page:
        rows = []
        for name in SETS:
            rows.append(measure_set(name, given.questions, given.draws))
            print(line(rows[-1]), flush=True)
        made = {
            "date": machine.now(), "commit": machine.commit(), "versions": {"neardup": __version__}, "rows": rows,
        }  # fmt: skip
        RESULT.write_text(json.dumps(made, indent=1) + "\n", "utf-8")
    write_part(PAGE, "calibration", page(json.loads(RESULT.read_text("utf-8"))))


if __name__ == "__main__":
    main()
