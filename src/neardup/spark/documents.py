"""The first stages: every document is read once, fingerprinted, and given a place and a row. Later passes read the
texts of some documents again."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from neardup.clusters.keepers import FIELD_POLICIES
from neardup.config.config import Config
from neardup.errors import ConfigError, DataError
from neardup.features.weights import Frequencies
from neardup.pipeline.fit import IDF_SAMPLE, needs_corpus
from neardup.spark.blocks import DOCUMENTS, Unpacked
from neardup.spark.inputs import Files, FrameInput, SparkInput
from neardup.spark.places import PlaceSet, begins_of, checksums_of, file_begins
from neardup.spark.storage import Facts, Folder, as_frame
from neardup.spark.worker import (
    FREQUENCIES,
    PRINTS,
    READ,
    TALLY,
    Batches,
    Fingerprint,
    LaterPass,
    Texts,
    count_features,
    fingerprints,
)

__all__ = ["RunDocuments", "partitions_for"]

_PART = 64 << 20  # bytes of text for one partition of a shuffle
_BITS = 16  # a block of a bitmap holds 2**16 places: 8 KB of bits
Places = NDArray[np.int64]
_ORDER = "part int, inside bigint, place bigint"


def partitions_for(size: int) -> int:
    """The number of partitions for `size` bytes of text."""
    return min(20_000, math.ceil(size / _PART))


class RunDocuments:
    """The documents of a run. `partitions` is the number of partitions of a shuffle. Unless the user has `chosen` it,
    it grows once the size of the text is known: compressed files and DataFrames do not show it before they are read."""

    def __init__(
        self,
        session: SparkSession,
        source: SparkInput,
        config: Config,
        folder: Folder,
        partitions: int,
        chosen: bool = False,
    ) -> None:
        self.session, self.source, self.config = session, source, config
        self.folder, self.partitions, self.chosen = folder, partitions, chosen
        self._held: list[Any] = []

    @cached_property
    def facts(self) -> Facts:
        """Counts of what was read, and the pieces [file, start, lines] it was read in."""
        facts = self.folder.stage("read", self._read, facts_of=self._read_facts)
        wanted = partitions_for(facts["bytes"])
        if wanted > self.partitions and not self.chosen:
            self.partitions = wanted
            self.session.conf.set("spark.sql.shuffle.partitions", str(wanted))
        return facts

    def _read(self) -> DataFrame:
        parts = []
        for recipe in self.source.recipes:
            rows = self.source.rows(recipe, self.session)
            parts.append(rows.mapInArrow(Fingerprint(self.config, recipe, self.source.keeps_texts), READ))
        whole = parts[0]
        for part in parts[1:]:
            whole = whole.unionByName(part)
        return whole

    def _read_facts(self) -> Facts:
        """The sums of what the tasks counted."""
        rows = (
            self.folder.read("read").where("kind > 1").select("kind", "file", "start", "line", "d0", "detail")
        )
        found = rows.toArrow().to_pylist()
        pieces = sorted(
            (row["file"], row["start"], row["line"], row["d0"]) for row in found if row["kind"] != TALLY
        )
        tasks = [(row["file"], json.loads(row["detail"])) for row in found if row["kind"] == TALLY]
        own = [tally for file, tally in tasks if file >= self._reference_files]
        every, theirs = Counter[str](), Counter[str]()
        for file, tally in tasks:
            every.update(tally["counts"])
            if file < self._reference_files:
                theirs.update(tally["counts"])
        names = ("documents", "empty", "filtered", "out", "tokens", "bytes")
        shortest = [tally["shortest"] for _, tally in tasks if tally["shortest"] is not None]
        sums: dict[str, Counter[str]] = {}
        for name in ("rejected", "notes", "passed_over"):
            sums[name] = sum((Counter(tally[name]) for tally in own), Counter())
        return {
            **{name: every[name] for name in names},
            "shortest": min(shortest, default=0),
            "reference": {name: theirs[name] for name in names[:3]},
            **{name: dict(sorted(counts.items())) for name, counts in sums.items()},
            "pieces": [[file, start, lines] for file, start, lines, _ in pieces],
            "checksums": [checksum for *_, checksum in pieces],
            "texts": self.source.keeps_texts,
        }

    @cached_property
    def begins(self) -> dict[tuple[int, int], int]:
        """The place at which each piece begins."""
        return begins_of(self.facts["pieces"])

    @cached_property
    def file_begins(self) -> dict[int, int]:
        """The place of each file's first line."""
        return file_begins(self.begins)

    @cached_property
    def checksums(self) -> dict[tuple[int, int], int]:
        """The checksum of what was read of each piece."""
        return checksums_of(self.facts)

    @property
    def places(self) -> int:
        """The number of places, including those of rejects."""
        return sum(lines for _, _, lines in self.facts["pieces"])

    @property
    def _reference_files(self) -> int:
        return self.source.reference if isinstance(self.source, Files) else 0

    @cached_property
    def reference(self) -> int:
        """Rows below this are documents of reference corpora: they are kept, and not compared with each other."""
        return sum(lines for file, _, lines in self.facts["pieces"] if file < self._reference_files)

    @property
    def rows_are_places(self) -> bool:
        """Whether a document's row is its place."""
        return not isinstance(self.source, FrameInput)

    def _documents(self) -> DataFrame:
        """All documents that were read, with place and file name."""
        blocks = self.folder.read("read").where("kind = 0").select("columns", "prints")
        method = None if needs_corpus(self.config) else self.config.method
        return self._placed(blocks.mapInArrow(Unpacked(method), DOCUMENTS))

    def _placed(self, rows: DataFrame) -> DataFrame:
        """Documents or rejects with place and file name."""
        names = [file.name for file in self.source.files] if isinstance(self.source, Files) else []
        of_file = self.file_begins
        table = [
            (file, start, at, of_file[file], names[file] if names else "")
            for (file, start), at in self.begins.items()
        ]
        schema = "file int, start bigint, begin bigint, file_begin bigint, name string"
        columns = [list(column) for column in zip(*table, strict=True)] or [[]] * 5
        kinds = (pa.int32(), pa.int64(), pa.int64(), pa.int64(), pa.string())
        arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
        made = pa.table(arrays, names=["file", "start", "begin", "file_begin", "name"])
        pieces = F.broadcast(as_frame(self.session, made, schema))
        rows = rows.join(pieces, ["file", "start"])
        place = F.col("begin") + F.col("line") - 1
        return rows.withColumn("place", place).withColumn("line", place - F.col("file_begin") + 1)

    @cached_property
    def frame(self) -> DataFrame:
        """All documents: row (in the order of the run), place, id, digest, sizes, rank and fingerprint."""
        self.folder.stage("fingerprints", self._frame)
        return self.folder.read("fingerprints")

    def _frame(self) -> DataFrame:
        rows = self._documents()
        made = F.concat(F.col("name"), F.lit(":"), F.col("line"))
        rows = rows.withColumn("id", F.coalesce("id", made)).withColumn(
            "source", F.coalesce("source", "name")
        )
        rows = rows.withColumn("out", F.col("empty") | (F.col("filtered") != 0))
        rows = self._with_rows(rows)
        if needs_corpus(self.config) and self.config.near:
            rows = rows.drop("equal_key", "keys").join(self._prints(rows), "place", "left")
        rank = F.struct(self._preference().alias("pref"), self._by().alias("by"), F.col("row"))
        return rows.withColumn("rank", rank).select(
            "row", "place", "id", "file", "line", "d0", "d1", "out", "empty", "filtered", "tokens", "size",
            "source", "score", "rank", "equal_key", "keys",
        )  # fmt: skip

    def _by(self) -> Column:
        """The number by which documents are ranked: smaller is better; of equal numbers the first row is better."""
        by = self.config.keep.by
        if by == "longest":
            return -F.col("size").cast("double")
        if by in ("lowest", "oldest"):
            return F.col("score") + 0.0  # without minus zero, which would sort before zero; NaN sorts last
        if by in FIELD_POLICIES:
            return -F.col("score") + 0.0
        return F.col("row").cast("double") * (1.0 if by == "first" else -1.0)

    def _preference(self) -> Column:
        prefer = self.config.keep.prefer
        chosen: Column | None = None
        for place, name in enumerate(prefer):
            here = F.col("source") == name
            chosen = F.when(here, place) if chosen is None else chosen.when(here, place)
        whole = F.lit(0) if chosen is None else chosen.otherwise(len(prefer))
        if not self.reference:
            return whole
        # Documents of a reference come before all others, in their own order.
        return F.when(F.col("row") < self.reference, whole - len(prefer) - 1).otherwise(whole)

    def check_policy(self) -> None:
        """An error for a preferred source without documents, and for a field that no document has."""
        keep = self.config.keep
        if keep.by in FIELD_POLICIES and self.places > self.reference:
            own = self.frame.where(F.col("row") >= self.reference)
            if own.where(~F.isnan("score")).isEmpty():
                raise DataError(f"no document has a number or an ISO date in its field {keep.score!r}")
        prefer = self.config.keep.prefer
        if not prefer:
            return
        found = {row[0] for row in self.frame.select("source").distinct().limit(100_000).collect()}
        unknown = [name for name in prefer if name not in found]
        if unknown:
            raise ConfigError(
                f"no document has the source {unknown[0]!r}; the sources are: {', '.join(sorted(found)[:10])}"
            )

    def _with_rows(self, placed: DataFrame) -> DataFrame:
        if self.rows_are_places:
            return placed.withColumn("row", F.col("place"))
        return placed.join(self._order(), "place")

    def _order(self) -> DataFrame:
        """The row of each place: documents of a DataFrame are ordered by their ids."""
        assert isinstance(self.source, FrameInput)
        numeric = self.source.numeric

        def make() -> DataFrame:
            key = F.col("id").cast("bigint") if numeric else F.col("id")
            ids = self._documents().select("place", "id", key.alias("key"))
            ordered = ids.repartitionByRange(self.partitions, "key").sortWithinPartitions("key")
            return ordered.select("place", "id").mapInArrow(_numbered, _ORDER)

        def facts_of() -> Facts:
            rows = self.folder.read("order")
            counts = {row["part"]: row["count"] for row in rows.groupBy("part").count().toArrow().to_pylist()}
            return {"parts": [[part, counts[part]] for part in sorted(counts)]}

        facts = self.folder.stage("order", make, facts_of=facts_of)
        ends = np.cumsum([0, *(count for _, count in facts["parts"])]).tolist()
        table = [(part, at) for (part, _), at in zip(facts["parts"], ends, strict=False)]
        made = pa.table(
            {"part": pa.array([p for p, _ in table], pa.int32()), "begin": [at for _, at in table]}
        )
        begins = F.broadcast(as_frame(self.session, made, "part int, begin bigint"))
        rows = self.folder.read("order").join(begins, "part")
        return rows.select("place", (F.col("begin") + F.col("inside")).alias("row"))

    def texts(
        self, work: Callable[[Texts], Batches], schema: str, places: DataFrame | Places | None
    ) -> DataFrame:
        """A pass over the texts at these places, or over all of them: the workers call `work` on them."""
        bits = None if places is None else self.bits(places)
        wanted = self.session.sparkContext.broadcast(PlaceSet(self.begins, bits, self.checksums))
        self._held.append(wanted)
        if self.facts["texts"]:
            kept = self.folder.read("read").where("kind = 0").select("columns", "texts")
            return kept.mapInArrow(LaterPass(None, wanted, work), schema)
        parts = [
            self.source.rows(recipe, self.session).mapInArrow(LaterPass(recipe, wanted, work), schema)
            for recipe in self.source.recipes
        ]
        whole = parts[0]
        for part in parts[1:]:
            whole = whole.unionByName(part)
        return whole

    def bits(self, places: DataFrame | Places) -> np.ndarray[Any, Any]:
        """A bitmap with one bit for each place, set for the given ones; the driver receives one bit a place."""
        if isinstance(places, np.ndarray):
            chosen = np.zeros(self.places, np.bool_)
            chosen[places] = True
            return np.packbits(chosen, bitorder="little")
        blocks = places.select("place", F.shiftright("place", _BITS).alias("block")).repartition(
            self.partitions, "block"
        )
        found = blocks.mapInArrow(_bitmap, "block bigint, bits binary").toArrow().to_pylist()
        bits = np.zeros((self.places >> 3) + (1 << (_BITS - 3)), np.uint8)
        for part in found:
            at = part["block"] << (_BITS - 3)
            bits[at : at + (1 << (_BITS - 3))] |= np.frombuffer(part["bits"], np.uint8)[: len(bits) - at]
        return bits

    @cached_property
    def learnt(self) -> Any:
        """The document frequencies that the config learns from the corpus, broadcast; None if it needs none."""
        if not needs_corpus(self.config):
            return None

        def make() -> DataFrame:
            counted = self.texts(count_features(self.config), FREQUENCIES, self._sample())
            return counted.groupBy("hash").agg(F.sum("count").alias("count"))

        taking_part = self.facts["documents"] - self.facts["out"]
        self.folder.stage("frequencies", make)
        table = self.folder.read("frequencies").toArrow()
        hashes = table.column("hash").to_numpy().view(np.uint64)
        order = np.argsort(hashes)
        counts = table.column("count").to_numpy().astype(np.uint64)
        scheme = self.config.features.unweighted().scheme
        learnt = Frequencies(min(IDF_SAMPLE, taking_part), hashes[order], counts[order], scheme)
        return self.session.sparkContext.broadcast(learnt)

    def _sample(self) -> DataFrame:
        """The places of the documents from which weights are learnt: all that take part, or a sample of IDF_SAMPLE."""
        rows = self._documents()
        taking = rows.where(~F.col("empty") & (F.col("filtered") == 0)).select("place")
        taking = self._with_rows(taking)
        count = self.facts["documents"] - self.facts["out"]
        if count <= IDF_SAMPLE:
            return taking.select("place")
        # The same documents as in the local pipeline: evenly spaced among those that take part.
        chosen = np.linspace(0, count - 1, IDF_SAMPLE).astype(np.int64)
        ordered = np.sort(taking.select("row").toArrow().column("row").to_numpy())
        sampled = self.session.createDataFrame(pa.table({"row": ordered[chosen]}))
        return taking.join(F.broadcast(sampled), "row").select("place")

    def _prints(self, rows: DataFrame) -> DataFrame:
        learnt = self.learnt

        def make() -> DataFrame:
            places = rows.where(~F.col("out")).select("place")
            return self.texts(fingerprints(self.config, learnt), PRINTS, places)

        self.folder.stage("prints", make)
        return self.folder.read("prints")

    def rejects(self) -> DataFrame:
        """The rows that could not be read: file, row, reason, detail, sample."""
        rows = self.folder.read("read").where("kind = 1").drop("columns", "prints", "texts")
        rejected = self._placed(rows.where(F.col("file") >= self._reference_files))
        return rejected.select(
            F.col("name").alias("file"), F.col("line").alias("row"), "reason", "detail", "sample"
        )  # fmt: skip


