"""Pairs of codes within a radius: a shuffle on the keys of a covering design, then a native join of each part.

Any two codes within the radius have the same key in at least one table, so they reach the same part. There the native
join finds all pairs within the radius without trying every pair. Every exact method finds these pairs. A part with
very many codes is split over a grid, so that no task holds more than 2 * MOST codes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from neardup.fingerprints.fingerprints import Codes
from neardup.search.hamming.join import Join
from neardup.search.hamming.method import join_design
from neardup.search.hamming.tables import extract_bits
from neardup.search.interface import Reach
from neardup.spark.packed import part_of, runs
from neardup.spark.pairs import BUNDLES, PairBundles
from neardup.spark.shuffle import Entries, Entry, EntryBundles, columns_of, parts_of, shuffle

__all__ = ["MOST", "near_codes"]

MOST = 1 << 21  # codes of one part that are joined together; about 60 bytes each
_COUNTS = "table int, part int, many bigint"


@dataclass(frozen=True)
class _Keys:
    """The key of each code in every table of a design; the input has the columns row and equal_key (the code)."""

    masks: tuple[int, ...]

    def __call__(self, batch: pa.RecordBatch) -> Iterator[Entry]:
        rows = batch.column("row").to_numpy(zero_copy_only=False)
        flat = batch.column("equal_key").flatten().to_numpy(zero_copy_only=False)
        words = flat.reshape(len(rows), -1)
        for table, mask in enumerate(self.masks):
            yield table, extract_bits(words.view(np.uint64), mask).view(np.int64), rows, words


@dataclass(frozen=True)
class _Count:
    """How many entries there are of each table and part."""

    entries: Entries
    parts: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if not batch.num_rows:
                continue
            for table, key, _, _ in self.entries(batch):
                many = np.bincount(part_of(key, self.parts), minlength=self.parts)
                part = np.flatnonzero(many)
                tables = pa.array(np.full(len(part), table, np.int32))
                yield pa.record_batch(
                    [tables, pa.array(part.astype(np.int32)), pa.array(many[part])], ["table", "part", "many"]
                )


@dataclass(frozen=True)
class _Join:
    """All pairs within the radius among the codes of one table, part and cell."""

    bits: int
    radius: int
    parts: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        made = PairBundles(self.parts)
        held: list[tuple[NDArray[np.int64], ...]] = []
        now: tuple[int, ...] = ()
        for here, batch in runs(batches, "table", "part", "cell"):
            if held and here != now:
                yield from self._joined(held, made)
                held = []
            now = here
            held.append(columns_of(batch, (self.bits + 63) // 64))
        if held:
            yield from self._joined(held, made)
        yield from made.end()

    def _joined(
        self, held: list[tuple[NDArray[np.int64], ...]], made: PairBundles
    ) -> Iterator[pa.RecordBatch]:
        _, row, words = (np.concatenate(one) for one in zip(*held, strict=True))
        if len(row) < 2:
            return
        code = np.ascontiguousarray(words.view(np.uint64))
        codes = Codes("codes of one run", np.zeros(len(row), np.bool_), self.bits, code)
        for left, right, _ in Join(self.radius).within(codes, batch=1 << 18):
            yield from made.add(row[left], row[right])


def near_codes(
    codes: DataFrame, reach: Reach, rows: int, partitions: int, parts: int
) -> tuple[DataFrame, int]:
    """Pairs of rows whose codes are within the radius, as BUNDLES of `parts` parts; a pair may occur more than once.
    Also how many parts of keys were too large for one task. `codes` has the columns row and equal_key (the code); codes
    are distinct."""
    design = reach.joining or join_design(reach.bits, reach.radius, max(rows, 2))
    entries = _Keys(tuple(table.mask for table in design.tables))
    cut = parts_of(partitions, len(design.tables))
    codes = codes.select("row", "equal_key")
    crowded: dict[tuple[int, int], int] = {}
    if rows > MOST:
        counts = codes.mapInArrow(_Count(entries, cut), _COUNTS).groupBy("table", "part")
        full = counts.agg(F.sum("many").alias("many")).where(F.col("many") > MOST)
        for one in full.toArrow().to_pylist():
            crowded[one["table"], one["part"]] = math.ceil(one["many"] / MOST)
    bundles = shuffle(codes, EntryBundles(entries, cut, crowded), partitions)
    return bundles.mapInArrow(_Join(reach.bits, reach.radius, parts), BUNDLES), len(crowded)
