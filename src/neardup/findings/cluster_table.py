"""All clusters of a cut as one table: size, keeper, lanes of their removals, and which to look at first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.selection import Cut
from neardup.findings.doubt import doubt_of
from neardup.findings.folder import Findings
from neardup.findings.lanes import LANES, Lane, Removals, removals_of

__all__ = ["ClusterTable", "cluster_table"]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ClusterTable:
    """All clusters of two documents or more, by ascending label. The members of cluster i are
    `members[starts[i]:starts[i + 1]]`. `least` is the smallest known similarity to the keeper. `lanes` has a bit for
    each of LANES in which a removal of the cluster is. `doubt` is that of its most doubtful removal; `removal_doubt`
    has one for each of `removals`, whose clusters are at `places`."""

    labels: Rows
    sizes: Rows
    keeper: Rows
    least: Floats
    doubt: Floats
    lanes: NDArray[np.uint8]
    members: Rows
    starts: Rows
    removals: Removals
    removal_doubt: Floats
    places: Rows

    def __len__(self) -> int:
        return len(self.labels)

    def rows(self, place: int) -> Rows:
        return self.members[self.starts[place] : self.starts[place + 1]]

    def place_of(self, label: int) -> int | None:
        """The place of the cluster with a label; None if it has only one document."""
        at = int(np.searchsorted(self.labels, label))
        return at if at < len(self.labels) and self.labels[at] == label else None

    def lanes_of(self, place: int) -> list[Lane]:
        return [lane for bit, lane in enumerate(LANES) if self.lanes[place] >> bit & 1]


def cluster_table(findings: Findings, cut: Cut, weights: Floats | None = None) -> ClusterTable:
    """Assess all clusters at once; O(rows + pairs). `weights` are those of a learned model."""
    clusters = cut.clusters
    labels, sizes = clusters.sizes()
    many, rows = len(labels), len(clusters)
    place = np.full(rows, -1, np.int64)
    place[labels] = np.arange(many)
    cluster_of = place[clusters.labels]
    members = np.flatnonzero(cluster_of >= 0)
    members = members[np.argsort(cluster_of[members], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    # A filtered document is in no cluster, so every similarity here was really measured.
    similarity = clusters.similarity[members]
    least = np.ones(many)
    np.minimum.at(least, cluster_of[members], np.where(np.isnan(similarity), 1.0, similarity))

    removals = removals_of(findings, cut)
    doubts = doubt_of(removals) if weights is None else doubt_of(removals, weights)
    at = cluster_of[removals.rows]
    doubt, lanes = np.zeros(many), np.zeros(many, np.uint8)
    np.maximum.at(doubt, at, doubts)
    np.bitwise_or.at(lanes, at, (np.uint8(1) << removals.lanes).astype(np.uint8))
    return ClusterTable(
        labels, sizes, clusters.keeper[labels], least, doubt, lanes, members, starts, removals, doubts, at
    )
