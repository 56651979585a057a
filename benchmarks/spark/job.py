"""The Spark command under test, where its log is, and how to read what it found."""

from __future__ import annotations

import hashlib
import shlex
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["command", "digest", "environment", "log_of", "over_cluster", "read"]

SETTINGS = {
    "spark.driver.memory": "2g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
}


def command(corpus: Path, run: Path, threads: int) -> list[str]:
    """What a user types; threshold and floor are those of the local command it is compared with."""
    options = f"--threshold 0.8 --floor 0.8 --master local[{threads}] --quiet --json".split()
    return [sys.executable, "-m", "neardup", "spark", "scan", str(corpus), "--out", str(run), *options]


def over_cluster(corpus: Path, run: Path, stages: Path, threads: int) -> list[str]:
    """The same over the cluster, as runs beyond the driver's limit are; the stages are kept."""
    script = [sys.executable, "-m", "benchmarks.spark.over_cluster"]
    return [*script, str(corpus), str(run), str(stages), str(threads)]


def environment(folder: Path) -> dict[str, str]:
    """What makes Spark keep its events in this folder, and its temporary files where disk is watched."""
    settings = SETTINGS | {
        "spark.eventLog.dir": f"file://{folder}/events",
        "spark.local.dir": str(folder / "local"),
    }
    given = " ".join(f"--conf {shlex.quote(f'{name}={value}')}" for name, value in settings.items())
    return {
        "PYSPARK_SUBMIT_ARGS": f"{given} pyspark-shell",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def log_of(folder: Path) -> Path:
    """The one application's log of events."""
    (log,) = (folder / "events").iterdir()
    return log


def read(run: Path, rows: int) -> NDArray[np.int64]:
    """The keeper of each row, from the findings."""
    import neardup as nd

    keepers = nd.Findings(run).cut().clusters.keeper
    assert len(keepers) == rows
    return keepers


def digest(keepers: NDArray[np.int64]) -> str:
    """Equal for equal answers."""
    return hashlib.sha256(np.ascontiguousarray(keepers, np.int64).tobytes()).hexdigest()[:16]
