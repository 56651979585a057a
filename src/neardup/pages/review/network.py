"""The documents of a cluster as a network: their stored similarities, and how they divide at a threshold.

The network has the documents of the cluster at the scan's floor too, so the same documents are shown while the
threshold moves, and the page can show where the cluster divides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.pages.review.session import Review, View

__all__ = ["MOST_TEXTS", "network_of", "strongest"]

MOST_TEXTS = 120  # different texts that are drawn
MOST_EDGES = 1200

Rows = NDArray[np.int64]


def network_of(review: Review, view: View, row: int) -> dict[str, Any]:
    """The texts around a document, each with the documents that have its words, its cluster and its keeper, and the
    similarities between them. Of many texts, those of the cluster that are least similar to the keeper come first."""
    findings, clusters = view.findings, view.cut.clusters
    review.check_row(row)
    wide = review.view(findings.floor).cut.clusters.labels
    keeper = int(clusters.keeper[row])
    inside = clusters.labels == clusters.labels[row]
    around = inside | (wide == wide[row])
    rows = np.flatnonzero(around)
    texts, many = np.unique(findings.first[rows], return_counts=True)
    shown = _shown(view, texts, keeper, row)
    chosen, size = texts[shown], many[shown]
    of_groups = _representatives(view, chosen)
    edges = _edges(view, chosen)
    return {
        "revision": view.decisions.revision,
        "documents": len(rows),
        "left_out": int(many.sum() - size.sum()),
        "floor": findings.floor,
        "pieces": _pieces(view, rows),
        "nodes": [
            {
                "row": one,
                "id": name,
                "documents": count,
                "cluster": int(clusters.labels[one]),
                "keeper": int(clusters.keeper[one]),
                "kept": bool(view.cut.kept[one]),
            }
            for one, name, count in zip(
                of_groups.tolist(), findings.ids(of_groups), size.tolist(), strict=True
            )
        ],
        "edges": edges,
    }


def _pieces(view: View, rows: Rows) -> list[dict[str, Any]]:
    """The clusters into which these documents divide, the largest first."""
    labels, sizes = np.unique(view.cut.clusters.labels[rows], return_counts=True)
    order = np.lexsort((labels, -sizes))
    return [{"cluster": int(labels[at]), "documents": int(sizes[at])} for at in order.tolist()]


def _shown(view: View, texts: Rows, keeper: int, row: int) -> Rows:
    """The places of the texts to draw, ascending."""
    if len(texts) <= MOST_TEXTS:
        return np.arange(len(texts))
    clusters, first = view.cut.clusters, view.findings.first
    similarity = np.nan_to_num(clusters.similarity[texts], nan=-1.0)
    ahead = np.isin(texts, first[[keeper, row]])
    elsewhere = clusters.labels[texts] != clusters.labels[keeper]
    return np.sort(np.lexsort((texts, similarity, elsewhere, ~ahead))[:MOST_TEXTS])


def _representatives(view: View, texts: Rows) -> Rows:
    """For each text the document that is kept, or else the first one."""
    first, keeper = view.findings.first, view.cut.clusters.keeper
    kept = np.unique(keeper[texts])
    found = texts.copy()
    own = np.searchsorted(texts, first[kept])
    there = (own < len(texts)) & (texts[np.minimum(own, len(texts) - 1)] == first[kept])
    found[own[there]] = kept[there]
    return found


def _edges(view: View, texts: Rows) -> list[tuple[int, int, float]]:
    """Similarities between the texts, as places in `texts`."""
    pairs = view.findings.pairs
    left, right = np.searchsorted(texts, pairs.left), np.searchsorted(texts, pairs.right)
    last = len(texts) - 1
    there = (texts[np.minimum(left, last)] == pairs.left) & (texts[np.minimum(right, last)] == pairs.right)
    similarity = pairs.similarity[there]
    return strongest(left[there], right[there], similarity, len(texts))


def strongest(
    left: Rows, right: Rows, similarity: NDArray[np.float64], nodes: int
) -> list[tuple[int, int, float]]:
    """The edges to draw, the most similar first. Of too many, those that connect: a forest of the strongest edges
    divides at every threshold as all edges do; then the strongest of the others."""
    order = np.lexsort((right, left, -similarity))
    root = list(range(nodes))

    def find(one: int) -> int:
        while root[one] != one:
            root[one] = root[root[one]]
            one = root[one]
        return one

    forest: list[int] = []
    others: list[int] = []
    for at in order.tolist():
        one, other = find(int(left[at])), find(int(right[at]))
        if one != other:
            root[one] = other
            forest.append(at)
        elif len(others) < MOST_EDGES:
            others.append(at)
    chosen = sorted(forest + others[: max(0, MOST_EDGES - len(forest))], key=lambda at: -similarity[at])
    return [(int(left[at]), int(right[at]), round(float(similarity[at]), 4)) for at in chosen]
