"""The effect of edits on a document's shingles and codes: exactly by a model, and by making the edits.

The model: every word is replaced, independently and with probability `rate`, by a word that makes new shingles. A
shingle of `width` words then survives with probability (1 - rate)**width, and overlapping shingles depend on each
other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ConfigError, DataError
from neardup.features import tokens

__all__ = ["LONGEST", "edited", "expected_jaccard", "expected_of_jaccard", "intact_shingles"]

Floats = NDArray[np.float64]
LONGEST = 20_000
"""Words of the longest document that the model accepts: its time is quadratic."""


def intact_shingles(rate: float, words: int, width: int = 5) -> Floats:
    """P(exactly c of the words - width + 1 shingles survive), for c = 0, 1, ...

    Exact; it tracks the number of unchanged words since the last changed one. O(width * words**2).
    """
    if not 0 <= rate <= 1:
        raise ConfigError(f"an edit rate is 0 to 1 words changed for each word, not {rate}")
    if not 1 <= width <= words <= LONGEST:
        raise ConfigError(f"a document has from {width} (one shingle) to {LONGEST:,} words, not {words}")
    shingles = words - width + 1
    # state[u] holds the distribution of survivors when the last u words, at most width - 1, are unchanged.
    state = np.zeros((width, shingles + 1))
    state[0, 0] = 1.0
    for _ in range(words):
        new = np.zeros_like(state)
        new[0] = rate * state.sum(axis=0)
        keep = (1 - rate) * state
        new[1:] += keep[:-1]
        # `width` unchanged words in a row are one more survivor, and the last width - 1 of them count for the next
        # shingle.
        new[width - 1, 1:] += keep[width - 1, :-1]
        state = new
    return np.asarray(state.sum(axis=0))


def expected_of_jaccard(
    function: Callable[[Floats], Floats], rate: float, words: int, width: int = 5
) -> float:
    """The mean of a function of the Jaccard similarity after edits with this rate."""
    chance = intact_shingles(rate, words, width)
    survivors, shingles = np.arange(len(chance)), len(chance) - 1
    return float((chance * function(survivors / (2 * shingles - survivors))).sum())


def expected_jaccard(rate: float, words: int, width: int = 5) -> float:
    """The mean Jaccard similarity of a document and its edited copy."""
    return expected_of_jaccard(lambda jaccard: jaccard, rate, words, width)


def edited(texts: Sequence[str], rate: float, seed: int = 0) -> list[str]:
    """Copies in which every word was replaced with probability `rate` by a random word of the texts.

    Words are those of the default features, without case and punctuation. The same seed gives the same copies.
    """
    if not 0 <= rate <= 1:
        raise ConfigError(f"an edit rate is 0 to 1 words changed for each word, not {rate}")
    rows = [list(row) for row in tokens(list(texts))]
    pool = np.array([word for row in rows for word in row], dtype=object)
    if not len(pool):
        raise DataError("there are no words to edit")
    draw = np.random.default_rng([seed, round(rate * 1e9)])
    copies = []
    for row in rows:
        changed = np.flatnonzero(draw.random(len(row)) < rate)
        for place, word in zip(changed, pool[draw.integers(0, len(pool), len(changed))], strict=True):
            row[place] = word
        copies.append(" ".join(row))
    return copies
