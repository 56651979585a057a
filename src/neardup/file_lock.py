"""A lock on an open file: the system removes it when the process ends, however it ends."""

from __future__ import annotations

from typing import IO

from neardup.errors import NeardupError

try:
    import fcntl
except ImportError:  # not a POSIX system: everything that needs no lock still works
    fcntl = None  # type: ignore[assignment]

__all__ = ["lock"]


def lock(file: int | IO[bytes], *, wait: bool = False) -> None:
    """Take the lock, or raise BlockingIOError if another has it and `wait` is off. Closing the file gives it back."""
    if fcntl is None:
        raise NeardupError(
            "this system has no POSIX file locks (Python's module fcntl), so two writers could damage each other's "
            "files; use Linux or macOS, or WSL on Windows (docs/platforms.md)"
        )
    fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
