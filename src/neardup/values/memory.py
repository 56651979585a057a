"""Memory that was freed and that the C library keeps for later."""

from __future__ import annotations

from neardup import _core

__all__ = ["release_unused"]


def release_unused() -> None:
    """Give freed memory back to the system. For the end of a stage: the next one needs other sizes, and each thread has
    free memory of its own, so that the process would hold several times what it uses."""
    _core.release_unused_memory()