def _numbered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Numbers the rows of a sorted partition. Equal ids are neighbours there, and raise DataError."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    part, at, last = context.partitionId(), 0, None
    for batch in batches:
        if not batch.num_rows:
            continue
        ids = batch.column("id").to_pylist()
        for before, name in zip([last, *ids[:-1]], ids, strict=True):
            if before == name:
                raise DataError(
                    f"two documents have the id {name!r}; name a column of ids that are all different"
                )
        last = ids[-1]
        numbers = np.arange(at, at + len(ids), dtype=np.int64)
        parts = pa.array(np.full(len(ids), part, np.int32))
        yield pa.record_batch([parts, pa.array(numbers), batch.column("place")], ["part", "inside", "place"])
        at += len(ids)


def _bitmap(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    made: dict[int, np.ndarray[Any, Any]] = {}
    for batch in batches:
        places = np.unique(batch.column("place").to_numpy(zero_copy_only=False))
        for block in np.unique(places >> _BITS).tolist():
            inside = places[(places >> _BITS) == block] & ((1 << _BITS) - 1)
            bits = made.setdefault(block, np.zeros(1 << (_BITS - 3), np.uint8))
            np.bitwise_or.at(bits, inside >> 3, np.left_shift(1, inside & 7).astype(np.uint8))
    for block, bits in sorted(made.items()):
        yield pa.record_batch([pa.array([block], pa.int64()), pa.array([bits.tobytes()])], ["block", "bits"])
