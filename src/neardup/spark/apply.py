"""apply(): the documents that stay, or those that go, written for each input under its name and in its format.

Texts are read once more and filtered where they are read, by one bit for each place; they are never shuffled.
"""

from __future__ import annotations

import json
import math
import os
import re
import secrets
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from neardup.config.config import Config
from neardup.errors import ConfigError, DataError
from neardup.findings.summary import MOST_GONE, MOST_IN_CLUSTER, SMALLEST_CLUSTER, SMALLEST_SOURCE
from neardup.pipeline.batches import Incoming
from neardup.spark.documents import Documents
from neardup.spark.inputs import File, Files
from neardup.spark.pieces import PATH, START, Pieces, Recipe, Wanted, split_of
from neardup.spark.session import errors_of_workers, own_session, settings, start
from neardup.spark.storage import MARK, Folder, file_system
from neardup.values.wording import printable

__all__ = ["Applied", "apply"]

_CODECS = {".gz": "gzip", ".bz2": "bzip2", ".zst": "zstd"}
_FILE, _PLACE = "neardup_file", "neardup_place"
_PARTS = ".parts"  # what Spark writes lies here first; of what is found in folders no name begins so
Write = Literal["kept", "dropped"]


@dataclass(frozen=True)
class Applied:
    """What was written where: how many of all documents, and the folder."""

    written: int
    documents: int
    out: str


def apply(
    run: str,
    out: str,
    *,
    spark: SparkSession | None = None,
    write: Write = "kept",
    allow_mass_removal: bool = False,
) -> Applied:
    """Write the documents of a run's inputs that stay, or those that go, to the new folder `out`.

    Each input gives a file of its name and format, or, if it was read in several pieces, a folder of that name with its
    parts in order; formats that are read but not written (WARC, CSV ...) give JSON lines, NAME.jsonl. An input of which
    nothing is written gives none. The folder appears when it is whole. Raises DataError when an input has changed, and,
    unless `allow_mass_removal`, when so much would go that it looks like an accident.
    """
    if write not in get_args(Write):
        raise ConfigError(f"write one of {', '.join(get_args(Write))}, not {write!r}")
    with errors_of_workers():
        return _Output(spark or start(), run, out, write).run(allow_mass_removal)


