"""The documents that guards keep although they are similar to another kept one, for the page and for export."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from neardup.clusters.protect import reason_text
from neardup.pages.review.session import View

__all__ = ["guard_reason", "protected_page", "protected_records"]

PAGE = 100


def protected_page(view: View, offset: int = 0) -> dict[str, Any]:
    """Some of the documents that guards keep, the most similar first."""
    held = view.cut.protected
    return {
        "revision": view.decisions.revision,
        "total": 0 if held is None else len(held),
        "documents": list(protected_records(view, max(0, offset), PAGE)),
    }


def protected_records(view: View, start: int = 0, many: int | None = None) -> Iterator[dict[str, Any]]:
    """A record for each document that a guard keeps: what it is similar to, and why it is kept."""
    findings, held = view.findings, view.cut.protected
    if held is None:
        return
    order = np.lexsort((held.rows, -held.similarity))[start : None if many is None else start + many]
    names, others = findings.ids(held.rows[order]), findings.ids(held.keepers[order])
    for at, name, other in zip(order.tolist(), names, others, strict=True):
        row = int(held.rows[at])
        place = findings.place(row)
        yield {
            "id": name,
            "similar_to": other,
            "similarity": float(held.similarity[at]),
            "reason": reason_text(int(held.reasons[at])),
            "document": row,
            "similar_document": int(held.keepers[at]),
            "source": findings.source_names[int(findings.sources[row])],
            "file": place.file,
            "row": place.row,
        }


def guard_reason(view: View, left: int, right: int) -> str | None:
    """Why a guard keeps both documents of a pair; None if none does."""
    held = view.cut.protected
    if held is None:
        return None
    for row, keeper in ((left, right), (right, left)):
        at = int(np.searchsorted(held.rows, row))
        if at < len(held) and held.rows[at] == row and held.keepers[at] == keeper:
            return reason_text(int(held.reasons[at]))
    return None
