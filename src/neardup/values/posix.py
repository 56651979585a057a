"""What only a POSIX system has, refused in one sentence where it is used, so that all else works without it."""

from __future__ import annotations

from types import ModuleType

from neardup.errors import NeardupError

__all__ = ["require", "unsupported"]


def unsupported(what: str, needs: str) -> NeardupError:
    """The refusal of `what`, which is built on something that this system lacks."""
    return NeardupError(
        f"{what} needs {needs}, which this system does not have; use Linux or macOS, or WSL on Windows "
        "(docs/platforms.md)"
    )


def require(module: ModuleType, name: str, what: str) -> None:
    """NeardupError if Python's `module` lacks a function here."""
    if not hasattr(module, name):
        raise unsupported(what, f"Python's {module.__name__}.{name}")
