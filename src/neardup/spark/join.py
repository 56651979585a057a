"""Candidates as a shuffle: rows that share a (table, key) meet in one partition, sorted, and are paired natively.

Entries travel in bundles, one for each table and part of the keys. A bucket of up to the cap is paired whole. A larger
one is only counted, whatever its size, and then gets the pairs that the local join gives it: each row with the bucket's
four best, and with its eight neighbours by the next table's key.
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
from neardup.spark.shuffle import Entries, Scatter, columns_of, parts_of, scattered

__all__ = ["MET", "Fit", "Meet", "Rule", "crowded", "meet"]

MET = "part int, rights binary, counts binary, lefts binary, table int, key bigint, many bigint"
_PAIRS = 1 << 22  # pairs spelled out at a time
_HELD = 1 << 22  # entries of one part held before those of crowded buckets are let go
Longs = NDArray[np.int64]


@dataclass(frozen=True)
class Fit:
    """The sizes that sets of a Jaccard similarity of `least` can have when one of them has at most `most` features."""

    least: float
    most: int

    def meets(self, extra: Longs, left: Longs, right: Longs) -> NDArray[np.bool_]:
        left, right = extra[left, 0], extra[right, 0]
        small, large = np.minimum(left, right), np.maximum(left, right)
        return np.asarray((small <= self.most) & (small >= self.least * large * (1 - 1e-9)))

    def where(self, left: Column, right: Column) -> Column:
        small, large = F.least(left, right), F.greatest(left, right)
        return (small <= self.most) & (small >= F.lit(self.least) * large * F.lit(1 - 1e-9))


class Rule(Protocol):
    """Which of the pairs that met count."""

    def meets(self, extra: Longs, left: Longs, right: Longs) -> NDArray[np.bool_]:
        """Given what went with each entry, and the places of the pairs among them."""
        ...


@dataclass
class _Part:
    """The entries of one table and part as they come. Of a bucket beyond the cap one row more than it is held, and the
    others are counted, so memory is that of small buckets whatever the large ones are."""

    table: int
    cap: int
    columns: list[tuple[Longs, ...]] = field(default_factory=list)
    count: int = 0
    stays: int = 0
    beyond: dict[int, int] = field(default_factory=dict)

    def add(self, columns: tuple[Longs, ...]) -> None:
        self.columns.append(columns)
        self.count += len(columns[0])
        if self.count > 2 * self.stays + _HELD:
            self.sorted()

    def sorted(self) -> tuple[Longs, ...]:
        """Key, row and size by key, with crowds cut off."""
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
        self.count = self.stays = len(columns[0])
        return columns


@dataclass(frozen=True)
class Meet:
    """The pairs of rows of each bucket up to the cap, in bundles of so many parts, and how many rows are in those
    beyond. Bundles of entries come sorted by (table, part)."""

    cap: int
    parts: int
    words: int = 0
    rule: Rule | None = None

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
            yield _met(batch)

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
                counts = self.rule.meets(columns[2], left, right)
                left, right = left[counts], right[counts]
            for batch in made.add(row[left], row[right]):
                yield _met(batch)


def _begins(key: Longs) -> Longs:
    fresh = np.ones(len(key), np.bool_)
    fresh[1:] = key[1:] != key[:-1]
    return np.flatnonzero(fresh)


def _met(bundles: pa.RecordBatch) -> pa.RecordBatch:
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


def meet(rows: DataFrame, entries: Entries, tables: int, partitions: int, made: Meet) -> DataFrame:
    """Rows as `entries` takes them, of so many tables, to MET: bundles of pairs, a pair once for each bucket it shares,
    and a row for each bucket beyond the cap."""
    scatter = Scatter(entries, parts_of(partitions, tables))
    return scattered(rows, scatter, partitions).mapInArrow(made, MET)


def crowded(entries: DataFrame, buckets: DataFrame, fit: Fit | None = None) -> tuple[DataFrame, DataFrame]:
    """The pairs of `buckets` (table, key, many) that are beyond the cap, by the local rule; and how many of their pairs
    are not among them, as a column `skipped`.

    Entries have columns table, key, row, rank and then (any key to tell neighbours by). Windows sort on disk where a
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


def _ahead(order: WindowSpec, step: int, fit: Fit | None) -> Column:
    names = ["row", "size"] if fit is not None else ["row"]
    return F.struct(*[F.lead(name, step).over(order).alias(name) for name in names])


def _skipped(many: Column) -> Column:
    """How many pairs of a bucket of so many rows are not listed."""
    listed = reduce(lambda total, i: total + F.greatest(many - 1 - i, F.lit(0)), range(_core.STARS), F.lit(0))
    rest = many - _core.STARS
    near = reduce(
        lambda total, step: total + F.greatest(rest - step, F.lit(0)),
        range(1, _core.NEIGHBOURS + 1),
        F.lit(0),
    )
    return F.floor(many * (many - 1) / 2).cast("long") - listed - near
