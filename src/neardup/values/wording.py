"""Makes foreign texts and names safe for a terminal, and writes counts with the right plural."""

from __future__ import annotations

__all__ = ["counted", "printable"]


def printable(text: str, most: int = 200) -> str:
    """The text on one line, without control characters, and at most `most` characters of it."""
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[: most + 1])
    return shown if len(shown) <= most else shown[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


def counted(many: int, one: str, several: str | None = None) -> str:
    """A count with a noun, such as "1 pair" and "2,000 pairs"; `several` is the plural if it does not end in s."""
    return f"{many:,} {one if many == 1 else several or one + 's'}"
