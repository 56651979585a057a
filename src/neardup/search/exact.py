"""Documents with the same words: the digest of the words is the key."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.fingerprints.fingerprints import Digests
from neardup.fingerprints.printer import Printer
from neardup.fingerprints.word_digests import WordDigests
from neardup.search.interface import Keyed, KeyMethod
from neardup.values.seeds import DEFAULT_SEED, Seed

__all__ = ["EqualWords"]


@dataclass(frozen=True)
class EqualWords(KeyMethod):
    """Digests that are equal in all their bytes. The local pipeline and Spark find such documents first."""

    seed: int | Seed = DEFAULT_SEED

    takes = (Digests,)
    whole_keys = True
    sure = 1.0

    def fingerprint(self) -> Printer:
        return WordDigests(self.seed)

    def keys(self, prints: Digests) -> Keyed:
        rows = np.flatnonzero(~prints.empty)
        key = np.ascontiguousarray(prints.digests[rows, :8]).view(np.uint64).reshape(-1)
        return Keyed(rows, np.zeros(len(rows), np.int32), key)

    def check(self, prints: Digests, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.asarray((prints.digests[left] == prints.digests[right]).all(axis=1))
