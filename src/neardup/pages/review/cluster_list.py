"""Lists clusters for the page: ordered, filtered, searched, one page at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.compare.changes import kinds_of
from neardup.findings.changes import kind_names
from neardup.findings.decisions import Decision
from neardup.findings.explain import policy_of
from neardup.findings.folder import Findings
from neardup.findings.lanes import LANES
from neardup.pages.review.filters import Wanted, choose, facets_of
from neardup.pages.review.session import Review, View

__all__ = ["SNIPPET", "cluster_of", "documents_of", "list_clusters", "member", "members_of", "snippet"]

Rows = NDArray[np.int64]
SNIPPET = 240  # characters
MOST_PAGE = 200
MOST_MEMBERS = 100_000  # rows of a cluster that the page steps through


def list_clusters(view: View, wanted: Wanted) -> dict[str, Any]:
    """One page of clusters."""
    table, findings = view.table, view.findings
    found = choose(view, wanted)
    page = _page(found.clusters, wanted.offset, wanted.limit).tolist()
    keepers = table.keeper[page]
    return {
        "revision": view.decisions.revision,
        "total": len(found.clusters),
        "of": len(table),
        "partial": found.partial,
        "removals": int(found.removals.sum()),
        "facets": facets_of(view, wanted) if not wanted.offset else None,
        "offset": wanted.offset,
        "clusters": [
            {
                "label": int(table.labels[place]),
                "keeper": name,
                "size": int(table.sizes[place]),
                "least": float(table.least[place]),
                "doubt": round(float(table.doubt[place]), 4),
                "lanes": table.lanes_of(place),
                "decided": int(found.decided[place]),
                "begins": snippet(findings, row),
            }
            for place, row, name in zip(page, keepers.tolist(), findings.ids(keepers), strict=True)
        ],
    }


def documents_of(view: View, wanted: Wanted) -> Iterator[dict[str, Any]]:
    """All documents of the listed clusters, one record each."""
    findings, clusters = view.findings, view.cut.clusters
    for place in choose(view, wanted).clusters.tolist():
        rows = view.table.rows(place)
        keeper = int(view.table.keeper[place])
        for row, id in zip(rows.tolist(), findings.ids(rows), strict=True):
            similarity = float(clusters.similarity[row])
            where = findings.place(row)
            made = view.decisions.pairs.get((min(row, keeper), max(row, keeper)))
            yield {
                "cluster": int(view.table.labels[place]),
                "id": id,
                "outcome": "kept" if view.cut.kept[row] else "dropped",
                "lane": _removal(view, row, keeper)["lane"],
                "keeper": findings.ids(np.array([keeper]))[0],
                "similarity": None if np.isnan(similarity) else similarity,
                "decision": None if made is None else made.decision,
                "source": findings.source_names[int(findings.sources[row])],
                "file": where.file,
                "row": where.row,
            }


def _page(rows: Rows, offset: int, limit: int) -> Rows:
    return rows[max(0, offset) : max(0, offset) + min(max(1, limit), MOST_PAGE)]


def cluster_of(review: Review, view: View, row: int, offset: int = 0, limit: int = 100) -> dict[str, Any]:
    """The cluster of a document: its keeper and the reason for it, and some members, the least similar first."""
    table, clusters = view.table, view.cut.clusters
    keeper, others, left = _members(review, view, row)
    place = table.place_of(int(clusters.labels[row]))
    page = _page(others, offset, limit)
    return {
        "revision": view.decisions.revision,
        "label": int(clusters.labels[row]),
        "size": len(others) + 1,
        "lanes": [] if place is None else table.lanes_of(place),
        "doubt": 0.0 if place is None else round(float(table.doubt[place]), 4),
        "least": 1.0 if place is None else float(table.least[place]),
        "keeper": member(view, keeper, keeper),
        "why": _why(review, view, keeper, len(others) + 1),
        "members": [_measured(review, member(view, one, keeper), keeper) for one in page.tolist()],
        "offset": offset,
        "rejected": [
            member(view, d.left_row if d.right_row == keeper else d.right_row, keeper) for d in left[:MOST_PAGE]
        ],
    }  # fmt: skip


def members_of(review: Review, view: View, row: int) -> dict[str, Any]:
    """The rows of all members of a cluster except the keeper, in the order of `cluster_of`, then the rejected ones."""
    keeper, others, left = _members(review, view, row)
    rejected = [d.left_row if d.right_row == keeper else d.right_row for d in left]
    return {
        "revision": view.decisions.revision,
        "keeper": keeper,
        "rows": [*others[:MOST_MEMBERS].tolist(), *rejected],
        "more": max(0, len(others) - MOST_MEMBERS),
    }


def _members(review: Review, view: View, row: int) -> tuple[int, Rows, list[Decision]]:
    """The keeper of a document's cluster, the other members, the least similar first, and the decisions that rejected
    documents from it."""
    table, clusters = view.table, view.cut.clusters
    review.check_row(row)
    place = table.place_of(int(clusters.labels[row]))
    rows = np.array([row]) if place is None else table.rows(place)
    keeper = int(clusters.keeper[row])
    similarity = np.nan_to_num(clusters.similarity[rows], nan=-1.0)
    others = rows[np.lexsort((rows, similarity))]
    left = [d for d in view.decisions.of("reject") if keeper in d.pair and not _together(view, d)]
    return keeper, others[others != keeper], left


def _measured(review: Review, made: dict[str, Any], keeper: int) -> dict[str, Any]:
    """Measure the similarity of a member that the scan did not compare with the keeper."""
    if made["similarity"] is None:
        made["similarity"] = review.known_similarity(keeper, made["row"])
        made["measured_now"] = made["similarity"] is not None
    return made


def _together(view: View, decision: Decision) -> bool:
    labels = view.cut.clusters.labels
    return bool(labels[decision.left_row] == labels[decision.right_row])


def _why(review: Review, view: View, keeper: int, size: int) -> str:
    if keeper < view.findings.reference:
        return "It belongs to the reference, whose documents are always kept."
    if keeper in view.decisions.chosen:
        return "You chose it."
    if size == 1:
        return "It has no duplicate at this threshold."
    return f"By the keep policy: {policy_of(review.keep)}."


def member(view: View, row: int, keeper: int) -> dict[str, Any]:
    """What the page shows about one document and its keeper."""
    findings, clusters = view.findings, view.cut.clusters
    similarity = float(clusters.similarity[row])
    place = findings.place(row)
    made = view.decisions.pairs.get((min(row, keeper), max(row, keeper)))
    return {
        "row": row,
        "id": findings.ids(np.array([row]))[0],
        "similarity": None if np.isnan(similarity) or int(clusters.keeper[row]) != keeper else similarity,
        "same": row != keeper and bool(findings.first[row] == findings.first[keeper]),
        **_removal(view, row, keeper),
        "kept": bool(view.cut.kept[row]),
        "reference": row < findings.reference,
        "chosen": row in view.decisions.chosen,
        "decision": made.decision if made is not None else None,
        "source": findings.source_names[int(findings.sources[row])],
        "file": place.file,
        "place": place.row,
        "bytes": int(findings.sizes[row]),
        "words": int(findings.tokens[row]),
        "begins": snippet(findings, row),
    }


def _removal(view: View, row: int, keeper: int) -> dict[str, Any]:
    """The lane of a removed document and what differs from its keeper."""
    at = view.table.removals.of(row) if view.has_table else None
    if at is None or int(view.table.removals.keepers[at]) != keeper:
        return {"lane": None, "changes": []}
    removals = view.table.removals
    kinds = kind_names(int(kinds_of(removals.counts[at : at + 1])[0]))
    return {"lane": LANES[int(removals.lanes[at])], "changes": list(kinds)}


def snippet(findings: Findings, row: int) -> str:
    """The beginning of a text on one line; empty if the text was not stored."""
    if not findings.has_text(row):
        return ""
    words = " ".join(findings.text(row)[: 4 * SNIPPET].split())
    return words if len(words) <= SNIPPET else words[: SNIPPET - 1] + "\N{HORIZONTAL ELLIPSIS}"
