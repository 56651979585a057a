"""The documents of findings that guards keep, as rows with their reasons."""

from __future__ import annotations

from dataclasses import dataclass

from neardup.clusters.protect import reason_text
from neardup.clusters.selection import Cut
from neardup.findings.folder import Findings
from neardup.values.checks import check_fields, checked

__all__ = ["ProtectedDocument", "list_protected"]


@dataclass(frozen=True)
class ProtectedDocument:
    """A document that is kept although it is similar to another kept one, and why.

    id          of the document
    similar_to  the id of the other document
    similarity  of the two, 0 to 1
    reason      the guard that keeps it, in words

    >>> import tempfile
    >>> import neardup as nd
    >>> from neardup import sample
    >>> findings = nd.scan(sample.path(), tempfile.mkdtemp() + "/found")
    >>> cut = nd.findings.decided_cut(findings, protect=("numbers",))
    >>> nd.findings.list_protected(findings, cut, most=1)[0].reason
    'has other numbers'
    """

    id: str
    similar_to: str
    similarity: float
    reason: str

    def __post_init__(self) -> None:
        check_fields(self)


@checked
def list_protected(findings: Findings, cut: Cut, most: int | None = None) -> list[ProtectedDocument]:
    """The documents that guards keep, the most similar first; at most so many.

    findings, cut  a scan, and its clusters at a threshold
    raises  nothing

    >>> import tempfile
    >>> import neardup as nd
    >>> from neardup import sample
    >>> findings = nd.scan(sample.path(), tempfile.mkdtemp() + "/found")
    >>> cut = nd.findings.decided_cut(findings, protect=("numbers",))
    >>> len(nd.findings.list_protected(findings, cut))
    14
    """
    held = cut.protected
    if held is None:
        return []
    order = sorted(range(len(held)), key=lambda place: (-held.similarity[place], held.rows[place]))[:most]
    names, others = findings.ids(held.rows[order]), findings.ids(held.keepers[order])
    return [
        ProtectedDocument(name, other, float(held.similarity[at]), reason_text(int(held.reasons[at])))
        for at, name, other in zip(order, names, others, strict=True)
    ]
