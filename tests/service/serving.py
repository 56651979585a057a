"""A real server in a process of its own, as a user starts it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from command import Server, serving


class Service(Server):
    """A running `neardup serve`."""

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)


@contextmanager
def served(index: Path, *options: str, environment: dict[str, str] | None = None) -> Iterator[Service]:
    """The server on any free port, stopped at the end."""
    arguments = ("serve", str(index), "--port", "0", *options)
    with serving(*arguments, environment=environment) as server:
        yield Service(server.process, server.url.replace("0.0.0.0", "127.0.0.1"), server.logs)


WATCH = """
import http.client, json, sys, threading, time
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=120)
stop, seconds, late = threading.Event(), [], []
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
while not stop.is_set():
    start = time.perf_counter()
    connection.request("GET", "/v1/health")
    assert connection.getresponse().read() == b'{"status":"ok"}'
    end = time.perf_counter()
    seconds.append(end - start)
    if len(seconds) == 1:
        print("watching", flush=True)
    time.sleep(0.005)
    late.append(time.perf_counter() - end - 0.005)
print(json.dumps([seconds, late]))
"""


class HealthWatch:
    """Asks /v1/health all the time, from a process of its own, and remembers how long each answer took.

    `late` is how much longer than asked the same process slept in between: what the machine, busy with other things,
    takes from anybody, and so from the service as well, at each of the four times a request changes hands.
    """

    def __init__(self, url: str) -> None:
        self._port = url.rsplit(":", 1)[1]
        self.seconds: list[float] = []
        self.late: list[float] = []

    def __enter__(self) -> HealthWatch:
        watching = [sys.executable, "-c", WATCH, self._port]
        self._process = subprocess.Popen(watching, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout.readline() == "watching\n"
        return self

    def __exit__(self, *_: object) -> None:
        time.sleep(0.2)  # what was sent may still be at work
        said, _ = self._process.communicate("", timeout=60)
        assert self._process.returncode == 0
        self.seconds, self.late = json.loads(said)

    def check(self, most: float = 0.1) -> None:
        """No answer took longer than this, but for what the machine itself was late."""
        assert len(self.seconds) >= 5
        for share in (1.0, 0.99):
            took, late = (sorted(many)[int(share * (len(many) - 1))] for many in (self.seconds, self.late))
            assert took < most + 4 * late, (share, took, late)
