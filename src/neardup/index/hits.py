"""Turns matches into hits: adds ids, leaves out excluded rows, sorts by quality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from neardup.index.answers import Hit
from neardup.index.matches import Matches
from neardup.search.interface import Mode

__all__ = ["hits_of"]


def hits_of(
    found: Matches, names: Mapping[int, str], own: Sequence[str | None], mode: Mode
) -> list[list[Hit]]:
    """The hits of each query among the rows that have a name, without the query's own id."""
    hits: list[list[Hit]] = [[] for _ in own]
    order = np.lexsort((found.right, found.cost, found.left))
    columns = (found.left[order], found.right[order], found.distance[order], found.similarity[order])
    for query, row, bits, share in zip(*(column.tolist() for column in columns), strict=True):
        id = names.get(row)
        if id is None or id == own[query]:
            continue
        if mode == "all" or not hits[query]:
            hits[query].append(Hit(id, row, bits if bits >= 0 else None, share if share == share else None))
    return hits
