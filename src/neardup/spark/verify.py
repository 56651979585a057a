"""Verification: pairs are grouped into cells, and a feature set is sent to each cell in which it has pairs.

Pairs with one label are verified in one cell, so the features of a document are sent once or a few times. A label with
very many pairs is split over a grid: each row is hashed to one of `side` numbers, and the two numbers of a pair name
its cell. So the features of a document are sent to at most `side` cells, for any number of its pairs, and the
features of a cell fit into memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from neardup.compare.verify import Pairs
from neardup.config.config import Config
from neardup.errors import DataError
from neardup.features.features import Features
from neardup.pipeline.rules import ShortRule
from neardup.spark.packed import binary, flat, part_of
from neardup.spark.storage import Facts

__all__ = ["VERIFIED", "Cells", "Check", "cells_for", "ends_of", "verified"]

VERIFIED = "left bigint, right bigint, similarity double, compared bigint"
_CELL = 64 << 20  # bytes of features in one cell
_ROOM = 64 << 20  # bytes of features compared at a time; at least those of one cell
_SET, _PAIR = 0, 1
Longs = NDArray[np.int64]


@dataclass(frozen=True)
class _PairColumns:
    left: Longs
    right: Longs


@dataclass(frozen=True)
class Cells:
    """Where pairs are verified: `count` cells for labels, and a grid of `side` by `side` cells for labels with too many
    pairs for one cell (`crowded`, sorted)."""

    count: int
    side: int
    crowded: Longs

    def placed(self, batch: pa.RecordBatch) -> tuple[Longs, Longs, Longs, Longs]:
        """NEIGHBOURS by cells: cell, right, all lefts, and where the lefts of each begin."""
        label, right = (batch.column(name).to_numpy(zero_copy_only=False) for name in ("label", "right"))
        left, ends = flat(batch.column("lefts"), np.int64)
        cell = part_of(label, self.count)
        spread = np.isin(label, self.crowded) if len(self.crowded) else np.zeros(len(label), np.bool_)
        if not spread.any():
            return cell, right, left, ends
        many = np.diff(ends)
        rights, cells, over = np.repeat(right, many), np.repeat(cell, many), np.repeat(spread, many)
        a, b = (part_of(rows[over], self.side) for rows in (left, rights))
        cells[over] = self.count + np.minimum(a, b) * self.side + np.maximum(a, b)
        order = np.lexsort((left, cells, rights))
        cells, rights, left = cells[order], rights[order], left[order]
        fresh = np.ones(len(left), np.bool_)
        fresh[1:] = (cells[1:] != cells[:-1]) | (rights[1:] != rights[:-1])
        begins = np.flatnonzero(fresh)
        return cells[begins], rights[begins], left, np.append(begins, len(left))


@dataclass(frozen=True)
class _Ends:
    cells: Cells

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if not batch.num_rows:
                continue
            cell, right, left, ends = self.cells.placed(batch)
            cells = np.concatenate([cell, np.repeat(cell, np.diff(ends))])
            rows = np.concatenate([right, left])
            order = np.lexsort((rows, cells))
            cells, rows = cells[order], rows[order]
            fresh = np.ones(len(rows), np.bool_)
            fresh[1:] = (cells[1:] != cells[:-1]) | (rows[1:] != rows[:-1])
            yield pa.record_batch([pa.array(cells[fresh]), pa.array(rows[fresh])], ["cell", "row"])


@dataclass(frozen=True)
class _Placed:
    cells: Cells

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                cell, right, left, ends = self.cells.placed(batch)
                yield pa.record_batch(
                    [pa.array(cell), pa.array(right), binary(left, ends)], ["cell", "row", "lefts"]
                )


@dataclass(frozen=True)
class Check:
    """Compares pairs and gives those that are similar enough. The input is sorted by (cell, kind, row): the feature
    sets of a cell, then its pairs; the lefts of a pair row are in the column `hashes`. `short` is the rule of short
    documents, if their exact join was done."""

    config: Config
    short: ShortRule | None
    exactly: bool = False  # pairs of the exact join itself

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held: list[pa.RecordBatch] = []
        size = 0
        for batch in batches:
            if not batch.num_rows:
                continue
            cells = batch.column("cell").to_numpy(zero_copy_only=False)
            if held and size > _ROOM:
                # Only whole cells are compared: rows of the last cell wait for the rest of it.
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
        table = pa.Table.from_batches(held)
        kind, row = _numbers(table, "kind"), _numbers(table, "row")
        cell = np.unique(_numbers(table, "cell"), return_inverse=True)[1].astype(np.int64)
        pairs = np.flatnonzero(kind == _PAIR)
        sets = np.flatnonzero(kind == _SET)
        # Rows are below 2^44, cells held at a time below 2^19.
        known = cell[sets] << 44 | row[sets]
        order = np.argsort(known, kind="stable")
        known, sets = known[order], sets[order]
        lefts, begins = flat(table.column("hashes").take(pa.array(pairs)), np.int64)
        many = np.diff(begins)
        ends = []
        for side in (lefts, np.repeat(row[pairs], many)):
            asked = np.repeat(cell[pairs], many) << 44 | side
            at = np.searchsorted(known, asked)
            if not len(known) or (known[np.minimum(at, len(known) - 1)] != asked).any():
                raise DataError("a document that was read before is not there now: the inputs have changed")
            ends.append(at)
        a, b = self._allowed(table, sets, *ends)
        found = self._similar(table.take(pa.array(sets)), a, b)
        yield pa.record_batch(
            [
                pa.array(row[sets[found.left]]),
                pa.array(row[sets[found.right]]),
                pa.array(found.similarity),
                pa.nulls(len(found), pa.int64()),
            ],
            ["left", "right", "similarity", "compared"],
        )
        none = pa.nulls(1, pa.int64())
        yield pa.record_batch(
            [none, none, pa.nulls(1, pa.float64()), pa.array([len(a)], pa.int64())],
            ["left", "right", "similarity", "compared"],
        )

    def _allowed(self, table: pa.Table, sets: Longs, left: Longs, right: Longs) -> tuple[Longs, Longs]:
        """The pairs that the config's filters allow and that the exact join of short documents did not cover."""
        filters = self.config.filters
        if self.short is not None and not self.exactly:
            tokens = _numbers(table, "tokens")[sets]
            fresh = ~self.short.covers(tokens[left], tokens[right])
            left, right = left[fresh], right[fresh]
        if filters.length:
            tokens = _numbers(table, "tokens")[sets]
            fits = filters.lengths_fit(tokens[left], tokens[right])
            left, right = left[fits], right[fits]
        if filters.same_language:
            names = np.array(table.column("language").take(pa.array(sets)).to_pylist(), object)
            same = names[left] == names[right]
            left, right = left[same], right[same]
        return left, right

    def _similar(self, sets: pa.Table, left: Longs, right: Longs) -> Pairs:
        hashes, offsets = flat(sets.column("hashes"), np.uint64)
        weights: Any = np.broadcast_to(np.float32(1), len(hashes))
        if sets.column("weights").null_count < len(sets):
            weights, _ = flat(sets.column("weights"), np.float32)
        features = Features(hashes, weights, offsets, "features of one run")
        config = self.config
        # Sets are sorted by row, so the left one of a pair comes first in the corpus too.
        return config.verify.check(_PairColumns(left, right), features)


