"""Two whole texts as rows of words: shared words are in the same row, and differences are marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from neardup.compare.diff import Block, SplitText, absorb, align
from neardup.compare.passages import UNSPACED, matched_spans

__all__ = ["Aligned", "aligned"]

LONG_ROW, LONGEST_ROW = 150, 400  # characters after which a row ends at the next line end, or anywhere
MOVED = 6  # words in a row that have no equal in their place, but occur elsewhere in the other text
CONTEXT = 3  # equal rows shown around a difference
WINDOW = 200  # rows sent at once
MOST_PLACES = 400  # of differing rows that the page shows in a small map

# A word, a character of a script without spaces, or a run of other signs.
_MARKS = "\u0300-\u036f\u0900-\u0dff"
_WORD = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])[\w{_MARKS}])+|[^\w\s]+")
# A number, date, time, price, version or page number; an identifier such as f17 is none of them.
_NUMBER = re.compile(r"[^\w\s]*\d[\d.,:/'’\-–+ ]*(?:st|nd|rd|th|%|[€$£¥]|am|pm)?[^\w\s]*", re.IGNORECASE)
_NUMBER_PARTS = 12  # words and signs of a number on each side of a difference
_NO_WORD = re.compile(r"[\W_]*")

Row = dict[str, Any]


@dataclass(frozen=True)
class Aligned:
    """The rows of two texts. `added` and `removed` count words; `numbers` is set if only numbers differ."""

    rows: Sequence[Row]
    removed: int
    added: int
    moved: int
    numbers: bool

    @property
    def differing(self) -> int:
        return sum(not row["same"] for row in self.rows)

    def places(self, most: int = MOST_PLACES) -> list[int]:
        """The numbers of differing rows; of very many, some that are evenly spread."""
        found = [row["at"] for row in self.rows if not row["same"]]
        return found[:: max(1, -(-len(found) // most))]

    def window(self, start: int, most: int = WINDOW) -> dict[str, Any]:
        """Rows from `start` on. A long run of equal rows is one item, {"fold": rows, "start": its first row}."""
        items: list[Row] = []
        at = start
        while at < len(self.rows) and len(items) < most:
            run = self._equal_run(at)
            above = 0 if at == 0 else CONTEXT
            below = 0 if at + run == len(self.rows) else CONTEXT
            if run > above + below + CONTEXT and len(self.rows) > WINDOW:
                items += self.rows[at : at + above]
                items.append({"fold": run - above - below, "start": at + above})
                items += self.rows[at + run - below : at + run]
                at += run
            else:
                step = max(1, min(run, most - len(items)))
                items += self.rows[at : at + step]
                at += step
        return {"rows": items, "next": at if at < len(self.rows) else None, "total": len(self.rows)}

    def _equal_run(self, start: int) -> int:
        at = start
        while at < len(self.rows) and self.rows[at]["same"]:
            at += 1
        return at - start


def aligned(left: str, right: str) -> Aligned:
    """Align two texts word by word; upper and lower case count as equal."""
    mine, theirs = SplitText.of(left, _WORD), SplitText.of(right, _WORD)
    keys = [word.casefold() for word in mine.keys], [word.casefold() for word in theirs.keys]
    blocks = absorb(align(*keys), _by_chance)
    moved = _moved(keys, blocks)
    rows = _Rows()
    counts = [0, 0]
    for equal, one, other in blocks:
        if equal:
            for i, j in zip(one, other, strict=True):
                rows.same(mine.parts[i], theirs.parts[j])
        else:
            counts[0] += sum(i not in moved[0] for i in one)
            counts[1] += sum(j not in moved[1] for j in other)
            rows.apart(
                [(i in moved[0], mine.parts[i]) for i in one],
                [(j in moved[1], theirs.parts[j]) for j in other],
            )
    removed, added = counts
    return Aligned(rows.done(), removed, added, len(moved[0]), _only_numbers(blocks, mine, theirs))


def _by_chance(before: Block, same: Block, after: Block) -> bool:
    """Whether a few equal words inside a long change are equal only by chance: people want to see one replaced passage,
    not its scattered "the" and "of"."""
    return 2 * len(same.left) <= min(max(len(block.left), len(block.right)) for block in (before, after))


def _moved(keys: tuple[list[str], list[str]], blocks: Sequence[Block]) -> tuple[set[int], set[int]]:
    """The words that were moved: passages that differ in place, but occur among the differing words of the other text.
    A word counts once, so a passage that was deleted is not moved because a copy of it is elsewhere."""
    places: tuple[list[int], list[int]] = [], []
    words: tuple[list[str], list[str]] = [], []
    for number, block in enumerate(block for block in blocks if not block.equal):
        for side, run in enumerate((block.left, block.right)):
            if not run:
                continue
            places[side].extend(run)
            words[side].extend(keys[side][run.start : run.stop])
            places[side].append(-1)
            words[side].append(f"\n{side} {number}")  # no passage crosses the end of a block
    moved: tuple[set[int], set[int]] = set(), set()
    if not (words[0] and words[1]):
        return moved
    spans = [span for span in matched_spans(*words, MOVED) if span.words >= MOVED]
    for span in sorted(spans, key=lambda span: (-span.words, span.left)):
        left = places[0][span.left : span.left + span.words]
        right = places[1][span.right : span.right + span.words]
        if moved[1].isdisjoint(right):
            moved[0].update(left)
            moved[1].update(right)
    return moved


def _only_numbers(blocks: Sequence[Block], mine: SplitText, theirs: SplitText) -> bool:
    """Whether every difference is a number, a date or a price in both texts."""
    differing = [block for block in blocks if not block.equal]
    return bool(differing) and all(
        _is_number(_around(words, run))
        for block in differing
        for words, run in ((mine, block.left), (theirs, block.right))
    )


def _is_number(text: str) -> bool:
    words = text.split()
    return any(any(sign.isdigit() for sign in word) for word in words) and all(
        _NUMBER.fullmatch(word) or _NO_WORD.fullmatch(word) for word in words
    )


def _around(words: SplitText, run: range) -> str:
    """Extend a run of characters to whole words: if only the point of 1.500 differs, the whole number is shown."""
    start, stop = run.start, run.stop
    least, most = max(0, start - _NUMBER_PARTS), min(len(words.parts), stop + _NUMBER_PARTS)
    while start > least and not words.parts[start - 1][-1:].isspace():
        start -= 1
    while 0 < stop < most and not words.parts[stop - 1][-1:].isspace():
        stop += 1
    return words.between(range(start, stop))


class _Rows:
    """Builds the rows: a new row begins after a shared paragraph, or inside a long one."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._length = 0
        self._open: dict[str, list[list[str]]] = {"left": [], "right": []}
        self._lines = [1, 1]  # the lines in which the open row begins, left and right

    def same(self, left: str, right: str) -> None:
        if max(len(left), len(right)) > LONGEST_ROW:  # white space, or a word without end
            for one, other in zip_longest(_pieces(left), _pieces(right), fillvalue=""):
                self.same(one, other)
            return
        self._put("left", "same", left)
        self._put("right", "same", right)
        self._length += max(len(left), len(right))
        lines = min(left.count("\n"), right.count("\n"))
        if lines > 1 or (lines and self._length >= LONG_ROW) or self._length >= LONGEST_ROW:
            self._close()

    def apart(self, left: list[tuple[bool, str]], right: list[tuple[bool, str]]) -> None:
        for one, other in zip_longest(_rows_of(left), _rows_of(right), fillvalue=()):
            if self._length >= LONGEST_ROW:
                self._close()
            for side, words in (("left", one), ("right", other)):
                for moved, word in words:
                    self._put(side, "moved" if moved else "changed", word)
            self._length += max(sum(len(word) for _, word in words) for words in (one, other))

    def _put(self, side: str, kind: str, text: str) -> None:
        pieces = self._open[side]
        if pieces and pieces[-1][0] == kind:
            pieces[-1][1] += text
        else:
            pieces.append([kind, text])

    def _close(self) -> None:
        row: Row = {side: _tidy(pieces) for side, pieces in self._open.items()}
        if row["left"] or row["right"]:
            same = all(kind == "same" for side in row.values() for kind, _ in side)
            self._rows.append(row | {"same": same, "at": len(self._rows), "lines": self._lines})
        ends = (sum(text.count("\n") for _, text in pieces) for pieces in self._open.values())
        self._lines = [line + more for line, more in zip(self._lines, ends, strict=True)]
        self._open, self._length = {"left": [], "right": []}, 0

    def done(self) -> list[Row]:
        self._close()
        return self._rows


