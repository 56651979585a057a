"""Chooses the most notable clusters of a scan: suspicious ones, the largest, and borderline ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.selection import Cut
from neardup.findings import Findings
from neardup.findings.risk import FLAGS, ClusterTable, cluster_table

__all__ = ["NotableCluster", "notable_clusters"]

Rows = NDArray[np.int64]
WHY = {
    "chain": "Its documents are similar to the keeper or connected by a chain, but most pairs of them are not similar.",
    "template": "All documents come from one source and are about equally similar to the keeper, like filled-in forms.",
    "large": "It is large, like clusters of templates, error pages or login pages.",
}


class NotableCluster(NamedTuple):
    """A cluster to show: the kind of reason, the reasons in words, and its rows: the keeper first, then the others by
    their similarity to it."""

    kind: str
    why: str
    rows: Rows


def notable_clusters(findings: Findings, cut: Cut, threshold: float, each: int = 5) -> list[NotableCluster]:
    """At most `each` clusters of every kind, none twice; the same findings always give the same clusters.

    Suspicious clusters are those that the review page flags as a chain, a template or large, ordered by risk.
    """
    table = cluster_table(findings, cut, threshold)
    doubtful = sum(1 << FLAGS.index(name) for name in WHY)
    flagged = np.flatnonzero(table.flags & doubtful)
    near = np.flatnonzero(table.least < 1.0)
    wanted = {
        "suspicious": flagged[np.argsort(-table.risk[flagged], kind="stable")],
        "largest": np.argsort(-table.sizes, kind="stable"),
        "borderline": near[np.argsort(table.least[near], kind="stable")],
    }
    found: list[NotableCluster] = []
    taken: set[int] = set()
    for kind, places in wanted.items():
        chosen = [place for place in places[: each + len(taken)].tolist() if place not in taken][:each]
        taken.update(chosen)
        for place in chosen:
            why = " ".join(WHY[flag] for flag in table.flags_of(place) if flag in WHY)
            found.append(
                NotableCluster(kind, why if kind == "suspicious" else "", _ordered(cut, table, place))
            )
    return found


def _ordered(cut: Cut, table: ClusterTable, place: int) -> Rows:
    """The keeper, then the others, the least similar last."""
    rows = table.rows(place)
    similarity = np.nan_to_num(cut.clusters.similarity[rows], nan=-1.0)
    return rows[np.lexsort((rows, -similarity, rows != table.keeper[place]))]
