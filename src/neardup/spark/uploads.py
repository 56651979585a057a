"""Outputs on S3, where renaming a file copies it: each worker uploads whole objects under their final names.

Spark's own writer renames its files, and so does Hadoop when a folder gets its final name. On an object store every
such step copies all bytes. So here a task writes a piece to a temporary file of its machine and uploads it when it is
complete. Two attempts of a task upload the same bytes to the same name, so it does not matter which one is last.
"""

from __future__ import annotations

import re
import secrets
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from neardup.errors import DataError
from neardup.spark.storage import file_system

__all__ = ["FILE", "PLACE", "SENT", "Bucket", "ObjectNames", "Upload", "Worker", "part_name", "sent_rows"]

# Columns of the rows to write: the number of the input, and the place.
FILE, PLACE = "neardup_file", "neardup_place"
SENT = "name string, rows bigint"
_SCHEMES = ("s3", "s3a", "s3n")
# How `fs.s3a` settings are called in pyarrow.
_KEYS = {"access.key": "access_key", "secret.key": "secret_key", "session.token": "session_token"}
# Where one of these is set, only Hadoop knows how to write.
_OTHERS = ("encryption.algorithm", "server-side-encryption-algorithm", "assumed.role.arn", "proxy.host")
_AT_ONCE = 64 << 20  # bytes that are uploaded at a time
Worker = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class Bucket:
    """A folder of a bucket, in a form that tasks can receive: `root` is BUCKET/FOLDER, `options` are those of pyarrow's
    S3FileSystem."""

    root: str
    options: Mapping[str, Any] = field(repr=False)  # they may have a secret key

    @classmethod
    def of(cls, spark: SparkSession, path: str) -> Bucket | None:
        """The bucket that a path of Hadoop names, with the settings of `fs.s3a`; None for every other filesystem, and
        for S3 with settings that pyarrow does not have."""
        system, place = file_system(spark, path)
        full = urlsplit(str(system.makeQualified(place).toString()))
        if full.scheme not in _SCHEMES:
            return None
        setting = _settings(spark, full.netloc)
        if any(setting(name) for name in _OTHERS):
            return None
        options: dict[str, Any] = {ours: value for name, ours in _KEYS.items() if (value := setting(name))}
        endpoint, region = setting("endpoint"), setting("endpoint.region")
        if endpoint and not endpoint.endswith(("amazonaws.com", "amazonaws.com.cn")):
            secure = setting("connection.ssl.enabled") != "false"
            options["endpoint_override"] = endpoint.partition("://")[2] or endpoint
            options["scheme"] = "http" if endpoint.startswith("http://") or not secure else "https"
            options["force_virtual_addressing"] = setting("path.style.access") != "true"
            region = region or "us-east-1"  # what S3A assumes, too
        options["region"] = region or _region(full.netloc)
        return cls(f"{full.netloc}{full.path}".rstrip("/"), options)

    def refused(self) -> str:
        """Why this process cannot write there, such as for missing credentials; empty if it can."""
        name = f"{self.root}/.{secrets.token_hex(4)}.tmp"
        try:
            system = self.system()
            with system.open_output_stream(name) as stream:
                stream.write(b"")
            system.delete_file(name)
        except (OSError, pa.ArrowException) as error:
            return str(error)
        return ""

    def system(self) -> Any:
        from pyarrow.fs import S3FileSystem

        return S3FileSystem(**self.options)

    def upload(self, name: str, data: pa.Buffer) -> None:
        """Write an object; it appears when it is complete."""
        path = f"{self.root}/{name}"
        try:
            # Without `compression`, pyarrow would compress again what has the name of a compressed file. It uploads
            # copies in the background; `flush` waits for them, to bound their size. After a part has failed, pyarrow
            # completes nothing.
            with self.system().open_output_stream(path, compression=None) as stream:
                for at in range(0, len(data), _AT_ONCE):
                    stream.write(data[at : at + _AT_ONCE])
                    stream.flush()
        except OSError as error:
            raise DataError(f"{path}: could not be written: {error}") from None


def _settings(spark: SparkSession, bucket: str) -> Callable[[str], str]:
    """The value of a setting of `fs.s3a`, for this bucket if there is one for it; empty if there is none."""
    java: Any = spark._jvm
    configuration: Any = spark._jsc.hadoopConfiguration()

    def setting(name: str) -> str:
        for key in (f"fs.s3a.bucket.{bucket}.{name}", f"fs.s3a.{name}"):
            # Secrets may be in a store of credentials instead, which only this method reads.
            value = configuration.getPassword(key)
            if value is not None and (text := str(java.java.lang.String.valueOf(value)).strip()):
                return text
        return ""

    return setting


