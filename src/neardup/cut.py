"""From verified pairs to what stays: one threshold and one keep policy, without looking at a text again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup.clusters import Clusters, cluster
from neardup.keep import Among
from neardup.verify import Pairs

__all__ = ["Cut", "cut"]

Rows = NDArray[np.int64]

# Pairs spelled out between the sources of two sets of equal documents; beyond, each meets the other's best.
SPREAD = 1000


@dataclass(frozen=True)
class Cut:
    """What one threshold makes of the pairs: clusters, and which rows stay (more than the keepers if many are kept)."""

    clusters: Clusters
    kept: NDArray[np.bool_]

    @property
    def dropped(self) -> Rows:
        """Rows that can go, ascending."""
        return np.flatnonzero(~self.kept)

    def exact(self, first: Rows, gone: Rows) -> int:
        """How many of the rows that go have the words of another that stays or goes before them: of documents of the
        same words that all go, one goes for its likeness to a keeper and the others for their likeness to it."""
        groups = np.unique(first[gone])
        return len(gone) - len(np.setdiff1d(groups, first[self.kept], assume_unique=False))


def cut(
    pairs: Pairs,
    first: Rows,
    rank: Rows,
    *,
    threshold: float,
    many: int = 1,
    among: Among = "all",
    sources: NDArray[np.int32] | None = None,
    method: Literal["keepers", "components"] = "keepers",
    reference: int = 0,
) -> Cut:
    """Clusters of all rows: `first[i]` is the first row with the same words as row i, and `pairs` are between first
    rows. Rows below `reference` are never dropped and take no part among themselves."""
    rows = len(first)
    units, unit = _units(first, sources if among != "all" else None)
    best = _best(unit, units, rank)
    near = pairs.at_least(threshold)
    ties = _ties(near, first, unit, rank, sources, among, reference, best)
    found = cluster(ties, units, rank[best], method)
    keeper = best[found.keeper[unit]]
    similarity = np.where(keeper == np.arange(rows), 1.0, found.similarity[unit])
    if reference:
        own = np.arange(reference)
        keeper[:reference], similarity[:reference] = own, 1.0
    labels = np.arange(rows)
    np.minimum.at(labels, keeper, np.arange(rows))
    clusters = Clusters(labels[keeper], keeper, similarity)
    kept = clusters.kept.copy()
    if many > 1:
        # Members of each cluster by rank, the keeper first whatever its rank.
        order = np.lexsort((rank, ~clusters.kept, clusters.labels))
        label = clusters.labels[order]
        starts = np.flatnonzero(np.concatenate([[True], label[1:] != label[:-1]])) if rows else order
        inside = np.arange(rows) - np.repeat(starts, np.diff(np.concatenate([starts, [rows]])))
        kept[order[inside < many]] = True
    return Cut(clusters, kept)


def _units(first: Rows, sources: NDArray[np.int32] | None) -> tuple[int, Rows]:
    """Rows with the same words (and of one source, where sources matter) are one unit: how many, and each row's."""
    if sources is None:
        names, unit = np.unique(first, return_inverse=True)
    else:
        names, unit = np.unique(first * (int(sources.max(initial=0)) + 1) + sources, return_inverse=True)
    return len(names), unit.astype(np.int64)


def _best(unit: Rows, units: int, rank: Rows) -> Rows:
    """The best-ranked row of each unit."""
    order = np.argsort(rank, kind="stable")[::-1]
    best = np.empty(units, np.int64)
    best[unit[order]] = order  # the last one written, the best, stays
    return best


def _ties(
    near: Pairs,
    first: Rows,
    unit: Rows,
    rank: Rows,
    sources: NDArray[np.int32] | None,
    among: Among,
    reference: int,
    best: Rows,
) -> Pairs:
    """The pairs of units that count."""
    if among == "all":
        left, right, similarity = unit[near.left], unit[near.right], near.similarity
    else:
        assert sources is not None
        left, right, similarity = _by_source(near, first[best], sources[best], rank[best], among)
    if reference:
        # A reference document takes others; two of them do not meet.
        inside = (best[left] < reference) & (best[right] < reference)
        left, right, similarity = left[~inside], right[~inside], similarity[~inside]
    return Pairs.of(left, right, similarity)


def _by_source(
    near: Pairs, word: Rows, source: NDArray[np.int32], rank: Rows, among: Among
) -> tuple[Rows, Rows, NDArray[np.float64]]:
    """Pairs between units of one source, or of different ones; across sources equal words are a pair too. Columns by
    unit: the first row of its words, its source, its rank."""
    order = np.lexsort((rank, word))  # units of the same words together, the best first
    word = word[order]
    begin, other = np.searchsorted(word, near.left), np.searchsorted(word, near.right)
    many = np.searchsorted(word, near.left, "right") - begin
    others = np.searchsorted(word, near.right, "right") - other
    single = many * others == 1
    lefts, rights, which = [order[begin[single]]], [order[other[single]]], [np.flatnonzero(single)]
    for i in np.flatnonzero(~single).tolist():
        mine = order[begin[i] : begin[i] + many[i]]
        theirs = order[other[i] : other[i] + others[i]]
        if len(mine) * len(theirs) > SPREAD and among == "across":
            lefts += [np.repeat(mine[:1], len(theirs)), mine[1:]]
            rights += [theirs, np.repeat(theirs[:1], len(mine) - 1)]
            which.append(np.full(len(mine) + len(theirs) - 1, i))
        else:
            lefts.append(np.repeat(mine, len(theirs)))
            rights.append(np.tile(theirs, len(mine)))
            which.append(np.full(len(mine) * len(theirs), i))
    left, right, index = (np.concatenate(parts) for parts in (lefts, rights, which))
    fit = (source[left] == source[right]) == (among == "within")
    left, right, similarity = left[fit], right[fit], near.similarity[index[fit]]
    if among == "within":
        return left, right, similarity
    # Units of the same words: each with the best, which then takes all of them.
    same = np.flatnonzero(word[1:] == word[:-1]) + 1
    heads = np.searchsorted(word, word[same])
    return (
        np.concatenate([left, order[heads]]),
        np.concatenate([right, order[same]]),
        np.concatenate([similarity, np.ones(len(same))]),
    )
