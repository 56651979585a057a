"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from neardup.errors import DataError

__all__ = ["WholeFile"]


class WholeFile:
    """A new file under a hidden name beside its target, renamed by `commit`, removed by `discard`."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            raise DataError(f"{self.path}: is a folder; name a file to write")
        if not self.path.parent.is_dir():
            raise DataError(f"{self.path}: the folder {self.path.parent} does not exist; make it first")
        self._hidden = self.path.with_name(f".{self.path.name}.{secrets.token_hex(6)}.tmp")
        # Exclusive, and with the permissions any new file gets.
        self.file: BinaryIO = open(self._hidden, "xb")  # noqa: SIM115
        self._open = True

    def write(self, data: bytes) -> None:
        self.file.write(data)

    def commit(self) -> None:
        """Put the file in its place, replacing what was there; a second call does nothing."""
        if not self._open:
            return
        try:
            self.file.flush()
            os.fsync(self.file.fileno())
            self.file.close()
            os.replace(self._hidden, self.path)
            self._open = False
        finally:
            self.discard()

    def discard(self) -> None:
        """Remove what was written; nothing happens after `commit`."""
        if self._open:
            self._open = False
            with suppress(
                OSError
            ):  # on a full disk what is still in the buffer cannot be written, nor need it be
                self.file.close()
            self._hidden.unlink(missing_ok=True)

    def __enter__(self) -> WholeFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.commit()
        else:
            self.discard()
