"""The seed of a run on Spark, drawn from its input: of files the very seed that a local scan draws."""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Any, BinaryIO, cast

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from neardup.config.config import Config
from neardup.pipeline.drawn_seed import drawn_from
from neardup.readers.corpus_sample import sample_files
from neardup.spark.inputs import Files, Frame
from neardup.spark.storage import file_system

__all__ = ["with_seed"]


def with_seed(spark: SparkSession, source: Files | Frame, config: Config) -> Config:
    """The config with the seed that the input gives, unless it has its own. A DataFrame is read once for it."""
    if not config.draws_seed:
        return config
    return drawn_from(config, _of_files(spark, source) if isinstance(source, Files) else _of_frame(source))


def _of_files(spark: SparkSession, source: Files) -> bytes:
    # As in a local scan those to compare against come last.
    files = [*source.files[source.reference :], *source.files[: source.reference]]
    far = not all(file.path.startswith("file:") for file in files)
    return sample_files([(file.size, partial(_opened, spark, file.path)) for file in files], far=far)


def _of_frame(source: Frame) -> bytes:
    """Of all texts, in any order and any partitions."""
    text = F.xxhash64(F.col(f"`{source.text}`")).cast("decimal(38,0)")
    count, total = source.frame.agg(F.count(F.lit(1)), F.sum(text)).collect()[0]
    return hashlib.blake2b(f"{count} {total}".encode(), digest_size=16, person=b"neardup corpus").digest()


def _opened(spark: SparkSession, path: str) -> BinaryIO:
    if path.startswith("file:"):
        return open(path.removeprefix("file://").removeprefix("file:"), "rb")
    return cast(BinaryIO, _HadoopFile(spark, path))


class _HadoopFile:
    """As much of a file on a Hadoop filesystem as a sample needs."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        system, place = file_system(spark, path)
        self._stream: Any = system.open(place)
        self._copy: Any = spark._jvm.org.apache.commons.io.IOUtils.toByteArray  # type: ignore[union-attr]

    def seek(self, at: int) -> None:
        self._stream.seek(at)

    def read(self, size: int) -> bytes:
        return bytes(self._copy(self._stream, size)) if size else b""

    def __enter__(self) -> _HadoopFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()
