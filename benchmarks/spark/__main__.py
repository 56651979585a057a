"""Spark and the local pipeline on the same corpora, side by side: python -m benchmarks.spark --sizes 100k,300k,1m

Each engine is a process of its own on two cores, timed on the clock from its start to its end, with the CPU seconds and
the peak of memory of all its processes: for Spark the driver's JVM and the Python workers. Rows are kept one by one in
results/spark.json, and those that are there are not run again, so a run that was stopped continues where it was.

    --sizes 2k,20k     other sizes of the same corpus
    --engines spark    some engines only
    --again            run the rows that are there again
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import machine
from benchmarks.pipeline.__main__ import first_rows, interpreter, surroundings, versions, warm
from benchmarks.pipeline.corpus import Corpus, build
from benchmarks.pipeline.engines import ours as local
from benchmarks.pipeline.measure import Cost, run
from benchmarks.pipeline.truth import score
from benchmarks.spark import job
from benchmarks.spark.events import jobs, marks_of, volumes

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results" / "spark.json"
PLAN = tomllib.loads((HERE.parent / "pipeline" / "cases.toml").read_text("utf-8"))
RIVALS = ("text_dedup", "datatrove")
ENGINES = ("local", "driver", "spark", *RIVALS)  # on Spark the driver decides, or the cluster
TIMEOUT = 3600.0
UNITS = {"k": 1_000, "m": 1_000_000}
Json = dict[str, Any]


def main() -> int:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m benchmarks.spark", description=__doc__, formatter_class=raw)
    parser.add_argument("--sizes", default="100k,300k,1m", help="documents of each corpus")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--repeat", type=int, default=1, help="runs of each engine; the best time counts")
    parser.add_argument("--again", action="store_true", help="run rows once more that are kept already")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where rows are kept")
    asked = parser.parse_args()

    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-PLAN["threads"] :])
    kept = Kept(asked.out)
    for size in asked.sizes.split(","):
        corpus = build(size, PLAN["corpus"]["100k"] | {"documents": documents(size)})
        print(
            f"\n{size}: {corpus.facts['documents']:,} documents, {corpus.facts['bytes'] / 1e6:.0f} MB",
            flush=True,
        )
        for engine in asked.engines:
            row = kept.find(engine, corpus) if not asked.again else None
            if row is None:
                row = kept.add(measured(engine, corpus, asked.repeat))
            show(row)
    return 0


def documents(size: str) -> int:
    """How many a size says: 20k is 20,000."""
    count, unit = size[:-1], size[-1:].lower()
    if unit not in UNITS or not count.isdigit():
        raise SystemExit(f"a size is a number and k or m, such as 100k, not {size!r}")
    return int(count) * UNITS[unit]


class Kept:
    """The result file, written whole after each row."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[Json] = json.loads(path.read_text("utf-8"))["rows"] if path.exists() else []

    def find(self, engine: str, corpus: Corpus) -> Json | None:
        key = (engine, corpus.name, corpus.facts["sha256"])
        same = (row for row in self.rows if (row["engine"], row["corpus"], row["sha256"]) == key)
        return next((row for row in same if "seconds" in row), None)

    def add(self, row: Json) -> Json:
        key = (row["engine"], row["corpus"])
        self.rows = [other for other in self.rows if (other["engine"], other["corpus"]) != key] + [row]
        self.rows.sort(key=lambda row: (documents(row["corpus"]), ENGINES.index(row["engine"])))
        partial = self.path.with_suffix(".tmp")
        partial.write_text(json.dumps({"rows": self.rows}, indent=1) + "\n", "utf-8")
        partial.replace(self.path)
        return row


def measured(engine: str, corpus: Corpus, repeat: int) -> Json:
    """One row: what an engine cost and found. A slow rival gets the first part of the corpus, and the row says so."""
    settings = PLAN["engine"].get(engine, {})
    whole = corpus.facts
    part = corpus
    if "megabytes" in settings and whole["bytes"] > settings["megabytes"] * 1e6:
        part = corpus.first(settings["megabytes"])
    row: Json = {"engine": engine, "corpus": corpus.name, "sha256": whole["sha256"]}
    row |= {"documents": part.facts["documents"], "bytes": part.facts["bytes"], "part": part is not corpus}
    row |= {"date": machine.now(), "commit": machine.commit(), "machine": machine.describe()}
    on_spark = ["neardup", "pyspark", "pyarrow"]
    ours = {"local": ["neardup"], "driver": on_spark, "spark": on_spark}
    packages = ours.get(engine) or settings["packages"]
    python = interpreter(settings)
    row["versions"] = versions(python, packages) if python else None
    if row["versions"] is None:
        return row | {
            "not_run": f"{', '.join(packages)} not installed in {settings.get('environment', 'here')}"
        }
    costs = []
    for _ in range(repeat):
        warm(part.path)
        cost = once(engine, python or "", part, row)
        if cost.code:
            return row | {"not_run": f"exit code {cost.code}: {cost.errors.strip()[-300:]}"}
        costs.append(cost)
    best = min(costs, key=lambda cost: cost.wall)
    return row | {
        "seconds": round(best.wall, 3),
        "cpu_seconds": round(min(cost.cpu for cost in costs), 3),
        "peak_bytes": max(cost.peak for cost in costs),
        "anonymous_bytes": max(cost.anonymous for cost in costs),
        "disk_bytes": max(cost.disk for cost in costs),
        "tries": [round(cost.wall, 3) for cost in costs],
    }


def once(engine: str, python: str, corpus: Corpus, row: Json) -> Cost:
    """One run; the row gets what it found, and of Spark what every stage moved."""
    threads, rows = PLAN["threads"], corpus.facts["documents"]
    folder = Path(tempfile.mkdtemp(prefix="spark-", dir=corpus.folder.parent))
    try:
        environment = surroundings(folder, threads)
        out = folder / "found"
        if engine == "local":
            command = local.command(corpus.path, out, threads)
        elif engine in ("driver", "spark"):
            (folder / "events").mkdir()
            command = job.command(corpus.path, out, threads)
            if engine == "spark":
                command = job.over_cluster(corpus.path, out, folder / "stages", threads)
            environment |= job.environment(folder)
        else:
            script = f"benchmarks.pipeline.engines.{engine}"
            out = out.with_suffix(".npy")
            command = [python, "-m", script, str(corpus.path), str(out), str(threads)]
        cost = run(command, folder=folder, environment=environment, timeout=TIMEOUT)
        if cost.code:
            return cost
        if engine == "local":
            found = local.read(out, cost.output, rows)
            keepers = found.keepers
            row["stages"] = found.stages
        elif engine in ("driver", "spark"):
            keepers = job.read(out, rows)
            log = job.log_of(folder)
            row["volumes"] = [one.to_json() for one in volumes(log, marks_of(folder / "stages"))]
            row["jobs"] = jobs(log)
        else:
            keepers = first_rows(np.load(out))
        if len(keepers) != rows:
            raise SystemExit(f"{engine} gave clusters for {len(keepers)} of {rows} documents")
        row["keepers"] = job.digest(keepers)
        row["score"] = score(corpus, keepers, keepers)
        return cost
    finally:
        shutil.rmtree(folder)


def show(row: Json) -> None:
    if "not_run" in row:
        print(f"  {row['engine']:11} not run: {row['not_run']}", flush=True)
        return
    print(
        f"  {row['engine']:11}{row['documents']:>9,} documents {row['seconds']:8.1f} s {row['cpu_seconds']:8.1f} CPU s "
        f"{row['peak_bytes'] / 1e6:7.0f} MB peak  {row['score']['clusters']:,} clusters",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
