"""Lanes: every removal is in one, by what differs between the removed document and its keeper.

    chain      the two were never compared: only other documents connect them
    template   three or more texts that differ only in words of the same sentences, like filled-in forms
    meaning    title or language differ, a negation does, or the removed document has numbers or names of its own
    versions   sentences were added, removed or rewritten
    contained  all words of the removed document occur in its keeper
    tiny       at most 3 words differ, or 2 of 100
    words      the same words; case, white space or punctuation differ. Of vectors: the same vector
    identical  the same text, byte by byte

Inside and across lanes, `doubt` says which removals to look at first: see findings/doubt.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.selection import Cut
from neardup.compare.changes import AT, COLUMNS, LANGUAGE_WORDS, Counts
from neardup.findings.balance import dropped_rows
from neardup.findings.changes import pair_places
from neardup.findings.folder import Findings

__all__ = ["LANES", "Lane", "Removals", "lane_titles", "removals_of"]

Lane = Literal["chain", "template", "meaning", "versions", "contained", "tiny", "words", "identical"]
LANES: tuple[Lane, ...] = get_args(Lane)
_TITLES: dict[Lane, str] = {
    "chain": "connected through others only",
    "template": "template with filled slots",
    "meaning": "meaning may change",
    "versions": "another version",
    "contained": "contained in its keeper",
    "tiny": "tiny edit",
    "words": "same {}",
    "identical": "byte-identical",
}
TINY_WORDS, TINY_SHARE = 3, 0.02
TEMPLATE_TEXTS = 3

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]


def lane_titles(equal: str = "words") -> dict[Lane, str]:
    """What people read for each lane; exact duplicates have the same `equal` (`Config.equal`)."""
    return {lane: title.format(equal) for lane, title in _TITLES.items()}


@dataclass(frozen=True)
class Removals:
    """The removed documents of a cut, ascending: row `rows[i]` is removed for `keepers[i]`. `counts` are those of
    compare/changes.py, turned so that "left" is the removed document; 0 where `known` is False, because the pair was
    not stored. `similarity` is NaN there. `lanes` are places in LANES."""

    rows: Rows
    keepers: Rows
    labels: Rows
    similarity: NDArray[np.float64]
    counts: Counts
    known: Mask
    words: Rows
    lanes: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def lane_counts(self) -> dict[Lane, int]:
        """How many removals are in each lane."""
        counts = np.bincount(self.lanes, minlength=len(LANES)).tolist()
        return dict(zip(LANES, counts, strict=True))

    def of(self, row: int) -> int | None:
        """The place of a removed row; None if it is not removed."""
        at = int(np.searchsorted(self.rows, row))
        return at if at < len(self.rows) and self.rows[at] == row else None


def removals_of(findings: Findings, cut: Cut) -> Removals:
    """Every removal with what differs, from the stored pairs; O(rows + pairs)."""
    rows = dropped_rows(findings, cut)
    return described(findings, cut, rows, cut.clusters.keeper[rows])


def described(findings: Findings, cut: Cut, rows: Rows, keepers: Rows) -> Removals:
    """Some documents beside their keepers, as if they were removed."""
    first, clusters = findings.first, cut.clusters
    own, other = first[rows], first[keepers]
    same = own == other
    at = np.where(same, -1, pair_places(findings, own, other)) if len(rows) else np.zeros(0, np.int64)
    stored = at >= 0
    counts = np.zeros((len(rows), len(COLUMNS)), np.uint16)
    similarity = np.where(same, 1.0, np.nan)
    if stored.any():
        counts[stored] = _turned(findings.changes_at(at[stored]), (own > other)[stored])
        similarity[stored] = findings.pairs.similarity[at[stored]]
    words = np.maximum(1, np.minimum(findings.tokens[rows], findings.tokens[keepers]))
    labels = clusters.labels[rows]
    text = findings.same_text
    identical = same & (text[rows] == text[keepers]) if text is not None else np.zeros(len(rows), np.bool_)
    lanes = _lanes(counts, stored, same, identical, words, own, labels)
    return Removals(rows, keepers, labels, similarity, counts, stored | same, words, lanes)


def _turned(counts: Counts, right: Mask) -> Counts:
    """The counts with the removed document on the left; `right` says where it is on the right."""
    turned = counts.copy()
    for name in COLUMNS:
        if name.endswith("_left"):
            left, other = AT[name], AT[name.replace("_left", "_right")]
            turned[right, left], turned[right, other] = counts[right, other], counts[right, left]
    return turned


def _lanes(
    counts: Counts, stored: Mask, same: Mask, identical: Mask, words: Rows, text: Rows, labels: Rows
) -> NDArray[np.uint8]:
    """The first lane that applies, in the order below."""
    column = {name: counts[:, place].astype(np.int64) for name, place in AT.items()}
    own, kept = column["words_left"], column["words_right"]
    meaning = (
        (column["title_left"] + column["title_right"] > 0)
        | (column["language"] >= LANGUAGE_WORDS)
        | (column["negations"] > 0)
        | (column["numbers_left"] > 0)
        | (column["names_left"] > 0)
    )
    filled = stored & (own > 0) & (kept > 0) & (column["replaced"] > 0)
    for name in ("sentences_left", "sentences_right", "lost_left", "lost_right"):
        filled &= column[name] == 0
    rules: tuple[tuple[Lane, Mask], ...] = (
        ("identical", identical),
        ("words", same),
        ("chain", ~stored),
        ("template", _several(filled, text, labels)),
        ("meaning", meaning),
        ("contained", own == 0),
        ("tiny", own + kept <= np.maximum(TINY_WORDS, TINY_SHARE * words)),
        ("versions", np.ones(len(counts), np.bool_)),
    )
    return np.select([rule for _, rule in rules], [LANES.index(lane) for lane, _ in rules]).astype(np.uint8)


def _several(filled: Mask, text: Rows, labels: Rows) -> Mask:
    """Where at least two different removed texts of a cluster are filled in so; with the keeper they are three."""
    if not filled.any():
        return filled
    pairs = np.unique(np.stack([labels[filled], text[filled]]), axis=1)
    names, many = np.unique(pairs[0], return_counts=True)
    return filled & np.isin(labels, names[many >= TEMPLATE_TEXTS - 1])
