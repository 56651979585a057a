"""The documents of findings that guards keep, as rows with their reasons."""

from __future__ import annotations

from dataclasses import dataclass

from neardup.clusters.protect import reason_text
from neardup.clusters.selection import Cut
from neardup.findings.folder import Findings

__all__ = ["ProtectedDocument", "list_protected"]


@dataclass(frozen=True)
class ProtectedDocument:
    """A document that is kept although it is similar to another kept one, and why."""

    id: str
    similar_to: str
    similarity: float
    reason: str


def list_protected(findings: Findings, cut: Cut, most: int | None = None) -> list[ProtectedDocument]:
    """The documents that guards keep, the most similar first; at most so many."""
    held = cut.protected
    if held is None:
        return []
    order = sorted(range(len(held)), key=lambda place: (-held.similarity[place], held.rows[place]))[:most]
    names, others = findings.ids(held.rows[order]), findings.ids(held.keepers[order])
    return [
        ProtectedDocument(name, other, float(held.similarity[at]), reason_text(int(held.reasons[at])))
        for at, name, other in zip(order, names, others, strict=True)
    ]
