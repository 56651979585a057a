"""apply(): write the kept or the dropped documents on the cluster: for each input a file of its name and format.

Workers read the texts again and filter them by a bitmap with one bit for each place. Texts are never shuffled.
"""

from __future__ import annotations

import json
import math
import os
import re
import secrets
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from neardup.clusters.keepers import Keep
from neardup.clusters.selection import Cut
from neardup.errors import ConfigError, DataError
from neardup.findings.apply import Applied
from neardup.findings.decided import decided_cut
from neardup.findings.folder import Findings
from neardup.findings.removal_alarms import alarms
from neardup.pipeline.batches import DocumentBatch
from neardup.spark.findings import read_origin
from neardup.spark.inputs import File, Files
from neardup.spark.pieces import PATH, START, Pieces, ReadRecipe, split_of
from neardup.spark.places import PlaceSet, begins_of, checksums_of, file_begins
from neardup.spark.session import errors_of_workers, own_session, settings, start
from neardup.spark.storage import Folder, file_system
from neardup.spark.uploads import FILE, PLACE, SENT, Bucket, ObjectNames, Upload, Worker, part_name, sent_rows
from neardup.values.checks import checked

__all__ = ["apply"]

# Hadoop's own codec for zstd needs a native library that Spark does not bring; that of Parquet has its own.
_CODECS = {".gz": "gzip", ".bz2": "bzip2", ".zst": "org.apache.parquet.hadoop.codec.ZstandardCodec"}
_ARROW_CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}  # the same where workers write
_PARTS = ".parts"  # Spark writes here first; names of inputs never begin with a dot
Write = Literal["kept", "dropped"]


@checked
def apply(
    findings: Findings | str | PathLike[str],
    out: str,
    *,
    spark: SparkSession | None = None,
    threshold: float | None = None,
    keep: Keep | None = None,
    write: Write = "kept",
    decisions: bool = True,
    allow_mass_removal: bool = False,
) -> Applied:
    """Write the kept documents of a run's inputs, or the dropped ones, to the new folder `out`.

    `findings` are those that `scan` wrote; the decisions are the same as those of `neardup.apply`. Each input gives a
    file of its name and format, or, if it was read in several pieces, a folder of that name with its parts in order.
    Formats that can be read but not written (WARC, CSV ...) give JSON lines, NAME.jsonl. An input without documents to
    write gives no file. The folder appears only when it is complete; on S3, where a folder has no name of its own, each
    object appears when it is complete, and `_SUCCESS` is written last. Raises DataError when an input has changed, and,
    unless `allow_mass_removal`, when very many documents would be dropped.
    """
    found = findings if isinstance(findings, Findings) else Findings(findings)
    origin = read_origin(found)
    cut = decided_cut(found, threshold, keep) if decisions else found.cut(threshold, keep)
    reasons = alarms(found, cut)
    if reasons and not allow_mass_removal:
        raise DataError(
            "very many documents would be dropped, so nothing was written:\n  " + "\n  ".join(reasons)
        )
    with errors_of_workers():
        return _SparkOutput(spark or start(), found, origin, cut, out, write).run()


