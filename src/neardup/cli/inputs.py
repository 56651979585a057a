"""Text files named on the command line, read as they are."""

from __future__ import annotations

import sys
from pathlib import Path

from neardup.errors import DataError

__all__ = ["read_text"]

LARGEST = 1 << 30


def read_text(path: str) -> bytes:
    """The bytes of a file, or of standard input for `-`; at most 1 GiB."""
    data = sys.stdin.buffer.read(LARGEST + 1) if path == "-" else _read(Path(path))
    if len(data) > LARGEST:
        raise DataError(f"{path}: larger than 1 GiB")
    return data


def _read(path: Path) -> bytes:
    if path.is_dir():
        raise DataError(f"{path}: is a folder; name the files in it")
    with open(path, "rb") as file:
        return file.read(LARGEST + 1)
