"""A lock on an open file: the system removes it when the process ends, however it ends."""

from __future__ import annotations

from typing import IO

from neardup.values.posix import unsupported

try:
    import fcntl
except ImportError:  # not a POSIX system: everything that needs no lock still works
    fcntl = None  # type: ignore[assignment]

__all__ = ["lock"]


def lock(file: int | IO[bytes], *, wait: bool = False) -> None:
    """Take the lock, or raise BlockingIOError if another has it and `wait` is off. Closing the file gives it back."""
    if fcntl is None:
        raise unsupported("one writer at a time", "POSIX file locks (Python's module fcntl)")
    fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