class _SparkOutput:
    def __init__(
        self,
        spark: SparkSession,
        findings: Findings,
        origin: dict[str, Any],
        cut: Cut,
        out: str,
        write: Write,
    ) -> None:
        self.findings, self.cut, self.write, self.out = findings, cut, write, out.rstrip("/")
        self.source = Files.of_run(origin["identity"])
        self.begins, self.places = begins_of(origin["pieces"]), sum(lines for *_, lines in origin["pieces"])
        self.checksums = checksums_of(origin)
        partitions = max(spark.sparkContext.defaultParallelism, math.ceil(self.source.size / (64 << 20)))
        self.session = own_session(spark, settings(partitions, origin["split"]))
        self.target = Folder(self.session, self.out)

    def run(self) -> Applied:
        self._check_output()
        _check_targets(self._targets())
        self._unchanged()
        wanted = self._wanted()
        bucket = self._bucket()
        if bucket is None:
            self._renamed(wanted)
        else:
            self._uploaded(wanted, bucket)
        own = len(self.findings) - self.findings.reference
        return Applied(int(wanted.sum()), own, self.out)

    def _wanted(self) -> NDArray[np.bool_]:
        """Which places on the cluster have documents to write."""
        found = self.findings
        chosen = self.cut.kept if self.write == "kept" else ~self.cut.kept
        rows = np.flatnonzero(chosen)
        rows = rows[rows >= found.reference]
        first = file_begins(self.begins)
        number = {file.name: i for i, file in enumerate(self.source.files)}
        starts = np.array([first.get(number[name], 0) for name in found.file_names], np.int64)
        wanted = np.zeros(self.places, np.bool_)
        wanted[starts[found.files[rows]] + found.places[rows] - 1] = True
        return wanted

    def _bucket(self) -> Bucket | None:
        """Where the workers upload the output themselves; None where Spark writes it."""
        bucket = Bucket.of(self.session, self.out)
        if bucket is not None and (reason := bucket.refused()):
            warnings.warn(
                f"{self.out}: Python cannot write there, so Spark writes files that are then renamed, and a renamed "
                f"object is copied. Give fs.s3a.access.key and fs.s3a.secret.key, or credentials that every process "
                f"finds. The reason: {reason}",
                stacklevel=2,
            )
            return None
        return bucket

    def _shared(self, wanted: NDArray[np.bool_]) -> Any:
        bits = np.packbits(wanted, bitorder="little")
        return self.session.sparkContext.broadcast(PlaceSet(self.begins, bits, self.checksums))

    def _uploaded(self, wanted: NDArray[np.bool_], bucket: Bucket) -> None:
        """The output as objects under their final names, each written by the worker that has its rows."""
        shared = self._shared(wanted)
        targets = dict(enumerate(self._targets(), self.source.reference))
        names = ObjectNames.of(self.begins, targets, wanted)
        known = self.session.sparkContext.broadcast(names)
        sent: list[dict[str, Any]] = []
        try:
            for recipe, packed in self._jobs():
                rows = self.source.rows(recipe, self.session, whole=True)
                chosen: Worker = (_AsLines if recipe.kind == "files" else _Chosen)(recipe, shared)
                table, codec = recipe.kind == "columns", _ARROW_CODECS.get(packed)
                sent += (
                    rows.mapInArrow(Upload(chosen, bucket, known, table, codec), SENT).toArrow().to_pylist()
                )
            if sent_rows(sent, names) != int(wanted.sum()):
                raise DataError(f"{self.out}: the inputs have changed since they were scanned")
            self.target.touch("_SUCCESS")
        except BaseException:
            self.target.remove()
            raise

    def _renamed(self, wanted: NDArray[np.bool_]) -> None:
        """The output in a hidden folder, which gets its name when it is complete."""
        shared = self._shared(wanted)
        parent, slash, name = self.out.rpartition("/")
        hidden = Folder(self.session, f"{parent if slash else '.'}/.{name}.{secrets.token_hex(4)}.tmp")
        hidden.make()
        try:
            for number, (recipe, packed) in enumerate(self._jobs()):
                place = f"{_PARTS}/{number}"
                self._job(recipe, _CODECS.get(packed, "none"), shared, f"{hidden.path}/{place}")
                self._named(hidden, place, recipe)
            hidden.remove(_PARTS)
            hidden.touch("_SUCCESS")
            if self.target.exists():
                self.target.remove()
            hidden.move(self.target.path)
        finally:
            if hidden.exists():
                hidden.remove()

    def _targets(self) -> list[str]:
        own = self.source.files[self.source.reference :]
        kinds = {number: recipe.kind for recipe in self.source.recipes for number in recipe.files.values()}
        return [_target(file, kinds[number]) for number, file in enumerate(own, self.source.reference)]

    def _jobs(self) -> Iterator[tuple[ReadRecipe, str]]:
        """One write job for each format and compression of inputs, which is named by its suffix."""
        for recipe in self.source.recipes:
            packed: dict[str, dict[str, int]] = {}
            for path, file in recipe.files.items():
                if file < self.source.reference:
                    continue
                suffix = os.path.splitext(path)[1] if recipe.kind == "lines" else ""
                packed.setdefault(suffix if suffix in _CODECS else "", {})[path] = file
            for suffix, files in sorted(packed.items()):
                yield ReadRecipe(**{**vars(recipe), "files": files}), suffix

    def _job(self, recipe: ReadRecipe, codec: str, wanted: Any, path: str) -> None:
        rows = self.source.rows(recipe, self.session, whole=True)
        if recipe.kind == "files":
            chosen = rows.mapInArrow(_AsLines(recipe, wanted), f"value string, {FILE} int, {PLACE} bigint")
        else:
            if recipe.kind == "lines":
                rows = rows.withColumn("value", F.col("value").cast("string"))
            fields = [field for field in rows.schema.fields if field.name not in (PATH, START)]
            schema = T.StructType(fields).add(FILE, T.IntegerType()).add(PLACE, T.LongType())
            chosen = rows.mapInArrow(_Chosen(recipe, wanted), schema)
        # A task has whole pieces, so a sort inside partitions is enough to keep the order of a file.
        ordered: DataFrame = chosen.sortWithinPartitions(FILE, PLACE).drop(PLACE)
        writer = ordered.write.partitionBy(FILE)
        if recipe.kind == "columns":
            writer.parquet(path)
        else:
            writer.option("compression", codec).option("lineSep", "\n").text(path)

    def _named(self, hidden: Folder, place: str, recipe: ReadRecipe) -> None:
        """Give Spark's parts the names of the inputs they came from."""
        for folder in hidden.names(place):
            if not folder.startswith(f"{FILE}="):
                continue
            file = self.source.files[int(folder.partition("=")[2])]
            name = _target(file, recipe.kind)
            parts = [part for part in hidden.names(f"{place}/{folder}") if not part.startswith((".", "_"))]
            hidden.make(os.path.dirname(name))
            if len(parts) == 1:
                hidden.rename(f"{place}/{folder}/{parts[0]}", name)
            else:
                hidden.make(name)
                for number, part in enumerate(parts):
                    hidden.rename(f"{place}/{folder}/{part}", part_name(name, number))

    def _check_output(self) -> None:
        if self.target.exists() and (not self.target.is_folder() or self.target.names()):
            raise ConfigError(f"{self.out}: is not empty; name a new folder, so that nothing there is lost")

    def _unchanged(self) -> None:
        for file in self.source.files[self.source.reference :]:
            system, path = file_system(self.session, file.path)
            if not system.exists(path):
                raise DataError(f"{file.path}: was scanned, but is no longer there; nothing was written")
            status = system.getFileStatus(path)
            if (status.getLen(), status.getModificationTime()) != (file.size, file.changed):
                raise DataError(
                    f"{file.path}: has changed since it was scanned; nothing was written. Scan again."
                )


