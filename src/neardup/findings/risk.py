"""Which clusters a person should look at first.

Four things make a cluster suspicious, and its risk is their sum:

    borderline  a member is just above the threshold (within 0.03): up to 1
    chain       there are three or more different texts, and fewer than half of their pairs are similar or some texts
                are connected to the keeper only through others: the share of pairs that are not similar
    large       there are 20 documents or more: 0.4, rising to 1 at 1,000
    template    there are three or more different texts from one source, all equally similar to the keeper (within 0.05)
                and none almost identical (below 0.97), like filled-in forms: 0.5
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.selection import Cut
from neardup.findings.folder import Findings

__all__ = ["FLAGS", "ClusterTable", "cluster_table"]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]
FLAGS = ("borderline", "chain", "large", "template")

NEAR_THRESHOLD = 0.03
LARGE = 20
TEMPLATE_SPREAD, TEMPLATE_BELOW, TEMPLATE_RISK = 0.05, 0.97, 0.5


@dataclass(frozen=True)
class ClusterTable:
    """All clusters of two documents or more, by ascending label. `flags` has a bit for each of FLAGS; the members of
    cluster i are `members[starts[i]:starts[i + 1]]`. `least` is the smallest known similarity to the keeper."""

    labels: Rows
    sizes: Rows
    keeper: Rows
    least: Floats
    risk: Floats
    flags: NDArray[np.uint8]
    members: Rows
    starts: Rows

    def __len__(self) -> int:
        return len(self.labels)

    def rows(self, place: int) -> Rows:
        return self.members[self.starts[place] : self.starts[place + 1]]

    def place_of(self, label: int) -> int | None:
        """The place of the cluster with a label; None if it has only one document."""
        at = int(np.searchsorted(self.labels, label))
        return at if at < len(self.labels) and self.labels[at] == label else None

    def flags_of(self, place: int) -> list[str]:
        return [name for bit, name in enumerate(FLAGS) if self.flags[place] >> bit & 1]


def cluster_table(findings: Findings, cut: Cut, threshold: float) -> ClusterTable:
    """Assess all clusters at once; O(rows + pairs)."""
    clusters = cut.clusters
    labels, sizes = clusters.sizes()
    many, rows = len(labels), len(clusters)
    place = np.full(rows, -1, np.int64)
    place[labels] = np.arange(many)
    cluster_of = place[clusters.labels]
    members = np.flatnonzero(cluster_of >= 0)
    members = members[np.argsort(cluster_of[members], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    inside = cluster_of[members]
    keeper = clusters.keeper[labels]

    # A filtered document is in no cluster, so every similarity here was really measured.
    similarity = clusters.similarity[members]
    through = np.isnan(similarity)
    least, most = np.ones(many), np.zeros(many)
    np.minimum.at(least, inside, np.where(through, 1.0, similarity))
    near = ~through & (findings.first[members] != findings.first[clusters.keeper[members]])
    np.maximum.at(most, inside[near], similarity[near])
    tied = np.ones(many)
    np.minimum.at(tied, inside[near], similarity[near])

    names = np.unique(inside * rows + findings.first[members])
    texts = np.bincount(names // rows, minlength=many) if len(names) else np.zeros(many, np.int64)
    pairs = findings.pairs.at_least(threshold)
    at = cluster_of[pairs.left]
    at = at[(at == cluster_of[pairs.right]) & (at >= 0)]
    possible = np.maximum(texts * (texts - 1) / 2, 1)
    apart = np.clip(1 - np.bincount(at, minlength=many) / possible, 0, 1)
    chain = (texts > 2) & (apart > 0.5)
    chain[inside[through]] = True

    low, high = np.full(many, np.iinfo(np.int64).max), np.full(many, -1)
    np.minimum.at(low, inside, findings.sources[members])
    np.maximum.at(high, inside, findings.sources[members])
    template = (texts > 2) & (low == high) & (most < TEMPLATE_BELOW) & (most - tied <= TEMPLATE_SPREAD)
    margin = np.clip(1 - (least - threshold) / NEAR_THRESHOLD, 0, 1)
    margin[inside[through]] = 1.0  # a member that was never compared with the keeper
    borderline = (margin > 0) & (texts > 1)
    large = sizes >= LARGE

    risk = (
        margin * borderline
        + apart * chain
        + np.minimum(np.log10(np.maximum(sizes, 1)) / 3, 1) * large
        + TEMPLATE_RISK * template
    )
    flags = np.zeros(many, np.uint8)
    for bit, flag in enumerate((borderline, chain, large, template)):
        flags |= flag.astype(np.uint8) << np.uint8(bit)
    return ClusterTable(labels, sizes, keeper, least, risk, flags, members, starts)
