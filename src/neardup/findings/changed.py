"""Which kinds of change there are between documents of findings and their keepers, from the stored pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.selection import Cut
from neardup.compare.changes import KINDS, kinds_of
from neardup.findings.folder import Findings

__all__ = ["ChangedKinds", "changed_kinds", "pair_changes", "pair_places"]

Rows = NDArray[np.int64]
# A title tells more than a number, a number more than a word.
_WEIGHTS = np.array([2 ** (len(KINDS) - 1 - place) for place in range(len(KINDS))], np.int64)


@dataclass(frozen=True)
class ChangedKinds:
    """For each row a bit for each of KINDS in which it differs from its keeper; `known` is False for keepers, and where
    the pair was not stored."""

    kinds: NDArray[np.uint8]
    known: NDArray[np.bool_]

    @property
    def weight(self) -> Rows:
        """How much a person should look at each row: a number for its kinds, the most telling first."""
        bits = self.kinds[:, None] >> np.arange(len(KINDS)) & 1
        return np.asarray(bits.astype(np.int64) @ _WEIGHTS)

    def names(self, row: int) -> tuple[str, ...] | None:
        """The kinds of one row."""
        return _names(int(self.kinds[row])) if self.known[row] else None


def changed_kinds(findings: Findings, cut: Cut) -> ChangedKinds:
    """What differs between every document in a cluster and its keeper."""
    keeper, first = cut.clusters.keeper, findings.first
    kinds, known = np.zeros(len(findings), np.uint8), np.zeros(len(findings), np.bool_)
    members = np.flatnonzero(keeper != np.arange(len(findings)))
    same = first[members] == first[keeper[members]]
    known[members[same]] = True
    members = members[~same]
    at = pair_places(findings, first[members], first[keeper[members]])
    stored = at >= 0
    known[members[stored]] = True
    kinds[members[stored]] = kinds_of(findings.changes[at[stored]])
    return ChangedKinds(kinds, known)


def pair_places(findings: Findings, left: Rows, right: Rows) -> Rows:
    """Where the pairs of some first rows are among the stored ones; -1 if they are not."""
    rows, pairs = len(findings), findings.pairs
    keys = pairs.left * rows + pairs.right
    wanted = np.minimum(left, right) * rows + np.maximum(left, right)
    at = np.searchsorted(keys, wanted)
    there = at < len(keys)
    there[there] = keys[at[there]] == wanted[there]
    return np.where(there, at, -1)


def pair_changes(findings: Findings, left: Rows, right: Rows) -> list[str | None]:
    """The kinds of change of some pairs, joined by commas; empty for the same words, None where the pair was not
    stored."""
    first = findings.first
    at = pair_places(findings, first[left], first[right])
    kinds = kinds_of(findings.changes[np.maximum(at, 0)]) if len(findings.pairs) else np.zeros(len(at))
    same = first[left] == first[right]
    return [
        "" if equal else None if place < 0 else ",".join(_names(int(bits)))
        for equal, place, bits in zip(same.tolist(), at.tolist(), kinds.tolist(), strict=True)
    ]


def _names(bits: int) -> tuple[str, ...]:
    return tuple(kind for place, kind in enumerate(KINDS) if bits >> place & 1)
