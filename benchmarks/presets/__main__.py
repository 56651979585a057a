"""Every preset on a labelled set: python -m benchmarks.presets [--page]

Where no public set is at hand, texts are made by rule (`rewriting.py`, `sets.py`). Writes
benchmarks/results/presets.json and the part of docs/reference/presets.md between its marks. Some minutes.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import machine
from benchmarks.guards import load
from benchmarks.presets import sets
from benchmarks.presets.sets import MadeSet
from benchmarks.quality.removals import ours, true_pairs
from benchmarks.result_file import write_rows
from tools.page_part import write_part

import neardup as nd
from neardup.clusters.protect import DEFAULT
from neardup.version import __version__

RESULT = Path(__file__).parents[1] / "results" / "presets.json"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "presets.md"


def shared(name: str) -> Callable[[], MadeSet]:
    def make() -> MadeSet:
        texts, labels = load(name)
        return MadeSet(texts, labels, [""] * len(texts))

    return make


SETS: dict[tuple[str, str], Callable[[], MadeSet]] = {
    ("crawl", "wiki_html_variants"): shared("wiki_html_variants"),
    ("crawl", "pydoc_html_versions"): shared("pydoc_html_versions"),
    ("news", "reprints, made by rule"): sets.stories,
    ("mail", "waves of mail, made by rule"): sets.mails,
    ("legal", "versions of contracts, made by rule"): sets.contracts,
    ("source", "copies of Python modules, made by rule"): sets.modules,
    ("plagiarism", "rewritten answers, made by rule"): sets.rewritings,
    ("short", "tldr_short"): shared("tldr_short"),
    ("corpus", "k8s_docs_rev"): shared("k8s_docs_rev"),
    ("corpus", "electron_i18n_rev"): shared("electron_i18n_rev"),
}
CUTS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)


def measure_one(preset: str, name: str, given: MadeSet) -> list[dict[str, Any]]:
    config = nd.preset(preset)
    other = () if config.protect else DEFAULT
    settings = {
        f"--preset {preset}": config,
        f"--preset {preset} --protect {','.join(other) or 'none'}": replace(config, protect=other),
        "defaults": nd.Config(),
    }
    rows = [
        {"preset": preset, "set": name, "setting": setting, **ours(given.texts, given.labels, one)}
        for setting, one in settings.items()
    ]
    rows[0] |= {"documents": len(given.texts), "true": true_pairs(given.labels)}
    best = max(
        ((cut, ours(given.texts, given.labels, config.with_threshold(cut, min(cut, 0.9)))) for cut in _cuts(config)),
        key=lambda pair: pair[1]["f1"],
    )  # fmt: skip
    rows.append(
        {"preset": preset, "set": name, "setting": f"threshold {best[0]:g}, best in hindsight", **best[1]}
    )
    return rows


def _cuts(config: nd.Config) -> list[float]:
    """Thresholds around that of the preset; far below it the search of some methods would compare everything."""
    own = config.verify.threshold
    return [cut for cut in CUTS if own - 0.3 <= cut <= own + 0.2]


def levels(given: MadeSet) -> list[dict[str, Any]]:
    """How many answers of each level of rewriting are found with their source, by the preset and by copies."""
    sources = {row: row - row % 5 for row in range(len(given.texts))}
    of = Counter(kind for kind in given.kinds if kind)

    def counted(name: str, near: set[tuple[int, int]]) -> dict[str, Any]:
        hits = Counter(kind for row, kind in enumerate(given.kinds) if kind and (sources[row], row) in near)
        right = sum(hits[k] for k in ("near copy", "light", "heavy")) + of["own words"] - hits["own words"]
        accuracy = right / sum(of.values())
        return {"setting": name, "of": dict(of), "found": dict(hits), "accuracy": round(accuracy, 4)}

    rows = []
    config = nd.preset("plagiarism")
    winnowed = nd.Config(
        features=nd.Shingles(width=5, select=nd.features.Winnow(4)), verify=nd.Containment(0.25, 0.15), short=0,
        protect=(),
    )  # fmt: skip
    for name, one in {
        "--preset plagiarism": config,
        "winnowed 5-shingles, a quarter of the shorter text": winnowed,
        "defaults": nd.Config(protect=()),
    }.items():
        pairs = nd.dedup(given.texts, one).pairs
        rows.append(counted(name, set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))))
    for words, width in ((4, 3), (12, 5)):
        found = nd.passages.find_copies(given.texts, words=words, width=width)
        size = np.diff(found.corpus.offsets)
        share = found.shared / size[found.part]
        for least in (0.2,) if words == 4 else (0.0,):
            near = share >= least
            pairs = {
                (min(a, b), max(a, b))
                for a, b in zip(found.part[near].tolist(), found.whole[near].tolist(), strict=True)
            }
            said = f", share {least:g} or more" if least else ""
            rows.append(counted(f"copies --words {words} --width {width}{said}", pairs))
    return rows


def measure() -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    rewriting: list[dict[str, Any]] = []
    for (preset, name), make in SETS.items():
        print(preset, name, flush=True)
        given = make()
        rows += measure_one(preset, name, given)
        if preset == "plagiarism":
            rewriting = levels(given)
    return {
        "date": machine.now(),
        "commit": machine.commit(),
        "versions": {"neardup": __version__, "python": platform.python_version()},
        "rows": rows,
        "levels": rewriting,
    }


def page(result: dict[str, Any]) -> str:
    lines = [
        f"Made by `make quality` (`python -m benchmarks.presets`) at commit `{result['commit']}`; do not edit between "
        "the marks.",
        "",
        "Pairs that are reported and documents that are removed, by the labels. *Made by rule*: `benchmarks/presets` "
        "says how. Thresholds were chosen on these sets, so expect less on other texts.",
        "",
        "| set | setting | pairs right | wrong | missed | F1 | removals right | wrong | protected |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in result["rows"]:
        name = f"**{row['set']}**, {row['documents']:,} texts" if "documents" in row else ""
        lines.append(
            f"| {name} | {row['setting']} | {row['right']:,} | {row['wrong']:,} | {row['missed']:,} | {row['f1']:.3f} "
            f"| {row['removed_right']:,} | {row['removed_wrong']:,} | {row['protected']:,} |"
        )
    lines += [
        "",
        "Rewritten answers that are found with their source, by level of rewriting, and the accuracy of the two-way "
        "question whether an answer is taken from it:",
        "",
        "| setting | near copy | light | heavy | own words (wrong) | accuracy |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for row in result["levels"]:
        cells = [f"{row['found'].get(k, 0)} of {n}" for k, n in row["of"].items()]
        lines.append(f"| {row['setting']} | {' | '.join(cells)} | {row['accuracy']:.3f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.presets", description=__doc__)
    parser.add_argument("--page", action="store_true", help="the page from the kept result")
    if not parser.parse_args().page:
        write_rows(RESULT, measure())
    write_part(PAGE, "presets", page(json.loads(RESULT.read_text("utf-8"))))


if __name__ == "__main__":
    main()
