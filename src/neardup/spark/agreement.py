"""Documents that agree at enough places: one of some parts must agree wholly, so parts are the tables they meet in, and
all places travel with the keys, for agreement to be counted where they meet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from neardup import _core
from neardup.pipeline.methods import Agreement
from neardup.search.agreement import folded
from neardup.spark.join import Meet, crowded, meet
from neardup.spark.shuffle import Entry

__all__ = ["crowds_agreeing", "meet_agreeing"]

_PLACES = "table int, key bigint, row bigint, then bigint"
Longs = NDArray[np.int64]


@dataclass(frozen=True)
class _Parts:
    """Of rows (row, keys: the values at all places) one key for each part; a key of 0 is none, a sketch's value is one
    whatever it is."""

    parts: tuple[tuple[int, int], ...]
    sketches: bool

    def __call__(self, batch: pa.RecordBatch) -> Iterator[Entry]:
        rows = batch.column("row").to_numpy(zero_copy_only=False)
        values = batch.column("keys").flatten().to_numpy(zero_copy_only=False).reshape(len(rows), -1)
        for table in range(len(self.parts)):
            whole, key = self._keys(values, table)
            yield table, key, rows[whole], values[whole]

    def _keys(self, values: Longs, table: int) -> tuple[NDArray[np.bool_], Longs]:
        a, b = self.parts[table]
        places = values[:, a:b].view(np.uint64)
        whole = np.ones(len(values), np.bool_) if self.sketches else (places != 0).all(axis=1)
        return whole, folded(places[whole]).view(np.int64)

    def rows(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same as rows, each with the next part's key."""
        for batch in batches:
            if not batch.num_rows:
                continue
            for table, key, row, values in self(batch):
                assert values is not None
                a, b = self.parts[(table + 1) % len(self.parts)]
                then = folded(values[:, a:b].view(np.uint64)).view(np.int64)
                tables = pa.array(np.full(len(row), table, np.int32))
                yield pa.record_batch(
                    [tables, pa.array(key), pa.array(row), pa.array(then)], ["table", "key", "row", "then"]
                )


@dataclass(frozen=True)
class _Agreeing:
    """Whether enough places agree."""

    needed: int
    sketches: bool

    def meets(self, extra: Longs, left: Longs, right: Longs) -> NDArray[np.bool_]:
        values = np.ascontiguousarray(extra.view(np.uint64))
        values = values.astype(np.uint32) if self.sketches else values
        return np.asarray(_core.agreeing_places(values, left, right, 1) >= self.needed)

    def pairs(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Pairs (left, right) with the places of both."""
        for batch in batches:
            count = batch.num_rows
            if not count:
                continue
            sides = [
                batch.column(name).flatten().to_numpy(zero_copy_only=False).reshape(count, -1)
                for name in ("left_keys", "right_keys")
            ]
            places = np.arange(count)
            counts = pa.array(self.meets(np.concatenate(sides), places, places + count))
            yield batch.select(["left", "right"]).filter(counts)


def _of(method: Agreement) -> tuple[_Parts, _Agreeing]:
    parts = tuple((part.start, part.stop) for part in method.rule.parts(method.places))
    needed = method.rule.needed(method.places)
    return _Parts(parts, method.sketches), _Agreeing(needed, method.sketches)


def meet_agreeing(rows: DataFrame, method: Agreement, partitions: int, parts: int) -> DataFrame:
    """Rows (row, keys: all their places) to MET: the pairs that agree at enough places, and buckets beyond the cap."""
    entries, rule = _of(method)
    made = Meet(method.rule.cap, parts, method.places, rule)
    return meet(rows.select("row", "keys"), entries, len(entries.parts), partitions, made)


def crowds_agreeing(rows: DataFrame, method: Agreement, buckets: DataFrame) -> tuple[DataFrame, DataFrame]:
    """The pairs (left, right) of buckets beyond the cap that agree at enough places, of rows (row, rank, keys); and
    what `crowded` says of those left out."""
    entries, rule = _of(method)
    places = rows.select("row", "keys")
    here = places.mapInArrow(entries.rows, _PLACES).join(rows.select("row", "rank"), "row")
    pairs, skipped = crowded(here, buckets)
    pairs = pairs.distinct()
    for side in ("left", "right"):
        pairs = pairs.join(places.select(F.col("row").alias(side), F.col("keys").alias(f"{side}_keys")), side)
    return pairs.mapInArrow(rule.pairs, "left bigint, right bigint"), skipped
