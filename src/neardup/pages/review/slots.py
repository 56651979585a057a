"""A template with filled slots as a table: the fixed text once, one column for each slot, one row for each document."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from neardup.compare.diff import Block, SplitText, align
from neardup.errors import DataError
from neardup.pages.review.session import Review, View

__all__ = ["slots_between", "slots_of", "values_of"]

SAMPLE = 100  # documents whose differences from the keeper make the slots
LONGEST = 5000  # words of a template
MOST_SLOTS = 30
PAGE = 100
VALUE = 200  # characters shown of a value
_WORD = re.compile(r"\S+")


def slots_of(review: Review, view: View, row: int, offset: int = 0) -> dict[str, Any]:
    """The slots of a document's cluster, and the values of some of its documents, the keeper first."""
    findings, table = view.findings, view.table
    review.check_row(row)
    place = table.place_of(int(view.cut.clusters.labels[row]))
    if place is None:
        raise DataError("this document has no duplicate")
    keeper = int(table.keeper[place])
    rows = table.rows(place)
    rows = np.concatenate([[keeper], rows[rows != keeper]])
    rows = rows[[findings.has_text(int(one)) for one in rows]]
    fixed = SplitText.of(findings.text(keeper), _WORD)
    if len(fixed.keys) > LONGEST:
        raise DataError(f"texts of more than {LONGEST:,} words are not shown as a table")
    step = max(1, len(rows) // SAMPLE)
    alignments = (_aligned(fixed, findings.text(int(one))) for one in rows[1::step][:SAMPLE].tolist())
    slots = slots_between(blocks for blocks, _ in alignments)
    part = rows[offset : offset + PAGE]
    shown = slots[:MOST_SLOTS]
    return {
        "revision": view.decisions.revision,
        "total": len(rows),
        "slots": len(slots),
        "fixed": _pieces(fixed, shown),
        "rows": [
            {
                "row": one,
                "id": id,
                "kept": bool(view.cut.kept[one]),
                "values": values_of(fixed, findings.text(one), shown),
            }
            for one, id in zip(part.tolist(), findings.ids(part), strict=True)
        ],
    }


def _aligned(fixed: SplitText, text: str) -> tuple[list[Block], SplitText]:
    other = SplitText.of(text, _WORD)
    return align(fixed.keys, other.keys), other


def slots_between(alignments: Iterable[list[Block]]) -> list[range]:
    """The places of the fixed text at which any of the other texts differs, merged where they touch."""
    places = sorted({(b.left.start, b.left.stop) for blocks in alignments for b in blocks if not b.equal})
    merged: list[range] = []
    for start, stop in places:
        if merged and start <= merged[-1].stop:
            merged[-1] = range(merged[-1].start, max(stop, merged[-1].stop))
        else:
            merged.append(range(start, stop))
    return merged


def values_of(fixed: SplitText, text: str, slots: list[range]) -> list[str]:
    """What a text has in each slot: its words between the fixed words before and after."""
    blocks, other = _aligned(fixed, text)
    before, after = [0] * (len(fixed.keys) + 1), [len(other.keys)] * (len(fixed.keys) + 1)
    for block in blocks:
        if block.equal:
            for mine, theirs in zip(block.left, block.right, strict=True):
                before[mine + 1], after[mine] = theirs + 1, theirs
    for at in range(1, len(before)):
        before[at] = max(before[at], before[at - 1])
    for at in range(len(after) - 2, -1, -1):
        after[at] = min(after[at], after[at + 1])
    values = (other.keys[before[slot.start] : after[slot.stop]] for slot in slots)
    return [" ".join(words)[:VALUE] for words in values]


def _pieces(fixed: SplitText, slots: list[range]) -> list[dict[str, Any]]:
    """The fixed text between the slots, and the number of each slot."""
    found: list[dict[str, Any]] = []
    at = 0
    for number, slot in enumerate(slots, 1):
        found += [{"text": " ".join(fixed.keys[at : slot.start])}, {"slot": number}]
        at = slot.stop
    return [*found, {"text": " ".join(fixed.keys[at:])}]
