"""Writes a shard: one file for the columns of its documents, and one for their fingerprints."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.pipeline.shards import DTYPES, MAGIC, PRINT_DTYPES, PRINTS_MAGIC, Prints, ShardColumns
from neardup.pipeline.text_places import TextPlaces
from neardup.readers.text_block import IdColumn
from neardup.storage.column_file import BLOCK
from neardup.storage.column_writer import ColumnFileWriter

__all__ = ["write_prints", "write_shard"]

Rows = NDArray[np.int64]


def write_shard(
    path: str | PathLike[str],
    columns: ShardColumns,
    texts: Sequence[NDArray[np.uint8]],
    ends: Rows,
    scheme: str,
    threads: int = 1,
    text_places: TextPlaces | None = None,
) -> None:
    """Write a shard; it appears under its name when it is whole. Not synced: it survives a killed process,
    and checksums show whether it survived a power cut. Texts that are in their `text_places` are empty here."""
    ids = IdColumn.of(columns.ids)
    meta: dict[str, Any] = {
        "files": columns.file_names,
        "sources": columns.source_names,
        "failures": columns.failures,
        "whole": columns.whole,
        "second": columns.second,
    }
    if text_places is not None:
        meta["text_files"] = text_places.files
    parts: dict[str, NDArray[Any]] = {
        name: np.ascontiguousarray(getattr(columns, name), dtype) for name, dtype in DTYPES.items()
    }
    parts["ids"], parts["idends"] = ids.data, ids.ends.astype("<i8")
    parts["texts"], parts["ends"] = np.empty(0, np.uint8), ends.astype("<i8")
    if text_places is not None:
        parts["begins"], parts["raws"] = text_places.begins.astype("<i8"), text_places.raws.astype("<i8")
    if columns.extras is not None:
        parts["extras"] = np.frombuffer(b"".join(columns.extras), np.uint8)
        parts["extends"] = np.cumsum([0, *map(len, columns.extras)])[1:].astype("<i8")
    parts["meta"] = np.frombuffer(json.dumps(meta).encode(), np.uint8)
    _write(
        path,
        MAGIC,
        scheme,
        len(ids),
        {name: [part] for name, part in parts.items()} | {"texts": texts},
        threads,
    )


def write_prints(
    path: str | PathLike[str], prints: Prints, count: int, scheme: str, threads: int = 1
) -> None:
    """Write the fingerprints of a shard's documents, in a file beside it."""
    types = {name: PRINT_DTYPES.get(name, column.dtype.newbyteorder("<")) for name, column in prints.items()}
    parts: dict[str, NDArray[Any]] = {
        name: np.ascontiguousarray(column, types[name]) for name, column in prints.items()
    }
    shapes = json.dumps(
        {
            name: list(column.shape) if name in PRINT_DTYPES else [types[name].str, *column.shape]
            for name, column in prints.items()
        }
    )
    parts["meta"] = np.frombuffer(shapes.encode(), np.uint8)
    _write(path, PRINTS_MAGIC, scheme, count, {name: [part] for name, part in parts.items()}, threads)


def _write(
    path: str | PathLike[str],
    magic: bytes,
    scheme: str,
    count: int,
    columns: Mapping[str, Sequence[NDArray[Any]]],
    threads: int,
) -> None:
    layout = [(name, BLOCK, sum(part.nbytes for part in parts)) for name, parts in columns.items()]
    with ColumnFileWriter(
        path, magic=magic, flags=0, bits=64, scheme=scheme, parameter=0, columns=layout, durable=False
    ) as writer:
        for name, parts in columns.items():
            for part in parts:
                writer.append(name, part, threads)
        writer.finish(count)
