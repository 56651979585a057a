"""Run the search benchmarks: python -m benchmarks.search [--sizes 1e6 1e7] [--engines fast ...] [--out FILE]

Same codes, same run, one thread, called from Python with numpy columns, row numbers returned. Each engine
runs in a process of its own, forked once the workload is made. One thread is timed in CPU seconds, two in
seconds on the clock; the best of a few runs counts. Answers are checked against what was planted.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import time
import tomllib
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.search import data
from benchmarks.search.engines import Engine, NotRun, joiners, searchers
from benchmarks.search.machine import describe, memory_bound, release_freed_memory, resident_bytes
from benchmarks.search.ours import Live

from neardup.search.planner.machine import best_seconds

HERE = Path(__file__).parent
Case = dict[str, Any]


def forked(work: Callable[[], Case]) -> Case:
    """The result of `work` in a child process, so that no engine inherits another's memory or threads."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)

    def child(pipe: Connection) -> None:
        try:
            pipe.send(work())
        except NotRun as why:
            pipe.send({"not_run": str(why)})

    process = context.Process(target=child, args=(there,))
    process.start()
    there.close()
    try:
        result: Case = here.recv()
    except EOFError:
        result = {"not_run": "the engine died"}
    process.join()
    return result


def search_case(case: Case, work: data.Workload, radius: int, repeats: int) -> Case:
    """Build one engine, ask it, check its answers, and say what it cost."""
    asked = min(case["queries"], len(work.queries))
    queries, margins = work.queries[:asked], work.margins[:asked]
    release_freed_memory()
    before = resident_bytes()
    start = time.process_time()
    engine: Engine = searchers(radius)[case["engine"]](work.codes, 1)
    build = getattr(engine, "build_seconds", time.process_time() - start)
    result: Case = {
        "engine": case["engine"],
        "stored": len(work.codes),
        "queries": asked,
        "build_seconds": build,
        "resident_bytes": resident_bytes() - before,
        "bytes": engine.bytes,
        "row_bytes": engine.row_bytes,
    }
    reads = getattr(engine, "reads", None)
    bound = memory_bound(reads, engine.bytes or 0) if reads else None
    for name, first, threads in (("all", False, 1), ("first", True, 1), ("all_two_threads", False, 2)):
        try:
            found = engine.search(queries, margins, first=first, threads=threads)  # also warms up
            wrong = check(case, work, asked, found, first)
            seconds = best_seconds(
                partial(engine.search, queries, margins, first=first, threads=threads),
                repeats=repeats,
                cpu=threads == 1,
            )
        except NotRun:
            continue
        result[name] = {"queries_per_second": asked / seconds, **wrong}
        if threads == 2:
            one = partial(engine.search, queries, margins, first=False, threads=1)
            alone = best_seconds(one, repeats=repeats, cpu=False)
            result[name]["times_one"] = alone / seconds
    if bound and "all" in result:
        result["reads"], result["memory_bound_share"] = reads, result["all"]["queries_per_second"] / bound
    return result


def check(case: Case, work: data.Workload, asked: int, found: tuple[Any, Any], first: bool) -> Case:
    """How the answer compares with what was planted: recall, and any row that should not be there."""
    query, row = (np.asarray(column, dtype=np.int64) for column in found)
    if case["answer"] == "own codes":
        right = bool(np.array_equal(query, np.arange(0, asked, 2)) and np.array_equal(row, query))
        return {"right": right, "recall": len(row) / len(range(0, asked, 2))}
    expected_query = np.arange(0, asked, 2)
    expected = set(zip(expected_query.tolist(), work.planted[: len(expected_query)].tolist(), strict=True))
    got = set(zip(query.tolist(), row.tolist(), strict=True))
    recall = len(got & expected) / len(expected)
    least = 1.0 if case["answer"] == "exact" else case["answer"]
    return {"right": got <= expected and len(got) == len(query) and recall >= least, "recall": recall}


