"""CPU and wall seconds of a scan by stage: what takes the time.

    python -m benchmarks.pipeline.stages corpus.jsonl --threads 1 --repeat 3
    python -m benchmarks.pipeline.stages corpus.jsonl --apply kept.jsonl

Each run is a process of its own, and the best of several counts, stage by stage. "start" is all before the first stage.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", nargs="+")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--method", default="minhash")
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--floor", type=float)
    parser.add_argument("--apply", help="write the kept documents there too")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(once(given)))
        return
    best: dict[str, list[float]] = {}
    for _ in range(given.repeat):
        made = subprocess.run(
            [sys.executable, "-m", "benchmarks.pipeline.stages", "--one", *sys.argv[1:]],
            check=True,
            capture_output=True,
            text=True,
        )
        for stage, figures in json.loads(made.stdout.splitlines()[-1]).items():
            best[stage] = [min(pair) for pair in zip(best.get(stage, figures), figures, strict=True)]
    print(f"{'stage':16}{'user':>8}{'sys':>8}{'cpu':>8}{'wall':>8}")
    for stage, (user, system, cpu, wall) in best.items():
        print(f"{stage:16}{user:8.2f}{system:8.2f}{cpu:8.2f}{wall:8.2f}")


def once(given: argparse.Namespace) -> dict[str, list[float]]:
    """user, system, both and wall seconds of each stage of one run."""
    began = time.perf_counter()
    from neardup.cli.options import config_options  # noqa: F401 - what the command imports counts as its start
    from neardup.config.config import Config
    from neardup.findings.apply import apply
    from neardup.findings.scan import scan
    from neardup.progress import Progress

    figures: dict[str, list[float]] = {}
    before = [0.0, 0.0, began]
    current = "start"

    def mark(name: str) -> None:
        nonlocal current
        now = os.times()
        here = [now.user, now.system, time.perf_counter()]
        user, system, wall = (b - a for a, b in zip(before, here, strict=True))
        old = figures.get(current, [0.0] * 4)
        figures[current] = [a + b for a, b in zip(old, [user, system, user + system, wall], strict=True)]
        before[:], current = here, name

    class Watch(Progress):
        def stage(self, name: str, total: float | None = None, unit: str = "") -> None:
            mark(name or "end")
            super().stage(name, total, unit)

    with tempfile.TemporaryDirectory(dir=Path(given.corpus[0]).parent) as folder:
        found = scan(
            given.corpus,
            Path(folder) / "findings",
            Config.of(given.method, floor=given.floor),
            threads=given.threads,
            memory=given.memory,
            progress=Watch(),
        )
        mark("apply")
        if given.apply:
            apply(found, given.apply, allow_mass_removal=True)
            mark("end")
    now = os.times()
    figures["total"] = [now.user, now.system, now.user + now.system, time.perf_counter() - began]
    return figures


if __name__ == "__main__":
    main()
