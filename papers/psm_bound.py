"""How often the lower bound of PSM's recall holds: python -m papers.psm_bound [--runs 100].

Each run calibrates on another random quarter of a corpus of real text and compares the bound with the recall on all of
it. The bound has 95% confidence, so it should hold in about 95 of 100 runs.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

import numpy as np
from benchmarks.corpus import documents

from neardup.features import Idf
from neardup.fingerprints import Codes, Simhash
from neardup.search import PSM
from neardup.search.collapse import collapse
from neardup.search.psm.recall import NearPairs, calibrate, near_pairs
from papers.corpus import PLAIN

CORPORA = {
    "licences": ("licenses",),
    "manuals": ("electron_i18n_rev", "k8s_docs_rev"),
    "pages": ("tldr_short", "wiki_html_variants", "pydoc_html_versions"),
}
RADII, SHARE, TARGET = (3, 8), 0.25, 0.95


def corpus(name: str) -> Codes:
    """The distinct codes of a corpus, with margins."""
    texts = [text for part in CORPORA[name] for _, text in documents(part)]
    codes = Simhash().compute(replace(PLAIN, weights=Idf.fit(texts, PLAIN)).extract(texts))
    return codes.take(collapse(codes).first_rows)


def count(codes: Codes, radius: int, runs: int) -> dict[str, float]:
    """In how many runs the bound holds, and the recall asked for is reached."""
    method = PSM(radius, recall=TARGET)
    header = method.header_for(len(codes))
    expected = method.expected_for(codes, header)
    every = near_pairs(codes, radius=radius, header=header, sample=len(codes))

    def masks(rows: np.ndarray, flips: int) -> np.ndarray:
        return method.masks(method.costs(codes, rows), header, expected, flips, 1)

    settings = {"radius": radius, "header": header, "masks": masks, "mode": "all"}
    curve = calibrate(every, target=TARGET, **settings).curve  # type: ignore[arg-type]
    held = reached = 0
    flips = []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        rows = np.sort(rng.choice(len(codes), int(SHARE * len(codes)), replace=False))
        mine = np.isin(every.query, rows)
        some = NearPairs(
            rows, len(codes), np.searchsorted(rows, every.query[mine]), every.row[mine], every.flipped[mine]
        )
        measured = calibrate(some, target=TARGET, **settings)  # type: ignore[arg-type]
        truth = curve[measured.flips]
        held, reached = held + int(truth >= measured.low), reached + int(truth >= TARGET)
        flips.append(measured.flips)
    return {
        "runs": runs,
        "held": held,
        "reached": reached,
        "flips": float(np.mean(flips)),
        "needed": int(np.argmax(curve >= TARGET)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    runs = parser.parse_args().runs
    for name in CORPORA:
        codes = corpus(name)
        for radius in RADII:
            line = {"corpus": name, "codes": len(codes), "radius": radius, **count(codes, radius, runs)}
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
