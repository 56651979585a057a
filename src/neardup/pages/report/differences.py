"""Shows where two texts differ, word by word; long shared passages are left out to keep it short."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from neardup.compare.diff import SplitText, absorb, align_short
from neardup.compare.passages import UNSPACED
from neardup.pages.report.markup import Html, raw, tag, text

__all__ = ["compared", "differences"]

COMPARED = 60_000  # characters of either text
AROUND = 9  # words shown beside a difference
SHOWN = 1600  # characters of one comparison
LONGEST = 300  # characters of one difference
_WORD = re.compile(f"[{UNSPACED}]|[^\\s{UNSPACED}]+")


class DiffPart(NamedTuple):
    """A run of words: in both texts, only in the left one, or only in the right one."""

    kind: str
    words: int
    text: str


def differences(left: str, right: str) -> list[DiffPart] | None:
    """The parts in order; None if the extra `edit` is not installed or the texts are too long to align."""
    old, new = (SplitText.of(given[:COMPARED].strip(), _WORD, COMPARED) for given in (left, right))
    blocks = align_short(old.keys, new.keys)
    if blocks is None:
        return None
    parts: list[DiffPart] = []
    # A single shared word between two differences is easier to read as part of them.
    for block in absorb(blocks, lambda _, same, __: len(same.left) == 1):
        if block.equal:
            parts.append(_part("same", old, block.left))
        else:
            parts += [_part("left", old, block.left)] if block.left else []
            parts += [_part("right", new, block.right)] if block.right else []
    return parts


def _part(kind: str, words: SplitText, run: range) -> DiffPart:
    return DiffPart(kind, len(run), re.sub(r"\s+", " ", words.between(run)))


def compared(left: str, right: str) -> Html:
    """Both texts as one: words only in the left text are struck out, words only in the right text are underlined."""
    parts = differences(left, right)
    if parts is None:
        return tag("p", raw("The words could not be aligned: there are too many, or the extra "
                            "<code>neardup[edit]</code> is not installed."), class_="soft small")  # fmt: skip
    if all(part.kind == "same" for part in parts):
        within = " in the part that is compared here" if max(len(left), len(right)) > COMPARED else ""
        return tag("p", raw(f"The texts have the same words{within}."), class_="soft small")
    shown, size, listed = [], 0, 0
    for piece, length, changes in _condensed(parts):
        if size + length > SHOWN and listed:
            break
        shown.append(piece)
        size += length
        listed += changes
    rest = sum(part.kind != "same" for part in parts) - listed
    if rest > 0:
        shown.append(tag("span", raw(f" … and {rest:,} more differences"), class_="soft"))
    return tag("p", *shown, class_="text diff")


def _condensed(parts: list[DiffPart]) -> Iterator[tuple[Html, int, int]]:
    """Each part as markup, its length, and whether it is a difference."""
    for place, part in enumerate(parts):
        if part.kind != "same":
            name = "del" if part.kind == "left" else "ins"
            body, space = part.text.rstrip(" "), part.text != part.text.rstrip(" ")
            yield raw(tag(name, text(body, LONGEST)) + (" " if space else "")), min(len(body), LONGEST), 1
            continue
        words = _WORD.findall(part.text[: 40 * AROUND]), _WORD.findall(part.text[-40 * AROUND :])
        if part.words <= 2 * AROUND + 4:
            yield text(part.text, 1000), min(len(part.text), 1000), 0
            continue
        glue = " " if " " in part.text.strip() else ""
        before = "" if place == 0 else glue.join(words[0][:AROUND])
        after = "" if place == len(parts) - 1 else glue.join(words[1][-AROUND:])
        left = part.words - AROUND * ((place > 0) + (place < len(parts) - 1))
        gap = tag(
            "span", raw(f"{' ' if before else ''}… {left:,} words …{' ' if after else ''}"), class_="soft"
        )
        yield raw(f"{text(before, 400)}{gap}{text(after, 400)} "), len(before) + len(after) + 20, 0
