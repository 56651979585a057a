"""Runs the neardup command as a user would, and checks that no traceback ever reaches them."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from support.command_server import command_folder


def run(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess:
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    command = [str(command_folder() / "neardup"), *arguments]
    result = subprocess.run(command, capture_output=True, input=stdin, env=environment, timeout=300)
    assert b"Traceback" not in result.stderr
    return result


def start(
    *arguments: str, environment: dict[str, str] | None = None, python: str = sys.executable
) -> subprocess.Popen:
    """A command that runs until it gets a signal to stop."""
    return subprocess.Popen(
        [python, "-m", "neardup", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
    )


@dataclass
class Server:
    """A running command that serves; `logs` are the lines it wrote to standard error."""

    process: subprocess.Popen
    url: str
    logs: list[str] = field(default_factory=list)

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=300)


@contextmanager
def serving(
    *arguments: str, environment: dict[str, str] | None = None, python: str = sys.executable
) -> Iterator[Server]:
    """A command that says where it listens, stopped at the end; it must end well, and no traceback may be in what it
    wrote."""
    process = start(*arguments, "--json", environment=environment, python=python)
    logs: list[str] = []
    reader = threading.Thread(target=lambda: logs.extend(process.stderr), daemon=True)
    reader.start()
    try:
        line = process.stdout.readline()
        assert line, "".join(logs)
        server = Server(process, json.loads(line)["url"], logs)
        yield server
        if process.poll() is None:
            assert server.stop() == 0
        reader.join(60)
        assert not any("Traceback" in line for line in logs), "".join(logs)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        reader.join(60)
        process.stdout.close()
        process.stderr.close()
