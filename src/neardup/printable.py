"""Texts and names that others wrote, made fit for a terminal."""

from __future__ import annotations

__all__ = ["printable"]


def printable(text: str, most: int = 200) -> str:
    """The text on one line, without anything a terminal would obey, and at most so many characters of it."""
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[: most + 1])
    return shown if len(shown) <= most else shown[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
