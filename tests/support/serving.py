"""A real server in a process of its own, as a user starts it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.command import Server, serving


class Service(Server):
    """A running `neardup serve`."""

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=300)


@contextmanager
def served(index: Path | None, *options: str, environment: dict[str, str] | None = None) -> Iterator[Service]:
    """The server on any free port, stopped at the end."""
    arguments = ("serve", *([] if index is None else [str(index)]), "--port", "0", *options)
    with serving(*arguments, environment=environment) as server:
        yield Service(server.process, server.url.replace("0.0.0.0", "127.0.0.1"), server.logs)


# The server's port and process. When its input ends it asks some times more: what was sent may still be in work.
WATCH = """
import glob, http.client, json, sys, threading, time
port, process = sys.argv[1:]
connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=300)
stop, seconds, late, more = threading.Event(), [], [], 40
threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
def starved():
    total = 0
    for path in [*glob.glob(f"/proc/{process}/task/*/schedstat"), "/proc/self/schedstat"]:
        try:
            with open(path) as file:
                total += int(file.read().split()[1])
        except OSError:
            continue
    return total / 1e9
while more:
    more -= stop.is_set()
    before, start = starved(), time.perf_counter()
    connection.request("GET", "/v1/health")
    assert connection.getresponse().read() == b'{"status":"ok"}'
    end = time.perf_counter()
    seconds.append(end - start - (starved() - before))
    if len(seconds) == 1:
        print("watching", flush=True)
    asleep = time.perf_counter()
    time.sleep(0.005)
    late.append(time.perf_counter() - asleep - 0.005)
print(json.dumps([seconds, late]))
"""


class HealthWatch:
    """Asks /v1/health all the time, from a process of its own, and remembers how long each answer took, without the
    time for which one of the two could have run and the machine, busy with other things, had no processor for it.

    `late` is how much longer than asked the same process slept in between: what the machine, busy with other things,
    takes from anybody, and so from the service as well, at each of the four times a request changes hands.
    """

    def __init__(self, server: Service) -> None:
        self._server = server
        self.seconds: list[float] = []
        self.late: list[float] = []

    def __enter__(self) -> HealthWatch:
        watching = [sys.executable, "-c", WATCH, str(self._server.port), str(self._server.process.pid)]
        self._process = subprocess.Popen(watching, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout.readline() == "watching\n"
        return self

    def __exit__(self, *_: object) -> None:
        said, _ = self._process.communicate("", timeout=300)
        assert self._process.returncode == 0
        self.seconds, self.late = json.loads(said)

    def check(self, most: float = 0.1) -> None:
        """No answer waited longer than this, but for what the machine itself was late."""
        for share in (1.0, 0.99):
            took, late = (sorted(many)[int(share * (len(many) - 1))] for many in (self.seconds, self.late))
            assert took < most + 4 * late, (share, took, late)
