"""Every setting on one labelled set: what an ideal measure finds, and what each method finds at what cost."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from benchmarks.quality.overlaps import all_jaccard
from benchmarks.quality.recipes import FEATURES, FOLDED, WEIGHTS, distances, weighted
from benchmarks.quality.scores import score, sweep
from benchmarks.quality.sets import LabelledSet
from numpy.typing import NDArray

import neardup as nd

__all__ = [
    "BANDS",
    "BITS",
    "CHECKED",
    "RADII",
    "THRESHOLDS",
    "by_html",
    "by_short_path",
    "candidate_pairs",
    "compare",
]

Json = dict[str, Any]
Floats = NDArray[np.float64]
THRESHOLDS = tuple(round(0.2 + 0.05 * step, 2) for step in range(16))
RADII = tuple(range(13))
BITS = (64, 128)
CHECKED = (0.5, 0.8)
"""Exact Jaccard of 5 words that a pair within the radius must have, where it is verified."""
BANDS = ((64, 16, 4), (64, 8, 8), (128, 20, 6), (128, 32, 4), (128, 16, 8), (256, 33, 5), (512, 93, 4))
"""MinHash settings: values, bands, rows. 128 values in 20 bands of 6, 256 in 33x5 and 512 in 93x4 are what the library
takes for .8, .7 and .5."""


def compare(given: LabelledSet, progress: Any = print) -> Json:
    """Scores of every setting on a set."""
    exact = by_jaccard(given)
    similar = all_jaccard(nd.Shingles().extract(given.texts, threads=2), given)
    progress(f"  {given.name}: exact similarities done")
    made = {
        "set": given.name,
        "documents": len(given),
        "tokens": int(nd.Words(weights="count").extract(given.texts, threads=2).weights.sum()),
        "jaccard": exact,
        "simhash": by_simhash(given, similar),
        "bits": by_bits(given, similar),
        "minhash": by_minhash(given, similar),
        "short": by_short_path(given),
    }
    progress(f"  {given.name}: fingerprints done")
    return made


def by_jaccard(given: LabelledSet) -> list[Json]:
    """An ideal detector: all pairs of a similarity, for each kind of feature."""
    rows = []
    kinds = {
        **{(name, "kept"): features for name, features in FEATURES.items()},
        ("5 words", "folded"): nd.Shingles(normalize=FOLDED),
    }
    for (name, digits), features in kinds.items():
        begin = perf_counter()
        made = features.extract(given.texts)
        seconds = perf_counter() - begin
        for cut in ("none", "cut"):
            if cut == "cut":
                made = replace(weighted(features, "cut", given.texts), weights="constant").extract(
                    given.texts
                )
            what = {"features": name, "digits": digits, "template": cut, "seconds": round(seconds, 4)}
            rows.append({**what, **sweep(given, all_jaccard(made, given), THRESHOLDS)})
    return rows


def by_html(given: LabelledSet) -> Json:
    """5 words at all thresholds, for a set whose pages became text in one way or another."""
    return sweep(given, all_jaccard(nd.Shingles().extract(given.texts, threads=2), given), THRESHOLDS)


def by_simhash(given: LabelledSet, similar: Floats) -> list[Json]:
    """Pairs within a radius, as they are and verified; cost is the time from text to codes by one thread."""
    rows = []
    for name, features in FEATURES.items():
        for weights in WEIGHTS:
            recipe = weighted(features, weights, given.texts)
            for bits in BITS:
                begin = perf_counter()
                codes = nd.Simhash(bits, margins="none").compute(recipe.extract(given.texts))
                seconds = perf_counter() - begin
                near = -distances(codes, given).astype(np.int16)
                what = {"features": name, "weights": weights, "bits": bits, "seconds": round(seconds, 4)}
                rows += _within(given, near, similar, what)
    return rows


def by_bits(given: LabelledSet, similar: Floats) -> list[Json]:
    """The same for codes of one bit of each MinHash value."""
    rows = []
    for bits in BITS:
        begin = perf_counter()
        codes = nd.BitMinHash(bits).compute(nd.Shingles().extract(given.texts))
        what = {"features": "5 words", "bits": bits, "seconds": round(perf_counter() - begin, 4)}
        rows += _within(given, -distances(codes, given).astype(np.int16), similar, what)
    return rows


def _within(given: LabelledSet, near: NDArray[np.int16], similar: Floats, what: Json) -> list[Json]:
    rows = []
    for checked in (0.0, *CHECKED):
        made = sweep(given, near, [-radius for radius in RADII], similar >= checked if checked else None)
        rows.append({**what, "checked": checked, **made, "cuts": list(RADII)})
    return rows


def by_minhash(given: LabelledSet, similar: Floats) -> list[Json]:
    """What bands bring together, and how much of what is similar enough is among it."""
    rows = []
    made = nd.Shingles().extract(given.texts)
    nd.MinHash().compute(made)  # the first call of a kernel is not the cost of any setting
    for values, bands, deep in BANDS:
        begin = perf_counter()
        compared = candidate_pairs(given, nd.MinHash(values).compute(made), nd.LSH(bands, deep))
        seconds = perf_counter() - begin
        for checked in (0.5, 0.7, 0.8):
            due = similar >= checked
            rows.append(
                {
                    "values": values,
                    "bands": f"{bands}x{deep}",
                    "checked": checked,
                    "seconds": round(seconds, 4),
                    "candidates": int(compared.sum()),
                    "similar": int(due.sum()),
                    "similar_met": int((compared & due).sum()),
                    **score(given, np.flatnonzero(compared & due)),
                }
            )
    return rows


def candidate_pairs(given: LabelledSet, sketches: Any, lsh: nd.LSH) -> NDArray[np.bool_]:
    """Which of all pairs agree on a band."""
    compared = np.zeros(len(given.left), np.bool_)
    for left, right in lsh.candidates(sketches, threads=2).every():
        compared[given.place(left, right)] = True
    return compared


def by_short_path(given: LabelledSet) -> list[Json]:
    """The whole pipeline with and without the exact join of short documents: recall of similar pairs of which one
    document is short."""
    similar = all_jaccard(nd.Shingles().extract(given.texts, threads=2), given)
    sizes = np.array([len(words) for words in nd.features.tokens(given.texts)])
    short = np.minimum(sizes[given.left], sizes[given.right]) < nd.Config().short
    rows = []
    for threshold in (0.5, 0.8):
        for limit in (0, nd.Config().short):
            config = replace(nd.Config(), short=limit).with_threshold(threshold)
            begin = perf_counter()
            result = nd.dedup(list(given.texts), config)
            seconds = perf_counter() - begin
            compared = np.zeros(len(given.left), np.bool_)
            compared[given.place(result.pairs.left, result.pairs.right)] = True
            # Documents of equal words come after the first of them.
            left, right = (result.found.first[side] for side in (given.left, given.right))
            compared = (left == right) | compared[given.place(left, right) % len(compared)]
            due = short & (similar >= threshold)
            rows.append(
                {
                    "short": limit,
                    "threshold": threshold,
                    "seconds": round(seconds, 4),
                    "similar": int(due.sum()),
                    "found": int((due & compared).sum()),
                }
            )
    return rows
