"""The common base of schemes with a few keys for each document: their columns, and a mixing function."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from neardup.features import Features
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.fingerprints.printer import Printer

__all__ = ["KeyScheme", "Keys", "distinct_sums", "mix"]

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Keys(Fingerprints):
    """A few keys for each document: `keys` is uint64[n, k]. Two documents agree at a position if both have the same
    key there; 0 means no key, and never agrees.

    scheme    the line of text that says how they were made; other schemes cannot be compared
    empty     bool[n]: the documents without features, which have no fingerprint
    replaced  the number of ill-formed UTF-8 sequences that were read as U+FFFD

    >>> import neardup as nd
    >>> prints = nd.fingerprint(["the ferry leaves at eight"], nd.Words(), nd.fingerprints.SuperFingerprints())
    >>> type(prints).__name__, prints.keys.shape
    ('Keys', (1, 6))
    """

    keys: NDArray[np.uint64]

    MAIN: ClassVar[str] = "keys"


@dataclass(frozen=True, eq=False)
class KeyScheme(Printer):
    """Turns features into keys; documents that agree on enough keys are candidates (see search.agreement)."""

    makes = Keys

    @cached_property
    def blank(self) -> Keys:
        return Keys("", np.zeros(0, np.bool_), keys=np.zeros((0, self.places), np.uint64))

    @property
    @abstractmethod
    def places(self) -> int:
        """The number of keys of a document."""

    @property
    def agreeing(self) -> int:
        """The number of positions that must agree by default: most of them."""
        return self.places // 2 + 1

    @abstractmethod
    def compute(self, features: Features, threads: int = 1) -> Keys:
        """The keys of all rows."""


def mix(values: Words, seed: int) -> Words:
    """A pseudo-random bijection of 64-bit numbers, different for each seed (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        x = values + np.uint64((seed * 2 + 1) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


def distinct_sums(places: NDArray[np.int64], hashes: Words, many: int, seed: int) -> Words:
    """A digest of the set of hashes at each of `many` positions, in any order; 0 if there are none."""
    sums, counts = np.zeros(many, np.uint64), np.bincount(places, minlength=many)
    np.add.at(sums, places, mix(hashes, seed))
    digests = mix(sums ^ counts.astype(np.uint64), seed + 1)
    return np.where(counts > 0, np.maximum(digests, np.uint64(1)), np.uint64(0))
