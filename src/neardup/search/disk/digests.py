"""A file of sorted digests: have these exact documents been seen? O(log n) a lookup, straight from the file.

docs/reference/format.md, "Digest file", gives the bytes.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neardup import _core
from neardup.errors import ConfigError, DataError, FormatError, SchemeError
from neardup.fingerprints import Digests
from neardup.storage.atomic_file import AtomicFile
from neardup.storage.column_file import Closing
from neardup.values.checks import checked, checked_methods
from neardup.values.threads import check_threads

__all__ = ["DigestFile", "DigestHits", "write_digests"]

_MAGIC = b"NDDIGEST"
_VERSION = 1
_HEADER = struct.Struct("<8sIIIIQQQ")  # magic, version, header, digest and scheme bytes, count, two checksums
_MOST_BYTES = 64  # of a digest
_LONGEST_SCHEME = 1 << 16


@dataclass(frozen=True)
class DigestHits:
    """What a lookup found: the rows that hold query i are `rows[offsets[i]:offsets[i + 1]]`, in ascending
    order."""

    offsets: NDArray[np.int64]
    rows: NDArray[np.int64]

    @property
    def found(self) -> NDArray[np.bool_]:
        """Which queries found at least one row."""
        return np.diff(self.offsets) > 0


@checked
def write_digests(path: str | os.PathLike[str], digests: Digests, rows: ArrayLike | None = None) -> None:
    """Sort digests and write them with their rows (0, 1, 2, ... unless given); empty documents are left out.

    The file appears under its name only when it is whole.
    """
    numbers = np.arange(len(digests)) if rows is None else np.asarray(rows)
    if numbers.shape != (len(digests),) or (numbers.size and numbers.dtype.kind not in "iu"):
        raise DataError("rows must be one whole number for each digest")
    width = digests.digests.shape[1]
    if not 1 <= width <= _MOST_BYTES:
        raise ConfigError(f"a digest has 1 to {_MOST_BYTES} bytes, not {width}")
    scheme = digests.scheme.encode()
    if len(scheme) > _LONGEST_SCHEME:
        raise ConfigError("this scheme is too long to be stored")
    kept = np.flatnonzero(~digests.empty)
    kept = kept[np.argsort(numbers[kept], kind="stable")]  # so that equal digests are sorted by row
    order = kept[_core.sort_digests(np.ascontiguousarray(digests.digests[kept]))]
    data = digests.digests[order].tobytes()
    data += bytes(-len(data) % 8)
    data += numbers[order].astype("<i8").tobytes()
    header_bytes = (_HEADER.size + len(scheme) + 63) // 64 * 64
    fields = (header_bytes, width, len(scheme), len(order), _checksum(data))
    header = _header(fields, scheme, 0)
    header = _header(fields, scheme, _checksum(header))

    with AtomicFile(path) as file:
        file.write(header)
        file.write(data)


@checked_methods
class DigestFile(Closing):
    """A digest file, mapped and never loaded whole.

    Opening reads it once to check the data against its checksum; `check=False` opens at once and trusts the
    data, though never the header.
    """

    @checked
    def __init__(self, path: str | os.PathLike[str], check: bool = True) -> None:
        self.path = Path(path)
        size = self.path.stat().st_size
        if size < _HEADER.size:
            raise FormatError(path, f"a digest file of at least {_HEADER.size} bytes", f"{size} bytes")
        mapped: NDArray[np.uint8] = np.memmap(self.path, dtype=np.uint8, mode="r")
        magic, version, start, width, scheme_bytes, count, data_sum, header_sum = _HEADER.unpack(
            mapped[: _HEADER.size].tobytes()
        )
        if magic != _MAGIC:
            raise FormatError(path, f"a digest file ({_MAGIC!r})", repr(magic))
        if version != _VERSION:
            raise FormatError(path, f"digest file version {_VERSION}", f"version {version}")
        # Sizes against the file's length before anything is read or made by them.
        if not 1 <= width <= _MOST_BYTES or start > size or _HEADER.size + scheme_bytes > start:
            raise FormatError(path, "a sound header", "sizes that do not fit together")
        digest_bytes = count * width
        rows_start = start + digest_bytes + -digest_bytes % 8
        if rows_start + 8 * count != size:
            raise FormatError(path, f"{rows_start + 8 * count} bytes", f"{size} bytes")
        header = bytearray(mapped[:start].tobytes())
        header[_HEADER.size - 8 : _HEADER.size] = bytes(8)
        if _checksum(bytes(header)) != header_sum:
            raise FormatError(path, "the header that was written", "a damaged one (its checksum differs)")
        if check and _core.hash_array(mapped[start:], 0) != data_sum:
            raise FormatError(path, "the digests that were written", "damaged ones (their checksum differs)")
        try:
            self.scheme = bytes(header[_HEADER.size : _HEADER.size + scheme_bytes]).decode()
        except UnicodeDecodeError:
            raise FormatError(path, "a scheme in UTF-8", "other bytes") from None
        self._digests = mapped[start : start + digest_bytes].reshape(count, width)
        self._rows = mapped[rows_start:].view("<i8")

    def __len__(self) -> int:
        return len(self._rows)

    def lookup(self, digests: Digests, threads: int = 1) -> DigestHits:
        """The rows of every stored document equal to each query; an empty document equals none."""
        if digests.scheme != self.scheme:
            raise SchemeError(self.scheme, digests.scheme)
        if digests.digests.shape[1] != self._digests.shape[1]:
            raise DataError(f"these digests are not of {self._digests.shape[1]} bytes")
        first, last = _core.find_digests(
            self._digests, np.ascontiguousarray(digests.digests), check_threads(threads)
        )
        counts = np.where(digests.empty, 0, last - first)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        places = np.arange(offsets[-1]) + np.repeat(first - offsets[:-1], counts)
        return DigestHits(offsets, np.asarray(self._rows[places], dtype=np.int64))

    def close(self) -> None:
        """Release the file; no lookups are possible afterwards."""
        nothing: Any = np.zeros((0, self._digests.shape[1]), dtype=np.uint8)
        self._digests, self._rows = nothing, np.zeros(0, dtype=np.int64)


def _header(fields: tuple[int, ...], scheme: bytes, own_checksum: int) -> bytes:
    packed = _HEADER.pack(_MAGIC, _VERSION, *fields, own_checksum) + scheme
    return packed.ljust(fields[0], b"\0")


def _checksum(data: bytes) -> int:
    return _core.hash_array(np.frombuffer(data, dtype=np.uint8), 0)
