"""Who may write: one process, told apart by a lock file; and inside it, one writer beside many readers."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from neardup.errors import DataError

__all__ = ["Gate", "WriterLock"]


class WriterLock:
    """Held while an index is open for writing; the system lets go of it when the process ends, however it ends."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "a+b", buffering=0)  # noqa: SIM115
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.seek(0)
            owner = self._file.read(32).decode("ascii", "replace").strip() or "unknown"
            self._file.close()
            raise DataError(
                f"{path.parent}: process {owner} has this index open for writing, and there can be one writer only; "
                'close it there, or open it here for reading, with mode="read"'
            ) from None
        # Who it is, is said to others only: on a full disk the lock holds without it.
        with contextlib.suppress(OSError):
            self._file.truncate(0)
            self._file.write(str(os.getpid()).encode())

    def release(self) -> None:
        """Let the next writer in."""
        self._file.close()


class Gate:
    """Any number of readers, or one writer who changes what they see. A waiting writer goes before later readers."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._readers = 0
        self._writing = False
        self._waiting = 0

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._condition:
            while self._writing or self._waiting:
                self._condition.wait()
            self._readers += 1
        try:
            yield
        finally:
            with self._condition:
                self._readers -= 1
                if not self._readers:
                    self._condition.notify_all()

    @contextmanager
    def changing(self) -> Iterator[None]:
        with self._condition:
            self._waiting += 1
            while self._writing or self._readers:
                self._condition.wait()
            self._waiting -= 1
            self._writing = True
        try:
            yield
        finally:
            with self._condition:
                self._writing = False
                self._condition.notify_all()
