"""The clusters that tell most about a scan: the largest, the closest calls, and those that do not hold together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.cut import Cut
from neardup.findings import Findings

__all__ = ["Telling", "telling_clusters"]

Rows = NDArray[np.int64]


class Telling(NamedTuple):
    """A cluster worth a look: the kind of reason, the reason in words, and its rows, the keeper first and the others by
    their similarity to it."""

    kind: str
    why: str
    rows: Rows


def telling_clusters(findings: Findings, cut: Cut, threshold: float, each: int = 5) -> list[Telling]:
    """At most so many clusters of each kind, none twice; the same for the same findings."""
    clusters = cut.clusters
    labels, sizes = clusters.sizes()
    if not len(labels):
        return []
    taken: set[int] = set()
    order = np.argsort(clusters.labels, kind="stable")
    ordered = clusters.labels[order]

    def chosen(kind: str, wanted: Rows, why: dict[int, str]) -> list[Telling]:
        found: list[Telling] = []
        for label in wanted.tolist():
            if len(found) == each:
                break
            if label in taken:
                continue
            taken.add(label)
            rows = order[slice(*np.searchsorted(ordered, [label, label + 1]))]
            keeper = clusters.keeper[rows[0]]
            similarity = np.nan_to_num(clusters.similarity[rows], nan=-1.0)
            rows = rows[np.lexsort((rows, -similarity, rows != keeper))]
            found.append(Telling(kind, why.get(label, ""), rows))
        return found

    loose, reasons = _loose(findings, cut, threshold, labels)
    # Whatever its similarities, a cluster of two holds together; a doubtful one is told by its least similar member.
    least = np.full(len(findings), 1.0)
    np.minimum.at(least, clusters.labels, np.nan_to_num(clusters.similarity, nan=1.0))
    near = labels[least[labels] < 1.0]
    near = near[np.argsort(least[near], kind="stable")]
    largest = labels[np.argsort(-sizes, kind="stable")]
    return [
        *chosen("suspicious", loose, reasons),
        *chosen("largest", largest, {}),
        *chosen("borderline", near, {}),
    ]


def _loose(findings: Findings, cut: Cut, threshold: float, labels: Rows) -> tuple[Rows, dict[int, str]]:
    """Clusters whose members are not alike, the worst first, with what is wrong: members that no pair ties to the
    keeper, or that resemble it but not one another."""
    clusters, rows = cut.clusters, len(findings)
    chained = np.bincount(clusters.labels[np.isnan(clusters.similarity)], minlength=rows)
    # Documents of the same words count once, as one of them stands for all in pairs.
    several = np.flatnonzero(np.isin(clusters.labels, labels))
    units = np.unique(np.column_stack([clusters.labels[several], findings.first[several]]), axis=0)[:, 0]
    many = np.bincount(units, minlength=rows)
    near = findings.pairs.at_least(threshold)
    inside = clusters.labels[near.left] == clusters.labels[near.right]
    alike = np.bincount(clusters.labels[near.left[inside]], minlength=rows)
    pairs = many * (many - 1) // 2
    apart = np.maximum(pairs - alike, 0)
    bad = labels[(apart[labels] > 0) | (chained[labels] > 0)]
    share = apart[bad] / np.maximum(pairs[bad], 1)
    order = np.lexsort((bad, -apart[bad], -np.round(share, 2), -chained[bad]))
    told = {}
    for label in bad[order][:1000].tolist():
        if chained[label]:
            told[label] = (
                f"a chain: {chained[label]:,} of its documents were never alike to the keeper itself"
            )
        else:
            told[label] = (
                f"{apart[label]:,} of its {pairs[label]:,} pairs are below the threshold: "
                "alike to the keeper, not to one another"
            )
    return bad[order], told
