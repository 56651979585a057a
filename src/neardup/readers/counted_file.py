"""Files that count how much of them was read, for progress, and digest their bytes, to identify an input."""

from __future__ import annotations

from io import RawIOBase
from typing import Any, BinaryIO, Protocol, cast

from neardup.readers.file_digest import Digesting, FileDigest
from neardup.readers.sources import Source

__all__ = ["counted_file"]


class Tally(Protocol):
    """What a counted file writes its counts to: a Reader."""

    bytes_read: int
    digesting: bool
    sha256: bool
    digests: dict[str, FileDigest]


class _CountedInput(RawIOBase):
    """A file that reports to its reader how many bytes were read, and their digest if it is wanted."""

    # The file is open already. If opening failed here, Python would still close an object that has no fields.
    def __init__(self, file: BinaryIO, name: str, reader: Tally) -> None:
        self._file, self._name, self._reader = file, name, reader
        self._digest = Digesting(reader.sha256) if reader.digesting else None

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._reader.bytes_read += len(data)
        if self._digest is not None:
            self._digest.add(data)
        return data

    def readinto(self, room: Any) -> int:
        view = memoryview(room)
        if hasattr(self._file, "readinto"):
            got = self._file.readinto(view)
        else:
            data = self._file.read(len(view))
            got = len(data)
            view[:got] = data
        self._reader.bytes_read += got
        if self._digest is not None:
            self._digest.add(view[:got])
        return int(got)

    def close(self) -> None:
        if self._digest is not None:
            # The bytes after the damage in a damaged file were not read, but are a part of it.
            while data := self._file.read(1 << 20):
                self._digest.add(data)
            self._reader.digests[self._name] = self._digest.end()
            self._digest = None
        self._file.close()
        super().close()


def counted_file(source: Source, reader: Tally) -> BinaryIO:
    return cast(BinaryIO, _CountedInput(source.open(), source.name, reader))
