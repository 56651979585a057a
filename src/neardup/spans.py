"""Which words of one text occur in another, as passages with their places in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neardup.errors import ConfigError

__all__ = ["Span", "matched_spans"]

_MOST_PLACES = (
    64  # of one run of words in the right text: what occurs everywhere is tried at its first places
)


@dataclass(frozen=True)
class Span:
    """A passage of `words` words that begins with word `left` of one text and word `right` of the other (from 0)."""

    left: int
    right: int
    words: int
    text: str


def matched_spans(left: Sequence[str], right: Sequence[str], width: int = 5) -> tuple[Span, ...]:
    """The passages of `width` words or more of the left text that stand in the right one, in the order of the left.

    From left to right, each the longest there is where it begins, none overlapping another in the left text. A text
    shorter than `width` is one passage or none. Time grows with the words, times the places a repeated one has.
    """
    if width < 1:
        raise ConfigError(f"width {width}: a passage has at least one word")
    width = min(width, len(left), len(right))
    if not width:
        return ()
    places: dict[tuple[str, ...], list[int]] = {}
    for start in range(len(right) - width + 1):
        found = places.setdefault(tuple(right[start : start + width]), [])
        if len(found) < _MOST_PLACES:
            found.append(start)
    spans: list[Span] = []
    at = 0
    while at + width <= len(left):
        best, where = 0, -1
        for start in places.get(tuple(left[at : at + width]), ()):
            if best and left[at + best - 1] != (
                right[start + best - 1] if start + best <= len(right) else None
            ):
                continue  # it ends before the longest so far
            length = width
            while (
                at + length < len(left)
                and start + length < len(right)
                and left[at + length] == right[start + length]
            ):
                length += 1
            if length > best:
                best, where = length, start
        if best:
            spans.append(Span(at, where, best, " ".join(left[at : at + best])))
        at += best or 1
    return tuple(spans)
