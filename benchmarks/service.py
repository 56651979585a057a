"""The service on loopback: single `seen` and `search` requests, and bulk requests, from a client on the same cores.

    python -m benchmarks.service --stored 1000000 --check --out benchmarks/results/service.json

Ready 64-bit codes, uniform but for a fifth that are within radius 3 of a stored one. The load comes from one Python
process: bare asyncio connections, each with one request on its way at a time, so that its own cost is small but counts.
Latency is from the write of a request to the end of its answer. Texts are pages of 800 words.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.index import asking, batches
from benchmarks.machine import commit, describe, now, versions

import neardup as nd

SCHEME = "bare64"
BULK = 1000
BULK_CONNECTIONS = 4


class Connection(asyncio.Protocol):
    """Sends its requests one after the other and notes how long each took."""

    def __init__(self, requests: Any, seconds: list[float], done: asyncio.Future[None]) -> None:
        self._requests, self._seconds, self._done = requests, seconds, done
        self._data = b""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._next()

    def _next(self) -> None:
        request = next(self._requests, None)
        if request is None:
            self._transport.close()
            if not self._done.done():
                self._done.set_result(None)
            return
        self._start = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._data += data
        end = self._data.find(b"\r\n\r\n")
        if end < 0:
            return
        at = self._data.find(b"content-length: ")
        size = int(self._data[at + 16 : self._data.find(b"\r", at)])
        if len(self._data) < end + 4 + size:
            return
        if not self._data.startswith(b"HTTP/1.1 200"):
            self._done.set_exception(RuntimeError(self._data[:500].decode()))
            return
        self._seconds.append(time.perf_counter() - self._start)
        self._data = b""
        self._next()

    def connection_lost(self, error: Exception | None) -> None:
        if not self._done.done():
            self._done.set_exception(error or RuntimeError("the connection was closed"))


async def load(port: int, requests: list[bytes], connections: int) -> dict[str, Any]:
    """All requests over so many connections: rate and latencies in milliseconds."""
    loop = asyncio.get_running_loop()
    shared, seconds, ends = iter(requests), [], []
    start = time.perf_counter()
    for _ in range(connections):
        done = loop.create_future()
        ends.append(done)
        await loop.create_connection(lambda done=done: Connection(shared, seconds, done), "127.0.0.1", port)
    await asyncio.gather(*ends)
    taken = time.perf_counter() - start
    at = np.percentile(np.array(seconds) * 1000, [50, 99, 99.9])
    return {
        "requests": len(requests),
        "connections": connections,
        "per_second": round(len(requests) / taken),
        "p50_ms": round(float(at[0]), 2),
        "p99_ms": round(float(at[1]), 2),
        "p999_ms": round(float(at[2]), 2),
    }


def request(path: str, body: bytes, kind: str = "application/json") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def line(id: str, word: int) -> bytes:
    return json.dumps({"id": id, "fingerprint": int(word).to_bytes(8, "little").hex()}).encode()


def fill(folder: Path, words: np.ndarray) -> None:
    config = nd.Config(fingerprint=nd.Simhash(), search=nd.search.Compact(3))
    with nd.Index(folder, config, scheme=SCHEME, threads=2) as index:
        for ids, part in batches(words, "old"):
            index.add_prints(ids, part)


class Server:
    """`neardup serve` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        start = time.perf_counter()
        command = [sys.executable, "-m", "neardup", "serve", str(folder), "--port", "0", "--json"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.port = int(json.loads(self.process.stdout.readline())["url"].rsplit(":", 1)[1])
        self.start_seconds = round(time.perf_counter() - start, 2)

    def memory(self) -> int:
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def cpu(self) -> float:
        """Seconds of processor time so far."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            parts = file.read().rsplit(")", 1)[1].split()
        return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> float:
        start = time.perf_counter()
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=60) == 0
        return round(time.perf_counter() - start, 2)


def bulk(port: int, bodies: list[bytes], connections: int) -> tuple[float, int]:
    """Seconds for bulk requests, ready as bytes, over so many connections; and how many documents were new. Bare
    sockets in threads, which only wait for the system: the client's share of the cores is mostly its copying."""
    shared, new = iter(bodies), []
    gate = threading.Lock()

    def run() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        while True:
            with gate:
                body = next(shared, None)
            if body is None:
                return
            connection.request("POST", "/v1/documents", body, {"content-type": "application/x-ndjson"})
            new.append(json.loads(connection.getresponse().read())["new"])

    start = time.perf_counter()
    threads = [threading.Thread(target=run) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(new) == len(bodies)
    return time.perf_counter() - start, sum(new)


def measured(server: Server, asked: list[bytes], connections: int) -> dict[str, Any]:
    """Rate and latencies, and what a request costs the server, which says more on a machine that others use, too."""
    before = server.cpu()
    found = asyncio.run(load(server.port, asked, connections))
    return found | {"server_cpu_us": round((server.cpu() - before) / len(asked) * 1e6, 1)}


def codes_part(folder: Path, stored: int, count: int, connections: int) -> dict[str, Any]:
    rng = np.random.default_rng(stored)
    words = rng.integers(0, 2**64, stored, dtype=np.uint64)
    fill(folder, words)
    single, searched, many = (asking(words, rng) for _ in range(3))
    server = Server(folder)
    found: dict[str, Any] = {"stored": stored, "start_seconds": server.start_seconds}
    try:
        asked = [
            request("/v1/seen", line(f"https://example.org/s/{n}", w)) for n, w in enumerate(single[:count])
        ]
        found["seen"] = measured(server, asked, connections)
        asked = [request("/v1/search", b'{"first": true, ' + line("-", w)[12:]) for w in searched[:count]]
        found["search"] = measured(server, asked, connections)
        lines = [line(f"https://example.org/b/{n}", w) for n, w in enumerate(many)]
        bodies = [b"\n".join(lines[at : at + BULK]) for at in range(0, len(lines), BULK)]
        before = server.cpu()
        seconds, new = bulk(server.port, bodies, BULK_CONNECTIONS)
        cost = round((server.cpu() - before) / len(lines) * 1e6, 1)
        found["bulk"] = {
            "documents": len(lines),
            "batch": BULK,
            "connections": BULK_CONNECTIONS,
            "per_second": round(len(lines) / seconds),
            "new": new,
            "server_cpu_us": cost,
        }
        found["memory_mb"] = round(server.memory() / 1e6)
    finally:
        found["stop_seconds"] = server.stop()
    return found


def pages_of(count: int) -> list[str]:
    """Pages of 800 words, drawn as often as words are in a language."""
    rng = np.random.default_rng(1)
    vocabulary = np.array([f"word{n}" for n in range(20_000)])
    return [" ".join(vocabulary[rng.zipf(1.2, 800) % len(vocabulary)]) for _ in range(count)]


def native_rate(index: nd.Index, pages: list[str], threads: int) -> int:
    """Pages a second that are fingerprinted in this process and nothing else: the best of three rounds."""
    best = 0.0
    for _ in range(3):
        start = time.perf_counter()
        for at in range(0, len(pages), BULK):
            index.fingerprint(pages[at : at + BULK], threads=threads)
        best = max(best, len(pages) / (time.perf_counter() - start))
    return round(best)


def text_body(first: int, pages: list[str]) -> bytes:
    """A bulk request."""
    return b"\n".join(
        json.dumps({"id": f"https://example.org/t/{n}", "text": page}).encode()
        for n, page in enumerate(pages, first)
    )


def texts_part(folder: Path, count: int, store: str) -> dict[str, Any]:
    """Pages in bulk, beside the bare fingerprints of the same pages on one core and on two."""
    pages = pages_of(count)
    with nd.Index(folder, store=store) as index:
        native = [native_rate(index, pages, threads) for threads in (1, 2)]
    bodies = [text_body(at, pages[at : at + BULK]) for at in range(0, count, BULK)]
    server = Server(folder)
    try:
        bulk(
            server.port, [text_body(-BULK, pages_of(2 * BULK)[-BULK:])], 1
        )  # what is imported late is here by now
        before = server.cpu()
        seconds, new = bulk(server.port, bodies, BULK_CONNECTIONS)
        cost = round((server.cpu() - before) / count * 1e6, 1)
    finally:
        server.stop()
    return {
        "documents": count,
        "store": store,
        "page_bytes": round(sum(map(len, pages)) / count),
        "new": new,
        "per_second": round(count / seconds),
        "server_cpu_us": cost,
        "native_per_second": native[0],
        "native_per_second_two_threads": native[1],
        "share": round(count / seconds / native[0], 2),
        "share_of_two_threads": round(count / seconds / native[1], 2),
    }


def falls_short(found: dict[str, Any]) -> list[str]:
    """What is promised and was not reached."""
    seen, bulked, texts = found["codes"]["seen"], found["codes"]["bulk"], found["texts"]
    promised = (
        (seen["per_second"] >= 5000, f"{seen['per_second']:,} single seen a second, not 5,000"),
        (seen["p99_ms"] < 20, f"single seen: p99 is {seen['p99_ms']} ms, not below 20"),
        (bulked["per_second"] >= 50_000, f"{bulked['per_second']:,} documents a second in bulk, not 50,000"),
        (texts["share"] >= 0.4, f"pages at {texts['share']:.0%} of the native rate, not 40%"),
    )
    return [said for kept, said in promised if not kept]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stored", type=int, default=1_000_000)
    parser.add_argument("--requests", type=int, default=50_000)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--texts", type=int, default=40_000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--check", action="store_true", help="Fail if it is slower than promised.")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="neardup-service-"))
    try:
        found = {
            "made": now(),
            "commit": commit(),
            "machine": describe(),
            "versions": versions(("granian", "msgspec", "uvloop")),
            "codes": codes_part(folder / "codes.nd", options.stored, options.requests, options.connections),
            "texts": texts_part(folder / "texts.nd", options.texts, "none"),
            "texts_stored": texts_part(folder / "stored.nd", options.texts, "text"),
        }
    finally:
        shutil.rmtree(folder)
    text = json.dumps(found, indent=1)
    print(text)
    if options.out is not None:
        options.out.write_text(text + "\n")
    if options.check and (short := falls_short(found)):
        sys.exit("\n".join(short))


if __name__ == "__main__":
    main()
