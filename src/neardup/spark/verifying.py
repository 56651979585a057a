"""Verification: feature sets come to the pairs, each set once for each cell of a grid that it has pairs in.

Rows are hashed to one of `side` numbers, and a pair belongs to the cell of its two. However many pairs a document has,
its features travel to `side` cells at most, and a cell's features fit into memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from neardup.errors import DataError
from neardup.features.base import Features
from neardup.spark.working import config_of
from neardup.verify import Pairs

__all__ = ["VERIFIED", "Check", "verified"]

VERIFIED = "left bigint, right bigint, similarity double, looked bigint"
_ROOM = 64 << 20  # bytes of features compared at a time, at the least a cell's
_SET, _PAIR = 0, 1
Longs = NDArray[np.int64]


@dataclass(frozen=True)
class _Local:
    left: Longs
    right: Longs


@dataclass(frozen=True)
class Check:
    """Pairs to those that are similar enough. Rows come sorted by (cell, kind, left, right): of each cell its feature
    sets, then its pairs. `short` are the tokens below which a document is short, and those below which the exact join
    of short ones took it in (0: there was none)."""

    config: str
    short: tuple[int, int]
    exactly: bool = False  # pairs of the exact join itself

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held: list[pa.RecordBatch] = []
        size = 0
        for batch in batches:
            if not batch.num_rows:
                continue
            cells = batch.column("cell").to_numpy(zero_copy_only=False)
            if held and size > _ROOM:
                # Whole cells only: what belongs to the one at hand stays.
                first = held[-1].column("cell")[held[-1].num_rows - 1].as_py()
                end = int(np.searchsorted(cells, first, "right"))
                held.append(batch.slice(0, end))
                if end < batch.num_rows:
                    yield from self._checked(held)
                    held, size = [batch.slice(end)], 0
            else:
                held.append(batch)
            size += batch.nbytes
        if held:
            yield from self._checked(held)

    def _checked(self, held: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = _wide(pa.Table.from_batches(held)).combine_chunks()
        kind = _numbers(table, "kind")
        cell = np.unique(_numbers(table, "cell"), return_inverse=True)[1].astype(np.int64)
        pairs = np.flatnonzero(kind == _PAIR)
        sets = np.flatnonzero(kind == _SET)
        left, right = _numbers(table, "left"), _numbers(table, "right")
        # Rows are below 2^44, cells held at a time below 2^19.
        known = cell[sets] << 44 | left[sets]
        order = np.argsort(known, kind="stable")
        known, sets = known[order], sets[order]
        ends = []
        for side in (left, right):
            asked = cell[pairs] << 44 | side[pairs]
            at = np.searchsorted(known, asked)
            if not len(known) or (known[np.minimum(at, len(known) - 1)] != asked).any():
                raise DataError("a document that was read before is not there now: the inputs have changed")
            ends.append(at)
        a, b = self._meeting(table, sets, *ends)
        found = self._similar(table.take(pa.array(sets)), a, b)
        yield pa.record_batch(
            [
                pa.array(left[sets[found.left]]),
                pa.array(left[sets[found.right]]),
                pa.array(found.similarity),
                pa.nulls(len(found), pa.int64()),
            ],
            ["left", "right", "similarity", "looked"],
        )
        none = pa.nulls(1, pa.int64())
        yield pa.record_batch(
            [none, none, pa.nulls(1, pa.float64()), pa.array([len(a)], pa.int64())],
            ["left", "right", "similarity", "looked"],
        )

    def _meeting(self, table: pa.Table, sets: Longs, left: Longs, right: Longs) -> tuple[Longs, Longs]:
        """The pairs that the config lets meet, and that no exact join has looked at."""
        filters = config_of(self.config).filters
        if self.short[0] and not self.exactly:
            tokens = _numbers(table, "tokens")[sets]
            short, joined = tokens < self.short[0], tokens < self.short[1]
            fresh = ~(joined[left] & joined[right] & (short[left] | short[right]))
            left, right = left[fresh], right[fresh]
        if filters.length:
            tokens = _numbers(table, "tokens")[sets]
            fits = filters.lengths_fit(tokens[left], tokens[right])
            left, right = left[fits], right[fits]
        if filters.same_language:
            names = np.array(table.column("language").take(pa.array(sets)).to_pylist(), object)
            alike = names[left] == names[right]
            left, right = left[alike], right[alike]
        return left, right

    def _similar(self, sets: pa.Table, left: Longs, right: Longs) -> Pairs:
        hashes, offsets = _flat(sets.column("hashes"), np.dtype(np.uint64))
        weights: Any = np.broadcast_to(np.float32(1), len(hashes))
        if sets.column("weights").null_count < len(sets):
            weights, _ = _flat(sets.column("weights"), np.dtype(np.float32))
        features = Features(hashes, weights, offsets, "features of one run")
        config = config_of(self.config)
        # Rows rise with their documents in each cell, so who comes first in a pair is who came first in the corpus.
        return config.verify.check(_Local(left, right), features)


def _wide(table: pa.Table) -> pa.Table:
    """The same where more than 2 GB of features can stand in one column."""
    for name in ("hashes", "weights"):
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, table.column(name).cast(pa.large_binary()))
    return table


def _numbers(table: pa.Table, name: str) -> Longs:
    return np.asarray(table.column(name).to_numpy(), np.int64)


def _flat(column: Any, dtype: np.dtype[Any]) -> tuple[Any, Longs]:
    """A column of bytes as one array of numbers, and where each row begins."""
    chunk = column.combine_chunks()
    chunk = chunk.chunk(0) if isinstance(chunk, pa.ChunkedArray) else chunk
    _, ends, data = chunk.buffers()
    offsets = np.frombuffer(ends, np.int64)[chunk.offset : chunk.offset + len(chunk) + 1]
    flat = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    whole = np.ascontiguousarray(flat[offsets[0] : offsets[-1]]).view(dtype)
    return whole, (offsets - offsets[0]) // dtype.itemsize


def verified(
    pairs: DataFrame, sets: DataFrame, check: Check, *, side: int, partitions: int, tokens: DataFrame | None
) -> DataFrame:
    """Pairs (left, right) and sets (row, hashes, weights, language) to VERIFIED: pairs that are similar enough, and
    counts of those looked at. `tokens` (row, tokens) is asked for where lengths matter."""

    def cell(left: Column, right: Column) -> Column:
        a, b = (F.pmod(F.xxhash64(row), F.lit(side)) for row in (left, right))
        return F.least(a, b) * side + F.greatest(a, b)

    placed = pairs.select("left", "right", cell(F.col("left"), F.col("right")).alias("cell"))
    ends = placed.select("cell", F.explode(F.array("left", "right")).alias("row")).distinct()
    given = sets.join(ends, "row")
    none = F.lit(0).cast("long")
    given = given.withColumn("tokens", none) if tokens is None else given.join(tokens, "row")
    as_sets = given.select(
        "cell", F.lit(_SET).alias("kind"), F.col("row").alias("left"), F.col("row").alias("right"),
        "tokens", "hashes", "weights", "language",
    )  # fmt: skip
    as_pairs = placed.select(
        "cell", F.lit(_PAIR).alias("kind"), "left", "right", F.lit(0).cast("long").alias("tokens"),
        F.lit(None).cast("binary").alias("hashes"), F.lit(None).cast("binary").alias("weights"),
        F.lit(None).cast("string").alias("language"),
    )  # fmt: skip
    together = as_sets.unionByName(as_pairs).repartition(partitions, "cell")
    return together.sortWithinPartitions("cell", "kind", "left", "right").mapInArrow(check, VERIFIED)
