"""The shared index in Redis beside datasketch's Redis storage: the same documents, the same server.

    python benchmarks/shared.py --out benchmarks/results/shared.json --table docs/inside/benchmarks-shared.md

Texts of 200 words, a fifth of them copies of an earlier one with one word changed. Fingerprints are made beforehand and
not counted. A server is started for each engine, without persistence, on the machine of the client. datasketch gets its
insertion session and its query buffer, the fastest ways it has. A fast wrong answer fails the run: every engine has
to find most of the copies, and nothing that is none.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import redis

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.machine import commit, describe, now

import neardup as nd

BATCH, VALUES, BANDS, ROWS = 1000, 128, 9, 13  # the bands datasketch chooses for a threshold of 0.8
LEAST_FOUND = 0.7


def make_texts(count: int, seed: int = 1) -> tuple[list[str], np.ndarray]:
    """Texts, and for each the row it is a copy of, or -1."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{n}" for n in range(50_000)])
    texts, source = [], np.full(count, -1)
    for row in range(count):
        if row % 5 == 4:
            source[row] = rng.integers(0, row)
            if source[source[row]] >= 0:
                source[row] = source[source[row]]
            chosen = texts[source[row]].split()
            chosen[rng.integers(len(chosen))] = "changed"
        else:
            chosen = words[rng.integers(0, len(words), 200)].tolist()
        texts.append(" ".join(chosen))
    return texts, source


@contextlib.contextmanager
def server() -> Iterator[redis.Redis]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tempfile.mkdtemp()
    process = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder],
        stdout=subprocess.DEVNULL,
    )
    client = redis.Redis(port=port)
    try:
        for _ in range(100):
            with contextlib.suppress(redis.RedisError):
                if client.ping():
                    break
            time.sleep(0.05)
        yield client
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


class Clock:
    """Documents a second, and CPU-microseconds a document of the client and of the server."""

    def __init__(self, client: redis.Redis) -> None:
        self.client = client

    def cpu(self) -> tuple[float, float]:
        info = self.client.info("cpu")
        return time.process_time(), info["used_cpu_user"] + info["used_cpu_sys"]

    def measure(self, count: int, work: Callable[[], None]) -> dict[str, float]:
        before, start = self.cpu(), time.perf_counter()
        work()
        seconds, after = time.perf_counter() - start, self.cpu()
        spent = [round((b - a) * 1e6 / count, 1) for a, b in zip(before, after, strict=True)]
        return {"per_second": round(count / seconds), "client_us": spent[0], "server_us": spent[1]}


def ids_of(first: int, last: int) -> list[str]:
    return [f"https://example.org/{row:010d}" for row in range(first, last)]


def cut(prints: Any, first: int, last: int) -> Any:
    empty = prints.empty[first:last]
    if isinstance(prints, nd.fingerprints.Codes):
        return nd.fingerprints.Codes(prints.scheme, empty, prints.bits, prints.codes[first:last])
    return nd.fingerprints.Sketches(prints.scheme, empty, prints.values[first:last])


def ours(name: str, texts: list[str], source: np.ndarray, singles: int) -> dict[str, Any]:
    """Add the first half, `seen` of the second, then queries."""
    count, half = len(texts), len(texts) // 2
    if name == "simhash":
        config = nd.Config(features=nd.Words(), fingerprint=nd.Simhash(), search=nd.search.Compact(3))
    else:
        config = nd.Config(
            fingerprint=nd.MinHash(VALUES), search=nd.LSH(bands=BANDS, rows=ROWS), verify=nd.Jaccard(0.8)
        )
    with server() as client:
        port, clock = client.connection_pool.connection_kwargs["port"], Clock(client)
        before = client.info("memory")["used_memory"]
        address = f"redis://127.0.0.1:{port}/0?name=bench&expected={count}"
        with nd.Index(address, config, store="none", seed=1) as index:
            prints = index.fingerprint(texts)
            keepers = np.empty(count, np.int64)

            def add(first: int, last: int) -> None:
                answers = index.seen_prints(ids_of(first, last), cut(prints, first, last))
                keepers[first:last] = answers.keeper

            def search() -> None:
                for start in range(half, count, BATCH):
                    index.search_prints(cut(prints, start, min(start + BATCH, count)))

            def one_by_one() -> None:
                for row in range(singles):
                    index.seen_prints([f"one {row}"], cut(prints, row, row + 1))

            fresh = index.fingerprint(make_texts(singles, 3)[0])

            def new_one_by_one() -> None:
                for row in range(singles):
                    index.seen_prints([f"new {row}"], cut(fresh, row, row + 1))

            found: dict[str, Any] = {"engine": f"neardup {name}", "documents": count}
            found["add"] = clock.measure(half, lambda: add(0, half))
            found["seen"] = clock.measure(count - half, lambda: add(half, count))
            found["query"] = clock.measure(count - half, search)
            found["bytes"] = round((client.info("memory")["used_memory"] - before) / count)
            found["seen_one_by_one"] = clock.measure(singles, one_by_one)
            found["new_one_by_one"] = clock.measure(singles, new_one_by_one)
    copies = source >= 0
    found["found"] = round(float((keepers[copies] == source[copies]).mean()), 3)
    found["wrong"] = int((keepers[~copies] != np.flatnonzero(~copies)).sum())
    return found


