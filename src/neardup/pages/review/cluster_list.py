"""Lists clusters for the page: ordered, filtered, searched, one page at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ConfigError, DataError
from neardup.findings.decisions import Decision
from neardup.findings.explain import policy_of
from neardup.findings.folder import Findings
from neardup.findings.risk import FLAGS
from neardup.pages.review.session import Review, View

__all__ = [
    "SNIPPET",
    "Order",
    "Wanted",
    "cluster_of",
    "documents_of",
    "list_clusters",
    "member",
    "members_of",
    "search_rows",
    "snippet",
]

Rows = NDArray[np.int64]
Order = Literal["risk", "size", "similarity"]
SNIPPET = 240  # characters
MOST_PAGE = 200
MOST_MEMBERS = 100_000  # rows of a cluster that the page steps through
MOST_SEARCH = 1000  # characters
SEARCH_SECONDS = 3.0
_SEARCH_BATCH = 512


@dataclass(frozen=True)
class Wanted:
    """Which clusters to list. `show` is "all", "open" (with an undecided member), "decided" or one of FLAGS; `search`
    is searched in ids and texts."""

    order: str = "risk"
    show: str = "all"
    source: str | None = None
    search: str = ""
    offset: int = 0
    limit: int = 50


def list_clusters(view: View, wanted: Wanted) -> dict[str, Any]:
    """One page of clusters."""
    table, findings = view.table, view.findings
    chosen, decided, partial = _chosen(view, wanted)
    page = _page(chosen, wanted.offset, wanted.limit).tolist()
    keepers = table.keeper[page]
    return {
        "revision": view.decisions.revision,
        "total": len(chosen),
        "of": len(table),
        "partial": partial,
        "offset": wanted.offset,
        "clusters": [
            {
                "label": int(table.labels[place]),
                "keeper": name,
                "size": int(table.sizes[place]),
                "least": float(table.least[place]),
                "risk": round(float(table.risk[place]), 3),
                "flags": table.flags_of(place),
                "decided": int(decided[place]),
                "begins": snippet(findings, row),
            }
            for place, row, name in zip(page, keepers.tolist(), findings.ids(keepers), strict=True)
        ],
    }


def documents_of(view: View, wanted: Wanted) -> Iterator[dict[str, Any]]:
    """All documents of the listed clusters, one record each."""
    findings, clusters = view.findings, view.cut.clusters
    for place in _chosen(view, wanted)[0].tolist():
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
                "keeper": findings.ids(np.array([keeper]))[0],
                "similarity": None if np.isnan(similarity) else similarity,
                "decision": None if made is None else made.decision,
                "source": findings.source_names[int(findings.sources[row])],
                "file": where.file,
                "row": where.row,
            }


def _chosen(view: View, wanted: Wanted) -> tuple[Rows, Rows, bool]:
    """The places of the wanted clusters in the table, the decisions of every cluster, and whether the search ended
    before it had looked at all texts."""
    table, findings, order, show = view.table, view.findings, wanted.order, wanted.show
    source, search = wanted.source, wanted.search[:MOST_SEARCH].strip()
    if order not in get_args(Order):
        raise ConfigError(f"order clusters by {', '.join(get_args(Order))}, not {order!r}")
    if order not in view.orders:
        by = {"risk": -table.risk, "size": -table.sizes, "similarity": table.least}[order]
        view.orders[order] = np.lexsort((table.labels, -table.sizes, by))
    chosen = view.orders[order]
    decided = _decided(view)
    if show in FLAGS:
        chosen = chosen[(table.flags[chosen] >> FLAGS.index(show) & 1) == 1]
    elif show == "open":
        chosen = chosen[decided[chosen] < table.sizes[chosen] - 1]
    elif show == "decided":
        chosen = chosen[decided[chosen] > 0]
    elif show != "all":
        raise ConfigError(f"show all, open, decided, {', '.join(FLAGS)}, not {show!r}")
    if source is not None:
        if source not in findings.source_names:
            raise DataError(f"there is no source {source!r}")
        mine = view.cut.clusters.labels[findings.sources == findings.source_names.index(source)]
        chosen = chosen[np.isin(table.labels[chosen], mine)]
    partial = False
    if search:
        rows, partial = search_rows(findings, search)
        chosen = chosen[np.isin(table.labels[chosen], view.cut.clusters.labels[rows])]
    return chosen, decided, partial


def _page(rows: Rows, offset: int, limit: int) -> Rows:
    return rows[max(0, offset) : max(0, offset) + min(max(1, limit), MOST_PAGE)]


def _decided(view: View) -> Rows:
    """For each cluster, the number of members with a decision about them and the keeper."""
    table, clusters = view.table, view.cut.clusters
    rows = {
        row
        for decision in view.decisions
        for row in decision.pair
        if int(clusters.keeper[row]) in decision.pair and int(clusters.keeper[row]) != row
    }
    labels = clusters.labels[np.array(sorted(rows), np.int64)]
    return np.bincount(np.searchsorted(table.labels, labels), minlength=len(table))


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
        "flags": [] if place is None else table.flags_of(place),
        "risk": 0.0 if place is None else round(float(table.risk[place]), 3),
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


def snippet(findings: Findings, row: int) -> str:
    """The beginning of a text on one line; empty if the text was not stored."""
    if not findings.has_text(row):
        return ""
    words = " ".join(findings.text(row)[: 4 * SNIPPET].split())
    return words if len(words) <= SNIPPET else words[: SNIPPET - 1] + "\N{HORIZONTAL ELLIPSIS}"


def search_rows(findings: Findings, wanted: str, seconds: float = SEARCH_SECONDS) -> tuple[Rows, bool]:
    """Documents whose id or text contains `wanted`, ignoring case; and whether time ran out before the end."""
    end = time.monotonic() + seconds
    by_id = _in_ids(findings, wanted)
    texts, partial = _in_texts(findings, wanted.casefold(), end)
    return np.union1d(by_id, np.flatnonzero(np.isin(findings.first, texts))), partial


def _in_ids(findings: Findings, wanted: str) -> Rows:
    data, offsets = findings.id_bytes
    needle, data = wanted.encode().lower(), data.lower()
    found, at = [], data.find(needle)
    while at >= 0:
        row = int(np.searchsorted(offsets, at, "right")) - 1
        if at + len(needle) <= offsets[row + 1]:
            found.append(row)
            at = data.find(needle, int(offsets[row + 1]))
        else:
            at = data.find(needle, at + 1)
    return np.array(found, np.int64)


def _in_texts(findings: Findings, wanted: str, end: float) -> tuple[Rows, bool]:
    stored = findings.stored_rows
    found: list[int] = []
    for start in range(0, len(stored), _SEARCH_BATCH):
        if time.monotonic() > end:
            return np.array(found, np.int64), True
        rows = stored[start : start + _SEARCH_BATCH].tolist()
        texts = findings.stored_texts(start, start + len(rows))
        found += [row for row, text in zip(rows, texts, strict=True) if wanted in text.casefold()]
    return np.array(found, np.int64), False
