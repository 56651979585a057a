"""Aligns two texts word by word, with the fewest insertions and deletions. Explanations, reports and the review page
use this alignment, and each splits texts into words in its own way."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import NamedTuple

from neardup.compare.anchors import Piece, anchored
from neardup.errors import MissingExtra

__all__ = ["LONGEST", "Block", "SplitText", "absorb", "align", "align_short", "difference", "differences"]

LONGEST = (
    20_000  # words of both texts together; above this the alignment takes too long for a person who waits
)
MOST_PRODUCT = 100_000_000  # of the lengths of two texts that are aligned at once; takes 13 MB of memory
BEFORE, AFTER = 4, 12  # words around a difference
SNIPPED_TEXT, SNIPPED_WORDS = 200_000, 3000


class Block(NamedTuple):
    """A run of words: equal in both texts, or words that replace others (a range may be empty)."""

    equal: bool
    left: range
    right: range


def align(left: Sequence[str], right: Sequence[str]) -> list[Block]:
    """All words of both texts in order, in blocks that are alternately equal and different.

    Short texts are aligned with the fewest insertions and deletions. Long ones are divided at the passages they share
    first, so time grows with their length and not with its square.
    """
    blocks: list[Block] = []
    for equal, one, other in anchored(left, right, _fewest_edits, MOST_PRODUCT):
        _append(blocks, Block(equal, one, other))
    return blocks


def _fewest_edits(left: Sequence[str], right: Sequence[str]) -> list[Piece]:
    try:
        from rapidfuzz.distance import Indel
    except ImportError:
        raise MissingExtra("comparing texts word by word", "edit") from None
    return [
        (code.tag == "equal", range(code.src_start, code.src_end), range(code.dest_start, code.dest_end))
        for code in Indel.opcodes(left, right)
    ]


def align_short(left: Sequence[str], right: Sequence[str]) -> list[Block] | None:
    """Like `align`, but None if the texts are too long to align, or the extra `edit` is not installed."""
    if len(left) + len(right) > LONGEST:
        return None
    try:
        return align(left, right)
    except MissingExtra:
        return None


def absorb(blocks: Sequence[Block], chance: Callable[[Block, Block, Block], bool]) -> list[Block]:
    """Merge short equal blocks into the difference around them. `chance` gets the block before, the equal block and the
    block after, and returns whether the words are equal only by chance."""
    merged: list[Block] = []
    for at, block in enumerate(blocks):
        if block.equal and 0 < at < len(blocks) - 1 and chance(merged[-1], block, blocks[at + 1]):
            block = block._replace(equal=False)
        _append(merged, block)
    return merged


def _append(blocks: list[Block], block: Block) -> None:
    """Append a block; two differences in a row become one."""
    if blocks and blocks[-1].equal == block.equal:
        last = blocks.pop()
        left = range(last.left.start, block.left.stop)
        block = Block(block.equal, left, range(last.right.start, block.right.stop))
    blocks.append(block)


@dataclass(frozen=True)
class SplitText:
    """A text as words: `keys` to align by, and `parts`, each word with the characters up to the next one, to show.
    `cut` is set if the text has more words."""

    keys: list[str]
    parts: list[str]
    cut: bool

    @classmethod
    def of(
        cls, text: str, word: re.Pattern[str], characters: int | None = None, words: int | None = None
    ) -> SplitText:
        """At most `words` words of the first `characters` characters, by default all. Text before the first word
        belongs to it."""
        part = text[:characters]
        found = list(islice(word.finditer(part), None if words is None else words + 1))
        end = found[words].start() if words is not None and len(found) > words else len(part)
        found = found[:words]
        starts = [0, *(match.start() for match in found[1:])] if found else []
        parts = [part[start:stop] for start, stop in pairwise([*starts, end])]
        return cls([match.group() for match in found], parts, end < len(text))

    def between(self, run: range) -> str:
        """A run of words as it is written in the text."""
        return "".join(self.parts[run.start : run.stop])


def difference(left: str | bytes, right: str | bytes) -> tuple[str, str]:
    """The words of each text around the first difference; the beginnings if there is no difference."""
    rows = [_words(left), _words(right)]
    first = next((i for i, (a, b) in enumerate(zip(*rows, strict=False)) if a != b), min(map(len, rows)))
    if first >= max(map(len, rows)):
        first = 0
    start = max(0, first - BEFORE)
    return _snippet(rows[0], start, first + AFTER), _snippet(rows[1], start, first + AFTER)


def differences(left: str | bytes, right: str | bytes, most: int = 4) -> list[tuple[str, str]]:
    """The words of each text around the first few differences in their first 3,000 words; long differences are cut.
    Without the extra `edit`, only the first difference."""
    rows = [_words(left)[:SNIPPED_WORDS], _words(right)[:SNIPPED_WORDS]]
    blocks = align_short(*rows)
    if blocks is None:
        return [] if rows[0] == rows[1] else [difference(left, right)]
    return [
        (_around(rows[0], block.left), _around(rows[1], block.right)) for block in blocks if not block.equal
    ][:most]


def _around(words: list[str], run: range) -> str:
    return _snippet(words, max(0, run.start - BEFORE), min(run.stop, run.start + 2 * AFTER) + BEFORE)


def _words(text: str | bytes) -> list[str]:
    part = text[:SNIPPED_TEXT]
    return (part.decode("utf-8", "replace") if isinstance(part, bytes) else part).split()


def _snippet(words: list[str], start: int, end: int) -> str:
    shown = " ".join(word[:40] for word in words[start:end])
    return ("... " if start else "") + shown + (" ..." if end < len(words) else "")