def join_case(case: Case, work: data.Workload, radius: int) -> Case:
    """Find all pairs within the stored codes: those planted must be there, each once, and what else is found
    must be near. Of 10M uniform codes about one pair in eight runs is near by chance."""
    stored = work.codes.copy()
    pairs = len(stored) // 1000
    stored[-pairs:] = stored[:pairs] ^ np.uint64(0b1001)
    before, start = resident_bytes(), time.process_time()
    found = joiners(radius)[case["engine"]](stored)
    seconds = time.process_time() - start
    peak = peak_bytes()
    found.sort(axis=1)
    planted = np.sort(np.stack([stored[:pairs, 0], stored[-pairs:, 0]], axis=1), axis=1)
    got, wanted = (set(map(tuple, columns.tolist())) for columns in (found, planted))
    near = np.bitwise_count(found[:, 0] ^ found[:, 1]) <= radius
    right = bool(wanted <= got and len(got) == len(found) and near.all() and len(got - wanted) < 5)
    return {
        "engine": case["engine"],
        "stored": len(stored),
        "codes_per_second": len(stored) / seconds,
        "right": right,
        "resident_bytes": peak - before,
    }


def add_case(case: Case, work: data.Workload, radius: int) -> Case:
    """Add all codes in batches, searching after each tenth of them; what was added by then must be found."""
    live = Live(case["engine"], radius)
    size, adding, asking, asked = len(work.codes), 0.0, 0.0, 0
    row_of = np.full(size, -1, dtype=np.int64)
    row_of[work.planted] = np.arange(0, 2 * len(work.planted), 2)
    right = True
    for start in range(0, size, case["batch"]):
        stop = min(size, start + case["batch"])
        seconds = time.process_time()
        live.add(work.codes[start:stop])
        adding += time.process_time() - seconds
        if stop * 10 // size == start * 10 // size:
            continue
        seconds = time.process_time()
        query, row = live.search(work.queries)
        asking += time.process_time() - seconds
        asked += len(work.queries)
        expected = row_of[:stop][row_of[:stop] >= 0]
        right &= bool(np.array_equal(np.sort(query), np.sort(expected)) and np.all(row_of[row] == query))
    return {
        "engine": case["engine"],
        "stored": size,
        "codes_per_second": size / adding,
        "queries_per_second_between": asked / asking,
        "right": right,
        "bytes": live.bytes,
    }


def peak_bytes() -> int:
    """The most memory this process ever had in RAM."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    cases = tomllib.loads((HERE / "cases.toml").read_text())
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search", description=__doc__)
    parser.add_argument("--sizes", type=float, nargs="+", default=cases["sizes"])
    parser.add_argument("--engines", nargs="+", help="only these")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=HERE.parent / "results" / "search.json")
    args = parser.parse_args()
    radius = cases["radius"]
    results: Case = {"machine": describe(), "radius": radius, "search": [], "join": [], "add": []}

    def wanted(kind: str, size: int) -> list[Case]:
        return [
            case
            for case in cases.get(kind, [])
            if (not args.engines or case["engine"] in args.engines) and size <= case.get("most", size)
        ]

    for size in map(int, args.sizes):
        chosen = wanted("search", size)
        most = max((case["queries"] for case in chosen), default=2)
        work = data.make(size, most, radius, cases["seed"])
        results["real_margins"] = work.real_margins
        for case in chosen:
            run = partial(search_case, case, work, radius, args.repeats)
            show(results["search"], forked(run), case, size)
        for case in wanted("add", size):
            show(results["add"], forked(partial(add_case, case, work, radius)), case, size)
        for case in wanted("join", size):
            show(results["join"], forked(partial(join_case, case, work, radius)), case, size)
    args.out.parent.mkdir(exist_ok=True)
    args.out.write_text(json.dumps(results, indent=1) + "\n")
    print(f"written to {args.out}")


def show(results: list[Case], result: Case, case: Case, size: int) -> None:
    result = {"engine": case["engine"], "stored": size, **result}
    results.append(result)
    print(json.dumps(result), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
