"""Codes within a radius: they meet on the keys of a covering design, and each partition is joined natively.

Any two codes within the radius share the key of one table at least, so they meet in the partition of that key. There
the native join finds all pairs of what came together, never trying all of them. Every exact method finds these pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from neardup.config import Hamming
from neardup.errors import ConfigError
from neardup.fingerprints.base import Codes
from neardup.search.adjacent import Adjacent
from neardup.search.designs import Design
from neardup.search.hamming import extract_bits
from neardup.search.join import Join, join_design
from neardup.search.psm import PSM

__all__ = ["check_search", "near_codes"]

_ENTRY = "table int, key bigint, row bigint, alike array<bigint>"
_FOUND = "left bigint, right bigint"


def check_search(search: Hamming) -> None:
    """ConfigError for a search that is no join on keys, or that finds a part of the pairs in an order of its own."""
    if isinstance(search, PSM | Adjacent):
        raise ConfigError(
            f"{type(search).__name__} finds a part of the pairs, which depends on what is held together; "
            "on Spark search by Join, which finds all of them (or query stored codes with neardup.spark.queries)"
        )


@dataclass(frozen=True)
class _Keys:
    """Codes to their key in every table of a design."""

    bits: int
    masks: tuple[int, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            words = _words(batch.column("alike"))
            rows, alike = batch.column("row"), batch.column("alike")
            for table, mask in enumerate(self.masks):
                key = extract_bits(words, mask).view(np.int64)
                tables = pa.array(np.full(len(words), table, np.int32))
                yield pa.record_batch([tables, pa.array(key), rows, alike], ["table", "key", "row", "alike"])


@dataclass(frozen=True)
class _Join:
    """All pairs within the radius of what came to one partition."""

    bits: int
    radius: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        words: list[NDArray[np.uint64]] = [np.empty((0, (self.bits + 63) // 64), np.uint64)]
        for batch in batches:
            if batch.num_rows:
                rows.append(batch.column("row").to_numpy(zero_copy_only=False))
                words.append(_words(batch.column("alike")))
        row, first = np.unique(np.concatenate(rows), return_index=True)
        code = np.ascontiguousarray(np.concatenate(words)[first])
        if len(row) < 2:
            return
        codes = Codes("codes of one run", np.zeros(len(row), np.bool_), self.bits, code)
        for left, right, _ in Join(self.radius).within(codes, batch=1 << 18):
            a, b = row[left], row[right]
            yield pa.record_batch([pa.array(np.minimum(a, b)), pa.array(np.maximum(a, b))], ["left", "right"])


def _words(column: pa.Array) -> NDArray[np.uint64]:
    flat = column.flatten().to_numpy(zero_copy_only=False).view(np.uint64)
    return np.asarray(flat.reshape(len(column), -1) if len(column) else flat.reshape(0, 1))


def near_codes(codes: DataFrame, search: Hamming, bits: int, rows: int, partitions: int) -> DataFrame:
    """Pairs (left, right) of the rows of `codes` (row, alike: the code's words) within the search's radius, maybe more
    than once; codes are distinct."""
    check_search(search)
    design: Design | None = getattr(search, "design", None) if isinstance(search, Join) else None
    design = design or join_design(bits, search.radius, max(rows, 2))
    keys = _Keys(bits, tuple(table.mask for table in design.tables))
    entries = codes.select("row", "alike").mapInArrow(keys, _ENTRY)
    together = entries.repartition(partitions, "table", "key").select("row", "alike")
    return together.mapInArrow(_Join(bits, search.radius), _FOUND)
