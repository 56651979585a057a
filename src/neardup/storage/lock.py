"""Locks: between processes by a lock on a file; inside a process, one writer or many readers."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from neardup.errors import NeardupError
from neardup.values.posix import unsupported

try:
    import fcntl
except ImportError:  # not a POSIX system: everything that needs no lock still works
    fcntl = None  # type: ignore[assignment]

__all__ = ["FileLock", "Gate"]

LONGEST_NOTE = 4096


class FileLock:
    """The system's lock on a file. The file is created if necessary and never removed; the system frees the lock when
    the process ends, in any way.

    If another process holds the lock, this waits, or raises the error that `refused` makes from the note of that
    process.
    OSError on a filesystem without locks. A user who may read the file can hold the lock: by default only the owner.
    """

    def __init__(
        self,
        path: Path,
        refused: Callable[[bytes], NeardupError] | None = None,
        note: bytes | None = None,
        *,
        mode: int = 0o600,
    ) -> None:
        if fcntl is None:
            raise unsupported("one writer at a time", "POSIX file locks (Python's module fcntl)")
        self._path = path
        self.handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, mode)
        try:
            fcntl.flock(self.handle, fcntl.LOCK_EX if refused is None else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            assert refused is not None
            left = os.read(self.handle, LONGEST_NOTE)
            os.close(self.handle)
            raise refused(left) from None
        except BaseException:
            os.close(self.handle)
            raise
        if note is not None:
            with suppress(OSError):  # the note is only information; on a full disk the lock works without it
                os.truncate(self.handle, 0)
                os.pwrite(self.handle, note, 0)

    def holds(self) -> bool:
        """Whether the file with that name is still the locked one, and was not removed or replaced."""
        try:
            return os.path.samestat(os.fstat(self.handle), os.stat(self._path))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        os.close(self.handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class Gate:
    """Any number of readers, or one writer who changes what they see. A waiting writer comes before later readers."""

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
