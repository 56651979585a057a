"""Pairs of near vectors: recall, time and memory beside faiss (flat, IVF, HNSW), on vectors with planted neighbours.

python -m benchmarks.vectors                                      a small case, some seconds
python -m benchmarks.vectors --size 1e6 --out benchmarks/results/vectors.json

Every engine has the same task: all pairs of a set with a cosine of at least --threshold. The planted pairs are known;
random vectors of hundreds of dimensions are at right angles, so there are no others. Prints Markdown. faiss-cpu is in
requirements-search.txt; without it only our own searches run. Each engine runs in a process of its own.

An index of faiss is asked about the first --asked vectors, and the time of all queries is estimated from them; its
recall is that of the pairs of these vectors. The approximate indexes are asked with two settings each: the quick one
and the careful one. The time of the exact join of codes grows with the square of the size, so above 200,000 vectors it
runs only if --engines names it.
With --out, rows of the same case that this run does not measure are kept. What was not run is in the table and in the
JSON, with the reason.

All engines with a million vectors, on two cores in about a quarter of an hour, and the table of the page:
python -m benchmarks.vectors --size 1e6 --threads 2 --graph 32 100 --out benchmarks/results/vectors.json
python -m benchmarks.task_tables
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.machine import commit, describe
from benchmarks.measure import cpu_seconds, memory, reset_peak

import neardup as nd

__all__ = ["ENGINES", "main"]

Pairs = set[tuple[int, int]]
Steps = Iterator[
    tuple[str, Pairs | None]
]  # what was done; the pairs that it found, or nothing for what is built
_EXACT = "neardup, exact join of 128-bit codes"
_EXACT_MOST = 200_000
_NEIGHBOURS = 8  # that HNSW is asked for, which has no search by radius of its own that is as quick
_CASE = ("size", "width", "share", "threshold", "threads", "asked")
_GRAPH = (16, 40)  # links of a node of HNSW, and how many candidates each of them is chosen from


def made(size: int, width: int, share: float, seed: int = 1) -> tuple[np.ndarray, Pairs]:
    """Unit vectors, the last `share` of them near the first ones at cosines of .85 to .999; and the planted pairs."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((size, width), np.float32)
    near = max(1, int(size * share))
    cosine = rng.uniform(0.85, 0.999, (near, 1)).astype(np.float32)
    one = vectors[:near] / np.linalg.norm(vectors[:near], axis=1, keepdims=True)
    other = vectors[-near:] - (vectors[-near:] * one).sum(1, keepdims=True) * one
    other /= np.linalg.norm(other, axis=1, keepdims=True)
    vectors[-near:] = cosine * one + np.sqrt(1 - cosine**2) * other
    for start in range(0, size, 1 << 14):  # a copy of all of them would count as memory of the engine
        part = vectors[start : start + (1 << 14)]
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return vectors, {(row, size - near + row) for row in range(near)}


def true_pairs(vectors: np.ndarray, planted: Pairs, threshold: float) -> Pairs:
    left, right = np.array(sorted(planted)).T
    cosine = np.einsum("ij,ij->i", vectors[left].astype(np.float64), vectors[right].astype(np.float64))
    return {(int(a), int(b)) for a, b, c in zip(left, right, cosine, strict=True) if c >= threshold}


def similar(vectors: np.ndarray, one: np.ndarray, two: np.ndarray, least: float) -> np.ndarray:
    """Which pairs of vectors have a cosine of at least `least`."""
    parts = []
    for start in range(0, len(one), 1 << 14):
        left, right = vectors[one[start : start + (1 << 14)]], vectors[two[start : start + (1 << 14)]]
        parts.append(np.einsum("ij,ij->i", left, right) >= least)
    return np.concatenate([np.empty(0, np.bool_), *parts])


