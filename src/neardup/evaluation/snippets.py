"""A few words of two texts, from where they first differ."""

from __future__ import annotations

__all__ = ["difference"]

BEFORE, AFTER = 4, 12
LARGEST = 200_000


def difference(left: str | bytes, right: str | bytes) -> tuple[str, str]:
    """The words of either text around their first difference; their beginnings if there is none."""
    rows = [_words(left), _words(right)]
    first = next((i for i, (a, b) in enumerate(zip(*rows, strict=False)) if a != b), min(map(len, rows)))
    if first >= max(map(len, rows)):
        first = 0
    start = max(0, first - BEFORE)
    return _cut(rows[0], start, first), _cut(rows[1], start, first)


def _words(text: str | bytes) -> list[str]:
    part = text[:LARGEST]
    return (part.decode("utf-8", "replace") if isinstance(part, bytes) else part).split()


def _cut(words: list[str], start: int, first: int) -> str:
    shown = " ".join(word[:40] for word in words[start : first + AFTER])
    return ("... " if start else "") + shown + (" ..." if first + AFTER < len(words) else "")
