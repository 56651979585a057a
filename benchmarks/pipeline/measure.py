"""Run a command and say what it cost: wall time, CPU seconds, and the peaks of memory and disk of all its processes."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Cost", "run"]

EVERY = 0.05  # seconds between two looks at memory; short enough for stages of a second


@dataclass(frozen=True)
class Cost:
    """Seconds and bytes. `peak` is resident memory of the process and its descendants together, `anonymous` the part
    of it that is no mapped file, `disk` the most that the watched folder held."""

    wall: float
    cpu: float
    peak: int
    anonymous: int
    disk: int
    code: int
    output: str
    errors: str


def run(command: list[str], *, folder: Path, environment: dict[str, str], timeout: float) -> Cost:
    """Run a command to its end, or kill it after `timeout` seconds; what it leaves in `folder` is watched."""
    with (folder / "stdout").open("wb") as output, (folder / "stderr").open("wb") as errors:
        start = time.perf_counter()
        # A session of its own, so that a timeout ends the descendants too.
        child = subprocess.Popen(
            command, stdout=output, stderr=errors, env=environment, start_new_session=True
        )
        ended: list[tuple[float, int, float]] = []

        def wait() -> None:
            _, status, used = os.wait4(child.pid, 0)
            ended.append((time.perf_counter(), status, used.ru_utime + used.ru_stime))

        waiter = threading.Thread(target=wait)
        waiter.start()
        peak = anonymous = disk = looks = 0
        ticks: dict[int, int] = {}
        while waiter.is_alive():
            resident, private, highest = look(child.pid, ticks)
            # The kernel's own high-water mark of one process catches what happens between two looks.
            peak, anonymous = max(peak, resident, highest), max(anonymous, private)
            if looks % 10 == 0:
                disk = max(disk, size(folder))
            looks += 1
            if time.perf_counter() - start > timeout:
                os.killpg(child.pid, 9)
                waiter.join()
                break
            waiter.join(EVERY)
    end, status, cpu = ended[0]
    child.returncode = os.waitstatus_to_exitcode(status)
    # The kernel adds up the children that were waited for; a pool's servers may leave theirs to others.
    cpu = max(cpu, sum(ticks.values()) / os.sysconf("SC_CLK_TCK"))
    said = [(folder / name).read_text("utf-8", "replace") for name in ("stdout", "stderr")]
    return Cost(end - start, cpu, peak, anonymous, max(disk, size(folder)), child.returncode, *said)


def look(pid: int, ticks: dict[int, int]) -> tuple[int, int, int]:
    """Bytes resident in a process and its descendants, the private ones of them, and the highest mark of one.

    `ticks` remembers the CPU time of every process ever seen. A child that has not begun a program of its own yet, as
    Java makes many of, is in its parent's memory: it has one thread and the same addresses, and is not counted again.
    """
    resident = private = highest = 0
    waiting: list[tuple[int, str | None]] = [(pid, None)]
    while waiting:
        one, parent = waiting.pop()
        folder = Path(f"/proc/{one}")
        try:
            fields = dict(
                line.split(":", 1) for line in (folder / "status").read_text().splitlines() if ":" in line
            )
            for task in (folder / "task").iterdir():
                children = (task / "children").read_text().split()
                waiting += [(int(child), fields.get("VmSize")) for child in children]
            used = (folder / "stat").read_text().rpartition(")")[2].split()
        except (OSError, ValueError):  # it ended meanwhile
            continue
        ticks[one] = int(used[11]) + int(used[12])
        if fields.get("Threads", "").strip() == "1" and fields.get("VmSize") == parent is not None:
            continue
        resident += kilobytes(fields.get("VmRSS"))
        private += kilobytes(fields.get("RssAnon"))
        highest = max(highest, kilobytes(fields.get("VmHWM")))
    return resident, private, highest


def kilobytes(field: str | None) -> int:
    return int(field.split()[0]) * 1024 if field else 0


def size(folder: Path) -> int:
    """Bytes of all files below a folder, as far as they are there while it is looked at."""
    total = 0
    for parent, _, names in os.walk(folder):  # which passes over a folder that was removed meanwhile
        for name in names:
            try:
                total += os.stat(f"{parent}/{name}", follow_symlinks=False).st_size
            except OSError:
                continue
    return total
