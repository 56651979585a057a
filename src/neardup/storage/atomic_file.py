"""Atomic writes: a file is written under a hidden name and renamed when it is complete.

While a process writes a hidden file or folder, it holds the system's lock on it. The system frees the lock when the
process ends, in any way, so `sweep` removes only what a dead process left behind.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from neardup.errors import DataError

try:
    import fcntl
except ImportError:  # not a POSIX system: nothing is locked, and nothing is swept
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "AtomicFile",
    "CommitOnExit",
    "hidden_name",
    "locked_folder",
    "named_errors",
    "sweep",
    "sync_folder",
    "write_at",
]

_LONGEST = 200  # bytes of a name that a hidden name repeats; file systems allow 255 in all
_SECOND = re.compile(r"[0-9a-f]{12}\.tmp")


_PIECES = 512  # written in one call; systems allow 1024


def hidden_name(path: Path) -> Path:
    """A new name beside a path, for a file that is not complete yet."""
    return path.with_name(f"{_stem(path)}{secrets.token_hex(6)}.tmp")


def _stem(path: Path) -> str:
    return f".{os.fsdecode(os.fsencode(path.name)[:_LONGEST])}."


def locked_folder(path: Path) -> int:
    """Lock a hidden folder until the handle that this returns is closed, so that nobody sweeps it."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    _lock(handle)
    return handle


def _lock(handle: int, *, wait: bool = True) -> bool:
    """Whether this process has the lock on a file now; False where there are no locks."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # another process has it, or the file system has no locks
        return False
    return True


def sweep(path: Path) -> None:
    """Remove the hidden files and folders that dead processes left when they were to write this path."""
    stem = _stem(path)
    try:
        names = [name for name in os.listdir(path.parent) if name.startswith(stem)]
    except OSError:  # a folder may be written to without being listed
        return
    for name in names:
        if _SECOND.fullmatch(name.removeprefix(stem)):
            with suppress(OSError):
                _sweep(path.with_name(name))


def _sweep(hidden: Path) -> None:
    handle = os.open(hidden, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        # The lock is held while the file is removed: a process that has just made it sees that it is gone.
        if _lock(handle, wait=False):
            if stat.S_ISDIR(os.fstat(handle).st_mode):
                shutil.rmtree(hidden)
            else:
                hidden.unlink()
    finally:
        os.close(handle)


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


@contextmanager
def named_errors(path: Path) -> Iterator[None]:
    """Add the name of this file to system errors that have none, as the errors of a write do."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


class CommitOnExit(ABC):
    """A file whose `with` block commits it at the end, and discards it after an error."""

    file: BinaryIO

    @abstractmethod
    def commit(self) -> None: ...

    @abstractmethod
    def discard(self) -> None: ...

    def write(self, data: bytes | memoryview) -> None:
        self.file.write(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.commit()
        else:
            self.discard()


class AtomicFile(CommitOnExit):
    """A new file under a hidden name beside its target, renamed by `commit`, removed by `discard`.

    A file that is not `durable` is not synced: it survives the death of the process, not a power failure. Only the
    owner can read a `secret` file; other files have the permissions of the file they replace, or the usual ones of a
    new file. Without `overwrite`, a file that exists is never replaced, not even one that appears in the meantime.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        durable: bool = True,
        secret: bool = False,
        overwrite: bool = True,
    ) -> None:
        self.path, self._durable, self._overwrite = Path(path), durable, overwrite
        if self.path.is_dir():
            raise DataError(f"{self.path}: is a folder; name a file to write")
        if not self.path.parent.is_dir():
            raise DataError(f"{self.path}: the folder {self.path.parent} does not exist; make it first")
        self._hidden, handle = self._new(0o600 if secret else 0o666)
        self.file: BinaryIO = open(handle, "wb")  # noqa: SIM115
        self._open = True
        if not secret:
            self._copy_mode(handle)

    def _new(self, mode: int) -> tuple[Path, int]:
        while True:
            hidden = hidden_name(self.path)
            handle = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
            _lock(handle)
            if os.fstat(handle).st_nlink:  # otherwise it was swept before it was locked
                return hidden, handle
            os.close(handle)

    def _copy_mode(self, handle: int) -> None:
        """Owner and permissions of the file that is replaced, as far as this process may set them. New content does not
        run as another user."""
        with suppress(OSError):
            old = self.path.stat()
            with suppress(OSError):
                os.fchown(handle, old.st_uid, old.st_gid)
            os.fchmod(handle, old.st_mode & 0o777)

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
            with named_errors(self.path):
                self.file.flush()
                if self._durable:
                    os.fsync(self.file.fileno())
            self._move()
            self.file.close()
            self._open = False
            if self._durable:
                sync_folder(self.path.parent)
        finally:
            self.discard()

    def _move(self) -> None:
        if self._overwrite:
            os.replace(self._hidden, self.path)
            return
        try:
            os.link(self._hidden, self.path)  # unlike a rename, this fails if the target exists
        except FileExistsError:
            raise DataError(f"{self.path}: exists by now; nothing was written there") from None
        except OSError:  # the file system has no hard links
            if os.path.lexists(self.path):
                raise DataError(f"{self.path}: exists by now; nothing was written there") from None
            os.replace(self._hidden, self.path)
        else:
            self._hidden.unlink()

    def discard(self) -> None:
        """Remove what was written; after `commit` this does nothing."""
        if self._open:
            self._open = False
            with suppress(OSError):  # on a full disk the buffer cannot be written; it is not needed any more
                self.file.close()
            self._hidden.unlink(missing_ok=True)
