"""Two documents side by side: their rows of words, all measures, and the decision about them."""

from __future__ import annotations

import unicodedata
from dataclasses import asdict
from typing import Any

from neardup.compare.explain import explain
from neardup.compare.losses import similarity_losses
from neardup.findings.folder import Findings
from neardup.pages.review.cluster_list import member
from neardup.pages.review.protected import guard_reason
from neardup.pages.review.session import Review, View

__all__ = ["compare", "rows_between"]

SHINGLES = 12
MOST_ROWS = 1000
DIRECTION_LETTERS = 4000  # characters that decide the writing direction of a document


def compare(review: Review, view: View, left: int, right: int) -> dict[str, Any]:
    """Everything about two documents; `left` is the one that is or may be kept."""
    findings = view.findings
    review.check_row(left)
    review.check_row(right)
    both = review.texts(left, right)
    texts, notes = both.texts, [*both.notes]
    clusters = view.cut.clusters
    compared = findings.config.shown
    found = explain(
        *texts,
        threshold=view.threshold,
        width=compared.width,
        normalize=compared.normalize,
        samples=SHINGLES,
    )
    notes += _same_words(findings, left, right, texts)
    rows = both.rows
    if rows.numbers:
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
        "unsure": pair in view.decisions.marks,
        "guard": guard_reason(view, left, right),
        "note": _note(view, pair),
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
        "losses": [asdict(loss) for loss in similarity_losses(*texts, compared.width, compared.normalize)],
        "shingles": {
            "counts": found.shingles,
            "shared": found.shared,
            "only_left": found.only_left,
            "only_right": found.only_right,
        },
        "characters": [len(text) for text in texts],
        "directions": [_direction(text) for text in texts],
        "notes": notes,
        "differences": {
            "rows": rows.differing,
            "places": rows.places(),
            "removed": rows.removed,
            "added": rows.added,
            "moved": rows.moved,
        },
        **rows.window(0),
    }


def _direction(text: str) -> str:
    """The writing direction of a document: that of most of its first letters."""
    kinds = [unicodedata.bidirectional(sign) for sign in text[:DIRECTION_LETTERS] if sign.isalpha()]
    right = sum(kind in ("R", "AL") for kind in kinds)
    return "rtl" if 2 * right > len(kinds) else "ltr"


def _note(view: View, pair: tuple[int, int]) -> str:
    """What a person noted with the last decision about a pair."""
    kinds = view.decisions.choices, view.decisions.pairs, view.decisions.marks
    made = [known[pair] for known in kinds if pair in known]
    return max(made, key=lambda decision: decision.sequence).note if made else ""


def rows_between(review: Review, left: int, right: int, start: int, stop: int | None) -> dict[str, Any]:
    """More rows of the same comparison: the next ones from `start`, or all rows of a fold."""
    rows = review.texts(review.check_row(left), review.check_row(right)).rows
    if stop is None:
        return rows.window(max(0, start))
    start = max(0, start)
    return {"rows": rows.rows[start : min(stop, start + MOST_ROWS)], "next": None, "total": len(rows.rows)}


def _same_words(findings: Findings, left: int, right: int, texts: tuple[str, str]) -> list[str]:
    """How two documents with the same words (or vector) differ: not at all, or in what the scan ignores."""
    if texts[0] == texts[1]:
        return ["The texts are identical, character by character."]
    if findings.first[left] == findings.first[right] and findings.config.vectors is not None:
        return ["They have the same vector."]
    if findings.first[left] == findings.first[right]:
        return [
            "They have the same words. They differ only in upper and lower case, white space or punctuation."
        ]
    return []