def ours(search: nd.search.interface.Method | None) -> Callable[..., Steps]:
    def run(vectors: np.ndarray, threshold: float, threads: int, asked: int) -> Steps:
        """The stages of a run: codes, candidates, true cosines. No engine reads a file."""
        config = nd.Config(vectors=nd.Vectors(), verify=nd.Cosine(threshold), search=search)
        step = 1 << 13
        parts = [
            config.prints.compute(config.vectors.extract(vectors[start : start + step]), threads=threads)
            for start in range(0, len(vectors), step)
        ]
        codes = nd.fingerprints.concatenate(parts)
        yield "", None
        candidates, report = config.method.found(
            codes, threads, lambda one, two: similar(vectors, one, two, threshold)
        )
        if report.relative is not None:
            print(f"  psm: {report.flips:,} flips, R' {report.relative:.3f} {report.exact}", file=sys.stderr)
        found: Pairs = set()
        for start in range(0, len(candidates), step):
            left, right = candidates.left[start : start + step], candidates.right[start : start + step]
            both, place = np.unique(np.concatenate([left, right]), return_inverse=True)
            features = config.vectors.extract(vectors[both])
            ends = nd.search.Candidates(place[: len(left)], place[len(left) :], np.zeros(len(left), np.uint8))
            pairs = config.verify.check(ends, features, threads=threads)
            found |= set(zip(both[pairs.left].tolist(), both[pairs.right].tolist(), strict=True))
        yield "", found

    return run


def ahead(query: np.ndarray, row: np.ndarray) -> Pairs:
    """Pairs of queries, which are the first rows, and the later rows that they both."""
    later = query < row
    return set(zip(query[later].tolist(), row[later].tolist(), strict=True))


def faiss_range(index: Any, vectors: np.ndarray, threshold: float) -> Pairs:
    limits, _, row = index.range_search(vectors, threshold)
    return ahead(np.repeat(np.arange(len(vectors)), np.diff(limits).astype(np.int64)), row)


def faiss_flat(vectors: np.ndarray, threshold: float, threads: int, asked: int) -> Steps:
    import faiss

    faiss.omp_set_num_threads(threads)
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    yield "", None
    yield "", faiss_range(index, vectors[:asked], threshold)


def faiss_ivf(vectors: np.ndarray, threshold: float, threads: int, asked: int) -> Steps:
    """4 sqrt(n) lists, as its authors advise; trained on 64 vectors of each list."""
    import faiss

    faiss.omp_set_num_threads(threads)
    size, width = vectors.shape
    lists = max(1, int(4 * size**0.5))
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(width), width, lists, faiss.METRIC_INNER_PRODUCT)
    index.cp.niter = 10
    index.train(vectors[: 64 * lists])
    index.add(vectors)
    yield "", None
    for visited in (4, 32):
        index.nprobe = min(visited, lists)
        yield f", {index.nprobe} of {lists:,} lists", faiss_range(index, vectors[:asked], threshold)


