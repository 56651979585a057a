"""Chooses the most notable clusters of a scan: suspicious ones, the largest, and borderline ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.selection import Cut
from neardup.findings import Findings
from neardup.findings.cluster_table import ClusterTable, cluster_table
from neardup.findings.lanes import lane_titles

__all__ = ["NotableCluster", "notable_clusters"]

Rows = NDArray[np.int64]


class NotableCluster(NamedTuple):
    """A cluster to show: the kind of reason, the reasons in words, and its rows: the keeper first, then the others by
    their similarity to it."""

    kind: str
    why: str
    rows: Rows


def notable_clusters(findings: Findings, cut: Cut, each: int = 5) -> list[NotableCluster]:
    """At most `each` clusters of every kind, none twice; the same findings always give the same clusters.

    Suspicious clusters are those that the review page shows first.
    """
    table = cluster_table(findings, cut)
    near = np.flatnonzero(table.least < 1.0)
    wanted = {
        "suspicious": near[np.argsort(-table.doubt[near], kind="stable")],
        "largest": np.argsort(-table.sizes, kind="stable"),
        "borderline": near[np.argsort(table.least[near], kind="stable")],
    }
    titles = lane_titles(findings.config.equal)
    found: list[NotableCluster] = []
    taken: set[int] = set()
    for kind, places in wanted.items():
        chosen = [place for place in places[: each + len(taken)].tolist() if place not in taken][:each]
        taken.update(chosen)
        for place in chosen:
            why = f"Its removals: {', '.join(titles[lane] for lane in table.lanes_of(place))}."
            found.append(
                NotableCluster(kind, why if kind == "suspicious" else "", _ordered(cut, table, place))
            )
    return found


def _ordered(cut: Cut, table: ClusterTable, place: int) -> Rows:
    """The keeper, then the others, the least similar last."""
    rows = table.rows(place)
    similarity = np.nan_to_num(cut.clusters.similarity[rows], nan=-1.0)
    return rows[np.lexsort((rows, -similarity, rows != table.keeper[place]))]
