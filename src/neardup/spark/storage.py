"""A run's folder on any Hadoop filesystem: complete stages, and small files of facts about them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import types as T

from neardup.errors import ConfigError, DataError, FormatError
from neardup.spark.lease import Lease
from neardup.storage.checked_json import checked_json, parse_checked

__all__ = ["MARK", "Facts", "Folder", "Listed", "as_frame", "file_system", "java_path", "write_counted"]

MARK = "run.json"
LAYOUT = 8  # version of the columns and marks of the stages; a run with another one is not read
_WRITTEN = re.compile(
    r"part-\d+-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
)  # a file that Spark wrote; the group names the write job
_GLOB = re.compile(r"([\\{}\[\]*?])")  # what Hadoop takes for a pattern
_OBJECTS = ("s3", "s3a", "s3n", "gs")
Facts = dict[str, Any]


class Listed:
    """One file: its full path, its size in bytes and when it was changed (ms)."""

    def __init__(self, path: str, size: int, changed: int) -> None:
        self.path, self.size, self.changed = path, size, changed


def _java(spark: SparkSession) -> Any:
    return spark._jvm


def java_path(spark: SparkSession, path: str) -> Any:
    """A path as an object of Hadoop."""
    return _java(spark).org.apache.hadoop.fs.Path(path)


def file_system(spark: SparkSession, path: str) -> tuple[Any, Any]:
    place = java_path(spark, path)
    try:
        system = place.getFileSystem(spark._jsc.hadoopConfiguration())
        if str(system.getScheme()) == "file" and not place.isAbsolute():
            # Java may have been started in another working directory than that of this process now.
            place = java_path(spark, os.path.abspath(path))
        return system, place
    except Exception as error:
        raise ConfigError(f"{path}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    cause = getattr(error, "java_exception", None)
    return str(cause.getMessage() or cause.toString()) if cause is not None else str(error)


class Folder:
    """A folder, read and written through Hadoop's FileSystem."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.spark = spark
        self._fs, place = file_system(spark, path)
        self.path = str(self._fs.makeQualified(place).toString())
        self._facts: dict[str, Facts] = {}
        self.lease, self.claimed = Lease(self), (0, 0)  # size of the mark file, and when it was written

    @property
    def local(self) -> str | None:
        """Its path on a filesystem of this machine, or None."""
        return str(self._at("").toUri().getPath()) if str(self._fs.getScheme()) == "file" else None

    @property
    def objects(self) -> bool:
        """Whether it is on an object store: there a file appears when it is complete, and renaming copies it."""
        return str(self._fs.getScheme()) in _OBJECTS

    def _at(self, name: str) -> Any:
        return java_path(self.spark, f"{self.path}/{name}" if name else self.path)

    def exists(self, name: str = "") -> bool:
        return bool(self._fs.exists(self._at(name)))

    def is_folder(self, name: str = "") -> bool:
        place = self._at(name)
        return bool(self._fs.exists(place) and self._fs.getFileStatus(place).isDirectory())

    def names(self, name: str = "") -> list[str]:
        """The names of its files and folders, sorted."""
        return sorted(str(status.getPath().getName()) for status in self._fs.listStatus(self._at(name)))

    def files(self, name: str = "") -> list[Listed]:
        """All files in it and in its subfolders."""
        found, every = [], self._fs.listFiles(self._at(name), True)
        while every.hasNext():
            status = every.next()
            found.append(
                Listed(str(status.getPath().toString()), status.getLen(), status.getModificationTime())
            )
        return sorted(found, key=lambda file: file.path)

    def make(self, name: str = "") -> None:
        self._fs.mkdirs(self._at(name))

    def remove(self, name: str = "") -> None:
        self._fs.delete(self._at(name), True)

    def rename(self, old: str, new: str) -> None:
        if not self._fs.rename(self._at(old), self._at(new)):
            raise DataError(f"{self.path}/{old}: could not be renamed to {new}")

    def move(self, path: str) -> None:
        """Give the folder itself another path."""
        if not self._fs.rename(self._at(""), java_path(self.spark, path)):
            raise DataError(f"{self.path}: could not be renamed to {path}")

    def touch(self, name: str) -> None:
        """An empty file."""
        self._fs.create(self._at(name), True).close()

    def replace(self, name: str, data: bytes) -> None:
        """Write a small file, or overwrite it."""
        _write(self._fs.create(self._at(name), True), data)

    def create(self, name: str, data: bytes) -> bool:
        """Write a small file; False if the name exists."""
        try:
            stream = self._fs.create(self._at(name), False)
        except Py4JJavaError as error:
            if self.exists(name):
                return False
            raise DataError(f"{self.path}/{name}: {_reason(error)}") from None
        _write(stream, data)
        return True

    def state(self, name: str) -> tuple[int, bytes] | None:
        """When a small file was changed (ms) and its bytes, which are empty while it is written; None if there is
        none."""
        changed = 0
        try:
            changed = int(self._fs.getFileStatus(self._at(name)).getModificationTime())
            return changed, self._bytes(name)
        except Py4JJavaError:
            return (changed, b"") if self.exists(name) else None

    def write_json(self, name: str, facts: Facts) -> None:
        """Write a small file: under its name it is always complete."""
        if self.objects:
            self.replace(name, checked_json(facts))
            return
        hidden = f".{name}.tmp"
        self.replace(hidden, checked_json(facts))
        if self.exists(name):
            self.remove(name)
        self.rename(hidden, name)

    def _bytes(self, name: str) -> bytes:
        stream = self._fs.open(self._at(name))
        try:
            return bytes(_java(self.spark).org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def read_json(self, name: str) -> Facts:
        path = f"{self.path}/{name}"
        facts, checked = parse_checked(self._bytes(name), path, "the facts of a stage")
        if not checked:
            raise FormatError(path, "a matching checksum", "a damaged file")
        return facts

    def read_mark(self) -> Facts:
        """The mark of the run: its inputs and config. ConfigError if another version of neardup wrote it."""
        mark, checked = parse_checked(self._bytes(MARK), f"{self.path}/{MARK}", "the mark of a run")
        if mark.get("layout") != LAYOUT:
            raise ConfigError(
                f"{self.path}: holds a run of another version of neardup; continue it with that version, name "
                "another folder, or overwrite it"
            )
        if not checked:
            raise FormatError(f"{self.path}/{MARK}", "a matching checksum", "a damaged file")
        return mark

    def claim(self, identity: Facts, split: int, overwrite: bool) -> int:
        """Use the folder for this run: a new one, or the same one that was stopped. Returns the size of the pieces that
        files are split into; a resumed run must use the stored size. No other driver may write to the folder until
        the lease is released."""
        identity = json.loads(json.dumps(identity))
        if self.exists() and not self.exists(MARK):
            if not self.is_folder():
                raise ConfigError(f"{self.path}: is a file; name a folder for the run")
            if any(not name.startswith(".") for name in self.names()):
                raise ConfigError(f"{self.path}: holds other files; name a new folder for the run")
        self.lease.hold()
        try:
            return self._claimed(identity, split, overwrite)
        except BaseException:
            self.lease.release()
            raise

    def _claimed(self, identity: Facts, split: int, overwrite: bool) -> int:
        if self.exists(MARK):
            if not overwrite:
                there = self.read_mark()
                before, self.claimed = there["identity"], self._marked()
                if before == identity:
                    return int(there["split"])
                named = [name for name in identity if before.get(name) != identity[name]]
                raise ConfigError(
                    f"{self.path}: holds a run of other {' and '.join(named) or 'settings'}; "
                    "name another folder, or overwrite it"
                )
            # The mark of a stage is removed before its rows, and the run's mark last. If this is interrupted, the
            # folder is still that of a run, and no incomplete stage has a mark.
            for name in sorted(self.names(), key=lambda name: (name == MARK, not name.endswith(".json"))):
                if not name.startswith("."):
                    self.remove(name)
        self.write_json(MARK, {"layout": LAYOUT, "identity": identity, "split": split})
        self.claimed = self._marked()
        return split

    def _marked(self) -> tuple[int, int]:
        if not self.exists(MARK):
            return 0, 0
        status = self._fs.getFileStatus(self._at(MARK))
        return int(status.getLen()), int(status.getModificationTime())

    def check(self) -> None:
        """DataError unless this driver still holds the folder and it still is that of the claimed run."""
        self.lease.check()
        if self.claimed[0] and self._marked() != self.claimed:
            raise DataError(f"{self.path}: was removed or overwritten since this run began; run it again")

    def _write_job(self, name: str) -> str:
        """The id of the job that wrote a stage. Files of another job can be there if a driver that was believed dead
        finished its own late."""
        found = {made[1] for made in map(_WRITTEN.match, self.names(name)) if made}
        if len(found) > 1:
            raise DataError(f"{self.path}/{name}: two drivers wrote there at once; run it again")
        return "".join(found)

    def stage(
        self,
        name: str,
        make: Callable[[], DataFrame],
        counts: Mapping[str, Column] | None = None,
        facts_of: Callable[[], Facts] | None = None,
    ) -> Facts:
        """The facts of a stage, which is made now unless it is stored: `counts` are numbers that the job which writes
        it counts on the way, `facts_of` gives others once it is written. Its mark is written last, so a rerun continues
        after the last complete stage on any filesystem, also where renaming a folder copies it."""
        mark = f"{name}.json"
        if name not in self._facts and self.exists(mark):
            self._facts[name] = self.read_json(mark)
        if name not in self._facts:
            self.check()
            self.remove(name)
            made = make()
            schema = made.schema.json()
            counted = write_counted(made, f"{self.path}/{name}", counts)
            known = {"schema": schema, "job": self._write_job(name)}
            self._facts[name] = known
            try:
                facts = {**counted, **(facts_of() if facts_of else {}), **known}
                self.check()
                self.write_json(mark, facts)
            except BaseException:
                del self._facts[name]  # it is incomplete
                raise
            self._facts[name] = facts
        return self._facts[name]

    def done(self, name: str) -> bool:
        """Whether a stage is complete."""
        return name in self._facts or self.exists(f"{name}.json")

    def read(self, name: str) -> DataFrame:
        """A stage's rows."""
        if name not in self._facts:
            self._facts[name] = self.read_json(f"{name}.json")
        # With the schema given, Spark does not read it from the files.
        schema = T.StructType.fromJson(json.loads(self._facts[name]["schema"]))
        job = self._facts[name]["job"]
        only = {"pathGlobFilter": f"part-*{job}*"} if job else {}
        return self.spark.read.schema(schema).options(**only).parquet(f"{self.path}/{name}")

    def parts(self, name: str, columns: Sequence[str], schema: Any, count: int) -> Iterator[pa.Table]:
        """Columns of a folder of Parquet files, about a `count`-th of the files at a time, to bound the driver's
        memory and the size of a job's result."""
        files = [file for file in self.files(name) if file.path.endswith(".parquet")]
        ends = np.cumsum([file.size for file in files])
        part = ends * count // (ends[-1] + 1) if files else ends
        for some in np.split(np.arange(len(files)), np.flatnonzero(np.diff(part)) + 1):
            paths = [_GLOB.sub(r"\\\1", files[i].path) for i in some.tolist()]
            if paths:
                yield self.spark.read.schema(schema).parquet(*paths).select(*columns).toArrow()


def write_counted(
    rows: DataFrame, path: str, counts: Mapping[str, Column] | None, mode: str = "error"
) -> Facts:
    """Write rows as Parquet, and count them in the same job. Numbers that have no rows to count are 0."""
    if not counts:
        rows.write.mode(mode).parquet(path)
        return {}
    seen = Observation()
    rows.observe(seen, *(column.alias(name) for name, column in counts.items())).write.mode(mode).parquet(
        path
    )
    found = seen.get
    return {name: int(found.get(name) or 0) for name in counts}


def _write(stream: Any, data: bytes) -> None:
    try:
        stream.write(bytearray(data))
    finally:
        stream.close()


def as_frame(spark: SparkSession, table: pa.Table, schema: str) -> DataFrame:
    """A table in the driver's memory as a DataFrame."""
    return spark.createDataFrame(table, schema) if table.num_rows else spark.createDataFrame([], schema)
