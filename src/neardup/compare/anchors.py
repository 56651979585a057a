"""Aligns two long texts: long shared passages are matched first, then the words between them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

from neardup.compare.passages import Span, matched_spans

__all__ = ["Piece", "anchored", "in_order"]

WIDTHS = (
    32,
    8,
)  # words of a shared passage: the first round looks for long ones, the second for shorter ones

Piece = tuple[bool, range, range]  # whether the words are equal, and the ranges in both texts


def anchored(
    left: Sequence[str],
    right: Sequence[str],
    exact: Callable[[Sequence[str], Sequence[str]], list[Piece]],
    most: int,
) -> Iterator[Piece]:
    """All words of both texts, in pieces that are equal or different, in order.

    `exact` aligns two texts whose lengths have a product of at most `most`. Longer ones are divided at the passages
    they share. If they share none, all their words count as different.
    """
    start = _common(left, right)
    end = _common(left[start:][::-1], right[start:][::-1])
    stops = len(left) - end, len(right) - end
    if start:
        yield True, range(start), range(start)
    yield from _between(left, right, range(start, stops[0]), range(start, stops[1]), exact, most, WIDTHS)
    if end:
        yield True, range(stops[0], len(left)), range(stops[1], len(right))


def _between(
    left: Sequence[str],
    right: Sequence[str],
    one: range,
    other: range,
    exact: Callable[[Sequence[str], Sequence[str]], list[Piece]],
    most: int,
    widths: Sequence[int],
) -> Iterator[Piece]:
    """Does what `anchored` does for the words of two ranges."""
    if not one and not other:
        return
    mine, theirs = left[one.start : one.stop], right[other.start : other.stop]
    if len(one) * len(other) <= most:
        for equal, a, b in exact(mine, theirs):
            yield equal, _shifted(a, one.start), _shifted(b, other.start)
        return
    spans = in_order(matched_spans(mine, theirs, widths[0])) if widths else []
    if not spans:
        yield False, one, other
        return
    at, to = one.start, other.start
    for span in spans:
        i, j = one.start + span.left, other.start + span.right
        yield from _between(left, right, range(at, i), range(to, j), exact, most, widths[1:])
        at, to = i + span.words, j + span.words
        yield True, range(i, at), range(j, to)
    yield from _between(left, right, range(at, one.stop), range(to, other.stop), exact, most, widths[1:])


def in_order(spans: Sequence[Span]) -> list[Span]:
    """The spans with the most words in total that have the same order in both texts and do not overlap."""
    chosen: list[tuple[int, Span, int]] = []  # words in total, the span, the place of the one before
    ends: list[
        int
    ] = []  # ends in the right text, ascending, each with more words in total than the one before
    best: list[int] = []  # the chains that end there, as places in `chosen`
    for span in spans:  # they are in the order of the left text, and do not overlap there
        at = bisect_left(ends, span.right + 1) - 1
        before = best[at] if at >= 0 else -1
        total = span.words + (chosen[before][0] if before >= 0 else 0)
        chosen.append((total, span, before))
        _offer(ends, best, chosen, span.right + span.words, len(chosen) - 1)
    chain: list[Span] = []
    place = best[-1] if best else -1
    while place >= 0:
        _, span, place = chosen[place]
        chain.append(span)
    return chain[::-1]


def _offer(
    ends: list[int], best: list[int], chosen: list[tuple[int, Span, int]], end: int, place: int
) -> None:
    """Keep a chain if none that ends as early has as many words; remove those that it makes useless."""
    at = bisect_left(ends, end + 1)
    if at and chosen[best[at - 1]][0] >= chosen[place][0]:
        return
    low = at - 1 if at and ends[at - 1] == end else at
    high = low
    while high < len(ends) and chosen[best[high]][0] <= chosen[place][0]:
        high += 1
    ends[low:high], best[low:high] = [end], [place]


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """How many words at the beginning are equal."""
    for i, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b:
            return i
    return min(len(left), len(right))


def _shifted(run: range, by: int) -> range:
    return range(run.start + by, run.stop + by)
