"""From fingerprints to candidates: equal words, equal fingerprints, shared keys. The rules are those of the local
pipeline, written as joins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from neardup.features.features import Features
from neardup.pipeline.rules import ShortRule
from neardup.search.candidates import SPREAD
from neardup.search.interface import KeyMethod, Shuffled
from neardup.search.report import SearchReport
from neardup.search.short_documents import ShortJoin
from neardup.spark.documents import RunDocuments
from neardup.spark.hamming import near_codes
from neardup.spark.join import BucketPairs, SizeRule, crowded, join_on_keys
from neardup.spark.key_entries import KeyJoin
from neardup.spark.packed import flat
from neardup.spark.pairs import BUNDLES, Sieve, bundled, neighbours, pairs_of
from neardup.spark.shuffle import BandEntries, SizedEntries
from neardup.spark.storage import Facts
from neardup.spark.worker import SETS, WORDS, feature_sets, words_of

__all__ = ["CandidateStages"]

_KEYS = "table int, key bigint, row bigint, size bigint"


class CandidateStages:
    """The stages between fingerprints and candidate pairs."""

    def __init__(self, documents: RunDocuments) -> None:
        self.documents, self.config, self.folder = documents, documents.config, documents.folder
        self.method = self.config.method
        # Made of an empty batch, to know which columns the method sends.
        self._columns = Shuffled()
        if self.method is not None:
            self._columns = self.method.shuffled(self.method.kept(self.config.prints.blank))

    @property
    def partitions(self) -> int:
        """How many partitions a shuffle has."""
        return self.documents.partitions

    @property
    def parts(self) -> int:
        """How many parts pairs are bundled into."""
        return 4 * self.partitions

    # Equal words.

    def exact(self) -> Facts:
        """Documents with the same words as another: row, first (the first row with these words), same (the first row
        with this text), best (the best rank). Documents with the same digest have the same words only if a
        cryptographic digest of their words is equal too."""

        def make_digests() -> DataFrame:
            taking = self.documents.frame.where("not out").select("row", "place", "d0", "d1", "rank")
            groups = taking.groupBy("d0", "d1").agg(F.count("*").alias("many"))
            return taking.join(groups.where("many > 1"), ["d0", "d1"]).select("row", "place", "rank")

        def make() -> DataFrame:
            same = self.folder.read("digests")
            words = self.documents.texts(words_of(self.config), WORDS, same.select("place"))
            same = same.join(words, "place")
            groups = same.groupBy("words").agg(
                F.min("row").alias("first"), F.min("rank").alias("best"), F.count("*").alias("many")
            )
            texts = same.groupBy("words", "text").agg(F.min("row").alias("same"))
            same = same.join(groups.where("many > 1"), "words").join(texts, ["words", "text"])
            return same.select("row", "first", "same", "best")

        def none() -> DataFrame:
            same = self.folder.read("digests")
            own = F.col("row")
            return same.select("row", own.alias("first"), own.alias("same"), F.col("rank").alias("best"))

        counts = {"documents": F.count("*"), "first": F.count(F.when(F.col("row") == F.col("first"), 1))}
        found = self.folder.stage("digests", make_digests, {"documents": F.count("*")})
        return self.folder.stage("exact", make if found["documents"] else none, counts)

    @cached_property
    def units(self) -> DataFrame:
        """One document for each distinct text, with the best rank of all documents with its words."""
        exact = self.exact()
        rows = self.documents.frame.where("not out").select(
            "row", "place", "rank", "tokens", "equal_key", "keys"
        )
        if not exact["documents"]:
            return rows
        known = self.folder.read("exact")
        rows = rows.join(known, "row", "left").where("first is null or first = row")
        return rows.withColumn("rank", F.coalesce("best", "rank")).drop("first", "same", "best")

    # Equal fingerprints.

    def equal_prints(self) -> Facts:
        """Documents with the same fingerprint as another: row, head (the best of them), many (how many they are). None,
        if the method sends no `equal_key`."""
        if self._columns.equal_key is None:
            return {"documents": 0}

        def make() -> DataFrame:
            units = self.units.select("row", "rank", "equal_key")
            groups = units.groupBy("equal_key").agg(
                F.min(F.struct("rank", "row")).alias("best"), F.count("*").alias("many")
            )
            joined = units.join(groups.where("many > 1"), "equal_key")
            return joined.select("row", F.col("best.row").alias("head"), "many")

        heads = F.count(F.when(F.col("row") == F.col("head"), 1))
        counts = {"documents": F.count("*"), "largest": F.max("many"), "heads": heads}
        return self.folder.stage("equal-prints", make, counts)

    @cached_property
    def heads(self) -> DataFrame:
        """One document for each fingerprint."""
        if not self.equal_prints()["documents"]:
            return self.units
        others = self.folder.read("equal-prints").where("row <> head").select("row")
        return self.units.join(others, "row", "left_anti")

    # Shared keys.

    def key_pairs(self) -> Facts:
        """Pairs of heads that share a key, possibly repeated, and buckets beyond the cap. Facts: the number of these
        buckets, and how many parts of keys were split between tasks."""
        method, split = self.method, 0
        assert method is not None

        def make() -> DataFrame:
            nonlocal split
            if method.keeps_keys:
                keys, pairing = self.heads.select("row", "keys"), BucketPairs(method.limit, self.parts)
                return join_on_keys(keys, BandEntries(), self._tables, self.partitions, pairing)
            reach = method.reach(self.config.prints) if method.whole_keys else None
            if reach is None:
                return self._key_join.join(self.heads, self.partitions, self.parts)
            count = self.documents.facts["documents"]
            pairs, split = near_codes(self.heads, reach, count, self.partitions, self.parts)
            none = F.lit(None).cast("bigint")
            return pairs.select("*", none.cast("int").alias("table"), none.alias("key"), none.alias("many"))

        return self.folder.stage("key-pairs", make, _capped(), lambda: {"split": split, "parts": self.parts})

    @property
    def _tables(self) -> int:
        assert self.method is not None
        return self.method.table_count(self.config.prints)

    @property
    def _key_join(self) -> KeyJoin:
        assert isinstance(self.method, KeyMethod)
        return KeyJoin(self.method, self.config.prints)

    def _head_pairs(self) -> tuple[DataFrame, int]:
        """Pairs of heads in bundles, and how many pairs of large buckets were skipped."""
        facts, found = self.key_pairs(), self.folder.read("key-pairs")
        bundles, skipped = found.where("many is null").select("part", "rights", "counts", "lefts"), 0
        if facts["capped"]:
            more, left_out = self._crowded(found.where("many is not null"))
            # A resumed run may have another number of partitions. Repeated pairs are found only inside one part, so the
            # number of parts must be the stored one.
            bundles = bundles.unionByName(bundled(more, facts["parts"]))
            skipped = _total(left_out, "skipped")
        return bundles, skipped

    def _crowded(self, buckets: DataFrame) -> tuple[DataFrame, DataFrame]:
        assert self.method is not None
        if not self.method.keeps_keys:
            return self._key_join.crowds(self.heads, buckets)
        following = F.element_at("keys", (F.col("table") + 1) % self._tables + 1)
        entries = self.heads.select("row", "rank", "keys", F.posexplode("keys").alias("table", "key"))
        return crowded(entries.withColumn("then", following).drop("keys"), buckets)

    def candidates(self) -> Facts:
        """Candidate pairs, each once, as NEIGHBOURS; those of small groups with equal fingerprints are listed one by
        one. Facts: their number, and how many were left implied, capped and skipped."""
        implied = skipped = 0

        def make() -> DataFrame:
            nonlocal implied, skipped
            bundles, skipped = self._head_pairs()
            if self.equal_prints()["documents"]:
                heads = self._group_heads()
                alone, with_others = (
                    bundles.mapInArrow(Sieve(heads, side), BUNDLES) for side in (False, True)
                )
                spelled, implied = self._spelled(pairs_of(neighbours(with_others, self.partitions)))
                bundles = alone.unionByName(bundled(spelled, self.key_pairs()["parts"]))
            return neighbours(bundles, self.partitions, self.documents.reference)

        def facts_of() -> Facts:
            return {"implied": implied, "capped": self.key_pairs()["capped"], "skipped": skipped}

        return self.folder.stage("candidates", make, _paired(), facts_of)

    def _group_heads(self) -> Any:
        """The heads of groups with equal fingerprints, broadcast."""
        heads = (
            self.folder.read("equal-prints").where("row = head").select("row").toArrow().column(0).to_numpy()
        )
        return self.documents.session.sparkContext.broadcast(np.sort(heads))

    def _spelled(self, pairs: DataFrame) -> tuple[DataFrame, int]:
        """Pairs of heads and of the other members of their groups; and how many pairs were left implied."""
        grouped = self.folder.read("equal-prints")
        groups = grouped.groupBy("head", "many").agg(
            # Members are needed only for groups within the spread.
            F.when(F.first("many") <= SPREAD, F.sort_array(F.collect_list("row"))).alias("members")
        )
        sided = pairs
        for side in ("left", "right"):
            group = groups.select(
                F.col("head").alias(side), F.col("many").alias(f"{side}_many"),
                F.col("members").alias(f"{side}_members"),
            )  # fmt: skip
            sided = sided.join(group, side, "left").fillna(1, subset=[f"{side}_many"])
        between = F.col("left_many") * F.col("right_many")
        sided = sided.withColumn("between", between)
        small = (F.col("between") > 1) & (F.col("between") <= SPREAD)
        spelled = (
            sided.where(small)
            .withColumn("a", F.explode(F.coalesce("left_members", F.array("left"))))
            .withColumn("b", F.explode(F.coalesce("right_members", F.array("right"))))
            .select(F.least("a", "b").alias("left"), F.greatest("a", "b").alias("right"))
        )
        inner = F.col("many") * (F.col("many") - 1) / 2
        few = groups.where(inner <= SPREAD).select("members", F.explode("members").alias("a"))
        inside = few.select("a", F.explode("members").alias("b")).where("a < b")
        stars = grouped.join(groups.where(inner > SPREAD).select("head"), "head").where("row <> head")
        apart = stars.select(F.least("row", "head").alias("left"), F.greatest("row", "head").alias("right"))
        implied = 0
        if self.equal_prints()["largest"] ** 2 > SPREAD:
            unsaid = groups.where(inner > SPREAD).select(
                (inner - F.col("many") + 1).cast("long").alias("more")
            )
            beyond = sided.where(~small).select((F.col("between") - 1).alias("more"))
            implied = _total(unsaid, "more") + _total(beyond, "more")
        whole = sided.where(~small).select("left", "right").unionByName(spelled)
        whole = whole.unionByName(inside.toDF("left", "right")).unionByName(apart)
        return whole, implied

    def report(self) -> SearchReport | None:
        """What a search of codes says about itself, as in a local run."""
        method = self.method
        reach = method.reach(self.config.prints) if method is not None and method.whole_keys else None
        if reach is None or self._out():
            return None
        facts, exact, equal = self.documents.facts, self.exact(), self.equal_prints()
        units = facts["documents"] - facts["out"] - exact["documents"] + exact["first"]
        codes = units - equal["documents"] + equal.get("heads", 0)
        return SearchReport.of(type(method).__name__.lower(), codes, reach.bits, reach.radius)

    # Short documents.

    @cached_property
    def short(self) -> ShortRule | None:
        """The rule of short documents; None if the run needs no join of its own for them."""
        rule = ShortRule.of(self.config)
        if rule is None or self.method is None or self._out():
            return None
        return rule if self.documents.facts["shortest"] < rule.short else None

    def _out(self) -> bool:
        """Whether no document takes part."""
        return bool(self.documents.facts["out"] == self.documents.facts["documents"])

    def sets(self, rows: DataFrame) -> DataFrame:
        """The features of some rows (row, place): row, hashes, weights, language."""
        languages = self.config.filters.same_language
        work = feature_sets(self.config, self.documents.learnt, languages)
        made = self.documents.texts(work, SETS, rows.select("place"))
        if self.documents.rows_are_places:
            return made.withColumnRenamed("place", "row")
        return made.join(rows.select("row", "place"), "place").drop("place")

    def short_sets(self) -> Facts:
        """The features of all documents that are short or could be similar to a short one."""
        assert self.short is not None
        most = self.short.joined

        def make() -> DataFrame:
            return self.sets(self.units.where(F.col("tokens") < most).select("row", "place"))

        return self.folder.stage("short-sets", make)

    def short_pairs(self) -> Facts:
        """The exact join of short documents: every pair whose sets can be similar enough."""
        self.short_sets()
        assert self.short is not None
        join = self.short.join
        rule = SizeRule(join.least, join.most)
        entries = self._short_entries(join)

        def make_key_pairs() -> DataFrame:
            pairing = BucketPairs(join.cap, self.parts, 1, rule)
            return join_on_keys(entries, SizedEntries(), 1, self.partitions, pairing)

        crowds = self.folder.stage(
            "short-key-pairs", make_key_pairs, _capped(), lambda: {"parts": self.parts}
        )
        skipped = 0

        def make() -> DataFrame:
            nonlocal skipped
            found = self.folder.read("short-key-pairs")
            bundles = found.where("many is null").select("part", "rights", "counts", "lefts")
            if crowds["capped"]:
                ranked = entries.join(self.units.select("row", "rank"), "row")
                ranked = ranked.withColumn("then", F.lit(0).cast("long"))
                more, left_out = crowded(ranked, found.where("many is not null"), rule)
                bundles = bundles.unionByName(bundled(more, crowds["parts"]))
                skipped = _total(left_out, "skipped")
            return neighbours(bundles, self.partitions, self.documents.reference)

        def facts_of() -> Facts:
            return {"capped": crowds["capped"], "skipped": skipped}

        return self.folder.stage("short", make, _paired(), facts_of)

    def _short_entries(self, join: ShortJoin) -> DataFrame:
        sets = self.folder.read("short-sets").select("row", "hashes")
        binned = sets.mapInArrow(_binned, "bin bigint, count bigint").groupBy("bin").agg(F.sum("count"))
        table = binned.toArrow()
        counts = np.zeros(ShortJoin.BINS, np.uint32)
        counts[table.column(0).to_numpy()] = table.column(1).to_numpy().astype(np.uint32)
        shared = self.documents.session.sparkContext.broadcast(counts)
        return sets.mapInArrow(_Prefixes(join, shared), _KEYS)


def _capped() -> dict[str, Column]:
    """How many buckets beyond the cap there are."""
    return {"capped": F.count("many")}


def _paired() -> dict[str, Column]:
    """How many pairs NEIGHBOURS hold."""
    return {"pairs": F.sum((F.octet_length("lefts") / 8).cast("long"))}


def _total(rows: DataFrame, name: str) -> int:
    return int(rows.agg(F.sum(name)).collect()[0][0] or 0)


def features_of(batch: pa.RecordBatch) -> Features:
    """The feature sets in a column of bytes, without weights."""
    hashes, offsets = flat(batch.column("hashes"), np.uint64)
    weights: Any = np.broadcast_to(np.float32(1), len(hashes))
    return Features(hashes, weights, offsets, "features of one run")


def _binned(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """How often features occur, by their leading bits."""
    counts = np.zeros(ShortJoin.BINS, np.uint32)
    for batch in batches:
        if batch.num_rows:
            ShortJoin.count(features_of(batch), counts)
    bins = np.flatnonzero(counts)
    yield pa.record_batch([pa.array(bins), pa.array(counts[bins].astype(np.int64))], ["bin", "count"])


@dataclass(frozen=True)
class _Prefixes:
    """The keys of each set in the exact join: two similar sets share at least one."""

    join: ShortJoin
    counts: Any  # a broadcast column

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts: NDArray[np.uint32] = self.counts.value
        for batch in batches:
            if not batch.num_rows:
                continue
            sets = features_of(batch)
            keys, places = self.join.keys(sets, counts)
            rows = batch.column("row").to_numpy(zero_copy_only=False)
            table = pa.array(np.zeros(len(keys), np.int32))
            yield pa.record_batch(
                [table, pa.array(keys.view(np.int64)), pa.array(rows[places]), pa.array(sets.sizes[places])],
                ["table", "key", "row", "size"],
            )
