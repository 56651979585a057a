"""What our own work costs beside its bound: reading, starting, dedup, other methods, and the library.

    python -m benchmarks.pipeline.parts CORPUS.jsonl [--threads 2] [--repeat 3]

Each measurement is a process of its own; the best of several counts. Printed as one JSON object.
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
from typing import Any

from benchmarks.pipeline.engines.ours import NEARDUP

Json = dict[str, Any]
ROOT = Path(__file__).parents[2]
SETTINGS = ("--threshold", "0.8", "--floor", "0.8", "--memory", "2GB", "--json")


def environment() -> dict[str, str]:
    """Ours, but modules are compiled only once, as if they were installed."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def seconds(command: list[str], repeat: int = 1) -> tuple[float, float]:
    """The best wall and CPU seconds of a command; it must succeed."""
    walls, cpus = [], []
    for _ in range(repeat):
        began = time.perf_counter()
        child = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=ROOT, env=environment()
        )
        assert child.stderr is not None
        said = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        walls.append(time.perf_counter() - began)
        cpus.append(used.ru_utime + used.ru_stime)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise SystemExit(f"{' '.join(command)}: exit code {child.returncode}: {said.decode()[-500:]}")
    return min(walls), min(cpus)


def answer(module: str, *arguments: str) -> Json:
    """What a module of ours prints as JSON."""
    command = [sys.executable, "-m", f"benchmarks.pipeline.{module}", *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT, env=environment())
    return dict(json.loads(done.stdout.splitlines()[-1]))


def parts(corpus: Path, threads: int, repeat: int) -> Json:
    """All figures of one corpus."""
    found: Json = {"threads": threads}
    with tempfile.TemporaryDirectory(dir=corpus.parent) as name:
        folder = Path(name)
        ten = folder / "ten.jsonl"
        with corpus.open("rb") as lines:
            ten.write_bytes(b"".join(next(lines) for _ in range(10)))
        out = folder / "findings"

        def scan(*more: str, source: Path = corpus) -> list[str]:
            settings = [*SETTINGS, "--threads", str(threads), "--overwrite", *more]
            return [*NEARDUP, "scan", str(source), "--out", str(out), *settings]

        found["help"] = round(seconds([*NEARDUP, "--help"], 5 * repeat)[0], 3)
        found["ten_documents"] = round(seconds(scan(source=ten), 3 * repeat)[0], 3)
        wall, cpu = seconds(scan(), repeat)
        found["scan"] = {"seconds": round(wall, 3), "cpu_seconds": round(cpu, 3)}
        kept = folder / "kept.jsonl"
        wall, cpu = seconds(
            [
                *(*NEARDUP, "dedup", str(corpus), "-o", str(kept), "--findings", str(out)),
                *(*SETTINGS, "--threads", str(threads), "--overwrite", "--allow-mass-removal"),
            ],
            repeat,
        )
        found["dedup"] = {"seconds": round(wall, 3), "cpu_seconds": round(cpu, 3)}
        for guards in ("none", "title,language", "title,numbers,names,negation,language"):
            wall, cpu = seconds(scan("--protect", guards), repeat)
            found[f"protect {guards}"] = {"seconds": round(wall, 3), "cpu_seconds": round(cpu, 3)}
        for method in ("simhash", "bits"):
            wall, cpu = seconds(scan("--method", method), repeat)
            found[method] = {"seconds": round(wall, 3), "cpu_seconds": round(cpu, 3)}
    stages = [
        answer("stages", "--one", str(corpus), "--threads", str(threads), "--floor", "0.8")
        for _ in range(repeat)
    ]
    found["stages"] = {
        stage: [round(min(one[stage][at] for one in stages), 3) for at in (2, 3)] for stage in stages[0]
    }
    bounds = [answer("bound", str(corpus)) for _ in range(repeat)]
    found["bound"] = {key: min(one[key] for one in bounds) for key in bounds[0]}
    for form in ("list", "arrow"):
        tries = [answer("library", str(corpus), form, str(threads)) for _ in range(repeat)]
        found[f"library {form}"] = min(tries, key=lambda one: one["ratio"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    print(json.dumps(parts(asked.corpus, asked.threads, asked.repeat), indent=1))


if __name__ == "__main__":
    main()
