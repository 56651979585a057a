"""Files that appear whole or not at all: the one place where a file is written under a hidden name and renamed."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from neardup.errors import DataError

__all__ = ["AtomicFile", "hidden_name", "sync_folder", "write_at"]


def hidden_name(path: Path) -> Path:
    """A new name beside a path, for what is not whole yet."""
    return path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk: a file that was renamed survives the loss of power only after this."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_at(handle: int, data: bytes | memoryview, at: int) -> None:
    """Write all of some bytes at a place of an open file, however many the system takes at a time."""
    left = memoryview(data)
    while len(left):
        done = os.pwrite(handle, left[: 1 << 30], at)
        left, at = left[done:], at + done


class AtomicFile:
    """A new file under a hidden name beside its target, renamed by `commit`, removed by `discard`.

    A file that is not `durable` is not synced: it survives its process, not the loss of power. One that is `secret` is
    its owner's alone; others have the permissions that any new file gets.
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

    def commit(self) -> None:
        """Put the file in its place, replacing what was there; a second call does nothing."""
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
        """Remove what was written; nothing happens after `commit`."""
        if self._open:
            self._open = False
            with suppress(OSError):  # on a full disk the buffer cannot be written, nor need it be
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
