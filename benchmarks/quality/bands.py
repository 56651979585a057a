"""What each method finds of pairs of a known exact similarity: by Jaccard, and simhash by cosine."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from benchmarks.quality.compare import candidate_pairs
from benchmarks.quality.overlaps import all_jaccard
from benchmarks.quality.recipes import distances, weighted
from benchmarks.quality.scores import interval
from benchmarks.quality.sets import LabelledSet
from numpy.typing import NDArray

import neardup as nd
from neardup.compare import similarity
from neardup.evaluate.metrics import share

__all__ = ["COSINE_EDGES", "JACCARD_EDGES", "by_cosine", "by_jaccard_band"]

Json = dict[str, Any]
JACCARD_EDGES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
COSINE_EDGES = (0.8, 0.85, 0.9, 0.925, 0.95, 0.975, 0.99, 1.0)


def by_jaccard_band(given: LabelledSet) -> Json:
    """The share of pairs of a band of exact Jaccard of 5 words that a method brings together, before verifying."""
    texts = list(given.texts)
    made = nd.Shingles().extract(texts, threads=2)
    similar = all_jaccard(made, given)
    words = weighted(nd.Words(), "tf-idf", texts).extract(texts, threads=2)
    simhash = {bits: distances(nd.Simhash(bits, margins="none").compute(words), given) for bits in (64, 128)}
    bits = distances(nd.BitMinHash().compute(made), given)
    methods = {
        "MinHash 20x6 (for .8)": candidate_pairs(given, nd.MinHash(120).compute(made), nd.LSH(20, 6)),
        "MinHash 93x4 (for .5)": candidate_pairs(given, nd.MinHash(372).compute(made), nd.LSH(93, 4)),
        "simhash, radius 3": simhash[64] <= 3,
        "simhash, radius 8": simhash[64] <= 8,
        "simhash of 128 bits, radius 16": simhash[128] <= 16,
        "1-bit MinHash, radius 12": bits <= 12,
    }
    return {
        "set": given.name,
        "edges": JACCARD_EDGES,
        "methods": {
            name: _bands(given, similar, JACCARD_EDGES, compared) for name, compared in methods.items()
        },
    }


def by_cosine(given: LabelledSet) -> list[Json]:
    """The share of pairs of a band of exact cosine that lie within a radius, and what the binomial model expects; and
    how many of those within the radius have a cosine of .9."""
    rows = []
    for weights in ("count", "tf-idf"):
        features = weighted(nd.Words(), weights, given.texts).extract(list(given.texts), threads=2)
        apart = distances(nd.Simhash(margins="none").compute(features, threads=2), given)
        cosine = similarity.cosine(features, given.left, given.right, threads=2)
        for radius in (3, 8, 12):
            near = apart <= radius
            bands = _bands(given, cosine, COSINE_EDGES, near)
            for band in bands:
                inside = _inside(cosine, band["from"], band["to"])
                model = similarity.within_radius(cosine[inside], radius)
                band["model"] = round(float(model.mean()), 4) if inside.any() else None
            above = cosine >= 0.9
            rows.append(
                {
                    "set": given.name,
                    "weights": weights,
                    "radius": radius,
                    "bands": bands,
                    "above": int(above.sum()),
                    "above_found": int((above & near).sum()),
                    "found": int(near.sum()),
                }
            )
    return rows


def _inside(values: NDArray[np.float64], low: float, high: float) -> NDArray[np.bool_]:
    # The last band has its upper end; a cosine of equal vectors may be a rounding below 1.
    return (values >= low) & ((values < high) | (high == 1.0))


def _bands(
    given: LabelledSet, values: NDArray[np.float64], edges: tuple[float, ...], compared: NDArray[np.bool_]
) -> list[Json]:
    rows = []
    for low, high in pairwise(edges):
        at = np.flatnonzero(_inside(values, low, high))
        group = given.group[given.left[at]]
        size = int(given.group.max(initial=0)) + 1
        found = share(np.bincount(group, compared[at], size), np.bincount(group, minlength=size))
        rows.append({"from": low, "to": high, "pairs": len(at), "recall": interval(found)})
    return rows
