"""A Spark session with the settings that the stages need, and errors of workers as NeardupErrors."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from neardup import errors
from neardup.errors import ConfigError, DataError
from neardup.values.checks import advise, checked

__all__ = ["check_session", "errors_of_workers", "own_session", "settings", "start"]

# Hadoop renames a task's files when the task ends, and by default again when the job ends. A stage is complete when
# its mark is written, so once is enough where renaming copies.
_ON_OBJECTS = {
    "mapreduce.fileoutputcommitter.algorithm.version": "2",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
}
_CONNECT = (
    "Spark Connect cannot reach the cluster's files; use a classic session (SparkSession.builder.master(...))"
)
advise(SparkSession, _CONNECT)  # its sessions have another class
_RAISED = re.compile(r"neardup\.errors\.(\w+): (.*?)(?:\n\n|\n\s+at |\Z)", re.DOTALL)
_CAUSE = re.compile(r"^\w[\w.]*(?:Error|Exception): .*", re.MULTILINE)


@checked
def start(
    master: str | None = None, name: str = "neardup", settings: dict[str, str] | None = None
) -> SparkSession:
    """The current session, or a new one. Workers use this Python, unless PYSPARK_PYTHON names another."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name)
    if master is not None:
        builder = builder.master(master)
    for key, value in (settings or {}).items():
        if not (isinstance(key, str) and isinstance(value, str)):
            raise ConfigError(f"start: settings must be texts by names, not {key!r}: {value!r:.80}")
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except PySparkException as error:
        raise DataError(
            "Spark does not start; it needs Java 17 or newer, found by JAVA_HOME or PATH (Debian and Ubuntu: apt "
            f"install openjdk-17-jre-headless). It says: {error}"
        ) from error


def settings(partitions: int, split: int, objects: bool = False) -> dict[str, str]:
    """SQL settings of a run. A document's row follows from the piece of the file it is in, so the way files are split
    must not depend on the number of cores. `objects` says that its folder is on an object store."""
    return {
        **(_ON_OBJECTS if objects else {}),
        "spark.sql.files.maxPartitionBytes": str(split),
        "spark.sql.files.minPartitionNum": "1",
        "spark.sql.files.openCostInBytes": "0",
        "spark.sql.shuffle.partitions": str(partitions),
        # Adaptive plans run a job for each shuffle; the number of partitions follows from the data anyway.
        "spark.sql.adaptive.enabled": "false",
        # Each broadcast is a job too; what is worth one is broadcast by name.
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
        "spark.sql.execution.arrow.maxBytesPerBatch": str(32 << 20),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.parquet.compression.codec": "zstd",
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
        "spark.sql.legacy.parquet.nanosAsLong": "true",
    }


def check_session(spark: SparkSession) -> None:
    """ConfigError for a session of Spark Connect, before anything runs."""
    if not hasattr(spark, "_jsc"):
        raise ConfigError(_CONNECT)


def own_session(spark: SparkSession, values: dict[str, str]) -> SparkSession:
    """A new session on the same cluster with these settings; the user's own session is not changed."""
    check_session(spark)
    session = spark.newSession()
    for key, value in values.items():
        session.conf.set(key, value)
    return session


@contextmanager
def errors_of_workers() -> Iterator[None]:
    """Raises an error of neardup in a worker again here; any other error of Spark becomes a DataError with its
    cause."""
    try:
        yield
    except PySparkException as error:
        raise _as_ours(error) from error
    except Py4JJavaError as error:
        cause = error.java_exception
        while (deeper := cause.getCause()) is not None:  # the first message only says that something failed
            cause = deeper
        raise DataError(f"Spark: {cause.getMessage() or cause.toString()}") from error


def _as_ours(error: Any) -> Exception:
    text = str(error)
    found = _RAISED.findall(text)
    if found:
        kind = getattr(errors, found[-1][0], DataError)
        message = found[-1][1].strip()
        if kind in (errors.ConfigError, errors.DataError):
            raised: Exception = kind(message)
            return raised
        return DataError(message)
    causes = _CAUSE.findall(text)
    first = causes[-1] if causes else next(iter(text.splitlines()), "")
    return DataError(f"Spark: {first[:2000]}")
