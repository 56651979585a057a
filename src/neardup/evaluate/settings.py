"""The settings that a calibration tries, and the pairs that each of them finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup.compare.verify import Jaccard
from neardup.config.config import Config
from neardup.search.lsh import LSH
from neardup.values.checks import checked_methods

__all__ = ["PairFacts", "Setting", "all_settings", "bands_for", "shares_band", "sketch_size"]

Rows = NDArray[np.int64]
Flags = NDArray[np.bool_]

THRESHOLDS = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
COSINES = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.875, 0.9, 0.925, 0.95, 0.975, 0.99)
RADII = {64: tuple(range(13)), 128: tuple(range(0, 25, 2))}
COSINE_BANDS = 0.5
"""Bands use shingles, not cosine: for cosine they are designed for this Jaccard similarity, loosely."""


@checked_methods
@dataclass(frozen=True)
class Setting:
    """One way to find near-duplicates: MinHash bands designed for a threshold, or simhash codes within a radius; then,
    if `verified`, the exact similarity of each candidate must reach `threshold`.

    method        minhash or simhash
    bands, rows   of MinHash, 0 for simhash
    bits, radius  of simhash, 0 for MinHash

    >>> import neardup as nd
    >>> nd.evaluate.Setting("minhash", verified=True, threshold=0.8, bands=20, rows=6).method
    'minhash'
    """

    method: Literal["minhash", "simhash"]
    verified: bool
    threshold: float
    bands: int = 0
    rows: int = 0
    bits: int = 0
    radius: int = 0

    def __str__(self) -> str:
        if self.method == "minhash":
            said = f"MinHash, {self.bands} bands of {self.rows} rows"
        else:
            said = f"simhash of {self.bits} bits, radius {self.radius}"
        return f"{said}, verified at {self.threshold:g}" if self.verified else f"{said}, unverified"

    def finds(self, facts: PairFacts) -> Flags:
        """The pairs that this setting reports."""
        if self.method == "simhash":
            found = facts.distance[self.bits] <= self.radius
            return found & (facts.similarity >= self.threshold) if self.verified else found
        # Most pairs are not similar at all: sketches are compared only for pairs that can be reported.
        least = facts.similarity >= self.threshold if self.verified else np.ones(len(facts), np.bool_)
        pairs = np.flatnonzero(least)
        bands = LSH(self.bands, self.rows)
        values = facts.sketches[sketch_size(bands)]
        found = np.zeros(len(facts), np.bool_)
        found[pairs] = shares_band(values, facts.left[pairs], facts.right[pairs], bands)
        return found


@dataclass(frozen=True)
class PairFacts:
    """The facts of some pairs: exact similarity and cosine, and code distances by bits; sketches by their size."""

    left: Rows
    right: Rows
    similarity: NDArray[np.float64]
    cosine: NDArray[np.float64]
    distance: dict[int, NDArray[np.int32]]
    sketches: dict[int, NDArray[np.uint32]]

    def __len__(self) -> int:
        return len(self.left)


def bands_for(threshold: float, recall: float) -> LSH:
    """The bands that `dedup` uses for a threshold."""
    return Config(verify=Jaccard(threshold), recall=recall).bands


def all_settings(similarity: str, threshold: float, recall: float) -> tuple[Setting, ...]:
    """MinHash verified at every threshold; bands without verification for the threshold itself; simhash at every
    radius, verified at the threshold or not."""
    grid = THRESHOLDS if similarity == "jaccard" else COSINES
    made = []
    for cut in sorted({*grid, threshold}):
        bands = bands_for(cut if similarity == "jaccard" else COSINE_BANDS, recall)
        made.append(Setting("minhash", True, cut, bands.bands, bands.rows))
    bands = bands_for(threshold if similarity == "jaccard" else COSINE_BANDS, recall)
    made.append(Setting("minhash", False, threshold, bands.bands, bands.rows))
    for bits, radii in RADII.items():
        for verified in (False, True):
            made += [Setting("simhash", verified, threshold, bits=bits, radius=radius) for radius in radii]
    return tuple(made)


def sketch_size(bands: LSH) -> int:
    """The size of the sketch whose first values these bands use."""
    return next(size for size in (128, 256, 512, 65536) if bands.values <= size)


def shares_band(values: NDArray[np.uint32], left: Rows, right: Rows, bands: LSH) -> Flags:
    """Whether the sketches of each pair agree on a whole band, which makes it a candidate."""
    found = np.zeros(len(left), np.bool_)
    for start in range(0, len(left), 1 << 16):
        part = slice(start, start + (1 << 16))
        equal = values[left[part], : bands.values] == values[right[part], : bands.values]
        found[part] = equal.reshape(-1, bands.bands, bands.rows).all(axis=2).any(axis=1)
    return found
