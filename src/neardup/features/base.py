"""Features: what documents are made of, as ragged columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Features"]


@dataclass(frozen=True)
class Features:
    """The features of many documents: row i is `hashes[offsets[i]:offsets[i+1]]` with its weights.

    Inside a row the hashes are unique and ascend, so that two rows can be merged in one pass. A document without
    features is an empty row. `scheme` says how they were made; rows of different schemes never meet.
    """

    hashes: NDArray[np.uint64]
    weights: NDArray[np.float32]
    offsets: NDArray[np.int64]
    scheme: str

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def row(self, index: int) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
        """The hashes and weights of one document, as views."""
        part = slice(self.offsets[index], self.offsets[index + 1])
        return self.hashes[part], self.weights[part]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many distinct features each document has."""
        return np.diff(self.offsets)
