"""Run the end-to-end benchmarks: python -m benchmarks.pipeline [--check] [--engines ours daft] [--corpora real]

JSONL to clusters, each engine as a process of its own on two cores, timed on the clock from its start to its end; the
best of a few runs counts, the largest peak of memory does. Engines run in turn within a corpus, so that a busy moment
does not hit one alone. Slow ones get the first part of the corpus, and that is what their MB/s are of.

    --share 0.02     a fiftieth of every corpus: a quick look, not kept
    --check          exit 1 if something is worse than in the committed result; missed aims are only reported
    --no-parts       without our own parts beside their bounds, and without other inputs than JSONL
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import machine
from benchmarks.pipeline import checks
from benchmarks.pipeline.corpus import Corpus, build
from benchmarks.pipeline.engines import ours
from benchmarks.pipeline.inputs import measure
from benchmarks.pipeline.measure import Cost, run
from benchmarks.pipeline.parts import parts
from benchmarks.pipeline.truth import score

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RESULTS = HERE.parent / "results"
Json = dict[str, Any]
# Thread pools that read their size from the environment.
POOLS = ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TOKIO_WORKER_THREADS")
TIMEOUT = 900.0  # seconds; an engine that takes longer is reported as not run


def main() -> int:
    plan = tomllib.loads((HERE / "cases.toml").read_text("utf-8"))
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "python -m benchmarks.pipeline", description=__doc__, formatter_class=raw
    )
    parser.add_argument("--corpora", nargs="+", choices=plan["corpus"], default=list(plan["corpus"]))
    parser.add_argument("--engines", nargs="+", choices=plan["engine"], default=list(plan["engine"]))
    parser.add_argument("--share", type=float, default=1.0, help="of every corpus; a part is not kept")
    parser.add_argument("--repeat", type=int, help="runs of each engine, instead of what cases.toml says")
    parser.add_argument(
        "--build", action="store_true", help="only make the corpora, which takes minutes once"
    )
    parser.add_argument("--check", action="store_true", help="exit 1 if something is worse than before")
    parser.add_argument("--no-parts", action="store_true", help="only JSONL to clusters, beside the rivals")
    parser.add_argument("--out", type=Path, help="where to keep the result, instead of benchmarks/results")
    asked = parser.parse_args()

    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-plan["threads"] :])
    result: Json = {"date": machine.now(), "commit": machine.commit(), "machine": machine.describe()}
    result |= {"threads": plan["threads"], "share": asked.share, "corpora": {}, "rows": []}
    for name in asked.corpora:
        corpus = build(name, plan["corpus"][name], asked.share)
        result["corpora"][name] = corpus.facts
        facts = corpus.facts
        print(f"\n{name}: {facts['documents']:,} documents, {facts['bytes'] / 1e6:.0f} MB", flush=True)
        if asked.build:
            continue
        chosen = {e: plan["engine"][e] for e in asked.engines if name in plan["engine"][e]["corpora"]}
        for row in rows(corpus, chosen, plan["threads"], asked):
            result["rows"].append(row)
            show(row)
    if asked.build:
        return 0
    if not asked.no_parts:
        real = build("real", plan["corpus"]["real"], asked.share).path
        result["parts"] = parts(real, plan["threads"], asked.repeat or 3)
        print(json.dumps(result["parts"], indent=1), flush=True)
        result["inputs"] = measure(asked.share, plan["threads"], asked.repeat or 2)
    result["checks"] = checks.judge(plan["aims"], result)
    print()
    for one in result["checks"]:
        print(f"  {'ok  ' if one['holds'] else 'MISS'} {one['says']}")
    before = sorted(RESULTS.glob("pipeline-*.json"))
    known = json.loads(before[-1].read_text("utf-8")) if before else {}
    worse = checks.regressions(known, result["checks"], plan["regression"])
    for one in worse:
        print(f"  WORSE than in {before[-1].name}: {one}")
    out = asked.out or (
        RESULTS / f"pipeline-{result['date'].replace(':', '')}.json" if asked.share == 1 else None
    )
    if out:
        out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
        print(f"\nkept in {out}")
    return 1 if asked.check and worse else 0


def rows(corpus: Corpus, engines: dict[str, Json], threads: int, asked: argparse.Namespace) -> list[Json]:
    """The result of every engine on a corpus, its runs taken in turn with the others'."""
    parts: dict[str, Corpus] = {}
    found: dict[str, Json] = {}
    costs: dict[str, list[Cost]] = {name: [] for name in engines}
    for name, engine in engines.items():
        row: Json = {"corpus": corpus.name, "engine": name, "holds": engine["holds"]}
        found[name] = row
        megabytes = engine.get("megabytes")
        part = corpus.first(megabytes * asked.share) if megabytes else corpus
        parts[name] = part
        row |= {
            "documents": part.facts["documents"],
            "bytes": part.facts["bytes"],
            "part": part is not corpus,
        }
        python = interpreter(engine)
        row["versions"] = versions(python, engine["packages"]) if python else None
        if row["versions"] is None:
            row["not_run"] = (
                f"{', '.join(engine['packages'])} not installed in {engine.get('environment', 'this environment')}"
            )
    for turn in range(max((asked.repeat or e.get("repeat", 1) for e in engines.values()), default=0)):
        for name, engine in engines.items():
            if "not_run" not in found[name] and turn < (asked.repeat or engine.get("repeat", 1)):
                warm(parts[name].path)
                costs[name].append(once(name, engine, parts[name], threads, found[name]))
    return [summed(found[name], costs[name]) for name in engines]