def _target(file: File, kind: str) -> str:
    """The name of an input's output, relative to the folder; `kind` is that of its recipe."""
    name = re.sub(r"^[a-z0-9]+:/*", "", file.name).lstrip("/")
    if not name or "\0" in name or ".." in name.split("/"):
        raise DataError(f"{file.name!r}: is not a valid name for a file in a folder")
    return f"{name}.jsonl" if kind == "files" else name


def _check_targets(names: list[str]) -> None:
    """ConfigError if two outputs have the same name, or one needs a folder with the name of another."""
    every = Counter(names)
    every.update(
        {"/".join(parts[:end]) for parts in (n.split("/") for n in every) for end in range(1, len(parts))}
    )
    if twice := sorted(name for name in names if every[name] > 1):
        raise ConfigError(
            f"{twice[0]}: two inputs would be written under this name; scan and apply them one by one"
        )


@dataclass(frozen=True)
class _Chosen:
    """The unchanged rows at the chosen places."""

    recipe: ReadRecipe
    wanted: Any  # a broadcast PlaceSet

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for file, places, part in Pieces(self.recipe, self.wanted.value).rows(batches):
            names = [name for name in part.schema.names if name not in (PATH, START)]
            columns = [part.column(name) for name in names]
            numbers = pa.array(np.full(len(places), file, np.int32))
            yield pa.record_batch([*columns, numbers, pa.array(places)], [*names, FILE, PLACE])


@dataclass(frozen=True)
class _AsLines:
    """Documents of formats that can be read but not written, as JSON lines."""

    recipe: ReadRecipe
    wanted: Any  # a broadcast PlaceSet

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        wanted: PlaceSet = self.wanted.value
        for made in Pieces(self.recipe, fields=True).incoming(batches):
            assert isinstance(made, DocumentBatch), "whole files are read document by document"
            piece = split_of(made.files[0])
            places = wanted.begins[piece] + np.asarray(made.rows, np.int64) - 1
            chosen = np.flatnonzero(wanted.contains(places))
            if not len(chosen):
                continue
            lines = [_line(made.documents[i]) for i in chosen.tolist()]
            numbers = pa.array(np.full(len(lines), piece[0], np.int32))
            yield pa.record_batch(
                [pa.array(lines, pa.string()), numbers, pa.array(places[chosen])], ["value", FILE, PLACE]
            )


def _line(document: Any) -> str:
    others = {name: value for name, value in document.meta.items() if name not in ("id", "text")}
    return json.dumps({"id": document.id, **others, "text": document.text}, ensure_ascii=False, default=str)
