"""Clusters of a live index: each new document follows the best keeper that it matches, or becomes a keeper.

If several keepers are equally near, the one with the lowest row is the best.

So every document is a duplicate of its keeper, not only connected to it by a chain. When a keeper is removed, its
followers are matched again in the order of their rows, as if they were new.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.index.matches import Matches, best

__all__ = ["Keepers", "choose_keepers"]

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Keepers:
    """The keeper of each item, by row (its own row if it is a keeper), and how near the two are: -1 and NaN if this
    is unknown or the item is a keeper."""

    row: Rows
    distance: Rows
    similarity: NDArray[np.float64]

    def part(self, first: int) -> Keepers:
        return Keepers(self.row[first:], self.distance[first:], self.similarity[first:])


def choose_keepers(
    rows: Rows, stored: Matches, first: Rows, inner: Matches, same: tuple[int, float], fixed: int = 0
) -> Keepers:
    """Choose the keepers of items in order; the first `fixed` items are keepers already.

    `stored` are the stored keepers that each item matches. `first` is for each item the first identical item of the
    batch, and `inner` are the matches among those. `same` is the distance and similarity of identical items.
    """
    count = len(rows)
    keeper, distance, similarity = rows.copy(), np.full(count, -1), np.full(count, np.nan)
    cost = np.full(count, np.inf)
    if len(stored):
        top = best(stored)
        cost[top.left], keeper[top.left] = top.cost, top.right
        distance[top.left], similarity[top.left] = top.distance, top.similarity
        keeper[:fixed], cost[:fixed] = rows[:fixed], np.inf
        distance[:fixed], similarity[:fixed] = -1, np.nan

    repeats = np.flatnonzero(first != np.arange(count))
    if not len(inner) and not len(repeats):
        return Keepers(keeper, distance, similarity)
    partners: dict[int, list[tuple[float, int, int, float]]] = {}
    columns = (inner.left, inner.right, inner.cost, inner.distance, inner.similarity)
    for left, right, price, bits, share in zip(*(column.tolist() for column in columns), strict=True):
        partners.setdefault(left, []).append((price, right, bits, share))
        partners.setdefault(right, []).append((price, left, bits, share))
    least = float(same[0]) if np.isnan(same[1]) else -same[1]
    for item in np.union1d(np.array(list(partners), np.int64), repeats).tolist():
        if item < fixed:
            continue
        identical = int(first[item])
        # Only the first of identical items can be a keeper: the others match everything that it matches.
        options = [
            option for option in partners.get(identical, ()) if option[1] < item and option[1] != identical
        ]
        if identical != item:
            options.append((least, identical, *same))
        for price, other, bits, share in sorted(options, key=lambda option: (option[0], rows[option[1]])):
            if keeper[other] == rows[other] and (price, rows[other]) < (cost[item], keeper[item]):
                keeper[item], cost[item], distance[item], similarity[item] = rows[other], price, bits, share
                break
    kept = keeper == rows
    distance[kept], similarity[kept] = -1, np.nan
    return Keepers(keeper, distance, similarity)
