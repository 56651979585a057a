"""Atomic writes: a file is written under a hidden name and renamed when it is complete."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from neardup.errors import DataError

__all__ = ["AtomicFile", "hidden_name", "sync_folder", "write_at"]


_PIECES = 512  # written in one call; systems allow 1024


def hidden_name(path: Path) -> Path:
    """A new name beside a path, for a file that is not complete yet."""
    return path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")


def sync_folder(folder: Path) -> None:
    """Sync a folder to the disk: without this, a renamed file may be lost when the power fails."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_at(handle: int, data: bytes | memoryview, at: int) -> None:
    """Write all bytes at a position of an open file, even if the system writes only a part at a time."""
    left = memoryview(data)
    while len(left):
        done = os.pwrite(handle, left[: 1 << 30], at)
        left, at = left[done:], at + done


class AtomicFile:
    """A new file under a hidden name beside its target, renamed by `commit`, removed by `discard`.

    A file that is not `durable` is not synced: it survives the death of the process, not a power failure. Only the
    owner can read a `secret` file; other files have the usual permissions of a new file.
    """

    def __init__(self, path: str | PathLike[str], *, durable: bool = True, secret: bool = False) -> None:
        self.path, self._durable = Path(path), durable
        if self.path.is_dir():
            raise DataError(f"{self.path}: is a folder; name a file to write")
        if not self.path.parent.is_dir():
            raise DataError(f"{self.path}: the folder {self.path.parent} does not exist; make it first")
        self._hidden = hidden_name(self.path)
        mode = 0o600 if secret else 0o666
        handle = os.open(self._hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        self.file: BinaryIO = open(handle, "wb")  # noqa: SIM115
        self._open = True

    def write(self, data: bytes | memoryview) -> None:
        self.file.write(data)

    def write_all(self, parts: Sequence[memoryview]) -> None:
        """Many pieces, in few calls and without gathering them in memory."""
        self.file.flush()
        handle = self.file.fileno()
        for start in range(0, len(parts), _PIECES):
            some = parts[start : start + _PIECES]
            done = os.writev(handle, some)
            for part in some:
                if done < len(part):  # the system wrote a part of them
                    self.file.write(part[done:])
                done = max(0, done - len(part))
        self.file.flush()

    def commit(self) -> None:
        """Move the file to its target and replace what was there; a second call does nothing."""
        if not self._open:
            return
        try:
            self.file.flush()
            if self._durable:
                os.fsync(self.file.fileno())
            self.file.close()
            os.replace(self._hidden, self.path)
            self._open = False
            if self._durable:
                sync_folder(self.path.parent)
        finally:
            self.discard()

    def discard(self) -> None:
        """Remove what was written; after `commit` this does nothing."""
        if self._open:
            self._open = False
            with suppress(OSError):  # on a full disk the buffer cannot be written; it is not needed any more
                self.file.close()
            self._hidden.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.commit()
        else:
            self.discard()
