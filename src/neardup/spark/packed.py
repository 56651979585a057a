"""Many numbers as bytes in one row of a DataFrame, so that a shuffle between two native steps moves one row for each
bundle and not one for each number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["binary", "flat", "part_of", "runs", "split"]

Longs = NDArray[np.int64]
_MIX = np.uint64(0x9E3779B97F4A7C15)


def part_of(values: NDArray[Any], parts: int) -> NDArray[np.int64]:
    """The part, from 0 to parts - 1, of each 64-bit value; equal values have the same part."""
    mixed = values.view(np.uint64) * _MIX
    return np.asarray((mixed >> np.uint64(32)) % np.uint64(parts), np.int64)


def split(part: Longs, parts: int) -> tuple[Longs, Longs]:
    """An order that sorts by part, and where each part begins in it, with the end as last number."""
    order = np.argsort(part.astype(np.uint16) if parts <= 1 << 16 else part, kind="stable")
    return order, np.searchsorted(part[order], np.arange(parts + 1))


def binary(values: NDArray[Any], offsets: Longs) -> pa.Array:
    """A column of bytes: row i holds values[offsets[i]:offsets[i + 1]]."""
    data = pa.py_buffer(np.ascontiguousarray(values).view(np.uint8))
    assert offsets[-1] * values.dtype.itemsize < 1 << 31, "offsets of such a column have 31 bits"
    ends = pa.py_buffer((offsets * values.dtype.itemsize).astype(np.int32))
    return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, [None, ends, data])


def flat(column: Any, dtype: Any) -> tuple[NDArray[Any], Longs]:
    """A column of bytes as one array of numbers, and where each row begins, with the end as last number."""
    if isinstance(column, pa.ChunkedArray):
        column = column.cast(pa.large_binary()).combine_chunks()
        column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    column = column.cast(pa.large_binary())
    _, ends, data = column.buffers()
    offsets = np.frombuffer(ends, np.int64)[column.offset : column.offset + len(column) + 1]
    every = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    whole = np.ascontiguousarray(every[offsets[0] : offsets[-1]]).view(dtype)
    return whole, (offsets - offsets[0]) // np.dtype(dtype).itemsize


def runs(batches: Iterator[pa.RecordBatch], *by: str) -> Iterator[tuple[tuple[int, ...], pa.RecordBatch]]:
    """Batches split where one of these columns changes, each with its values of these columns."""
    for batch in batches:
        if not batch.num_rows:
            continue
        columns = [batch.column(name).to_numpy(zero_copy_only=False) for name in by]
        change = np.zeros(batch.num_rows - 1, np.bool_)
        for column in columns:
            change |= column[1:] != column[:-1]
        ends = [*(np.flatnonzero(change) + 1).tolist(), batch.num_rows]
        for a, b in zip([0, *ends[:-1]], ends, strict=True):
            yield tuple(int(column[a]) for column in columns), batch.slice(a, b - a)
