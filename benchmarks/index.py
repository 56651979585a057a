"""The live index: `seen`, `search`, opening and memory at some sizes, beside faiss and datasketch.

    python -m benchmarks.index --sizes 1000000 10000000 --check --out benchmarks/results/index.json

Ready 64-bit codes, uniform but for a fifth that are within radius 3 of a stored one; batches of 1,000; two threads;
seconds on the clock. The index is on disk with `normal` durability. Rivals keep everything in memory and survive
nothing: faiss answers and adds in two steps; datasketch has no Hamming search, so it does MinHash LSH, in memory and
in a Redis that is started for it.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import shutil
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.machine import commit, describe, now

import neardup as nd

BATCH, THREADS, ASKED = 1000, 2, 200_000
ROUNDS = 10  # of searches, a twentieth of a second each: the best counts
SEEN, SEARCH = 50_000, 1.3  # documents a second, and times slower than the bare search: what --check asks for


def workload(stored: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Codes to store, codes to be seen, and codes to search: every fifth is one to three bits from a stored one."""
    rng = np.random.default_rng(stored)
    words = rng.integers(0, 2**64, stored, dtype=np.uint64)
    return words, asking(words, rng), asking(words, rng)


def asking(words: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    stored = len(words)
    queries = rng.integers(0, 2**64, ASKED, dtype=np.uint64)
    near = np.arange(0, ASKED, 5)
    queries[near] = words[rng.integers(0, stored, len(near))]
    for _ in range(3):
        queries[near] ^= np.uint64(1) << rng.integers(0, 64, len(near), dtype=np.uint64)
    return queries


def codes(words: np.ndarray) -> nd.fingerprints.Codes:
    return nd.fingerprints.Codes(
        "bare64", np.zeros(len(words), bool), 64, np.ascontiguousarray(words).reshape(-1, 1)
    )


def batches(words: np.ndarray, name: str):
    for start in range(0, len(words), BATCH):
        part = words[start : start + BATCH]
        yield [f"https://example.org/{name}/{start + n}" for n in range(len(part))], codes(part)


def rate(count: int, start: float) -> int:
    return round(count / (time.perf_counter() - start))


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def ours(words: np.ndarray, coming: np.ndarray, queries: np.ndarray, folder: Path) -> dict[str, Any]:
    """Fill an index, ask it, open it again."""
    config = nd.Config(fingerprint=nd.Simhash(), search=nd.search.Compact(3))
    index = nd.Index(folder, config, scheme="bare64", threads=THREADS)
    found: dict[str, Any] = {"engine": "neardup.Index", "stored": len(words)}
    start = time.perf_counter()
    for ids, part in batches(words, "old"):
        index.add_prints(ids, part)
    found["add_per_second"] = rate(len(words), start)
    # Rounds of their own, so that a stall, when tables are merged or the log is folded in, shows in the slowest batch.
    slowest, duplicates, start = 0.0, 0, time.perf_counter()
    for ids, part in batches(coming, "new"):
        before = time.perf_counter()
        duplicates += int((~index.seen_prints(ids, part).new).sum())
        slowest = max(slowest, time.perf_counter() - before)
    found["seen_per_second"] = rate(len(coming), start)
    found["seen_slowest_batch_ms"] = round(slowest * 1000, 1)
    assert duplicates >= len(coming) // 5 * 0.99, duplicates
    found["search_rows_per_second_as_grown"] = searching(index, queries)
    stats = index.stats()
    found["segments_as_grown"] = len(stats.segments)
    found["database_bytes_per_document"] = round(stats.database_bytes / stats.documents, 1)
    found["cache_bytes_per_document"] = round(stats.cache_bytes / stats.documents, 1)
    found["table_bytes_per_document"] = round(stats.memory_bytes / stats.documents, 1)
    start = time.perf_counter()
    index.close()
    found["close_seconds"] = round(time.perf_counter() - start, 2)
    del index
    gc.collect()
    before, start = resident(), time.perf_counter()
    index = nd.Index(folder, threads=THREADS)
    found["open_seconds"] = round(time.perf_counter() - start, 2)
    found["resident_bytes_per_document_opened"] = round((resident() - before) / len(index), 1)
    found["search_rows_per_second"] = searching(index, queries)
    start = time.perf_counter()
    hits = sum(
        len(h) for s in range(0, 50_000, BATCH) for h in index.search_prints(codes(queries[s : s + BATCH]))
    )
    found["search_ids_per_second"] = rate(50_000, start)
    assert hits >= 50_000 // 5
    start = time.perf_counter()
    for at in range(2000):
        index.seen_prints([f"one-{at}"], codes(queries[at : at + 1]))
    found["seen_one_by_one_per_second"] = rate(2000, start)
    index.close()
    shutil.rmtree(folder / "cache")
    start = time.perf_counter()
    nd.Index(folder, mode="read", threads=THREADS).close()
    found["open_seconds_without_cache"] = round(time.perf_counter() - start, 2)
    return found


def searching(index: nd.Index, queries: np.ndarray) -> int:
    best = 0
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for at in range(0, len(queries), BATCH):
            index.search_rows(codes(queries[at : at + BATCH]))
        best = max(best, rate(len(queries), start))
    return best


def bare(words: np.ndarray, queries: np.ndarray) -> dict[str, Any]:
    """The Hamming search alone, in memory, in the same batches."""
    tables = nd.search.Compact(3).index(codes(words), threads=THREADS)
    best = 0
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for at in range(0, len(queries), BATCH):
            tables.search(codes(queries[at : at + BATCH]), threads=THREADS)
        best = max(best, rate(len(queries), start))
    return {"engine": "neardup.search.Compact", "stored": len(words), "search_rows_per_second": best}


def faiss(words: np.ndarray, queries: np.ndarray) -> dict[str, Any]:
    """IndexBinaryMultiHash at its best for this radius: range search, then add."""
    try:
        import faiss as rival
    except ImportError:
        return {"engine": "faiss", "not_run": "not installed"}
    rival.omp_set_num_threads(THREADS)
    index = rival.IndexBinaryMultiHash(64, 2, 32)
    index.nflip = 1
    start = time.perf_counter()
    index.add(words.view(np.uint8).reshape(-1, 8))
    found = {"engine": f"faiss {rival.__version__} MultiHash 2x32", "stored": len(words)}
    found["add_per_second"] = rate(len(words), start)
    asked = queries[:20_000].view(np.uint8).reshape(-1, 8)
    start = time.perf_counter()
    for at in range(0, len(asked), BATCH):
        index.range_search(asked[at : at + BATCH], 4)  # strictly below
        index.add(asked[at : at + BATCH])
    found["seen_per_second"] = rate(len(asked), start)
    return found


def datasketch(stored: int, asked: int, redis_port: int | None = None) -> dict[str, Any]:
    """MinHashLSH with ready sketches of 128 values, in memory (2 KB a document) or in Redis."""
    try:
        import datasketch as rival
    except ImportError:
        return {"engine": "datasketch", "not_run": "not installed"}
    rng = np.random.default_rng(3)
    values = rng.integers(0, 2**32, (stored + asked, 128), dtype=np.uint64)
    place: dict[str, Any] = {}
    if redis_port is not None:
        server = {"host": "127.0.0.1", "port": redis_port}
        place = {"storage_config": {"type": "redis", "basename": b"bench", "redis": server}}
    index = rival.MinHashLSH(threshold=0.8, num_perm=128, **place)
    like = rival.MinHash(num_perm=128)
    kind = {"scheme": like.scheme} if hasattr(like, "scheme") else {}  # from version 2 on
    made = [rival.MinHash(num_perm=128, hashvalues=row, **kind) for row in values]
    where = "in memory" if redis_port is None else "in Redis"
    found = {"engine": f"datasketch {rival.__version__} MinHashLSH {where}", "stored": stored}
    start = time.perf_counter()
    with index.insertion_session(buffer_size=BATCH) if place else nullcontext(index) as into:
        for row in range(stored):
            into.insert(str(row), made[row])
    found["add_per_second"] = rate(stored, start)
    start = time.perf_counter()
    for row in range(stored, stored + asked):
        if not index.query(made[row]):
            index.insert(str(row), made[row])
    found["seen_per_second"] = rate(asked, start)
    return found


def datasketch_in_redis() -> dict[str, Any]:
    if shutil.which("redis-server") is None:
        return {"engine": "datasketch in Redis", "not_run": "no redis-server here"}
    from benchmarks.shared import server

    with server() as client:
        return datasketch(20_000, 2_000, client.connection_pool.connection_kwargs["port"])


def report(result: dict[str, Any], case: dict[str, Any]) -> None:
    print(json.dumps(case), flush=True)
    result["cases"].append(case)


def falls_short(cases: list[dict[str, Any]]) -> list[str]:
    """What is promised and was not reached."""
    bare_rate = {case["stored"]: case for case in cases if case["engine"] == "neardup.search.Compact"}
    said = []
    for case in cases:
        if case["engine"] != "neardup.Index":
            continue
        size = f"{case['stored']:,} documents"
        if case["seen_per_second"] < SEEN:
            said.append(f"{size}: {case['seen_per_second']:,} seen a second, not {SEEN:,}")
        for name in ("search_rows_per_second", "search_rows_per_second_as_grown"):
            ratio = bare_rate[case["stored"]]["search_rows_per_second"] / case[name]
            if ratio > SEARCH:
                said.append(f"{size}: {name} is {ratio:.2f} times slower than the bare search, not {SEARCH}")
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--folder", type=Path, help="Where the index is made; its disk counts.")
    parser.add_argument("--no-rivals", action="store_true")
    parser.add_argument("--check", action="store_true", help="Fail if it is slower than promised.")
    arguments = parser.parse_args()
    result: dict[str, Any] = {"made": now(), "commit": commit(), "machine": describe(), "cases": []}
    for stored in arguments.sizes:
        words, coming, queries = workload(stored)
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            report(result, ours(words, coming, queries, Path(folder) / "index"))
        report(result, bare(np.concatenate([words, coming]), queries) | {"stored": stored})
        if not arguments.no_rivals:
            report(result, faiss(words, queries))
    if not arguments.no_rivals:
        report(result, datasketch(100_000, 10_000))
        report(result, datasketch_in_redis())
    if arguments.out:
        arguments.out.write_text(json.dumps(result, indent=1) + "\n")
    if arguments.check and (short := falls_short(result["cases"])):
        sys.exit("\n".join(short))


if __name__ == "__main__":
    main()
