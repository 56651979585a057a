"""What identifies the contents of an input file: a fast digest, and SHA-256 where it is asked for."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from neardup import _core

__all__ = ["Digesting", "FileDigest", "digest_file"]

_STEP = 1 << 20


@dataclass(frozen=True, slots=True)
class FileDigest:
    """The digest of a file, "xxh3-pieces:" and 32 hexadecimal digits; `sha256` is None unless it was asked for."""

    fast: str
    sha256: str | None = None


class Digesting:
    """Digests of bytes that arrive in pieces."""

    def __init__(self, sha256: bool) -> None:
        self._fast = _core.StreamDigest()
        self._sha256 = hashlib.sha256() if sha256 else None

    def add(self, data: Any) -> None:
        """More bytes, in any buffer."""
        if len(data):
            self._fast.add(np.frombuffer(data, np.uint8))
        if self._sha256 is not None:
            self._sha256.update(data)

    def end(self) -> FileDigest:
        low, high = self._fast.value()
        return FileDigest(
            f"xxh3-pieces:{high:016x}{low:016x}",
            self._sha256.hexdigest() if self._sha256 is not None else None,
        )


def digest_file(file: BinaryIO, sha256: bool) -> FileDigest:
    """The digest of a file from its current position on."""
    making = Digesting(sha256)
    while data := file.read(_STEP):
        making.add(data)
    return making.end()
