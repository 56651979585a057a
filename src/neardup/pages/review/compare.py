"""Two documents side by side: rows of words with shared passages in the same row, and all measures."""

from __future__ import annotations

import re
from typing import Any

from neardup.compare.diff import Block, Words, absorb, align
from neardup.compare.explain import explain
from neardup.compare.passages import UNSPACED, matched_spans
from neardup.findings.explain import text_of
from neardup.findings.folder import Findings
from neardup.pages.review.cluster_list import member
from neardup.pages.review.session import Review, View

__all__ = ["aligned", "compare"]

# A longer text is cut, and the page says so: nobody reads a megabyte word by word.
SHOWN, SHOWN_WORDS = 100_000, 8_000
MEASURED = 1 << 20
LONG_ROW, LONGEST_ROW = 25, 60  # words after which a row ends at the next line end, or anywhere
MOVED = 6  # this many words in a row that occur elsewhere in the other text count as moved, not changed
SHINGLES = 12

# A word, a character of a script without spaces, or a run of other signs.
_MARKS = "\u0300-\u036f\u0900-\u0dff"
_WORD = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])[\w{_MARKS}])+|[^\w\s]+")

Piece = tuple[str, str]  # same, changed or moved; and the text


def aligned(left: str, right: str) -> dict[str, Any]:
    """Rows of pieces, left and right, with shared words in the same row. Compares word by word and ignores case."""
    mine, theirs = Words.of(left, _WORD, SHOWN, SHOWN_WORDS), Words.of(right, _WORD, SHOWN, SHOWN_WORDS)
    keys = [word.casefold() for word in mine.keys], [word.casefold() for word in theirs.keys]
    moved_left: set[int] = set()
    moved_right: set[int] = set()
    for span in matched_spans(*keys, MOVED) if all(keys) else ():
        if span.words >= MOVED:
            moved_left.update(range(span.left, span.left + span.words))
            moved_right.update(range(span.right, span.right + span.words))
    rows = _Rows()
    for equal, one, other in absorb(align(*keys), _by_chance):
        if equal:
            for i, j in zip(one, other, strict=True):
                rows.same(mine.parts[i], theirs.parts[j])
        else:
            rows.apart("left", [(i in moved_left, mine.parts[i]) for i in one])
            rows.apart("right", [(j in moved_right, theirs.parts[j]) for j in other])
    return {"rows": rows.done(), "cut": [mine.cut, theirs.cut]}


def _by_chance(before: Block, same: Block, after: Block) -> bool:
    """Whether a few equal words inside a long change are equal only by chance: people want to see one replaced passage,
    not its scattered "the" and "of"."""
    return 2 * len(same.left) <= min(max(len(block.left), len(block.right)) for block in (before, after))


class _Rows:
    """Builds the rows: a new row begins after a shared paragraph, or inside a long one."""

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._words = 0
        self._open: dict[str, list[list[str]]] = {"left": [], "right": []}

    def same(self, left: str, right: str) -> None:
        self._put("left", "same", left)
        self._put("right", "same", right)
        self._words += 1
        lines = min(left.count("\n"), right.count("\n"))
        if lines > 1 or (lines and self._words >= LONG_ROW) or self._words >= LONGEST_ROW:
            self._close()

    def apart(self, side: str, words: list[tuple[bool, str]]) -> None:
        for moved, word in words:
            self._put(side, "moved" if moved else "changed", word)

    def _put(self, side: str, kind: str, text: str) -> None:
        pieces = self._open[side]
        if pieces and pieces[-1][0] == kind:
            pieces[-1][1] += text
        else:
            pieces.append([kind, text])

    def _close(self) -> None:
        if self._open["left"] or self._open["right"]:
            same = all(kind == "same" for side in self._open.values() for kind, _ in side)
            self._rows.append({side: _tidy(pieces) for side, pieces in self._open.items()} | {"same": same})
        self._open, self._words = {"left": [], "right": []}, 0

    def done(self) -> list[dict[str, Any]]:
        self._close()
        return self._rows


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


def compare(review: Review, view: View, left: int, right: int) -> dict[str, Any]:
    """Everything about two documents; `left` is the one that is or may be kept."""
    findings = view.findings
    review.check_row(left)
    review.check_row(right)
    texts = text_of(findings, left), text_of(findings, right)
    clusters = view.cut.clusters
    notes = _notes(findings, texts, (left, right))
    compared = findings.config.compared
    found = explain(
        texts[0][:MEASURED],
        texts[1][:MEASURED],
        threshold=view.threshold,
        width=compared.width,
        normalize=compared.normalize,
        samples=SHINGLES,
    )
    shown = aligned(*texts)
    if _only_numbers_differ(shown["rows"]):
        notes.append("They differ only in numbers, such as dates, prices or page numbers.")
    pair = (min(left, right), max(left, right))
    made = view.decisions.pairs.get(pair)
    return {
        "revision": view.decisions.revision,
        "left": member(view, left, left),
        "right": member(view, right, left),
        "similarity": review.similarity(left, right),
        "measure": findings.config.verify.name,
        "together": bool(clusters.labels[left] == clusters.labels[right]),
        "keepers": clusters.keeper[[left, right]].tolist(),
        "decision": made.decision if made is not None else None,
        "swapped": pair in view.decisions.choices,  # and not over a third one
        "verdict": found.verdict,
        "width": found.width,
        "words": found.tokens,
        "scores": {
            "jaccard": found.jaccard,
            "containment": found.containment,
            "cosine": found.cosine,
            "edit": found.edit,
            "minhash": found.minhash,
            "simhash": found.simhash_distance,
            "bits": found.bit_distance,
        },
        "shingles": {
            "counts": found.shingles,
            "shared": found.shared,
            "only_left": found.only_left,
            "only_right": found.only_right,
        },
        "characters": [len(text) for text in texts],
        "notes": notes,
        **shown,
    }


def _notes(findings: Findings, texts: tuple[str, str], rows: tuple[int, int]) -> list[str]:
    notes = []
    if findings.first[rows[0]] == findings.first[rows[1]]:
        notes.append(
            "They have the same words: only case, white space or punctuation can differ. The findings contain the text "
            "of the first one, which is shown for both."
        )
    if max(map(len, texts)) > MEASURED:
        notes.append(f"Measured on the first {MEASURED:,} characters of each.")
    return notes


def _only_numbers_differ(rows: list[dict[str, Any]]) -> bool:
    pieces = [
        text for row in rows for side in ("left", "right") for kind, text in row[side] if kind != "same"
    ]
    words = [word for text in pieces for word in re.findall(r"\w+", text)]
    return bool(words) and all(any(sign.isdigit() for sign in word) for word in words)
