"""Ends what tests have started and not ended: those of a failed test, and all when the process that runs the tests is
killed. Everything they start has a mark in its environment, by which it is found.

    python leftovers.py MARK    waits for the end of its input, and then kills what has the mark
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import uuid
from pathlib import Path

__all__ = ["mark_children"]

NAME = "NEARDUP_TESTS"


def mark_children() -> None:
    """What this process starts from now on is gone soon after it, however it ends: another one waits for that, at the
    other end of a pipe that nothing but the end of this process closes."""
    if not Path("/proc/self/environ").exists():
        return
    mark = f"{os.getpid()}-{uuid.uuid4().hex}"
    reading, _ = os.pipe()
    command = [sys.executable, __file__, mark]
    os.posix_spawn(
        sys.executable, command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, reading, 0)], setsid=True
    )
    os.close(reading)
    os.environ[NAME] = mark


def marked(mark: str) -> list[int]:
    """All processes with this mark, as far as this one may look at them."""
    wanted, found = f"{NAME}={mark}".encode(), []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


def main(mark: str) -> None:
    sys.stdin.read()
    while left := marked(mark):
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1])