def theirs(texts: list[str], source: np.ndarray, singles: int) -> dict[str, Any]:
    """datasketch: inserts in a session, buffered and single queries, and a query with each insert for `seen`."""
    from datasketch import MinHash, MinHashLSH

    count, half = len(texts), len(texts) // 2
    sketches = []
    for text in texts:
        words = text.split()
        sketch = MinHash(num_perm=VALUES)
        sketch.update_batch([" ".join(words[at : at + 5]).encode() for at in range(len(words) - 4)])
        sketches.append(sketch)
    with server() as client:
        port, clock = client.connection_pool.connection_kwargs["port"], Clock(client)
        before = client.info("memory")["used_memory"]
        storage = {"type": "redis", "basename": b"bench", "redis": {"host": "127.0.0.1", "port": port}}
        lsh = MinHashLSH(threshold=0.8, num_perm=VALUES, storage_config=storage)
        assert (lsh.b, lsh.r) == (BANDS, ROWS)
        names = ids_of(0, count)
        answers: list[list[str]] = []

        def add() -> None:
            with lsh.insertion_session(buffer_size=BATCH * BANDS) as session:
                for row in range(half):
                    session.insert(names[row], sketches[row])

        def seen() -> None:
            for row in range(half, count):
                answers.append(lsh.query(sketches[row]))
                lsh.insert(names[row], sketches[row])

        def query() -> None:
            for row in range(half, half + singles):
                lsh.query(sketches[row])

        def buffered() -> None:
            for row in range(half, half + singles):
                lsh.add_to_query_buffer(sketches[row])
            lsh.collect_query_buffer()

        found: dict[str, Any] = {"engine": "datasketch MinHashLSH", "documents": count}
        found["add"] = clock.measure(half, add)
        found["seen"] = clock.measure(count - half, seen)
        found["query"] = clock.measure(singles, query)
        found["query_buffered"] = clock.measure(singles, buffered)
        found["bytes"] = round((client.info("memory")["used_memory"] - before) / count)
    late = source[half:]
    hits = [names[copy] in answer for copy, answer in zip(late.tolist(), answers, strict=True) if copy >= 0]
    found["found"] = round(float(np.mean(hits)), 3)
    found["wrong"] = sum(
        bool(answer) for copy, answer in zip(late.tolist(), answers, strict=True) if copy < 0
    )
    return found


def _best_query(entry: dict[str, Any]) -> dict[str, float]:
    """Of datasketch's two ways to ask the faster."""
    ways = [entry[name] for name in ("query", "query_buffered") if name in entry]
    return max(ways, key=lambda way: way["per_second"])


def _cpu(way: dict[str, float]) -> float:
    return way["client_us"] + way["server_us"]


