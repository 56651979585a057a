"""How far a person can trust the removals: audit, most doubtful removals, who decided what, what was learned."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.clusters.selection import Cut
from neardup.compare.changes import kinds_of
from neardup.findings.audit import Audit, audit_of
from neardup.findings.changes import kind_names
from neardup.findings.cluster_table import ClusterTable, cluster_table
from neardup.findings.decisions import Decisions
from neardup.findings.folder import Findings
from neardup.findings.lanes import LANES, Lane
from neardup.findings.learned import Learned, learn

__all__ = ["Doubtful", "Trust", "trust_of"]


@dataclass(frozen=True)
class Doubtful:
    """A removal that a person should look at: what differs from its keeper, and how likely it is wrong."""

    id: str
    keeper: str
    similarity: float | None
    lane: Lane
    changes: tuple[str, ...]
    doubt: float


@dataclass(frozen=True)
class Trust:
    """`people` counts the decisions of each person, by name and kind; `how` counts decisions about single pairs, about
    whole lists, and accepted proposals of the model."""

    audit: Audit
    worst: tuple[Doubtful, ...]
    people: dict[str, dict[str, int]]
    how: dict[str, int]
    learned: Learned | None

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "audit": self.audit.to_json(),
            "worst": [vars(one) | {"changes": list(one.changes)} for one in self.worst],
            "people": self.people,
            "how": self.how,
            "model": None if self.learned is None else self.learned.to_json(),
        }


def trust_of(findings: Findings, cut: Cut, decisions: Decisions, worst: int = 5) -> Trust:
    """What is known about the removals of a cut."""
    learned = learn(findings, cut, decisions)
    table = cluster_table(findings, cut, None if learned is None else learned.weights)
    people: dict[str, Counter[str]] = {}
    for decision in decisions:
        people.setdefault(decision.name, Counter())[decision.decision] += 1
    return Trust(
        audit_of(findings, cut, table.removals, decisions),
        tuple(_worst(findings, table, worst)),
        {name: dict(counts) for name, counts in sorted(people.items())},
        dict(Counter(decision.how for decision in decisions)),
        learned,
    )


def _worst(findings: Findings, table: ClusterTable, many: int) -> list[Doubtful]:
    """The most doubtful removals, at most one of each cluster."""
    removals, doubt = table.removals, table.removal_doubt
    order = np.argsort(-doubt, kind="stable")
    _, firsts = np.unique(table.places[order], return_index=True)
    chosen = order[np.sort(firsts)][:many]
    chosen = chosen[doubt[chosen] > 0]
    names, keepers = findings.ids(removals.rows[chosen]), findings.ids(removals.keepers[chosen])
    kinds = kinds_of(removals.counts[chosen]).tolist()
    return [
        Doubtful(
            name,
            keeper,
            None if np.isnan(removals.similarity[at]) else float(removals.similarity[at]),
            LANES[int(removals.lanes[at])],
            kind_names(kind),
            round(float(doubt[at]), 4),
        )
        for at, name, keeper, kind in zip(chosen.tolist(), names, keepers, kinds, strict=True)
    ]
