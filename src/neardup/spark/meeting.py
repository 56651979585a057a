"""Candidates as a shuffle: rows that share a (table, key) meet in one partition, sorted, and are paired natively.

A bucket of up to the cap is paired whole. A larger one is only counted, whatever its size, and then gets the pairs that
the local join gives it: each row with the bucket's four best, and with its eight neighbours by the next table's key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from neardup import _core
from neardup.search.runs import unpack_pairs

__all__ = ["MET", "Fit", "Meet", "crowded", "meet"]

MET = "left bigint, right bigint, table int, key bigint, many bigint"
_STARS, _NEIGHBOURS = 4, 8  # as in core/lsh.hpp
_PAIRS = 1 << 22  # pairs spelled out at a time
Longs = NDArray[np.int64]


@dataclass(frozen=True)
class Fit:
    """The sizes that sets of a Jaccard similarity of `least` can have when one of them has at most `most` features."""

    least: float
    most: int

    def of(self, left: Longs, right: Longs) -> NDArray[np.bool_]:
        small, large = np.minimum(left, right), np.maximum(left, right)
        return np.asarray((small <= self.most) & (small >= self.least * large * (1 - 1e-9)))

    def where(self, left: Column, right: Column) -> Column:
        small, large = F.least(left, right), F.greatest(left, right)
        return (small <= self.most) & (small >= F.lit(self.least) * large * F.lit(1 - 1e-9))


@dataclass(frozen=True)
class Meet:
    """The pairs of rows of each bucket up to the cap, and how many rows are in those beyond. Rows come sorted by
    (table, key, row); memory is that of some batches, whatever the buckets."""

    cap: int
    fit: Fit | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        open_: tuple[Longs, ...] | None = None
        beyond = 0  # rows of the open bucket that were counted and let go
        for batch in batches:
            if not batch.num_rows:
                continue
            names = ("table", "key", "row", *(("size",) if self.fit is not None else ()))
            columns = tuple(batch.column(n).to_numpy(zero_copy_only=False).astype(np.int64) for n in names)
            if open_ is not None:
                columns = tuple(np.concatenate(both) for both in zip(open_, columns, strict=True))
            begins = _begins(columns[0], columns[1])
            last = int(begins[-1])
            if last:
                yield from self._paired(tuple(c[:last] for c in columns), begins[:-1], beyond)
                beyond = 0
            rest = len(columns[0]) - last
            keep = min(rest, self.cap + 1)
            beyond += rest - keep
            open_ = tuple(c[last : last + keep].copy() for c in columns)
        if open_ is not None:
            yield from self._paired(open_, np.zeros(1, np.int64), beyond)

    def _paired(self, columns: tuple[Longs, ...], begins: Longs, beyond: int) -> Iterator[pa.RecordBatch]:
        """Whole buckets; of the first one `beyond` rows more were seen."""
        table, key, row = columns[:3]
        sizes = np.diff(np.append(begins, len(row)))
        many = sizes.copy()
        many[0] += beyond
        over = np.flatnonzero(many > self.cap)
        if len(over):
            at = begins[over]
            none = pa.nulls(len(over), pa.int64())
            tables = pa.array(table[at].astype(np.int32))
            yield pa.record_batch(
                [none, none, tables, pa.array(key[at]), pa.array(many[over])],
                ["left", "right", "table", "key", "many"],
            )
        shared = np.flatnonzero((sizes > 1) & (many <= self.cap))
        work = np.cumsum(sizes[shared] * (sizes[shared] - 1) // 2)
        for some in np.split(shared, np.flatnonzero(np.diff(work // _PAIRS)) + 1):
            if not len(some):
                continue
            bucket = np.repeat(np.arange(len(some), dtype=np.uint64), sizes[some])
            inside = np.arange(len(bucket)) - np.repeat(np.cumsum(sizes[some]) - sizes[some], sizes[some])
            place = np.repeat(begins[some], sizes[some]) + inside
            packed, _, _ = _core.key_pairs(bucket, None, None, self.cap, 1)
            left, right = (place[side] for side in unpack_pairs(packed))
            if self.fit is not None:
                fits = self.fit.of(columns[3][left], columns[3][right])
                left, right = left[fits], right[fits]
            yield _pairs(row[left], row[right])


def _begins(table: Longs, key: Longs) -> Longs:
    fresh = np.ones(len(key), np.bool_)
    fresh[1:] = (key[1:] != key[:-1]) | (table[1:] != table[:-1])
    return np.flatnonzero(fresh)


def _pairs(left: Longs, right: Longs) -> pa.RecordBatch:
    count = len(left)
    return pa.record_batch(
        [
            pa.array(np.minimum(left, right)),
            pa.array(np.maximum(left, right)),
            pa.nulls(count, pa.int32()),
            pa.nulls(count, pa.int64()),
            pa.nulls(count, pa.int64()),
        ],
        ["left", "right", "table", "key", "many"],
    )


def meet(entries: DataFrame, partitions: int, cap: int, fit: Fit | None = None) -> DataFrame:
    """Entries (table, key, row, and size where sizes must fit) to the pairs of MET, a pair once for each bucket it
    shares, and a row for each bucket beyond the cap."""
    shuffled = entries.repartition(partitions, "table", "key").sortWithinPartitions("table", "key", "row")
    return shuffled.mapInArrow(Meet(cap, fit), MET)


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
    stars = ranked.where(F.col("place") <= _STARS).select(
        "table", "key", F.col("row").alias("star"), F.col("place").alias("before"),
        *[c.alias("star_size") for c in size],
    )  # fmt: skip
    starred = ranked.join(F.broadcast(stars), ["table", "key"]).where(F.col("before") < F.col("place"))
    if fit is not None:
        starred = starred.where(fit.where(F.col("size"), F.col("star_size")))
    # Keys are unsigned in the core, and so is their order there.
    then = F.col("then").bitwiseXOR(F.lit(-(1 << 63)))
    order = bucket.orderBy(then, "row")
    rest = ranked.where(F.col("place") > _STARS)
    ahead = F.array(*[_ahead(order, step, fit) for step in range(1, _NEIGHBOURS + 1)])
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
    listed = reduce(lambda total, i: total + F.greatest(many - 1 - i, F.lit(0)), range(_STARS), F.lit(0))
    rest = many - _STARS
    near = reduce(
        lambda total, step: total + F.greatest(rest - step, F.lit(0)), range(1, _NEIGHBOURS + 1), F.lit(0)
    )
    return F.floor(many * (many - 1) / 2).cast("long") - listed - near
