"""A few words of two texts, from where they differ."""

from __future__ import annotations

from difflib import SequenceMatcher

__all__ = ["difference", "differences"]

BEFORE, AFTER = 4, 12
LARGEST = 200_000
MOST_WORDS = 3000


def difference(left: str | bytes, right: str | bytes) -> tuple[str, str]:
    """The words of either text around their first difference; their beginnings if there is none."""
    rows = [_words(left), _words(right)]
    first = next((i for i, (a, b) in enumerate(zip(*rows, strict=False)) if a != b), min(map(len, rows)))
    if first >= max(map(len, rows)):
        first = 0
    start = max(0, first - BEFORE)
    return _cut(rows[0], start, first + AFTER), _cut(rows[1], start, first + AFTER)


def differences(left: str | bytes, right: str | bytes, most: int = 4) -> list[tuple[str, str]]:
    """The words of either text at their first few differences, of their first 3,000 words; the longest are cut."""
    rows = [_words(left)[:MOST_WORDS], _words(right)[:MOST_WORDS]]
    matcher = SequenceMatcher(None, rows[0], rows[1], autojunk=False)
    changed = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    shown = []
    for _, a, a_end, b, b_end in changed[:most]:
        sides = []
        for words, start, end in ((rows[0], a, a_end), (rows[1], b, b_end)):
            sides.append(_cut(words, max(0, start - BEFORE), min(end, start + 2 * AFTER) + BEFORE))
        shown.append((sides[0], sides[1]))
    return shown


def _words(text: str | bytes) -> list[str]:
    part = text[:LARGEST]
    return (part.decode("utf-8", "replace") if isinstance(part, bytes) else part).split()


def _cut(words: list[str], start: int, end: int) -> str:
    shown = " ".join(word[:40] for word in words[start:end])
    return ("... " if start else "") + shown + (" ..." if end < len(words) else "")