def _pieces(text: str) -> Iterator[str]:
    """A word; one that is longer than a row is divided."""
    for start in range(0, len(text), LONGEST_ROW):
        yield text[start : start + LONGEST_ROW]


def _rows_of(words: list[tuple[bool, str]]) -> Iterator[list[tuple[bool, str]]]:
    """Differing words in parts of at most a row."""
    part: list[tuple[bool, str]] = []
    length = 0
    for moved, word in words:
        for piece in _pieces(word):
            part.append((moved, piece))
            length += len(piece)
            if length >= LONGEST_ROW:
                yield part
                part, length = [], 0
    if part:
        yield part


def _tidy(pieces: list[list[str]]) -> list[list[str]]:
    """White space after a change is not marked, and white space at the end of a row is removed."""
    tidied: list[list[str]] = []
    for kind, text in pieces:
        words = text.rstrip()
        parts = [[kind, words], ["same", text[len(words) :]]] if kind != "same" and words else [[kind, text]]
        for part in parts:
            if tidied and tidied[-1][0] == part[0]:
                tidied[-1][1] += part[1]
            elif part[1]:
                tidied.append(part)
    while tidied and not tidied[-1][1].strip():
        tidied.pop()
    if tidied:
        tidied[-1][1] = tidied[-1][1].rstrip()
    return tidied
