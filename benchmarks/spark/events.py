"""What each of our stages moved, from Spark's own event log: rows, bytes written, bytes shuffled and spilled.

Spark numbers jobs and stages of its own; ours follow one another, and a run writes the mark of each when it is whole.
So a job belongs to the first of our stages whose mark was written after the job began.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

__all__ = ["Mark", "Volume", "jobs", "marks_of", "volumes"]

Json = dict[str, Any]


@dataclass(frozen=True)
class Mark:
    """One of our stages: its name, when it was whole (ms), and the bytes that lie in its folder."""

    name: str
    time: float
    bytes: int


@dataclass
class Volume:
    """Of one of our stages, over all its tasks. Bytes as Spark counts them: shuffled ones after compression, those read
    without what is read back from a shuffle. `kept_bytes` lie in the stage's folder when it is whole; `seconds` are on
    the clock since the stage before was whole; `task_seconds` are of the JVM's task threads, Python's time included, as
    they wait for it."""

    name: str
    seconds: float = 0.0
    tasks: int = 0
    failed_tasks: int = 0
    task_seconds: float = 0.0
    rows_read: int = 0
    bytes_read: int = 0
    rows_written: int = 0
    bytes_written: int = 0
    kept_bytes: int = 0
    shuffle_rows: int = 0
    shuffle_bytes: int = 0
    spilled_bytes: int = 0
    peak_task_memory: int = 0

    def to_json(self) -> Json:
        return asdict(self)


def marks_of(run: Path) -> list[Mark]:
    """The stages of a run in the order they became whole: each has a folder, and a file of facts beside it."""
    found = []
    for mark in run.glob("*.json"):
        folder = mark.with_suffix("")
        if folder.is_dir():
            size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
            found.append(Mark(mark.stem, mark.stat().st_mtime_ns / 1e6, size))
    return sorted(found, key=lambda mark: mark.time)


def volumes(log: Path, marks: list[Mark]) -> list[Volume]:
    """The volume of each of our stages; what ran after the last mark is `after`, if anything did."""
    times = [mark.time for mark in marks]
    names = [*(mark.name for mark in marks), "after"]
    found = {name: Volume(name) for name in names}
    place: dict[int, str] = {}  # of Spark's stages
    start: float | None = None
    for event in _events(log):
        kind = event["Event"]
        if kind == "SparkListenerApplicationStart":
            start = float(event["Timestamp"])
        elif kind == "SparkListenerJobStart":
            for number in event["Stage IDs"]:
                place.setdefault(number, names[bisect_left(times, event["Submission Time"])])
        elif kind == "SparkListenerTaskEnd":
            _add(found[place[event["Stage ID"]]], event)
    before = start if start is not None else 0.0
    for mark in marks:
        found[mark.name].seconds = round((mark.time - before) / 1e3, 3)
        found[mark.name].kept_bytes = mark.bytes
        before = mark.time
    return [found[name] for name in names if name != "after" or found[name].tasks]


def jobs(log: Path) -> int:
    """How many jobs Spark began."""
    return sum(event["Event"] == "SparkListenerJobStart" for event in _events(log))


def _events(log: Path) -> Iterator[Json]:
    """The events of an application: one file, or a folder of files that follow one another."""
    files = [log] if log.is_file() else sorted(log.glob("events_*"), key=lambda p: int(p.name.split("_")[1]))
    for file in files:
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)


def _add(volume: Volume, event: Json) -> None:
    volume.tasks += 1
    metrics = event.get("Task Metrics")
    if event["Task Info"]["Failed"] or metrics is None:
        volume.failed_tasks += 1
        return
    part: dict[str, Json] = defaultdict(dict, metrics)
    volume.task_seconds += metrics["Executor Run Time"] / 1e3
    volume.rows_read += part["Input Metrics"].get("Records Read", 0)
    volume.bytes_read += part["Input Metrics"].get("Bytes Read", 0)
    volume.rows_written += part["Output Metrics"].get("Records Written", 0)
    volume.bytes_written += part["Output Metrics"].get("Bytes Written", 0)
    volume.shuffle_rows += part["Shuffle Write Metrics"].get("Shuffle Records Written", 0)
    volume.shuffle_bytes += part["Shuffle Write Metrics"].get("Shuffle Bytes Written", 0)
    volume.spilled_bytes += metrics.get("Disk Bytes Spilled", 0)
    volume.peak_task_memory = max(volume.peak_task_memory, metrics.get("Peak Execution Memory", 0))
