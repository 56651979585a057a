"""Pairs of documents that match, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["NO_MATCHES", "Matches", "best"]

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Matches:
    """Pairs of a document and a stored row, or of two documents: distance in bits, -1 if there is none; similarity,
    NaN if unknown. Sorted by left, then by right, each pair once."""

    left: Rows
    right: Rows
    distance: Rows
    similarity: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.left)

    @property
    def cost(self) -> NDArray[np.float64]:
        """Smaller is better: by similarity where it is known, else by distance."""
        return np.where(np.isnan(self.similarity), self.distance, -self.similarity)

    def where(self, wanted: NDArray[np.bool_]) -> Matches:
        return Matches(self.left[wanted], self.right[wanted], self.distance[wanted], self.similarity[wanted])

    @classmethod
    def joined(cls, parts: Sequence[Matches]) -> Matches:
        """Matches of different rows."""
        columns = [
            np.concatenate(list(of))
            for of in zip(
                *((p.left, p.right, p.distance, p.similarity) for p in (NO_MATCHES, *parts)), strict=True
            )
        ]
        order = np.lexsort((columns[1], columns[0]))
        return cls(*(column[order] for column in columns))


NO_MATCHES = Matches(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))


def best(matches: Matches) -> Matches:
    """The best match of each left item: the lowest cost, then the lowest right."""
    if len(matches) < 2 or bool((matches.left[1:] > matches.left[:-1]).all()):
        return matches
    order = np.lexsort((matches.right, matches.cost, matches.left))
    fresh = np.ones(len(order), bool)
    fresh[1:] = matches.left[order[1:]] != matches.left[order[:-1]]
    chosen = np.zeros(len(order), bool)
    chosen[order[fresh]] = True
    return matches.where(chosen)
