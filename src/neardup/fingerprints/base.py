"""Fingerprints: one compact column per kind, each with the scheme that made it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SchemeError

__all__ = ["Codes", "Digests", "Fingerprints", "Sketches", "same_scheme"]


@dataclass(frozen=True)
class Fingerprints:
    """What all kinds share. `empty[i]` says that document i had no features and so has no fingerprint: its row holds
    zeros, which mean nothing and must never be compared."""

    scheme: str
    empty: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.empty)


@dataclass(frozen=True)
class Digests(Fingerprints):
    """Exact hashes: `digests` is uint8[n, bytes]."""

    digests: NDArray[np.uint8]


@dataclass(frozen=True)
class Codes(Fingerprints):
    """Bit codes to be compared by Hamming distance: `codes` is uint64[n, words], bit j of a code is bit j % 64 of word
    j // 64; a 32-bit code uses the low half of its one word. `margins` is float32[n, bits], the votes behind each bit
    (their size says how firmly the bit stands), or None."""

    bits: int
    codes: NDArray[np.uint64]
    margins: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class Sketches(Fingerprints):
    """MinHash values: `values` is uint32[n, k]; the share of equal places estimates Jaccard similarity."""

    values: NDArray[np.uint32]


def same_scheme(left: Fingerprints, right: Fingerprints) -> None:
    """Raise SchemeError unless both were made in the same way."""
    if left.scheme != right.scheme:
        raise SchemeError(left.scheme, right.scheme)
