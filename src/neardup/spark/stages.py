"""The stages of a run. Each is written to the run's folder once, and later calls read it from there."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from neardup.config.config import Config
from neardup.errors import ConfigError
from neardup.findings.folder import Findings
from neardup.progress import Progress
from neardup.spark.candidates import CandidateStages
from neardup.spark.clusters import (
    DECIDED,
    decided_here,
    keepers_in_rounds,
    labels_in_rounds,
    native_keepers,
    native_labels,
)
from neardup.spark.documents import RunDocuments, partitions_for
from neardup.spark.findings import FindingsOfRun
from neardup.spark.inputs import Files, SparkInput
from neardup.spark.pairs import bundled, neighbours, pairs_of
from neardup.spark.protect import unheld
from neardup.spark.refused import check_config
from neardup.spark.rows import decided_rows
from neardup.spark.session import errors_of_workers, own_session, settings
from neardup.spark.small import DECISIONS, SMALL, SmallRun, is_small
from neardup.spark.storage import Facts, Folder, as_frame, write_counted
from neardup.spark.verify import Check, cells_for, ends_of, verified
from neardup.spark.worker import TEXTS, texts_of
from neardup.values.checks import checked
from neardup.version import __version__

__all__ = ["Stages"]

_BROADCAST = 2_000_000  # rows sent to every worker rather than shuffled, at about 40 bytes
_LARGEST_PART, _SMALLEST_PART = 128 << 20, 64 << 10
Made = TypeVar("Made")


class Stages:
    """A run of the pipeline on Spark. A call of any stage makes the earlier ones first, unless they are stored.

    `run` is a folder that driver and workers can read and write. `partitions` is the number of partitions of a shuffle;
    by default it follows the size of the data. The driver decides on up to `finish` pairs and documents natively
    (about 100 bytes each); if there are more, Spark makes clusters in at most `rounds` rounds first. Of a run with at
    most `small` bytes of text, workers only read; the driver finds and decides by the local pipeline, in a few jobs.
    """

    @checked
    def __init__(
        self,
        spark: SparkSession,
        source: SparkInput,
        config: Config | None,
        run: str,
        *,
        partitions: int | None = None,
        finish: int = 8_000_000,
        rounds: int = 100,
        small: int = SMALL,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self.config, self.source = config or Config(), source
        check_config(self.config)
        if partitions is not None and partitions < 1:
            raise ConfigError(f"partitions={partitions}: 1 or more")
        if finish < 0 or rounds < 1 or small < 0:
            raise ConfigError("finish and small are 0 or more, rounds 1 or more")
        self.finish, self.rounds, self.small, self.progress = finish, rounds, small, progress or Progress()
        cores = spark.sparkContext.defaultParallelism
        chosen = partitions or max(cores, partitions_for(source.size))
        split = min(_LARGEST_PART, max(_SMALLEST_PART, math.ceil(source.size / chosen)))
        folder = Folder(spark, run)
        identity = {**source.identity(), "config": self.config.to_plain(), "version": __version__}
        split = folder.claim(identity, split, overwrite)
        self.session = own_session(spark, settings(chosen, split, folder.objects))
        source = replace(source, split=split) if isinstance(source, Files) else source
        self.folder = Folder(self.session, run)
        self.folder.lease, self.folder.claimed = folder.lease, folder.claimed
        self.documents = RunDocuments(
            self.session, source, self.config, self.folder, chosen, partitions is not None
        )
        self._candidates = CandidateStages(self.documents)

    def fingerprints(self) -> DataFrame:
        """Every document: row, id, file and line, digest, tokens, size, source, rank, and its fingerprint."""

        def make() -> DataFrame:
            self.documents.facts  # noqa: B018  (makes the stage, unless it is stored)
            self.documents.check_policy()
            return self.documents.frame

        return self._run("fingerprints", make)

    def exact(self) -> DataFrame:
        """Documents with the same words as another: row, first (the first row with these words), best (the best
        rank)."""
        self.fingerprints()
        return self._run("exact", lambda: self._stage(self._candidates.exact, "exact"))

    def candidates(self) -> DataFrame:
        """Candidate pairs of rows: left < right, each once."""
        self.exact()
        schema = "left bigint, right bigint"
        if self._candidates.method is None:
            return self.session.createDataFrame([], schema)
        found = self._run("candidates", lambda: self._stage(self._candidates.candidates, "candidates"))
        if self._candidates.short is None:
            return pairs_of(found)
        short = self._run("short", lambda: self._stage(self._candidates.short_pairs, "short"))
        return pairs_of(found).unionByName(pairs_of(short)).distinct()

    def pairs(self) -> DataFrame:
        """Verified pairs between documents with different words: left, right, similarity."""
        schema = "left bigint, right bigint, similarity double"
        self.candidates()
        if self._candidates.method is None:
            return self.session.createDataFrame([], schema)
        found = self._run("verify", lambda: self._stage(self._verified, "verified"))
        pairs = _pairs(found)
        if self._candidates.candidates()["implied"]:
            implied = self._run("implied", lambda: self._stage(self._implied, "implied"))
            pairs = pairs.unionByName(_pairs(implied))
        return pairs.dropDuplicates(["left", "right"])

    def clusters(self) -> DataFrame:
        """The decision on every document that has a pair or the same words as another: row, first, keeper, similarity
        to it, kept, cluster (its smallest row). Every other document is kept."""
        self.pairs()
        return self._run("clusters", lambda: self._stage(self._clusters, "clusters"))

    def decisions(self) -> DataFrame:
        """Every document except those of a reference: id, kept, the ids of its cluster and keeper, and the similarity
        to the keeper."""
        if not self.folder.done("decisions") and not self._is_small():
            self.clusters()
        found = self._run("decisions", lambda: self._stage(self._decisions, "decisions"))
        self.folder.lease.release()  # everything is written; callers only read from here on
        return found

    def findings(
        self, folder: Path, columns: Mapping[str, str | None], against: Sequence[str] = ()
    ) -> Findings:
        """Write what was found to a findings folder of the driver's machine, as a local scan does. `columns` are the
        names given for text, id and format, `against` those of the corpora compared with."""
        if self._is_small():
            found = self._run("findings", lambda: self._small.write(folder, columns, against))
            self.folder.lease.release()
            return found
        self.pairs()
        exact, near = self.folder.read("exact"), self._candidates.method is not None
        short = self._candidates.short_pairs() if near and self._candidates.short else {}
        made = self._candidates.candidates() if near else {}
        counts = {
            "candidates": sum(stage["candidates"] for stage in self._verified_facts()),
            **{name: made.get(name, 0) + short.get(name, 0) for name in ("capped", "skipped", "implied")},
        }
        search = self._candidates.report() if near else None
        of_run = FindingsOfRun(self.documents, exact, self.pairs_so_far(), counts, search)
        found = self._run("collect", lambda: of_run.write(folder, columns, against, self.progress))
        self.folder.lease.release()
        return found

    # How the stages are made.

    def _run(self, name: str, make: Callable[[], Made]) -> Made:
        """Make a stage, report it as progress, and release the lease if that fails."""
        self.progress.stage(name)
        try:
            with errors_of_workers():
                return make()
        except BaseException:
            self.folder.lease.release()
            raise

    def _stage(self, make: Callable[[], Facts], name: str) -> DataFrame:
        make()
        return self.folder.read(name)

    def _check(
        self,
        name: str,
        pairs: DataFrame,
        count: int | None,
        sets: DataFrame | None = None,
        *,
        exactly: bool = False,
    ) -> DataFrame:
        """The candidates (NEIGHBOURS) that are similar enough; `count` says how many they are, if it is known. Unless
        `sets` are given, the features of all documents in them are made here."""
        short = self._candidates.short
        cells = cells_for(pairs, count, self.documents.facts, self.documents.partitions)
        ends = ends_of(pairs, cells)
        if (short is not None and not exactly) or self.config.filters.length:
            ends = ends.join(self._candidates.units.select("row", "tokens"), "row")
        else:
            ends = ends.withColumn("tokens", F.lit(0).cast("long"))
        ends, many = self._saved_and_counted(f"{name}-ends", ends)
        if sets is None:
            rows = ends.select("row")
            if self.documents.rows_are_places:
                rows = rows.withColumn("place", F.col("row"))
            else:
                rows = rows.join(self._candidates.units.select("row", "place"), "row")
            sets = self._candidates.sets(rows)
        # `ends` is much smaller than the features, so it is broadcast while it fits.
        ends = F.broadcast(ends) if many <= _BROADCAST else ends
        check = Check(self.config, short, exactly)
        return verified(pairs, sets, ends, cells, check, self.documents.partitions)

    def _verified(self) -> Facts:
        def make() -> DataFrame:
            count = self._candidates.candidates()["pairs"]
            found = self._check("verified", self.folder.read("candidates"), count)
            if self._candidates.short is not None:
                sets, count = self.folder.read("short-sets"), self._candidates.short_pairs()["pairs"]
                exact = self._check("short", self.folder.read("short"), count, sets, exactly=True)
                found = found.unionByName(exact)
            return found

        return self.folder.stage("verified", make, _compared())

    def _implied(self) -> Facts:
        """Pairs inside large groups of equal fingerprints: only the first document of a group was compared, and its
        keeper is compared with the rest."""

        def make() -> DataFrame:
            plain = Config(verify=self.config.verify)
            found = self._decided(_pairs(self.folder.read("verified")), plain)
            # Units are named by their first row, keepers by their best.
            first = found.select(F.col("row").alias("keeper"), F.col("first").alias("taker"))
            taken = found.select(F.col("row").alias("head"), "keeper").join(first, "keeper")
            grouped = self.folder.read("equal-prints").where("row <> head")
            pairs = grouped.join(taken, "head").where("taker <> head and taker <> row")
            pairs = pairs.select(
                F.least("taker", "row").alias("left"), F.greatest("taker", "row").alias("right")
            )
            documents, bundles = self.documents, bundled(pairs, self._candidates.parts)
            made = neighbours(bundles, documents.partitions, documents.reference)
            return self._check("implied", made, None)

        return self.folder.stage("implied", make, _compared())

    def _clusters(self) -> Facts:
        return self.folder.stage("clusters", lambda: self._decided(self._unheld(), self.config))

    def _unheld(self) -> DataFrame:
        """The pairs that count: similar enough, and held by no guard."""
        pairs, guards = self.pairs_so_far(), self.config.protect
        if not guards or self._candidates.method is None:
            return pairs
        near = self._saved("near", pairs.where(F.col("similarity") >= self.config.verify.threshold))
        rows = near.select(F.explode(F.array("left", "right")).alias("row")).distinct()
        units = self._candidates.units
        if self.documents.rows_are_places:
            rows = rows.withColumn("place", F.col("row"))
        else:
            rows = rows.join(units.select("row", "place"), "row")
        rows = self._saved("guarded", rows)
        texts = self.documents.texts(texts_of, TEXTS, rows.select("place"))
        texts = texts.join(rows, "place").select("row", "text")
        return self._saved("unheld", unheld(near, texts, units.select("row", "rank"), guards))

    def pairs_so_far(self) -> DataFrame:
        """Verified pairs of the stages that are stored."""
        found = [_pairs(self.folder.read(n)) for n in ("verified", "implied") if self.folder.done(n)]
        if not found:
            return self.session.createDataFrame([], "left bigint, right bigint, similarity double")
        whole = found[0] if len(found) == 1 else found[0].unionByName(found[1])
        return whole.dropDuplicates(["left", "right"])

    def _count_so_far(self) -> int:
        return sum(stage["pairs"] for stage in self._verified_facts())

    def _verified_facts(self) -> list[Facts]:
        made = {"verified": self._verified, "implied": self._implied}
        return [make() for name, make in made.items() if self.folder.done(name)]

    def _involved(self, pairs: DataFrame) -> DataFrame:
        """Documents that have a pair or the same words as another: row, first, pref, by, source."""
        exact = self.folder.read("exact").select("row", "first")
        rows = pairs.select(F.explode(F.array("left", "right")).alias("row")).distinct()
        rows = rows.join(exact, "row", "left_anti").withColumn("first", F.col("row")).unionByName(exact)
        frame = self.documents.frame.select("row", "rank.pref", "rank.by", "source")
        return rows.join(frame, "row")

    def _decided(self, pairs: DataFrame, config: Config) -> DataFrame:
        """The decisions by the config's threshold and keep policy: DECIDED."""
        near = pairs.where(F.col("similarity") >= config.verify.threshold).select(
            "left", "right", "similarity"
        )
        exact = self._candidates.exact()["documents"]
        count = exact + 2 * self._count_so_far()
        if count > self.finish:
            count = exact + 2 * near.count()
        if count <= self.finish:
            reference = self.documents.reference
            table = decided_here(self._involved(near), near, config, config.verify.threshold, reference)
            return as_frame(self.session, table, DECIDED)
        if config.keep.among != "all" or self.documents.reference:
            what = (
                "against another corpus"
                if self.documents.reference
                else f'among "{config.keep.among}" sources'
            )
            raise ConfigError(
                f"duplicates {what} are decided on the driver: raise finish= to {count:,} (about 100 bytes each)"
            )
        return self._in_rounds(near, config)

    def _in_rounds(self, near: DataFrame, config: Config) -> DataFrame:
        ranks = self._candidates.units.select("row", "rank")
        ties = near.join(ranks.toDF("left", "left_rank"), "left").join(
            ranks.toDF("right", "right_rank"), "right"
        )
        turned = F.col("left_rank") > F.col("right_rank")

        def side(a: str, b: str) -> Any:
            return F.when(turned, F.col(b)).otherwise(F.col(a))

        ties = ties.select(
            side("left", "right").alias("better"), side("right", "left").alias("worse"),
            side("left_rank", "right_rank").alias("rank"),
            side("right_rank", "left_rank").alias("worse_rank"), "similarity",
        )  # fmt: skip
        ties = self._saved("ties", ties)
        if config.clusters == "components":
            edges = ties.select(
                F.least("better", "worse").alias("left"), F.greatest("better", "worse").alias("right")
            )
            labels, _ = labels_in_rounds(edges, self.finish, self._saved, self.rounds, native_labels)
            best = labels.join(ranks, "row").groupBy("label").agg(
                F.min(F.struct("rank", F.col("row").alias("keeper"))).alias("best")
            )  # fmt: skip
            taken = labels.join(best, "label").select("row", F.col("best.keeper").alias("keeper"))
            direct = ties.select(F.col("worse").alias("row"), F.col("better").alias("keeper"), "similarity")
            taken = taken.where("row <> keeper").join(direct, ["row", "keeper"], "left")
            taken = taken.withColumn("similarity", F.coalesce("similarity", F.lit(float("nan"))))
        else:
            taken, _ = keepers_in_rounds(ties, self.finish, self._saved, self.rounds, native_keepers)
        return decided_rows(taken, self._involved(near), ranks, config.keep.many)

    def _saved(self, name: str, rows: DataFrame) -> DataFrame:
        """The rows, stored, so that the next round's plan does not compute them again."""
        return self._saved_and_counted(name, rows)[0]

    def _saved_and_counted(self, name: str, rows: DataFrame) -> tuple[DataFrame, int]:
        path, schema = f"{self.folder.path}/rounds/{name}", rows.schema
        counted = write_counted(rows, path, {"rows": F.count("*")}, "overwrite")
        return self.session.read.schema(schema).parquet(path), counted["rows"]

    def _is_small(self) -> bool:
        return self._run("read", lambda: is_small(self.documents.facts, self.small, self.config))

    @cached_property
    def _small(self) -> SmallRun:
        return SmallRun(self.documents, self.progress)

    def _decisions(self) -> Facts:
        def make() -> DataFrame:
            if self._is_small():
                return as_frame(self.session, self._small.decisions(), DECISIONS)
            every = self.documents.frame.select("row", "id", "filtered")
            names = every.select("row", "id")
            every = every.where(F.col("row") >= self.documents.reference)
            found = (
                self.folder.read("clusters")
                .select("row", "kept", "cluster", "keeper", "similarity")
                .join(names.toDF("keeper", "keeper_id"), "keeper")
                .join(names.toDF("cluster", "cluster_id"), "cluster")
            )
            kept = (F.col("filtered") == 0) & F.coalesce("kept", F.lit(True))
            return every.join(found, "row", "left").select(
                "id", kept.alias("kept"), F.coalesce("cluster_id", "id").alias("cluster"),
                F.coalesce("keeper_id", "id").alias("keeper"),
                F.coalesce("similarity", F.lit(1.0)).alias("similarity"),
            )  # fmt: skip

        return self.folder.stage("decisions", make, _dropped())


def _pairs(rows: DataFrame) -> DataFrame:
    return rows.where("left is not null").select("left", "right", "similarity")


def _compared() -> dict[str, Column]:
    return {"pairs": F.count("left"), "candidates": F.sum("compared")}


def _dropped() -> dict[str, Column]:
    return {"dropped": F.count(F.when(~F.col("kept"), True))}