def once(name: str, engine: Json, corpus: Corpus, threads: int, row: Json) -> Cost:
    """One run of one engine; its answer is scored after the last one, and every run's must be there."""
    folder = Path(tempfile.mkdtemp(prefix="pipeline-", dir=corpus.folder.parent))
    try:
        out = folder / ("findings" if name == "ours" else "labels.npy")
        if name == "ours":
            command = ours.command(corpus.path, out, threads)
            row["command"] = (
                " ".join(["neardup", *command[3:]])
                .replace(str(folder) + "/", "")
                .replace(str(corpus.path), corpus.path.name)
            )
        else:
            script = f"benchmarks.pipeline.engines.{name}"
            command = [interpreter(engine) or "", "-m", script, str(corpus.path), str(out), str(threads)]
        cost = run(command, folder=folder, environment=surroundings(folder, threads), timeout=TIMEOUT)
        if cost.code:
            row["not_run"] = f"exit code {cost.code}: {cost.errors.strip()[-300:]}"
            return cost
        if name == "ours":
            found = ours.read(out, cost.output, corpus.facts["documents"])
            labels, keepers, pairs, first = found.keepers, found.keepers, found.pairs, found.first
            row["stages"] = found.stages
        else:
            labels, pairs, first = np.load(out), None, None
            keepers = first_rows(labels)
        if len(labels) != corpus.facts["documents"]:
            raise SystemExit(
                f"{name} gave clusters for {len(labels)} of {corpus.facts['documents']} documents"
            )
        if "score" not in row:
            row["score"] = score(corpus, labels, keepers, pairs, first)
        return cost
    finally:
        shutil.rmtree(folder)


def summed(row: Json, costs: list[Cost]) -> Json:
    if "not_run" in row or not costs:
        return row
    seconds = min(cost.wall for cost in costs)
    row |= {
        "seconds": round(seconds, 3),
        "cpu_seconds": round(min(cost.cpu for cost in costs), 3),
        "mb_per_second": round(row["bytes"] / 1e6 / seconds, 2),
        "peak_bytes": max(cost.peak for cost in costs),
        "anonymous_bytes": max(cost.anonymous for cost in costs),
        "disk_bytes": max(cost.disk for cost in costs),
        "tries": [round(cost.wall, 3) for cost in costs],
    }
    return row


def first_rows(labels: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The keeper of each row where an engine names none: the first of its cluster."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(first[inverse], np.int64)


def interpreter(engine: Json) -> str | None:
    if "environment" not in engine:
        return sys.executable
    path = HERE.parent / engine["environment"] / "bin" / "python"
    return str(path) if path.exists() else None


def versions(python: str, packages: list[str]) -> dict[str, str] | None:
    """The versions an environment has, or None if one is missing."""
    code = "import importlib.metadata as m,json,sys;print(json.dumps({p:m.version(p) for p in sys.argv[1:]}))"
    done = subprocess.run([python, "-c", code, *packages], capture_output=True, text=True, check=False)
    return dict(json.loads(done.stdout)) if done.returncode == 0 else None


def surroundings(folder: Path, threads: int) -> dict[str, str]:
    """The environment of a run: no more threads than asked, no telemetry, temporary files where they are watched."""
    quiet = {
        "DAFT_PROGRESS_BAR": "0",
        "DO_NOT_TRACK": "1",
        "DAFT_ANALYTICS_ENABLED": "0",
        "HF_HUB_OFFLINE": "1",
    }
    here = {"PYTHONPATH": str(ROOT), "TMPDIR": str(folder), "HF_HOME": str(folder / "hf")}
    given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return (
        given | quiet | here | dict.fromkeys(POOLS, str(threads))
    )  # modules are compiled once, as if installed


def warm(path: Path) -> None:
    """Read the corpus once, so that every engine finds it in the page cache."""
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 24):
            pass


def show(row: Json) -> None:
    if "not_run" in row:
        print(f"  {row['engine']:12} not run: {row['not_run']}", flush=True)
        return
    found = row["score"]
    precise = "  ".join(f"{key} {found[key]}" for key in ("recall", "removal_precision", "pair_precision"))
    print(
        f"  {row['engine']:12}{row['bytes'] / 1e6:7.0f} MB {row['seconds']:8.2f} s {row['mb_per_second']:8.1f} MB/s"
        f" {row['cpu_seconds']:7.1f} CPU s"
        f" {row['peak_bytes'] / 1e6:7.0f} MB peak  {found['clusters']:,} clusters  {precise}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
