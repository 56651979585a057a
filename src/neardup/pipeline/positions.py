"""From the rows of a corpus to positions in what was given, where some rows were no documents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.clusters import Clusters
from neardup.clusters.selection import Cut
from neardup.compare.verify import Pairs
from neardup.pipeline.pairs import FoundPairs

__all__ = ["at_positions"]

Rows = NDArray[np.int64]


def at_positions(cut: Cut, found: FoundPairs, positions: Rows, total: int) -> tuple[Cut, FoundPairs]:
    """The same outcome for `total` rows: document i is at `positions[i]`, which ascend. The other rows are not kept,
    and each is alone in its cluster."""
    if len(positions) == total:
        return cut, found
    labels, keeper, first = np.arange(total), np.arange(total), np.arange(total)
    similarity, kept = np.ones(total), np.zeros(total, np.bool_)
    labels[positions] = positions[cut.clusters.labels]
    keeper[positions] = positions[cut.clusters.keeper]
    similarity[positions] = cut.clusters.similarity
    kept[positions] = cut.kept
    first[positions] = positions[found.first]
    pairs = Pairs(positions[found.pairs.left], positions[found.pairs.right], found.pairs.similarity)
    protected = cut.protected
    if protected is not None:
        protected = replace(protected, rows=positions[protected.rows], keepers=positions[protected.keepers])
    clusters = Clusters(labels, keeper, similarity)
    return Cut(clusters, kept, protected=protected), replace(found, first=first, pairs=pairs)
