"""A Spark session with the settings that the stages rely on, and errors of workers as our own."""

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

__all__ = ["errors_of_workers", "own_session", "settings", "start"]

_RAISED = re.compile(r"neardup\.errors\.(\w+): (.*?)(?:\n\n|\n\s+at |\Z)", re.DOTALL)
_CAUSE = re.compile(r"^\w[\w.]*(?:Error|Exception): .*", re.MULTILINE)


def start(
    master: str | None = None, name: str = "neardup", settings: dict[str, str] | None = None
) -> SparkSession:
    """The session at hand, or a new one. Workers run the Python that runs this, unless PYSPARK_PYTHON says another."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name)
    if master is not None:
        builder = builder.master(master)
    for key, value in (settings or {}).items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except PySparkException as error:
        raise DataError(
            "Spark does not start; it needs Java 17 or newer, found by JAVA_HOME or PATH (Debian and Ubuntu: apt "
            f"install openjdk-17-jre-headless). It says: {error}"
        ) from error


def settings(partitions: int, split: int, chosen: bool) -> dict[str, str]:
    """SQL settings of a run. How files are cut must depend on the run alone and not on how many cores there are, for a
    document's row is told by the piece of the file it stands in."""
    return {
        "spark.sql.files.maxPartitionBytes": str(split),
        "spark.sql.files.minPartitionNum": "1",
        "spark.sql.files.openCostInBytes": "0",
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.sql.adaptive.coalescePartitions.enabled": "false" if chosen else "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
        "spark.sql.execution.arrow.maxBytesPerBatch": str(32 << 20),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.parquet.compression.codec": "zstd",
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
        "spark.sql.legacy.parquet.nanosAsLong": "true",
    }


def own_session(spark: SparkSession, values: dict[str, str]) -> SparkSession:
    """A session beside the user's, on the same cluster, with these settings: the user's own stay as they are."""
    if not hasattr(spark, "_jsc"):
        raise ConfigError(
            "Spark Connect has no way to the cluster's files; use a classic session (SparkSession.builder.master(...))"
        )
    session = spark.newSession()
    for key, value in values.items():
        session.conf.set(key, value)
    return session


@contextmanager
def errors_of_workers() -> Iterator[None]:
    """What a worker raised of ours is raised here as it was; anything else of Spark's as a DataError with its cause."""
    try:
        yield
    except PySparkException as error:
        raise _as_ours(error) from error
    except Py4JJavaError as error:
        cause = error.java_exception
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
