"""Candidates by a shuffle: rows with the same (table, key) reach one partition, sorted, and are paired natively.

Entries are sent in bundles, one for each table and part of the keys. All rows of a bucket are paired, up to the cap. A
larger bucket is only counted here. It later gets the same pairs as in the local join: each row with the four best rows
of the bucket, and with its eight neighbours in the order of the next table's key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from neardup import _core
from neardup.search.pair_runs import unpack_pairs
from neardup.spark.packed import runs
from neardup.spark.pairs import PairBundles
from neardup.spark.shuffle import Entries, EntryBundles, columns_of, parts_of, shuffle

__all__ = ["KEY_PAIRS", "BucketPairs", "PairRule", "SizeRule", "crowded", "join_on_keys"]

KEY_PAIRS = "part int, rights binary, counts binary, lefts binary, table int, key bigint, many bigint"
_PAIRS = 1 << 22  # pairs spelled out at a time
_HELD = 1 << 22  # entries of one part held in memory before buckets beyond the cap are cut
Longs = NDArray[np.int64]


@dataclass(frozen=True)
class SizeRule:
    """Allows two sets whose sizes permit a Jaccard similarity of `least`, if one has at most `most` features."""

    least: float
    most: int

    def allows(self, extra: Longs, left: Longs, right: Longs) -> NDArray[np.bool_]:
        left, right = extra[left, 0], extra[right, 0]
        small, large = np.minimum(left, right), np.maximum(left, right)
        return np.asarray((small <= self.most) & (small >= self.least * large * (1 - 1e-9)))

    def where(self, left: Column, right: Column) -> Column:
        small, large = F.least(left, right), F.greatest(left, right)
        return (small <= self.most) & (small >= F.lit(self.least) * large * F.lit(1 - 1e-9))


class PairRule(Protocol):
    """Decides which pairs of rows with the same key are candidates."""

    def allows(self, extra: Longs, left: Longs, right: Longs) -> NDArray[np.bool_]:
        """One answer for each pair. `extra` are the extra words of all entries; `left` and `right` point into it."""
        ...


@dataclass
class _Part:
    """The entries of one table and part, as they arrive. Of a bucket beyond the cap it holds cap + 1 rows and counts
    the others, so large buckets do not need more memory."""

    table: int
    cap: int
    columns: list[tuple[Longs, ...]] = field(default_factory=list)
    count: int = 0
    held: int = 0
    beyond: dict[int, int] = field(default_factory=dict)

    def add(self, columns: tuple[Longs, ...]) -> None:
        self.columns.append(columns)
        self.count += len(columns[0])
        if self.count > 2 * self.held + _HELD:
            self.sorted()

    def sorted(self) -> tuple[Longs, ...]:
        """The columns sorted by key, with large buckets cut to cap + 1 rows."""
        key, *others = (np.concatenate(one) for one in zip(*self.columns, strict=True))
        order = np.argsort(key, kind="stable")
        columns = (key[order], *(other[order] for other in others))
        begins = _begins(columns[0])
        sizes = np.diff(np.append(begins, len(key)))
        over = np.flatnonzero(sizes > self.cap + 1)
        if len(over):
            for at, more in zip(begins[over].tolist(), (sizes[over] - self.cap - 1).tolist(), strict=True):
                name = int(columns[0][at])
                self.beyond[name] = self.beyond.get(name, 0) + more
            inside = np.arange(len(key)) - np.repeat(begins, sizes)
            columns = tuple(column[inside <= self.cap] for column in columns)
        self.columns = [columns]
        self.count = self.held = len(columns[0])
        return columns


@dataclass(frozen=True)
class BucketPairs:
    """Makes KEY_PAIRS of bundles of entries that are sorted by (table, part): the pairs of each bucket up to the cap,
    bundled into `parts` parts, and the number of rows of each larger bucket."""

    cap: int
    parts: int
    words: int = 0
    rule: PairRule | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        made = PairBundles(self.parts)
        part: _Part | None = None
        now: tuple[int, ...] = ()
        for here, batch in runs(batches, "table", "part"):
            if part is None or here != now:
                if part is not None:
                    yield from self._paired(part, made)
                part, now = _Part(here[0], self.cap), here
            part.add(columns_of(batch, self.words))
        if part is not None:
            yield from self._paired(part, made)
        for batch in made.end():
            yield _as_key_pairs(batch)

    def _paired(self, part: _Part, made: PairBundles) -> Iterator[pa.RecordBatch]:
        columns = part.sorted()
        key, row = columns[:2]
        begins = _begins(key)
        sizes = np.diff(np.append(begins, len(row)))
        over = begins[sizes > self.cap]
        if len(over):
            many = [self.cap + 1 + part.beyond.get(name, 0) for name in key[over].tolist()]
            yield _crowds(part.table, key[over], np.array(many, np.int64))
        shared = np.flatnonzero((sizes > 1) & (sizes <= self.cap))
        work = np.cumsum(sizes[shared] * (sizes[shared] - 1) // 2)
        for some in np.split(shared, np.flatnonzero(np.diff(work // _PAIRS)) + 1):
            if not len(some):
                continue
            bucket = np.repeat(np.arange(len(some), dtype=np.uint64), sizes[some])
            inside = np.arange(len(bucket)) - np.repeat(np.cumsum(sizes[some]) - sizes[some], sizes[some])
            place = np.repeat(begins[some], sizes[some]) + inside
            packed, _, _ = _core.key_pairs(bucket, None, None, self.cap, 1)
            left, right = (place[side] for side in unpack_pairs(packed))
            if self.rule is not None:
                allowed = self.rule.allows(columns[2], left, right)
                left, right = left[allowed], right[allowed]
            for batch in made.add(row[left], row[right]):
                yield _as_key_pairs(batch)


def _begins(key: Longs) -> Longs:
    fresh = np.ones(len(key), np.bool_)
    fresh[1:] = key[1:] != key[:-1]
    return np.flatnonzero(fresh)


def _as_key_pairs(bundles: pa.RecordBatch) -> pa.RecordBatch:
    none = pa.nulls(bundles.num_rows, pa.int64())
    return pa.record_batch(
        [*bundles.columns, none.cast(pa.int32()), none, none], [*bundles.schema.names, "table", "key", "many"]
    )


def _crowds(table: int, key: Longs, many: Longs) -> pa.RecordBatch:
    none = pa.nulls(len(key), pa.binary())
    tables = pa.array(np.full(len(key), table, np.int32))
    return pa.record_batch(
        [pa.nulls(len(key), pa.int32()), none, none, none, tables, pa.array(key), pa.array(many)],
        ["part", "rights", "counts", "lefts", "table", "key", "many"],
    )


def join_on_keys(
    rows: DataFrame, entries: Entries, tables: int, partitions: int, pairing: BucketPairs
) -> DataFrame:
    """KEY_PAIRS of these rows: bundles of pairs, each pair once for each bucket it shares, and one row for each bucket
    beyond the cap."""
    bundles = EntryBundles(entries, parts_of(partitions, tables))
    return shuffle(rows, bundles, partitions).mapInArrow(pairing, KEY_PAIRS)


def crowded(
    entries: DataFrame, buckets: DataFrame, fit: SizeRule | None = None
) -> tuple[DataFrame, DataFrame]:
    """The pairs of buckets beyond the cap (`buckets`: table, key, many), chosen as the local join does; and a column
    `skipped` with how many pairs of each bucket were not chosen.

    Entries have the columns table, key, row, rank and then (the key that orders neighbours). Windows sort on disk if a
    bucket is larger than memory.
    """
    here = entries.join(F.broadcast(buckets.select("table", "key")), ["table", "key"])
    bucket = Window.partitionBy("table", "key")
    ranked = here.withColumn("place", F.row_number().over(bucket.orderBy("rank")))
    size = [F.col("size")] if fit is not None else []
    stars = ranked.where(F.col("place") <= _core.STARS).select(
        "table", "key", F.col("row").alias("star"), F.col("place").alias("before"),
        *[c.alias("star_size") for c in size],
    )  # fmt: skip
    starred = ranked.join(F.broadcast(stars), ["table", "key"]).where(F.col("before") < F.col("place"))
    if fit is not None:
        starred = starred.where(fit.where(F.col("size"), F.col("star_size")))
    # Keys are unsigned in the core, and so is their order there.
    then = F.col("then").bitwiseXOR(F.lit(-(1 << 63)))
    order = bucket.orderBy(then, "row")
    rest = ranked.where(F.col("place") > _core.STARS)
    ahead = F.array(*[_ahead(order, step, fit) for step in range(1, _core.NEIGHBOURS + 1)])
    near = rest.withColumn("ahead", ahead).select("row", *size, F.explode("ahead").alias("other"))
    near = near.where(F.col("other.row").isNotNull())
    if fit is not None:
        near = near.where(fit.where(F.col("size"), F.col("other.size")))
    pairs = starred.select("row", F.col("star").alias("other")).unionByName(
        near.select("row", F.col("other.row").alias("other"))
    )
    turned = pairs.select(F.least("row", "other").alias("left"), F.greatest("row", "other").alias("right"))
    return turned, buckets.select(_skipped(F.col("many")).alias("skipped"))


def _ahead(order: WindowSpec, step: int, fit: SizeRule | None) -> Column:
    names = ["row", "size"] if fit is not None else ["row"]
    return F.struct(*[F.lead(name, step).over(order).alias(name) for name in names])


def _skipped(many: Column) -> Column:
    """How many pairs of a bucket of `many` rows are not listed."""
    listed = reduce(lambda total, i: total + F.greatest(many - 1 - i, F.lit(0)), range(_core.STARS), F.lit(0))
    rest = many - _core.STARS
    near = reduce(
        lambda total, step: total + F.greatest(rest - step, F.lit(0)),
        range(1, _core.NEIGHBOURS + 1),
        F.lit(0),
    )
    return F.floor(many * (many - 1) / 2).cast("long") - listed - near
