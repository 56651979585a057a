"""Guards: a document that differs from its keeper in a protected way is kept, however similar the two are.

A guard looks at what differs (`compare/changes.py`). A pair that a guard holds does not count when clusters are made.
So every removed document is similar to its keeper and differs from it in no protected way. With clusters of
components, a chain of other pairs can still join two such documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.clusters import by_rank
from neardup.compare.changes import AT, LANGUAGE_WORDS, Counts
from neardup.compare.verify import Pairs
from neardup.errors import ConfigError

if TYPE_CHECKING:
    from neardup.clusters.selection import Cut

__all__ = [
    "BRIEF",
    "DEFAULT",
    "GUARDS",
    "LOST_WORDS",
    "Guard",
    "GuardedPairs",
    "Protected",
    "best_ranks",
    "check_guards",
    "held_pairs",
    "held_reasons",
    "protected_by",
]

Guard = Literal["title", "numbers", "names", "negation", "language", "passages", "lossless"]
GUARDS: tuple[Guard, ...] = get_args(Guard)
DEFAULT: tuple[Guard, ...] = ("title", "language", "passages")
"""On the labelled sets these lose few right removals and prevent most wrong ones; see docs/inside/quality.md."""

BRIEF: frozenset[Guard] = frozenset({"title", "language", "passages"})
"""These need only a brief comparison of two texts."""

# Words in a row: a section, not a changed sentence. On the labelled sets the default guards then cost under a twentieth
# of the right removals; with 75 words they cost more, and from 150 words on this guard keeps almost no document.
LOST_WORDS = 100
REASONS: dict[Guard, str] = {
    "title": "title differs",
    "numbers": "has other numbers",
    "names": "has other names",
    "negation": "negation differs",
    "language": "language differs",
    "passages": f"has a passage of {LOST_WORDS} words or more that the other has not",
    "lossless": "has a passage of 8 words or more that the other has not",
}
Rows = NDArray[np.int64]
Bits = NDArray[np.uint8]


def check_guards(guards: tuple[str, ...]) -> None:
    """ConfigError if one of them is unknown."""
    if isinstance(guards, str):
        raise ConfigError(f"protect is a list; write protect=[{guards!r}]")
    for name in guards:
        if name not in GUARDS:
            raise ConfigError(f"there is no guard {name!r}; there are: {', '.join(GUARDS)}")


@dataclass(frozen=True)
class GuardedPairs:
    """Pairs that guards hold: for each pair a bit for each of GUARDS; 0 if it counts."""

    pairs: Pairs
    reasons: Bits

    @property
    def counting(self) -> NDArray[np.bool_]:
        return np.asarray(self.reasons == 0)


@dataclass(frozen=True)
class Protected:
    """Documents that are kept only because a guard holds the pair with the document that would replace them:
    `rows[i]` would be dropped for `keepers[i]`, ascending by rows. `reasons` has a bit for each of GUARDS."""

    rows: Rows
    keepers: Rows
    similarity: NDArray[np.float64]
    reasons: Bits

    def __len__(self) -> int:
        return len(self.rows)

    def counts(self) -> dict[str, int]:
        """How many documents each guard kept, in words; a document counts once, for the first guard that applies."""
        found: dict[str, int] = {}
        rest = np.ones(len(self), np.bool_)
        for bit, guard in enumerate(GUARDS):
            there = rest & (self.reasons >> bit & 1 != 0)
            if there.any():
                found[REASONS[guard]] = int(there.sum())
            rest &= ~there
        return found

    def reasons_of(self, rows: Sequence[int]) -> dict[int, str]:
        """Why some rows are kept, in words; those that no guard keeps are left out."""
        at = np.searchsorted(self.rows, rows)
        return {
            row: reason_text(int(self.reasons[place]))
            for row, place in zip(rows, at.tolist(), strict=True)
            if place < len(self) and self.rows[place] == row
        }


def reason_text(bits: int) -> str:
    """The reasons of a bit mask in words."""
    return ", ".join(REASONS[guard] for bit, guard in enumerate(GUARDS) if bits >> bit & 1)


def held_pairs(
    pairs: Pairs, changes: Counts | None, guards: tuple[Guard, ...], first: Rows, rank: Rows
) -> GuardedPairs:
    """Which pairs the guards hold. Of a pair, the document with the worse rank would be removed; documents with the
    same words rank as the best of them."""
    if not guards or changes is None or not len(pairs):
        return GuardedPairs(pairs, np.zeros(len(pairs), np.uint8))
    best = best_ranks(first, rank)
    return GuardedPairs(pairs, held_reasons(changes, guards, best[pairs.left] <= best[pairs.right]))


def best_ranks(first: Rows, rank: Rows) -> Rows:
    """The rank of each first row: the best rank among the documents with its words."""
    best = rank.copy()
    np.minimum.at(best, first, rank)
    return best


def held_reasons(changes: Counts, guards: tuple[Guard, ...], right_dropped: NDArray[np.bool_]) -> Bits:
    """For each pair a bit for each of GUARDS that holds it; `right_dropped` says whether the right document would be
    removed, or else the left one."""
    held = np.zeros(len(changes), np.uint8)

    def both(name: str) -> NDArray[np.bool_]:
        return np.asarray((changes[:, AT[f"{name}_left"]] > 0) | (changes[:, AT[f"{name}_right"]] > 0))

    def own(name: str) -> NDArray[np.uint16]:
        return np.where(right_dropped, changes[:, AT[f"{name}_right"]], changes[:, AT[f"{name}_left"]])

    for guard in guards:
        if guard == "title":
            there = both("title")
        elif guard in ("numbers", "names"):
            there = own(guard) > 0
        elif guard == "negation":
            there = changes[:, AT["negations"]] > 0
        elif guard == "language":
            there = changes[:, AT["language"]] >= LANGUAGE_WORDS
        else:
            there = own("lost") >= (LOST_WORDS if guard == "passages" else 1)
        held |= there.astype(np.uint8) << np.uint8(GUARDS.index(guard))
    return held


def protected_by(cut: Cut, held: GuardedPairs, threshold: float, first: Rows, rank: Rows) -> Protected:
    """The documents that only a guard keeps: kept, with a held pair to a better document that is kept too."""
    near = (held.reasons != 0) & (held.pairs.similarity >= threshold)
    left, right = held.pairs.left[near], held.pairs.right[near]
    best = _best(first, rank)
    a, b = best[left], best[right]
    turned = rank[a] > rank[b]
    better, worse = np.where(turned, b, a), np.where(turned, a, b)
    keeper = cut.clusters.keeper
    alone = (keeper[worse] == worse) & (keeper[better] == better) & cut.kept[worse] & cut.kept[better]
    better, worse = better[alone], worse[alone]
    similarity, reasons = held.pairs.similarity[near][alone], held.reasons[near][alone]
    order = np.lexsort((rank[better], worse))
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = worse[order[1:]] != worse[order[:-1]]
    chosen = order[fresh]
    return Protected(worse[chosen], better[chosen], similarity[chosen], reasons[chosen])


def _best(first: Rows, rank: Rows) -> Rows:
    """For each first row, the best-ranked row with its words."""
    order = by_rank(rank)[::-1]
    best = np.arange(len(first), dtype=np.int64)
    best[first[order]] = order  # the best is written last
    return best