def faiss_hnsw(
    vectors: np.ndarray, threshold: float, threads: int, asked: int, graph: tuple[int, int] = _GRAPH
) -> Steps:
    import faiss

    faiss.omp_set_num_threads(threads)
    index = faiss.IndexHNSWFlat(vectors.shape[1], graph[0], faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = graph[1]
    index.add(vectors)
    yield "", None
    for effort in (32, 128):
        index.hnsw.efSearch = effort
        cosine, row = index.search(vectors[:asked], _NEIGHBOURS)
        query, place = np.nonzero((cosine >= threshold) & (row >= 0))
        yield f" {graph[0]}/{graph[1]}, efSearch {effort}", ahead(query, row[query, place])


ENGINES: dict[str, Callable[..., Steps]] = {
    _EXACT: ours(None),
    "neardup, PSM on 64-bit codes": ours(nd.PSM(16, recall=0.95)),
    "faiss flat": faiss_flat,
    "faiss IVF": faiss_ivf,
    "faiss HNSW": faiss_hnsw,
}


def measured(name: str, case: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    """A row for each setting of one engine, in CPU seconds of the whole task."""
    size, threshold = case["size"], case["threshold"]
    asked = size if name.startswith("neardup") else min(case["asked"], size)
    vectors, planted = made(size, case["width"], case["share"])
    truth = {pair for pair in true_pairs(vectors, planted, threshold) if pair[0] < asked}
    reset_peak()
    before, rows, build = memory("VmRSS"), [], (0.0, 0.0)
    cpu, start = cpu_seconds(), time.perf_counter()
    for setting, found in ENGINES[name](vectors, threshold, case["threads"], asked, **options):
        took = cpu_seconds() - cpu, time.perf_counter() - start
        if found is None:
            build = took
        else:
            rows.append(
                {
                    "engine": name + setting,
                    "recall": len(found & truth) / max(len(truth), 1),
                    "wrong": len(found - planted),
                    "pairs": len(truth),
                    "build_cpu_seconds": build[0],
                    "query_cpu_microseconds": took[0] / asked * 1e6,
                    "cpu_seconds": build[0] + took[0] / asked * size,
                    "seconds": build[1] + took[1] / asked * size,
                    "memory_mb": memory("VmHWM") - before,
                }
            )
        cpu, start = cpu_seconds(), time.perf_counter()
    return rows


def apart(name: str, case: dict[str, Any], graph: list[int]) -> tuple[list[dict[str, Any]], str]:
    """The rows of one engine, which runs in a process of its own; and why there are none, if there are none."""
    command = [sys.executable, "-m", "benchmarks.vectors", "--alone", name]
    options = [f"--{option}={value}" for option, value in case.items()] + ["--graph", *map(str, graph)]
    done = subprocess.run(
        [*command, *options], cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False
    )
    sys.stderr.write(done.stderr)
    if done.returncode:
        said = done.stderr.strip().splitlines()
        return [], said[-1] if said else f"it ended with code {done.returncode}"
    facts = {"commit": commit(), "load": describe()["load"]}
    return [row | facts for row in json.loads(done.stdout)], ""


def engine_of(row: dict[str, Any]) -> str:
    return next(name for name in ENGINES if row["engine"].startswith(name))


def merged(
    kept: dict[str, Any] | None, case: dict[str, Any], rows: list[dict[str, Any]], missing: dict[str, str]
) -> dict[str, Any]:
    """A result with these rows, and those of other engines that are kept from the same case. `missing` names engines
    that were not run, and why."""
    same = kept if kept is not None and all(kept.get(name) == case[name] for name in _CASE) else {}
    new = {engine_of(row) for row in rows}
    others = [row for row in same.get("results", ()) if engine_of(row) not in new]
    order = list(ENGINES)
    every = sorted(others + rows, key=lambda row: order.index(engine_of(row)))
    done = {engine_of(row) for row in every}
    reasons = {name: why for name, why in {**same.get("not_run", {}), **missing}.items() if name not in done}
    return {"machine": describe(), **case, "results": every, "not_run": reasons}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.vectors", description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=lambda text: int(float(text)), default=20_000)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--share", type=float, default=0.01, help="of vectors that have a planted neighbour")
    parser.add_argument("--threshold", type=float, default=0.9)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--asked", type=int, default=4096, help="queries of the indexes of faiss")
    parser.add_argument(
        "--graph",
        type=int,
        nargs=2,
        default=_GRAPH,
        metavar=("LINKS", "EFFORT"),
        help="of HNSW; 32 100 takes about four times as long to build and finds more",
    )
    parser.add_argument("--engines", nargs="*", help="parts of names; all engines if none is given")
    parser.add_argument("--out", type=Path, help="keep the result here, as JSON")
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    given = arguments()
    case = {name: getattr(given, name) for name in _CASE}
    if given.alone is not None:
        try:
            options = {"graph": tuple(given.graph)} if given.alone == "faiss HNSW" else {}
            print(json.dumps(measured(given.alone, case, **options)))
        except ImportError as error:
            raise SystemExit(f"{given.alone} was not run: {error}") from error
        return
    print("| engine | recall | wrong pairs | build, CPU s | CPU us a query | CPU s in all | s | memory, MB |")
    print("|---|---|---|---|---|---|---|---|")
    for name in ENGINES:
        if given.engines and not any(part in name for part in given.engines):
            continue
        if name == _EXACT and given.size > _EXACT_MOST and not given.engines:
            rows, why = (
                [],
                f"its time grows with the square of the size; above {_EXACT_MOST:,} name it by --engines",
            )
        else:
            rows, why = apart(name, case, given.graph)
        if why:
            print(f"| {name} | not run: {why} | | | | | | |", flush=True)
        for row in rows:
            print(
                f"| {row['engine']} | {row['recall']:.4f} | {row['wrong']} | {row['build_cpu_seconds']:.1f} "
                f"| {row['query_cpu_microseconds']:.0f} | {row['cpu_seconds']:.1f} | {row['seconds']:.1f} "
                f"| {row['memory_mb']:.0f} |",
                flush=True,
            )
        if given.out is not None:
            kept = json.loads(given.out.read_text("utf-8")) if given.out.exists() else None
            given.out.write_text(
                json.dumps(merged(kept, case, rows, {name: why} if why else {}), indent=1) + "\n", "utf-8"
            )


if __name__ == "__main__":
    main()
