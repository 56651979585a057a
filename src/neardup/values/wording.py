"""Texts and names that others wrote, made fit for a terminal; and how many there are of what, as people say it."""

from __future__ import annotations

__all__ = ["counted", "printable"]


def printable(text: str, most: int = 200) -> str:
    """The text on one line, without anything a terminal would obey, and at most so many characters of it."""
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[: most + 1])
    return shown if len(shown) <= most else shown[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


def counted(many: int, one: str, several: str | None = None) -> str:
    """So many of `one`, such as "1 pair" and "2,000 pairs"; `several` where an s is not enough."""
    return f"{many:,} {one if many == 1 else several or one + 's'}"