def _region(bucket: str) -> str | None:
    """Where a bucket of AWS is; None if AWS does not say, so that the surroundings decide."""
    from pyarrow.fs import resolve_s3_region

    try:
        return str(resolve_s3_region(bucket))
    except (OSError, pa.ArrowException):
        return None


@dataclass(frozen=True)
class ObjectNames:
    """The output of each piece of the inputs, by the place at which the piece begins. Pieces without documents to write
    have the name ""."""

    begins: NDArray[np.int64]
    names: tuple[str, ...]

    @classmethod
    def of(
        cls, begins: Mapping[tuple[int, int], int], targets: Mapping[int, str], wanted: NDArray[np.bool_]
    ) -> ObjectNames:
        """`targets` are the names for the files, `wanted` says which places are written. If more than one piece of a
        file has such places, the name is that of a folder with its parts."""
        ordered = sorted(begins.items(), key=lambda piece: (piece[1], piece[0]))
        starts = np.array([at for _, at in ordered], np.int64)
        ends = np.append(starts[1:], len(wanted))
        used = [bool(wanted[a:b].any()) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
        parts: dict[int, list[int]] = {}
        for number, ((file, _), _) in enumerate(ordered):
            if used[number]:
                parts.setdefault(file, []).append(number)
        names = [""] * len(ordered)
        for file, numbers in parts.items():
            for i, number in enumerate(numbers):
                names[number] = targets[file] if len(numbers) == 1 else part_name(targets[file], i)
        return cls(starts, tuple(names))

    def at(self, place: int) -> str:
        """The output of the piece with this place."""
        # Of several pieces that begin at one place all but the last are empty.
        return self.names[int(np.searchsorted(self.begins, place, "right")) - 1]


def part_name(name: str, number: int) -> str:
    """The name of a part of an output that is a folder."""
    suffix = re.sub(r"^.*?(\.\w+(?:\.\w+)?)$", r"\1", name.rpartition("/")[2])
    return f"{name}/part-{number:05}{suffix}"


@dataclass(frozen=True)
class Upload:
    """Uploads the rows that `chosen` gives, an object for each piece. Its answers are the names of the objects and
    their numbers of rows. `codec` is the compression of lines by its name in Arrow; None: they are not compressed."""

    chosen: Worker
    bucket: Bucket
    names: Any  # a broadcast ObjectNames
    table: bool
    codec: str | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        names: ObjectNames = self.names.value
        name, held = "", None
        for rows in self.chosen(batches):
            here = names.at(rows.column(PLACE)[0].as_py())
            if held is None or here != name:
                if held is not None:
                    yield self._sent(name, held)
                name, held = here, _Held(self.table, self.codec)
            held.add(rows.drop_columns([FILE, PLACE]))
        if held is not None:
            yield self._sent(name, held)

    def _sent(self, name: str, held: _Held) -> pa.RecordBatch:
        held.send(self.bucket, name)
        return pa.record_batch([pa.array([name]), pa.array([held.rows], pa.int64())], ["name", "rows"])


class _Held:
    """A piece of the output that is not complete yet, in a temporary file."""

    def __init__(self, table: bool, codec: str | None) -> None:
        self.rows = 0
        self._file = tempfile.NamedTemporaryFile(prefix="neardup-upload-")  # noqa: SIM115  (closed by `send`)
        self._table = table
        self._sink: Any = pa.OSFile(self._file.name, "wb")
        if codec is not None:
            self._sink = pa.CompressedOutputStream(self._sink, codec)
        self._writer: Any = None

    def add(self, rows: pa.RecordBatch) -> None:
        self.rows += rows.num_rows
        if self._table:
            if self._writer is None:
                from pyarrow import parquet

                self._writer = parquet.ParquetWriter(self._sink, rows.schema, compression="zstd")
            self._writer.write_batch(rows)
            return
        lines = rows.column("value").cast(pa.large_binary()).to_pylist()
        self._sink.write(b"\n".join(lines) + b"\n")

    def send(self, bucket: Bucket, name: str) -> None:
        if self._writer is not None:
            self._writer.close()
        self._sink.close()
        with self._file, pa.memory_map(self._file.name) as whole:
            bucket.upload(name, whole.read_buffer())


def sent_rows(found: Sequence[Mapping[str, Any]], names: ObjectNames) -> int:
    """The number of rows that tasks have uploaded. DataError if an object is missing."""
    missing = {name for name in names.names if name} - {str(one["name"]) for one in found}
    if missing:
        raise DataError(f"{min(missing)}: was not written; the inputs have changed since they were scanned")
    return sum(int(one["rows"]) for one in found)
