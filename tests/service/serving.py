"""A real server in a process of its own, as a user starts it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Server:
    """A running `neardup serve`; `logs` are the lines it wrote to standard error."""

    process: subprocess.Popen
    url: str
    logs: list[str] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=20)


def start(index: Path, *options: str, environment: dict[str, str] | None = None) -> subprocess.Popen:
    command = [sys.executable, "-m", "neardup", "serve", str(index), "--port", "0", "--json", *options]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
    )


@contextmanager
def served(index: Path, *options: str, environment: dict[str, str] | None = None) -> Iterator[Server]:
    """The server, stopped at the end; it must end well, and no traceback may be in what it wrote."""
    process = start(index, *options, environment=environment)
    logs: list[str] = []
    reader = threading.Thread(target=lambda: logs.extend(process.stderr), daemon=True)
    reader.start()
    try:
        line = process.stdout.readline()
        assert line, "".join(logs)
        server = Server(process, json.loads(line)["url"].replace("0.0.0.0", "127.0.0.1"), logs)
        yield server
        if process.poll() is None:
            assert server.stop() == 0
        reader.join(5)
        assert not any("Traceback" in line for line in logs), "".join(logs)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        reader.join(5)
        process.stdout.close()
        process.stderr.close()


class HealthWatch:
    """Asks /v1/health all the time, on one connection, and remembers how long each answer took."""

    def __init__(self, url: str) -> None:
        self._url, self._stop = url, threading.Event()
        self.seconds: list[float] = []
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", int(self._url.rsplit(":", 1)[1]), timeout=20)
        while not self._stop.is_set():
            start = time.perf_counter()
            connection.request("GET", "/v1/health")
            assert connection.getresponse().read() == b'{"status":"ok"}'
            self.seconds.append(time.perf_counter() - start)
            self._stop.wait(0.005)
        connection.close()

    def __enter__(self) -> HealthWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.wait(0.2)  # what was sent may still be at work
        self._stop.set()
        self._thread.join()
