"""Pairs of near vectors: recall and CPU-seconds beside faiss (flat, HNSW, IVF), on vectors with planted neighbours.

python benchmarks/vectors.py --size 1000000 --width 384 --threads 2 --out results/vectors.json

Every engine has the same task: all pairs of a set with a cosine of at least --threshold. The planted pairs are known;
random vectors of hundreds of dimensions are at right angles, so there are no others. Prints Markdown. faiss-cpu is in
requirements-search.txt; without it only our own searches run.

The flat index of faiss compares each query with every vector, which takes hours at a million. It is asked only about
the first --asked vectors, among them all planted ones, and its time is multiplied accordingly.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import neardup as nd

sys.path.insert(0, str(Path(__file__).parent))
from machine import commit, describe

Pairs = set[tuple[int, int]]
_ASKED = 4096  # queries of faiss in one call


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
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
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


def ours(search: nd.search.interface.Method | None) -> Callable[[np.ndarray, float, int], Pairs]:
    def run(vectors: np.ndarray, threshold: float, threads: int) -> Pairs:
        """The stages of a run: codes, candidates, true cosines. No engine reads a file."""
        config = nd.Config(vectors=nd.Vectors(), verify=nd.Cosine(threshold), search=search)
        step = 1 << 13
        parts = [
            config.prints.compute(config.vectors.extract(vectors[start : start + step]), threads=threads)
            for start in range(0, len(vectors), step)
        ]
        codes = nd.fingerprints.concatenate(parts)
        candidates, report = config.method.found(
            codes, threads, lambda one, two: similar(vectors, one, two, threshold)
        )
        if report.relative is not None:
            print(f"  psm: {report.flips:,} flips, R' {report.relative:.3f} {report.exact}", file=sys.stderr)
        found: Pairs = set()
        for start in range(0, len(candidates), step):
            left, right = candidates.left[start : start + step], candidates.right[start : start + step]
            met, place = np.unique(np.concatenate([left, right]), return_inverse=True)
            features = config.vectors.extract(vectors[met])
            ends = nd.search.Candidates(place[: len(left)], place[len(left) :], np.zeros(len(left), np.uint8))
            pairs = config.verify.check(ends, features, threads=threads)
            found |= set(zip(met[pairs.left].tolist(), met[pairs.right].tolist(), strict=True))
        return found

    return run


def faiss_index(kind: str) -> Callable[..., Pairs]:
    def run(vectors: np.ndarray, threshold: float, threads: int, queries: int | None = None) -> Pairs:
        import faiss

        faiss.omp_set_num_threads(threads)
        size, width = vectors.shape
        if kind == "flat":
            index = faiss.IndexFlatIP(width)
        elif kind == "hnsw":
            index = faiss.IndexHNSWFlat(width, 32, faiss.METRIC_INNER_PRODUCT)
            index.hnsw.efConstruction, index.hnsw.efSearch = 100, 64
        else:
            lists = max(1, int(4 * size**0.5))
            index = faiss.IndexIVFFlat(faiss.IndexFlatIP(width), width, lists, faiss.METRIC_INNER_PRODUCT)
            index.nprobe = max(1, lists // 64)
            index.train(vectors[: 64 * lists])
        index.add(vectors)
        found: Pairs = set()
        queries = size if queries is None else queries
        for start in range(0, queries, _ASKED):
            asked = vectors[start : min(start + _ASKED, queries)]
            if kind == "hnsw":  # it has no search by radius of its own that is as quick
                cosine, row = index.search(asked, 8)
                query, place = np.nonzero((cosine >= threshold) & (row >= 0))
                row = row[query, place]
            else:
                limits, _, row = index.range_search(asked, threshold)
                query = np.repeat(np.arange(len(asked)), np.diff(limits).astype(np.int64))
            ahead = query + start < row
            found |= set(zip((query[ahead] + start).tolist(), row[ahead].tolist(), strict=True))
        return found

    return run


ENGINES: dict[str, Callable[..., Pairs]] = {
    "neardup, exact join of 128-bit codes": ours(None),
    "neardup, PSM on 64-bit codes": ours(nd.PSM(16, recall=0.95)),
    "faiss flat": faiss_index("flat"),
    "faiss IVF": faiss_index("ivf"),
    "faiss HNSW 32": faiss_index("hnsw"),  # the last, because it takes longest
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument(
        "--share", type=float, default=0.01, help="of the vectors that have a planted neighbour"
    )
    parser.add_argument("--threshold", type=float, default=0.9)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--asked", type=int, default=20_000, help="queries of the flat index of faiss")
    parser.add_argument("--engines", nargs="*", help="parts of names; all engines if none is given")
    parser.add_argument("--out", type=Path, help="keep the result here, as JSON")
    given = parser.parse_args()
    vectors, planted = made(given.size, given.width, given.share)
    truth = true_pairs(vectors, planted, given.threshold)
    print(
        f"{given.size:,} vectors of {given.width} dimensions, {len(truth):,} pairs of cosine {given.threshold}\n"
    )
    print("| engine | recall | wrong pairs | CPU seconds | seconds |\n|---|---|---|---|---|")
    kept = []
    for name, run in ENGINES.items():
        if given.engines and not any(part in name for part in given.engines):
            continue
        share = 1.0
        if name == "faiss flat" and max(given.asked, len(planted)) < given.size:
            share = max(given.asked, len(planted)) / given.size
        asked = {} if share == 1 else {"queries": int(share * given.size)}
        before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        try:
            found = run(vectors, given.threshold, given.threads, **asked)
        except ImportError as error:
            print(f"| {name} | not run: {error} | | | |")
            continue
        after, seconds = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter() - start
        cpu = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / share
        seconds /= share
        recall, wrong = len(found & truth) / max(len(truth), 1), len(found - planted)
        said = name if share == 1 else f"{name} (time estimated from {asked['queries']:,} queries)"
        print(f"| {said} | {recall:.4f} | {wrong} | {cpu:.1f} | {seconds:.1f} |", flush=True)
        kept.append(
            {"engine": said, "recall": recall, "wrong": wrong, "cpu_seconds": cpu, "seconds": seconds}
        )
        if given.out is not None:
            settings = {
                name: getattr(given, name) for name in ("size", "width", "share", "threshold", "threads")
            }
            whole = {"machine": describe(), "commit": commit(), **settings, "results": kept}
            given.out.write_text(json.dumps(whole, indent=1) + "\n")


if __name__ == "__main__":
    main()