def _numbers(table: pa.Table, name: str) -> Longs:
    return np.asarray(table.column(name).to_numpy(), np.int64)


def cells_for(pairs: DataFrame, count: int | None, facts: Facts, partitions: int) -> Cells:
    """Cells whose features fit into memory, even if many pairs (NEIGHBOURS) have one label; `count` is the number of
    all pairs, if it is known, and `facts` are those of the documents."""
    mean = 8 * max(1.0, facts["tokens"] / max(1, facts["documents"]))
    most, spread, crowded = int(_CELL / mean / 2), 0, np.empty(0, np.int64)
    if count is None or count > most:
        many = F.sum(F.octet_length("lefts") / 8).cast("long")
        labels = pairs.groupBy("label").agg(many.alias("many")).where(F.col("many") > most).toArrow()
        spread, crowded = sum(labels.column("many").to_pylist()), np.sort(labels.column("label").to_numpy())
    side = math.ceil(2 * mean * min(facts["documents"], 2 * spread) / _CELL)
    cells = max(4 * partitions, math.ceil(4 * mean * facts["documents"] / _CELL))
    return Cells(cells, max(2, side), crowded)


def ends_of(pairs: DataFrame, cells: Cells) -> DataFrame:
    """Which rows of NEIGHBOURS have pairs in which cells: cell, row."""
    return pairs.mapInArrow(_Ends(cells), "cell bigint, row bigint").distinct()


def verified(
    pairs: DataFrame, sets: DataFrame, ends: DataFrame, cells: Cells, check: Check, partitions: int
) -> DataFrame:
    """VERIFIED: the pairs (NEIGHBOURS) that are similar enough, and how many were compared. `sets` has the columns row,
    hashes, weights and language; `ends` (cell, row, tokens) says to which cells each set is sent."""
    as_sets = sets.join(ends, "row").select(
        "cell", F.lit(_SET).alias("kind"), "row", "tokens", "hashes", "weights", "language"
    )
    placed = pairs.mapInArrow(_Placed(cells), "cell bigint, row bigint, lefts binary")
    as_pairs = placed.select(
        "cell", F.lit(_PAIR).alias("kind"), "row", F.lit(0).cast("long").alias("tokens"),
        F.col("lefts").alias("hashes"), F.lit(None).cast("binary").alias("weights"),
        F.lit(None).cast("string").alias("language"),
    )  # fmt: skip
    together = as_sets.unionByName(as_pairs).repartition(partitions, "cell")
    return together.sortWithinPartitions("cell", "kind", "row").mapInArrow(check, VERIFIED)
