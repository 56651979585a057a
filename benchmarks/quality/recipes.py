"""The settings compared: what a text is made into, and how much each part counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from benchmarks.quality.sets import LabelledSet
from numpy.typing import NDArray

import neardup as nd
from neardup.compare import similarity
from neardup.features.shingles import TextFeatures
from neardup.fingerprints import Codes

__all__ = ["CUT_SHARE", "FEATURES", "FOLDED", "WEIGHTS", "distances", "weighted"]

FOLDED = nd.Normalize(digits="fold")
FEATURES: dict[str, TextFeatures] = {
    "words": nd.Words(),
    "3 words": nd.Shingles(width=3),
    "5 words": nd.Shingles(width=5),
    "8 words": nd.Shingles(width=8),
    "12 words": nd.Shingles(width=12),
    "8 characters": nd.Characters(width=8),
}
WEIGHTS = ("count", "log", "tf-idf", "cut")
CUT_SHARE = 0.05
"""Features in more than this share of a set's documents are its template."""


def weighted(features: TextFeatures, weights: str, texts: Sequence[str]) -> TextFeatures:
    """Features with a way of weighing them, fitted on the texts where it must be."""
    if weights == "tf-idf":
        return replace(features, weights=nd.Idf.fit(texts, features, threads=2))
    if weights == "cut":
        common = nd.features.Common.fit(texts, features, share=CUT_SHARE, threads=2)
        return replace(features, weights="count", common=common)
    return replace(features, weights=weights)  # type: ignore[arg-type]


def distances(codes: Codes, given: LabelledSet) -> NDArray[np.uint8]:
    """The Hamming distance of every pair, by brute force; beyond any radius where a side has no code."""
    return similarity.hamming(codes, given.left, given.right, threads=2).astype(np.uint8)
