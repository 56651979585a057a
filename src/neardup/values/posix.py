"""Functions that only POSIX systems have: they are refused with a clear message, and everything else works."""

from __future__ import annotations

from types import ModuleType

from neardup.errors import NeardupError

__all__ = ["require", "unsupported"]


def unsupported(what: str, needs: str) -> NeardupError:
    """The error for `what`, which needs something that this system does not have."""
    return NeardupError(
        f"{what} needs {needs}, which this system does not have; use Linux or macOS, or WSL on Windows "
        "(docs/reference/platforms.md)"
    )


def require(module: ModuleType, name: str, what: str) -> None:
    """NeardupError if Python's `module` lacks a function here."""
    if not hasattr(module, name):
        raise unsupported(what, f"Python's {module.__name__}.{name}")
