"""How many threads a call may use."""

from __future__ import annotations

from neardup.errors import ConfigError

__all__ = ["check_threads"]


def check_threads(threads: int) -> int:
    """Return the number, or raise ConfigError: every call with `threads=` checks it before native code runs."""
    if not isinstance(threads, int) or not 1 <= threads <= 1024:
        raise ConfigError(f"threads={threads!r}: give a whole number from 1 to 1024")
    return threads
