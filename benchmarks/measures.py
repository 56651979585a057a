"""Whole scans by each measure, in processor seconds beside Jaccard's: python -m benchmarks.measures [SET ...]

Edit similarity and identity must take at most three times as long as Jaccard.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile

from benchmarks.corpus import data

SETS = ("electron_i18n_rev", "k8s_docs_rev", "gov2_human", "licenses")
MEASURES = ("jaccard", "identity", "edit")
ROUNDS = 3


def seconds(name: str, measure: str) -> float:
    """User and system time of one scan in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        scan = [
            "scan",
            str(data() / name / "docs.jsonl.gz"),
            "--text",
            "text",
            "--measure",
            measure,
            "--quiet",
        ]
        subprocess.run([sys.executable, "-m", "neardup", *scan, "--out", f"{folder}/found"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main(names: list[str]) -> None:
    for name in names or SETS:
        # Interleaved, and the best of each: other load on the machine then counts for all of them.
        rounds = [[seconds(name, measure) for measure in MEASURES] for _ in range(ROUNDS)]
        best = dict(zip(MEASURES, map(min, zip(*rounds, strict=True)), strict=True))
        columns = "  ".join(f"{m} {best[m]:.2f} s ({best[m] / best['jaccard']:.2f}x)" for m in MEASURES)
        print(f"{name:20} {columns}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
