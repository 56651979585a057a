"""Documents in blocks: the columns, fingerprints and texts of many documents as bytes in one row of a DataFrame, so
that Spark moves few rows, and does not look into them."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.search.interface import Method, PrintColumns

__all__ = [
    "DOCUMENTS",
    "Unpacked",
    "block",
    "prints_block",
    "prints_of",
    "prints_together",
    "rows_of",
    "shuffled",
]

DOCUMENTS = (
    "file int, start bigint, line bigint, id string, d0 bigint, d1 bigint, empty boolean, filtered tinyint, "
    "tokens bigint, size bigint, source string, score double, equal_key array<bigint>, keys array<bigint>"
)
_LONGS = pa.list_(pa.int64())


def block(columns: Mapping[str, Any], compressed: bool = False) -> bytes:
    """Columns of one length as bytes. Texts are compressed; for columns the format of the file does that."""
    batch = pa.record_batch(list(columns.values()), list(columns))
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4" if compressed else None)
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    made: bytes = sink.getvalue().to_pybytes()
    return made


def rows_of(data: Any) -> pa.Table:
    """The columns in a block; `data` is its bytes as a scalar of Arrow."""
    return pa.ipc.open_stream(data.as_buffer()).read_all()


def prints_block(kept: PrintColumns) -> bytes:
    """The columns that a method keeps, as bytes."""
    made = io.BytesIO()
    columns: dict[str, Any] = {name: np.ascontiguousarray(column) for name, column in kept.items()}
    np.savez(made, **columns)
    return made.getvalue()


def prints_of(data: Any) -> dict[str, NDArray[Any]]:
    """The columns in such bytes."""
    with np.load(io.BytesIO(data.as_buffer()), allow_pickle=False) as found:
        return {name: found[name] for name in found.files}


def prints_together(parts: Sequence[PrintColumns], order: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """The fingerprints of several blocks in another order of rows. Keys have a row for each table."""
    made = {}
    for name in parts[0] if parts else ():
        axis = 1 if name == "keys" else 0
        whole = np.concatenate([part[name] for part in parts], axis=axis)
        made[name] = np.ascontiguousarray(np.take(whole, order, axis=axis))
    return made


def shuffled(method: Method, kept: PrintColumns) -> dict[str, pa.Array]:
    """What is sent through a shuffle, as lists of numbers: `equal_key` is the same for equal fingerprints; `keys` are
    the method's keys or the whole fingerprint."""
    made = method.shuffled(kept)
    columns = {"equal_key": made.equal_key, "keys": made.words}
    return {name: _lists(column) for name, column in columns.items() if column is not None}


def _lists(values: NDArray[np.uint64]) -> pa.Array:
    rows, width = values.shape
    flat = pa.array(np.ascontiguousarray(values).view(np.int64).reshape(-1))
    return pa.ListArray.from_arrays(pa.array(np.arange(rows + 1, dtype=np.int32) * width), flat)


@dataclass(frozen=True)
class Unpacked:
    """Makes DOCUMENTS of blocks: the columns `columns` and `prints`. Without a method there are no keys."""

    method: Method | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for columns, prints in zip(batch.column("columns"), batch.column("prints"), strict=True):
                table = rows_of(columns)
                none = pa.nulls(table.num_rows, _LONGS)
                keys = {"equal_key": none, "keys": none}
                if self.method is not None and prints.is_valid:
                    keys |= shuffled(self.method, prints_of(prints))
                for name, column in keys.items():
                    table = table.append_column(name, column)
                yield from table.to_batches()