def table(result: dict[str, Any]) -> str:
    """The page of a result."""
    rows = {entry["engine"]: entry for entry in result["engines"]}
    rival = rows.get("datasketch MinHashLSH")
    lines = [
        "# The shared index beside datasketch's Redis storage",
        "",
        "Made by `python benchmarks/shared.py --out benchmarks/results/shared.json "
        "--table docs/inside/benchmarks-shared.md`.",
        f"{result['machine']['cpu']}, {result['machine']['cores']} cores for client and server together, load "
        f"{result['machine']['load']} at the start; Redis {result['redis']}, no persistence, loopback.",
        "",
        "Ready fingerprints; batches of about 1,000. `seen` looks a document up and adds it: one step here, a query",
        "and an insert in datasketch, and others may write between the two. `add` is `seen` here, and an insert there.",
        "CPU is microseconds a document, of the client and of the server; it is the better figure on a busy machine.",
        "",
        "| engine | documents | add/s | seen/s | query/s | CPU: add | seen | query | bytes each | found | wrong |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, entry in rows.items():
        query = _best_query(entry)
        cpu = [
            f"{part['client_us']:.0f} + {part['server_us']:.0f}"
            for part in (entry["add"], entry["seen"], query)
        ]
        lines.append(
            f"| {name} | {entry['documents']:,} | {entry['add']['per_second']:,} | {entry['seen']['per_second']:,} "
            f"| {query['per_second']:,} | {' | '.join(cpu)} "
            f"| {entry['bytes']:,} | {entry['found']:.1%} | {entry['wrong']} |"
        )
    lines.append("")
    if rival is not None:
        for name, entry in rows.items():
            if entry is rival or entry["documents"] != rival["documents"]:
                continue
            pairs = [(entry[what], rival[what]) for what in ("add", "seen")]
            pairs.append((_best_query(entry), _best_query(rival)))
            faster = [ours["per_second"] / theirs["per_second"] for ours, theirs in pairs]
            less = [_cpu(theirs) / _cpu(ours) for ours, theirs in pairs]
            said = [", ".join(f"{ratio:.0f}" for ratio in ratios) for ratios in (faster, less)]
            lines.append(
                f"- {name} beside datasketch, add, seen and query: {said[0]} times as many a second, {said[1]} times "
                f"less CPU; {rival['bytes'] / entry['bytes']:.0f} times less memory."
            )
    single = [entry for entry in rows.values() if "seen_one_by_one" in entry]
    lines += [
        f"- {entry['engine']}, {entry['documents']:,} documents, one `seen` at a time: "
        f"{entry['seen_one_by_one']['per_second']:,} duplicates a second"
        + (f", {entry['new_one_by_one']['per_second']:,} new pages." if "new_one_by_one" in entry else ".")
        for entry in single
    ]
    lines += [
        "",
        "datasketch has the same bands as ours for MinHash. Its query returns candidates; ours compares",
        "the sketches and answers with what is similar enough. Simhash has no idf here, and a radius of 3.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--large", type=int, default=0, help="simhash alone, at this size too")
    parser.add_argument("--singles", type=int, default=1000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--from", dest="kept", type=Path, help="no run: the table of this result")
    options = parser.parse_args()
    if options.kept:
        options.table.write_text(table(json.loads(options.kept.read_text())))
        return
    texts, source = make_texts(options.documents)
    result: dict[str, Any] = {"machine": describe(), "commit": commit(), "time": now(), "engines": []}
    with server() as client:
        result["redis"] = client.info("server")["redis_version"]
    runs: list[Callable[[], dict[str, Any]]] = [
        lambda: ours("simhash", texts, source, options.singles),
        lambda: ours("minhash", texts, source, options.singles),
    ]
    try:
        import datasketch  # noqa: F401

        runs.append(lambda: theirs(texts, source, options.singles))
    except ImportError:
        print("datasketch is not installed: not run", file=sys.stderr)
    if options.large:
        many, copied = make_texts(options.large, 2)
        runs.append(lambda: ours("simhash", many, copied, options.singles))
    for run in runs:
        entry = run()
        if entry["documents"] != options.documents:
            entry["engine"] += ", large"
        print(json.dumps(entry), flush=True)
        if entry["found"] < LEAST_FOUND or entry["wrong"] > entry["documents"] // 1000:
            sys.exit(
                f"{entry['engine']} found {entry['found']} of the copies and {entry['wrong']} that are none"
            )
        result["engines"].append(entry)
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    if options.table:
        options.table.write_text(table(result))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
