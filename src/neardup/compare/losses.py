"""What two texts lost their similarity to: each shingle that only one of them has is counted for one cause.

Jaccard similarity is the share of shingles that both texts have, so the shares of the causes and the similarity add up
to 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from neardup.compare.diff import Block, align
from neardup.features.normalize import Normalize, tokens

__all__ = ["CAUSES", "Cause", "Loss", "similarity_losses"]

Cause = Literal["numbers", "names", "words", "only left", "only right", "moved"]
CAUSES: tuple[Cause, ...] = get_args(Cause)
"""Other numbers, other names, other words in the same place, words of one text alone, and passages in another place."""

_WORD = re.compile(r"[^\W_]+")
_SENTENCE = ".!?:\n#*-"  # a word after one of these has a capital anyway


@dataclass(frozen=True)
class Loss:
    """One cause: how many shingles of each text it takes from what they share, and their share of all shingles."""

    cause: Cause
    left: int
    right: int
    share: float


def similarity_losses(
    left: str, right: str, width: int = 5, normalize: Normalize | None = None
) -> tuple[Loss, ...]:
    """The causes with the largest share first; none if the two have the same shingles.

    >>> [(loss.cause, round(loss.share, 2)) for loss in similarity_losses("it costs 5 euro", "it costs 6 euro", 2)]
    [('numbers', 0.8)]
    """
    words = tokens([left, right], normalize or Normalize())
    own = [_places(part, width) for part in words]
    union = len(own[0].keys() | own[1].keys())
    blocks = [block for block in align(*words) if not block.equal] if union else []
    names = [_names(text) for text in (left, right)]
    counts = {cause: [0, 0] for cause in CAUSES}
    causes = [_cause(block, words, names, own, width) for block in blocks]
    for side, (mine, theirs) in enumerate((own, own[::-1])):
        cause_at = _by_place(blocks, causes, side, len(words[side]))
        for shingle in mine.keys() - theirs.keys():
            counts[cause_at(mine[shingle], len(shingle))][side] += 1
    found = [Loss(cause, a, b, (a + b) / union) for cause, (a, b) in counts.items() if a or b]
    return tuple(sorted(found, key=lambda loss: (-loss.share, CAUSES.index(loss.cause))))


def _places(words: Sequence[str], width: int) -> dict[tuple[str, ...], int]:
    """Each distinct shingle with the place of its first occurrence."""
    width = min(width, len(words)) or 1
    places: dict[tuple[str, ...], int] = {}
    for start in range(len(words) - width + 1):
        places.setdefault(tuple(words[start : start + width]), start)
    return places


def _names(text: str) -> set[str]:
    """Words with a capital inside a sentence, and identifiers with digits, in the form in which they are compared."""
    found = set()
    for match in _WORD.finditer(text):
        word = match.group()
        before = text[max(0, match.start() - 3) : match.start()].rstrip(" \t\"'(")
        inside = bool(before) and before[-1] not in _SENTENCE
        mixed = any(map(str.isdigit, word)) and any(map(str.isalpha, word))
        if mixed or (inside and word[0].isupper()):
            found.add(word.casefold())
    return found


def _cause(
    block: Block,
    words: Sequence[Sequence[str]],
    names: Sequence[set[str]],
    shingles: Sequence[dict[tuple[str, ...], int]],
    width: int,
) -> Cause:
    """Why the words of a block differ."""
    runs = (block.left, block.right)
    for side, (run, other) in enumerate((runs, runs[::-1])):
        if not other:
            inner = [tuple(words[side][at : at + width]) for at in range(run.start, run.stop - width + 1)]
            if inner and all(shingle in shingles[1 - side] for shingle in inner):
                return "moved"
            return "only right" if side else "only left"
    every = [(side, words[side][at]) for side, run in enumerate(runs) for at in run]
    if all(word.isdigit() for _, word in every):
        return "numbers"
    if all(word.isdigit() or word in names[side] for side, word in every):
        return "names"
    return "words"


def _by_place(
    blocks: Sequence[Block], causes: Sequence[Cause], side: int, many: int
) -> Callable[[int, int], Cause]:
    """A function that gives the cause at the first difference inside a shingle: differing words, or a place between two
    words where the other text has more."""
    inside: list[Cause | None] = [None] * many
    between: dict[int, Cause] = {}
    for block, cause in zip(blocks, causes, strict=True):
        run = (block.left, block.right)[side]
        for at in run:
            inside[at] = cause
        if not run:
            between[run.start] = cause

    def cause_at(start: int, length: int) -> Cause:
        for at in range(start, start + length):
            if at > start and at in between:
                return between[at]
            found = inside[at]
            if found is not None:
                return found
        return "words"

    return cause_at
