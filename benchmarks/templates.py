"""What leaving templates out changes on Wikipedia pages in several variants: python -m benchmarks.templates

Labelled pairs found, and exact duplicates, by `nd.dedup` on the set wiki_html_variants: main content or whole page,
digits kept or folded, templates of several shares. Keeps results/templates.json; the table in
docs/how-to/templates.md is made from it by `python -m benchmarks.task_tables`.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.corpus import data

import neardup as nd

SET = "wiki_html_variants"
RESULT = Path(__file__).parent / "results" / "templates.json"
LEAST = 100  # the default of nd.Templates
# (text, digits, share of templates or None, whether lines are left out too, threshold)
CASES = (
    ("whole", "keep", None, True, 0.8),
    ("whole", "keep", None, True, 0.6),
    ("whole", "keep", 0.05, True, 0.8),
    ("main", "keep", None, True, 0.8),
    ("main", "keep", None, True, 0.6),
    ("main", "fold", None, True, 0.8),
    ("main", "fold", 0.05, False, 0.6),
    ("main", "fold", 0.05, True, 0.6),
)


def measure(html: str, digits: str, share: float | None, lines: bool, threshold: float) -> dict[str, Any]:
    """One row of the table: figures of one config."""
    folder = data() / SET
    config = nd.Config(
        features=nd.Shingles(normalize=nd.Normalize(digits=digits)),  # type: ignore[arg-type]
        verify=nd.Jaccard(threshold),
        templates=None if share is None else nd.Templates(share=share, least=LEAST, lines=lines),
        html=html,
    )
    result = nd.dedup(folder / "docs.jsonl.gz", config, threads=2)
    row, first = {name: i for i, name in enumerate(result.ids)}, result.found.first
    pairs = set(zip(result.pairs.left.tolist(), result.pairs.right.tolist(), strict=True))
    with open(folder / "truth_pairs.tsv", encoding="utf-8") as file:
        labelled = list(csv.DictReader(file, delimiter="\t"))
    hits: dict[str, list[bool]] = {}
    for pair in labelled:
        a, b = sorted(int(first[row[pair[name]]]) for name in ("id_a", "id_b"))
        hits.setdefault(pair["note"], []).append(a == b or (a, b) in pairs)
    return {
        "html": html,
        "digits": digits,
        "share": share,
        "lines": lines,
        "threshold": threshold,
        "documents": len(result),
        "found": {note: [sum(some), len(some)] for note, some in hits.items()},
        "same_words": int((first != range(len(first))).sum()),
    }


def main() -> None:
    rows = []
    for case in CASES:
        rows.append(measure(*case))
        print(json.dumps(rows[-1]), flush=True)
    kept = {"date": machine.now(), "commit": machine.commit(), "set": SET, "least": LEAST, "rows": rows}
    RESULT.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