class _Output:
    def __init__(self, spark: SparkSession, run: str, out: str, write: Write) -> None:
        folder = Folder(spark, run)
        if not folder.exists(MARK) or not folder.done("removals"):
            raise DataError(f"{run}: holds no finished run; scan first")
        mark = folder.read_mark()
        if "config" not in mark["identity"] or "frame" in mark["identity"]["columns"]:
            raise ConfigError(f"{run}: is the run of a DataFrame; dedup() gives its rows")
        self.source = Files.of_run(mark["identity"])
        self.config = Config.from_plain(mark["identity"]["config"])
        partitions = max(spark.sparkContext.defaultParallelism, math.ceil(self.source.size / (64 << 20)))
        self.session = own_session(spark, settings(partitions, mark["split"], False))
        self.folder = Folder(self.session, run)
        self.documents = Documents(self.session, self.source, self.config, self.folder, partitions)
        self.write, self.out = write, out.rstrip("/")
        self.target = Folder(self.session, self.out)

    def run(self, allow_mass_removal: bool) -> Applied:
        self._check_output()
        _check_targets(self._targets())
        self._unchanged()
        if not allow_mass_removal and self.write == "kept" and (reasons := self._alarms()):
            raise DataError("this looks like an accident, so nothing was written:\n  " + "\n  ".join(reasons))
        gone = self.folder.read("removals").select("place")
        every = self.documents.frame.select("place").where(F.col("place") >= self.documents.reference)
        places = gone if self.write == "dropped" else every.join(gone, "place", "left_anti")
        wanted = Wanted(self.documents.begins, self.documents.bits(places))
        return self._written(wanted)

    def _written(self, wanted: Wanted) -> Applied:
        shared = self.session.sparkContext.broadcast(wanted)
        parent, slash, name = self.out.rpartition("/")
        hidden = Folder(self.session, f"{parent if slash else '.'}/.{name}.{secrets.token_hex(4)}.tmp")
        hidden.make()
        try:
            for number, (recipe, codec) in enumerate(self._jobs()):
                place = f"{_PARTS}/{number}"
                self._job(recipe, codec, shared, f"{hidden.path}/{place}")
                self._named(hidden, place, recipe)
            hidden.remove(_PARTS)
            hidden.touch("_SUCCESS")
            if self.target.exists():
                self.target.remove()
            hidden.move(self.target.path)
        finally:
            if hidden.exists():
                hidden.remove()
        bits = wanted.bits
        assert bits is not None
        return Applied(int(np.unpackbits(bits).sum()), self._own, self.out)

    @property
    def _own(self) -> int:
        """How many documents there are, those of a reference not counted."""
        facts = self.documents.facts
        return int(facts["documents"] - facts["reference"]["documents"])

    def _targets(self) -> list[str]:
        own = self.source.files[self.source.reference :]
        kinds = {number: recipe.kind for recipe in self.source.recipes for number in recipe.files.values()}
        return [_target(file, kinds[number]) for number, file in enumerate(own, self.source.reference)]

    def _jobs(self) -> Iterator[tuple[Recipe, str]]:
        """Inputs of one format and compression at a time."""
        for recipe in self.source.recipes:
            codecs: dict[str, dict[str, int]] = {}
            for path, file in recipe.files.items():
                if file < self.source.reference:
                    continue
                codec = _CODECS.get(os.path.splitext(path)[1], "none") if recipe.kind == "lines" else "none"
                codecs.setdefault(codec, {})[path] = file
            for codec, files in sorted(codecs.items()):
                yield Recipe(**{**vars(recipe), "files": files}), codec

    def _job(self, recipe: Recipe, codec: str, wanted: Any, path: str) -> None:
        rows = self.source.rows(recipe, self.session, whole=True)
        if recipe.kind == "files":
            chosen = rows.mapInArrow(_AsLines(recipe, wanted), f"value string, {_FILE} int, {_PLACE} bigint")
        else:
            if recipe.kind == "lines":
                rows = rows.withColumn("value", F.col("value").cast("string"))
            fields = [field for field in rows.schema.fields if field.name not in (PATH, START)]
            schema = T.StructType(fields).add(_FILE, T.IntegerType()).add(_PLACE, T.LongType())
            chosen = rows.mapInArrow(_Chosen(recipe, wanted), schema)
        # Rows of a file in their order, without an exchange: a task has whole pieces.
        ordered: DataFrame = chosen.sortWithinPartitions(_FILE, _PLACE).drop(_PLACE)
        writer = ordered.write.partitionBy(_FILE)
        if recipe.kind == "columns":
            writer.parquet(path)
        else:
            writer.option("compression", codec).option("lineSep", "\n").text(path)

    def _named(self, hidden: Folder, place: str, recipe: Recipe) -> None:
        """Give Spark's parts the names of the inputs they came from."""
        for folder in hidden.names(place):
            if not folder.startswith(f"{_FILE}="):
                continue
            file = self.source.files[int(folder.partition("=")[2])]
            name = _target(file, recipe.kind)
            parts = [part for part in hidden.names(f"{place}/{folder}") if not part.startswith((".", "_"))]
            hidden.make(os.path.dirname(name))
            if len(parts) == 1:
                hidden.rename(f"{place}/{folder}/{parts[0]}", name)
            else:
                suffix = re.sub(r"^.*?(\.\w+(?:\.\w+)?)$", r"\1", os.path.basename(name))
                hidden.make(name)
                for number, part in enumerate(parts):
                    hidden.rename(f"{place}/{folder}/{part}", f"{name}/part-{number:05}{suffix}")

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

    def _alarms(self) -> list[str]:
        """Why this looks like an accident; empty if it does not."""
        clusters, documents = self.folder.read_json("clusters.json"), self._own
        found = []
        gone = self.folder.read("removals").where("keeper is not null").select("row", F.lit(1).alias("gone"))
        every = self.documents.frame.select("row", "source").where(F.col("row") >= self.documents.reference)
        sources = every.join(gone, "row", "left").groupBy("source")
        lost = sources.agg(F.count("*").alias("have"), F.sum("gone").alias("lost"))
        heavy = lost.where((F.col("have") >= SMALLEST_SOURCE) & (F.col("lost") > MOST_GONE * F.col("have")))
        for row in heavy.orderBy("source").limit(3).toArrow().to_pylist():
            name = printable(row["source"] or "the corpus")
            found.append(f"{row['lost']:,} of the {row['have']:,} documents of {name} would go")
        if not found and documents >= SMALLEST_SOURCE and clusters["gone"] > MOST_GONE * documents:
            found.append(f"{clusters['gone']:,} of all {documents:,} documents would go")
        if clusters["largest"] >= SMALLEST_CLUSTER and clusters["largest"] > MOST_IN_CLUSTER * documents:
            found.append(f"one cluster holds {clusters['largest']:,} of {documents:,} documents")
        return found


def _target(file: File, kind: str) -> str:
    """The name of an input's output, below the folder; `kind` is that of its recipe."""
    name = re.sub(r"^[a-z0-9]+:/*", "", file.name).lstrip("/")
    if not name or ".." in name.split("/"):
        raise DataError(f"{file.name}: is no name for a file in a folder")
    return f"{name}.jsonl" if kind == "files" else name


def _check_targets(names: list[str]) -> None:
    """ConfigError if one output would take another's place, as file or as folder."""
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
    """The rows at places that are wanted, as they are."""

    recipe: Recipe
    wanted: Any  # a broadcast Wanted

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for file, places, part in Pieces(self.recipe, self.wanted.value).rows(batches):
            names = [name for name in part.schema.names if name not in (PATH, START)]
            columns = [part.column(name) for name in names]
            numbers = pa.array(np.full(len(places), file, np.int32))
            yield pa.record_batch([*columns, numbers, pa.array(places)], [*names, _FILE, _PLACE])


@dataclass(frozen=True)
class _AsLines:
    """Documents of formats that are read and not written, as JSON lines."""

    recipe: Recipe
    wanted: Any  # a broadcast Wanted

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        wanted: Wanted = self.wanted.value
        for made in Pieces(self.recipe, fields=True).incoming(batches):
            assert isinstance(made, Incoming), "whole files are read document by document"
            piece = split_of(made.files[0])
            places = wanted.begins[piece] + np.asarray(made.rows, np.int64) - 1
            chosen = np.flatnonzero(wanted.of(places))
            if not len(chosen):
                continue
            lines = [_line(made.documents[i]) for i in chosen.tolist()]
            numbers = pa.array(np.full(len(lines), piece[0], np.int32))
            yield pa.record_batch(
                [pa.array(lines, pa.string()), numbers, pa.array(places[chosen])], ["value", _FILE, _PLACE]
            )


def _line(document: Any) -> str:
    others = {name: value for name, value in document.meta.items() if name not in ("id", "text")}
    return json.dumps({"id": document.id, **others, "text": document.text}, ensure_ascii=False, default=str)
