"""The clusters that tell most about a scan: suspicious ones, the largest, and the closest calls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.selection import Cut
from neardup.findings import Findings
from neardup.findings.risk import FLAGS, ClusterTable, cluster_table

__all__ = ["Telling", "telling_clusters"]

Rows = NDArray[np.int64]
WHY = {
    "chain": "Most of its documents resemble the keeper, or one another in turn, but not each other.",
    "template": "All are of one source and about as similar to the keeper, as forms are that were filled in.",
    "large": "It is large, as those of templates, error pages and login pages are.",
}


class Telling(NamedTuple):
    """A cluster worth a look: the kind of reason, the reasons in words, and its rows, the keeper first and the others
    by their similarity to it."""

    kind: str
    why: str
    rows: Rows


def telling_clusters(findings: Findings, cut: Cut, threshold: float, each: int = 5) -> list[Telling]:
    """At most so many clusters of each kind, none twice; the same for the same findings.

    Suspicious are those that the review page flags as a chain, a template or large, by their risk.
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
    found: list[Telling] = []
    taken: set[int] = set()
    for kind, places in wanted.items():
        chosen = [place for place in places[: each + len(taken)].tolist() if place not in taken][:each]
        taken.update(chosen)
        for place in chosen:
            why = " ".join(WHY[flag] for flag in table.flags_of(place) if flag in WHY)
            found.append(Telling(kind, why if kind == "suspicious" else "", _ordered(cut, table, place)))
    return found


def _ordered(cut: Cut, table: ClusterTable, place: int) -> Rows:
    """The keeper, then the others, the least similar last."""
    rows = table.rows(place)
    similarity = np.nan_to_num(cut.clusters.similarity[rows], nan=-1.0)
    return rows[np.lexsort((rows, -similarity, rows != table.keeper[place]))]
