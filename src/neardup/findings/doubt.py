"""Doubt: how likely a removal is wrong, by what differs. A logistic model on the counts of changes.

It begins with weights that are fixed here, in round numbers: a title that differs matters most, then how little is
similar, then how long a passage is lost. benchmarks/lanes.py measures the order they give. The decisions of a person
move the weights (findings/learned.py).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup.compare.changes import AT, LANGUAGE_WORDS
from neardup.findings.lanes import LANES, Removals

__all__ = ["NAMES", "PRIOR", "doubt_of", "features_of"]

Floats = NDArray[np.float64]
_WEIGHTS = {
    "any": -6.0,
    "title": 5.0,
    "language": 2.0,
    "negation": 0.5,
    "numbers": 0.0,
    "names": 0.0,
    "own words": 0.0,
    "kept words": 0.0,
    "lost passage": 1.8,
    "dissimilarity": 6.0,
    "not compared": 3.0,
}
NAMES = tuple(_WEIGHTS)
PRIOR: Floats = np.array(list(_WEIGHTS.values()))
_LONG = 150  # words of a lost passage that counts 1


def features_of(removals: Removals) -> Floats:
    """A row of numbers between 0 and about 1 for each removal, in the order of NAMES."""
    column = {name: removals.counts[:, place].astype(np.float64) for name, place in AT.items()}
    known = {
        "any": np.ones(len(removals)),
        "title": (column["title_left"] + column["title_right"]) > 0,
        "language": column["language"] >= LANGUAGE_WORDS,
        "negation": column["negations"] > 0,
        "numbers": column["numbers_left"] > 0,
        "names": column["names_left"] > 0,
        "own words": np.minimum(1, column["words_left"] / removals.words),
        "kept words": np.minimum(1, column["words_right"] / removals.words),
        "lost passage": np.log1p(column["lost_left"]) / np.log1p(_LONG),
        "dissimilarity": 1 - np.nan_to_num(removals.similarity, nan=1.0),
        "not compared": ~removals.known,
    }
    return np.stack([known[name].astype(np.float64) for name in NAMES], axis=1)


def doubt_of(removals: Removals, weights: Floats = PRIOR) -> Floats:
    """How likely each removal is wrong, between 0 and 1. Documents of the same words are the least doubtful, and
    identical ones are not doubtful at all."""
    doubt = 1 / (1 + np.exp(-(features_of(removals) @ weights)))
    doubt[removals.lanes == LANES.index("words")] = np.minimum(1e-4, doubt.min(initial=1e-4))
    doubt[removals.lanes == LANES.index("identical")] = 0.0
    return np.asarray(doubt)
