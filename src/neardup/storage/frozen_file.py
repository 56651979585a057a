"""The frozen file: a few named columns and facts about them, in one checksummed file (docs/reference/format.md).

It stores what is fitted once and then never changes, such as document frequencies. It is written under a temporary
name and renamed when complete. It is read only if magic, version, sizes and checksum are all right. Nothing in it is
ever executed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import FormatError
from neardup.storage.atomic_file import AtomicFile
from neardup.storage.regular_file import read_regular
from neardup.values.checks import checked

__all__ = ["read_frozen", "write_frozen"]

MAGIC = b"NEARDUPF"
VERSION = 1
CHECKSUM = 32
LARGEST_HEADER = 1 << 20
DTYPES = {"<u8", "<i8", "<f4", "<u4", "|u1"}


@checked
def write_frozen(
    path: str | Path, kind: str, facts: Mapping[str, Any], columns: Mapping[str, NDArray[Any]]
) -> None:
    """Write one-dimensional columns and facts about them (any JSON values)."""
    arrays = {name: np.ascontiguousarray(column) for name, column in columns.items()}
    described = [[name, array.dtype.str, len(array)] for name, array in arrays.items()]
    header = json.dumps({"kind": kind, "facts": dict(facts), "columns": described}, sort_keys=True).encode()
    checksum = hashlib.blake2b(digest_size=CHECKSUM)
    with AtomicFile(path) as file:
        parts: list[Any] = [
            MAGIC,
            VERSION.to_bytes(4, "little"),
            len(header).to_bytes(4, "little"),
            header,
        ]
        parts += [array.data.cast("B") for array in arrays.values() if len(array)]
        for part in parts:
            checksum.update(part)
            file.write(part)
        file.write(checksum.digest())


@checked
def read_frozen(path: str | Path, kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The facts and columns of a file of this kind; FormatError if it is another file."""
    data = read_regular(path)
    if data[:8] != MAGIC:
        raise FormatError(path, "a neardup frozen file", "something else")
    version = int.from_bytes(data[8:12], "little")
    if version != VERSION:
        raise FormatError(path, f"version {VERSION}", f"version {version}")
    size = int.from_bytes(data[12:16], "little")
    if size > LARGEST_HEADER or 16 + size + CHECKSUM > len(data):
        raise FormatError(path, "a whole file", "a truncated one")
    if hashlib.blake2b(data[:-CHECKSUM], digest_size=CHECKSUM).digest() != data[-CHECKSUM:]:
        raise FormatError(path, "a matching checksum", "a damaged file")
    header = json.loads(data[16 : 16 + size])
    if header["kind"] != kind:
        raise FormatError(path, f"a file of kind {kind!r}", f"one of kind {header['kind']!r}")
    columns: dict[str, NDArray[Any]] = {}
    place = 16 + size
    for name, dtype, length in header["columns"]:
        if (
            dtype not in DTYPES
            or length < 0
            or place + length * np.dtype(dtype).itemsize > len(data) - CHECKSUM
        ):
            raise FormatError(path, "columns that fit the file", f"column {name!r} of {length} x {dtype}")
        columns[name] = np.frombuffer(data, dtype, length, place)
        place += length * np.dtype(dtype).itemsize
    return header["facts"], columns
