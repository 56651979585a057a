"""The largest clusters of a scan and the texts that occur most often, each with the beginning of a text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.selection import Cut
from neardup.findings.folder import Findings
from neardup.values.wording import printable

__all__ = ["SPIKE", "LargeCluster", "large_cluster", "largest", "spikes"]

SPIKE = 1000
_SNIPPET = 70


@dataclass(frozen=True)
class LargeCluster:
    """A cluster worth showing: the number of documents, the keeper's id, and the beginning of its text."""

    size: int
    keeper: str
    begins: str


def largest(
    findings: Findings, cut: Cut, labels: NDArray[np.int64], sizes: NDArray[np.int64], many: int = 5
) -> tuple[LargeCluster, ...]:
    """The clusters with the most documents; `labels` and `sizes` are those of the cut."""
    order = np.argsort(-sizes, kind="stable")[:many]
    return tuple(
        large_cluster(findings, int(cut.clusters.keeper[labels[i]]), int(sizes[i])) for i in order.tolist()
    )


def spikes(findings: Findings, many: int = 5) -> tuple[LargeCluster, ...]:
    """The texts that occur most often, if that is `SPIKE` times or more."""
    repeated = findings.first[findings.first != np.arange(len(findings))]
    counts = np.bincount(repeated, minlength=1)
    often = np.flatnonzero(counts + 1 >= SPIKE)
    order = often[np.argsort(-counts[often], kind="stable")][:many]
    found = [large_cluster(findings, row, int(counts[row]) + 1) for row in order.tolist()]
    empty = int(findings.empty.sum())
    if empty >= SPIKE:
        row = int(np.flatnonzero(findings.empty)[0])
        found.append(LargeCluster(empty, findings.ids(np.array([row]))[0], "(no words)"))
    return tuple(sorted(found, key=lambda cluster: -cluster.size))


def large_cluster(findings: Findings, row: int, size: int) -> LargeCluster:
    """The cluster of this many documents whose keeper is in this row."""
    begins = findings.text(row)[: 4 * _SNIPPET] if findings.has_text(row) else ""
    words = " ".join(begins.split())
    return LargeCluster(size, findings.ids(np.array([row]))[0], printable(words, _SNIPPET))
