"""A sample of the input of a run on Spark: it identifies the run, and gives its seed; of files the very seed that a
local scan draws."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO, TypeVar, cast

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from neardup.config.config import Config
from neardup.pipeline.drawn_seed import drawn_from
from neardup.readers.corpus_sample import sample_files
from neardup.spark.inputs import Files, FrameInput
from neardup.spark.storage import file_system

__all__ = ["sampled"]

Input = TypeVar("Input", Files, FrameInput)


def sampled(spark: SparkSession, source: Input, config: Config) -> tuple[Input, Config]:
    """The input with a digest of its content, and the config with the seed that the input gives, unless it has its own.
    A DataFrame is read once for both."""
    if isinstance(source, Files):
        sample = _of_files(spark, source)
        return replace(source, content=sample.hex()), drawn_from(config, sample)
    sample, content = _of_frame(source)
    return replace(source, content=content), drawn_from(config, sample)


def _of_files(spark: SparkSession, source: Files) -> bytes:
    # As in a local scan those to compare against come last.
    files = [*source.files[source.reference :], *source.files[: source.reference]]
    far = not all(file.path.startswith("file:") for file in files)
    return sample_files([(file.size, partial(_opened, spark, file.path)) for file in files], far=far)


def _of_frame(source: FrameInput) -> tuple[bytes, str]:
    """A sample of all texts, and a digest of all columns that are read, for any order and any partitions."""
    rows, wide = source.selected(source.recipes[0]), "decimal(38,0)"
    # Between two columns there is a number, so that a null and the column beside it cannot change places.
    columns = [
        part for n, name in enumerate(rows.columns) for part in (F.col(f"`{name}`").cast("string"), F.lit(n))
    ]
    count, texts, whole = rows.agg(
        F.count(F.lit(1)), F.sum(F.xxhash64("text").cast(wide)), F.sum(F.xxhash64(*columns).cast(wide))
    ).collect()[0]
    sample = hashlib.blake2b(f"{count} {texts}".encode(), digest_size=16, person=b"neardup corpus")
    return sample.digest(), hashlib.blake2b(f"{count} {whole}".encode(), digest_size=16).hexdigest()


def _opened(spark: SparkSession, path: str) -> BinaryIO:
    if path.startswith("file:"):
        return open(path.removeprefix("file://").removeprefix("file:"), "rb")
    return cast(BinaryIO, _HadoopFile(spark, path))


class _HadoopFile:
    """A file on a Hadoop filesystem, with the methods that a sample needs."""

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
