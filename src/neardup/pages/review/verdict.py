"""The answer to "is it safe to delete these?": what an audit says, which lanes there are, and what to look at."""

from __future__ import annotations

from typing import Any

import numpy as np

from neardup.errors import DataError
from neardup.findings.audit import Drawn, Verdict, audit_of, audit_order, read_audit, record
from neardup.findings.lanes import LANES, lane_titles
from neardup.findings.summary import lossless_drops
from neardup.pages.review.bulk import proposal
from neardup.pages.review.filters import decided_removals, doubtful_clusters
from neardup.pages.review.session import Review, View

__all__ = ["audit_next", "judge", "verdict_of"]


def verdict_of(view: View) -> dict[str, Any]:
    """What is removed, the estimate, the lanes with the number of decided removals, the clusters that need a person,
    what is kept by guards, of how many removals no passage is lost, and what the learned model proposes."""
    removals, held = view.table.removals, view.cut.protected
    decided = decided_removals(view)
    every = np.bincount(removals.lanes, minlength=len(LANES)).tolist()
    done = np.bincount(removals.lanes[decided], minlength=len(LANES)).tolist()
    titles = lane_titles(view.findings.config.equal)
    lanes = zip(LANES, every, done, strict=True)
    return {
        "revision": view.decisions.revision,
        "documents": len(view.findings) - view.findings.reference,
        "audit": audit_of(view.findings, view.cut, removals, view.decisions).to_json(),
        "needs": len(doubtful_clusters(view)),
        "lossless": lossless_drops(view.findings, view.cut, removals.rows),
        "protected": {} if held is None else held.counts(),
        "lanes": [
            {"lane": lane, "title": titles[lane], "removals": many, "decided": ready}
            for lane, many, ready in lanes
            if many
        ],
        "model": proposal(view),
    }


def audit_next(view: View) -> dict[str, Any]:
    """The estimate, and the next random removal that nobody has judged; None if all are judged."""
    removals = view.table.removals
    judged = {(answer.row, answer.keeper) for answer in read_audit(view.findings)}
    order = audit_order(removals)
    titles = lane_titles(view.findings.config.equal)
    found = None
    for row, keeper, lane in zip(
        removals.rows[order].tolist(),
        removals.keepers[order].tolist(),
        removals.lanes[order].tolist(),
        strict=True,
    ):
        if (row, keeper) not in judged:
            found = {"row": row, "keeper": keeper, "lane": LANES[lane], "title": titles[LANES[lane]]}
            break
    return {
        "audit": audit_of(view.findings, view.cut, removals, view.decisions).to_json(),
        "population": len(order),
        "next": found,
    }


def judge(review: Review, row: int, keeper: int, lane: str, verdict: Verdict, name: str) -> None:
    """Save an answer of an audit."""
    if row == keeper:
        raise DataError("an answer is about two different documents")
    if lane not in LANES:
        raise DataError(f"there is no lane {lane!r}")
    record(review.findings, Drawn(review.check_row(row), review.check_row(keeper), lane), verdict, name)
