"""The shuffle of a join on keys: each row is sent under its keys, in bundles by table and part of the keys."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from neardup.spark.packed import binary, flat, part_of, split

__all__ = [
    "BandEntries",
    "Entries",
    "Entry",
    "EntryBundles",
    "SizedEntries",
    "columns_of",
    "parts_of",
    "shuffle",
]

_ENTRIES = "table int, part int, cell bigint, keys binary, rows binary, extra binary"
_ROWS = 1 << 16  # rows whose entries are put into bundles together
_GROUPS = 8  # parts of all tables together, for each partition
Longs = NDArray[np.int64]
Entry = tuple[int, Longs, Longs, Longs | None]


class Entries(Protocol):
    """Makes the entries of a join: for each table, the keys of some rows."""

    def __call__(self, batch: pa.RecordBatch) -> Iterator[Entry]:
        """For each table: its number, keys, rows, and the extra words of each entry (n x words), if it has any."""
        ...


@dataclass(frozen=True)
class BandEntries:
    """One entry for each band of each row; the input has the columns row and keys."""

    def __call__(self, batch: pa.RecordBatch) -> Iterator[Entry]:
        rows = batch.column("row").to_numpy(zero_copy_only=False)
        keys = batch.column("keys").flatten().to_numpy(zero_copy_only=False).reshape(len(rows), -1)
        for table, key in enumerate(keys.T):
            yield table, np.ascontiguousarray(key), rows, None


@dataclass(frozen=True)
class SizedEntries:
    """Entries of one table that are already made; the input has the columns key, row and size."""

    def __call__(self, batch: pa.RecordBatch) -> Iterator[Entry]:
        key, row, size = (
            batch.column(name).to_numpy(zero_copy_only=False) for name in ("key", "row", "size")
        )
        yield 0, key, row, size.reshape(-1, 1)


@dataclass(frozen=True)
class EntryBundles:
    """Makes bundles of entries, one for each (table, part). A part in `crowded` is too large for one task: its rows are
    split into shares, and each pair of shares is one cell of a grid, so every two rows are together in one cell."""

    entries: Entries
    parts: int
    crowded: dict[tuple[int, int], int] = field(default_factory=dict)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held: list[pa.RecordBatch] = []
        for batch in batches:
            held.append(batch)
            if sum(one.num_rows for one in held) >= _ROWS:
                yield from self._bundles(held)
                held = []
        yield from self._bundles(held)

    def _bundles(self, held: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if not any(batch.num_rows for batch in held):
            return
        whole = pa.Table.from_batches(held).combine_chunks().to_batches()[0]
        for table, key, row, extra in self.entries(whole):
            part = part_of(key, self.parts)
            order, ends = split(part, self.parts)
            for here, shares in self.crowded.items():
                if here[0] == table:
                    inside = order[ends[here[1]] : ends[here[1] + 1]]
                    yield from self._spread(here, shares, key[inside], row[inside], _taken(extra, inside))
            plain = np.flatnonzero(np.diff(ends))
            plain = np.array([p for p in plain.tolist() if (table, p) not in self.crowded], np.int64)
            chosen = np.concatenate([order[ends[p] : ends[p + 1]] for p in plain.tolist()] or [order[:0]])
            offsets = np.append(0, np.cumsum(np.diff(ends)[plain]))
            cell = np.zeros(len(plain), np.int64)
            yield _bundle(table, plain, cell, offsets, key[chosen], row[chosen], _taken(extra, chosen))

    def _spread(
        self, here: tuple[int, int], shares: int, key: Longs, row: Longs, extra: Longs | None
    ) -> Iterator[pa.RecordBatch]:
        order, ends = split(part_of(row, shares), shares)
        for share in range(shares):
            inside = order[ends[share] : ends[share + 1]]
            if not len(inside):
                continue
            whole = np.array([0, len(inside)])
            for other in range(shares):
                cell = min(share, other) * shares + max(share, other)
                columns = key[inside], row[inside], _taken(extra, inside)
                yield _bundle(here[0], np.array([here[1]]), np.array([cell]), whole, *columns)


def _taken(extra: Longs | None, places: Longs) -> Longs | None:
    return None if extra is None else extra[places]


def _bundle(
    table: int, part: Longs, cell: Longs, offsets: Longs, key: Longs, row: Longs, extra: Longs | None
) -> pa.RecordBatch:
    more = pa.nulls(len(part), pa.binary())
    if extra is not None:
        more = binary(extra.reshape(-1), offsets * extra.shape[1])
    tables = pa.array(np.full(len(part), table, np.int32))
    columns = [
        tables,
        pa.array(part.astype(np.int32)),
        pa.array(cell),
        binary(key, offsets),
        binary(row, offsets),
    ]
    return pa.record_batch([*columns, more], ["table", "part", "cell", "keys", "rows", "extra"])


def columns_of(batch: pa.RecordBatch, words: int) -> tuple[Longs, ...]:
    """The keys and rows of some bundles and, with `words`, the extra words of each entry."""
    names = ("keys", "rows", "extra") if words else ("keys", "rows")
    found = [flat(batch.column(name), np.int64)[0] for name in names]
    return (*found[:2], *(one.reshape(-1, words) for one in found[2:]))


def parts_of(partitions: int, tables: int) -> int:
    """How many parts the keys of each table are split into."""
    return math.ceil(_GROUPS * partitions / tables)


def shuffle(rows: DataFrame, bundles: EntryBundles, partitions: int) -> DataFrame:
    """The bundles of entries of these rows; bundles of one (table, part, cell) are in one partition, side by side."""
    made = rows.mapInArrow(bundles, _ENTRIES).repartition(partitions, "table", "part", "cell")
    return made.sortWithinPartitions("table", "part", "cell")
