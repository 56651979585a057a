"""Measure one engine on one case, alone in its process, and print the figures as one line of JSON.

A process of its own, because peak memory belongs to a process and thread pools are set up once.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

# Thread pools read these when they are first used, so they are set before any engine is imported.
POOLS = ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TOKIO_WORKER_THREADS")


def main(request: dict[str, Any]) -> dict[str, Any]:
    threads = request["threads"]
    os.environ.update(dict.fromkeys(POOLS, str(threads)))
    os.environ.update(DAFT_PROGRESS_BAR="0", DO_NOT_TRACK="1", DAFT_ANALYTICS_ENABLED="0")
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])

    import corpus
    import machine

    texts = corpus.load(request["sets"], request["megabytes"])
    engine = importlib.import_module(f"engines.{request['module']}")
    facts = corpus.facts(texts)
    run = engine.prepare(request["work"], texts, threads, **request["options"])
    gc.collect()

    tries = []
    for _ in range(request["repeat"]):
        before = memory("VmRSS")
        reset_peak()
        cpu, wall = cpu_seconds(), time.perf_counter()
        prints = run()
        wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
        tries.append({"wall": wall, "cpu": cpu, "peak_mb": memory("VmHWM") - before})
        rows, values = engine.shape(prints)
        if rows != len(texts) or values != request["expect"]["values"]:
            raise SystemExit(f"{rows} x {values} fingerprints came of {len(texts)} documents")
        del prints
        gc.collect()
    best = min(tries, key=lambda one: one["cpu"])
    size = int(str(facts["bytes"])) / 1e6
    return {
        "case": request["case"],
        "engine": request["name"],
        "threads": threads,
        "includes": includes(engine.INCLUDES, request),
        "versions": machine.versions(engine.PACKAGES),
        "megabytes": request["megabytes"],
        "input": facts,
        "mb_per_cpu_second": round(size / best["cpu"], 1),
        "mb_per_second": round(size / min(one["wall"] for one in tries), 1),
        # Later runs find memory that the first one left behind, so the largest rise is the honest one.
        "peak_mb": round(max(one["peak_mb"] for one in tries), 1),
        "tries": [{name: round(value, 4) for name, value in one.items()} for one in tries],
    }


def includes(known: dict[str, str], request: dict[str, Any]) -> str:
    """What the time holds; an option may change it, and then has a line of its own."""
    work = request["work"]
    special = (known[key] for option in request["options"] if (key := f"{work} {option}") in known)
    return next(special, known[work])


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def memory(field: str) -> float:
    """A field of /proc/self/status in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024 / 1e6
    raise SystemExit(f"/proc/self/status has no {field}")


def reset_peak() -> None:
    """Make VmHWM start again from the memory in use now."""
    Path("/proc/self/clear_refs").write_text("5")


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
