"""Phrases: pairs of words that occur together far more often than chance, and then count as one word."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError
from neardup.features.weights import MOST_COUNT, check_features, in_batches
from neardup.storage.frozen_file import read_frozen, write_frozen
from neardup.values.checks import check_fields, check_whole, checked_methods

if TYPE_CHECKING:
    from neardup.features.shingles import TextFeatures
    from neardup.features.texts import Texts

__all__ = ["Phrases"]


@checked_methods
@dataclass(frozen=True, eq=False)
class Phrases:
    """A frozen set of word pairs, learnt from a corpus. A text is read from left to right; a pair in the set becomes
    one token, and its second word does not start another pair.

    hashes    the pairs of words, uint64, ascending
    features  the scheme of the words

    >>> import neardup as nd
    >>> texts = [f"new york in year {number} and place {number + 1000}" for number in range(60)]
    >>> len(nd.features.Phrases.fit(texts, lift=2.0).hashes)
    4
    """

    hashes: NDArray[np.uint64] = field(repr=False)
    features: str

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    def fit(
        cls, texts: Texts, features: TextFeatures | None = None, *, at_least: int = 5, lift: float = 10.0
    ) -> Phrases:
        """Find pairs (a, b) that occur `at_least` times, and `lift` times as often as if a and b were independent."""
        if at_least < 1 or lift < 0:
            raise ConfigError("Phrases: at_least must be at least 1 and lift not negative")
        from neardup.features.shingles import Words

        if features is not None:
            check_features(features)
        at_least = check_whole(at_least, "at_least", 1, MOST_COUNT)
        plain = Words() if features is None else features.words()
        words, pairs = _core.Tally(), _core.Tally()
        for batch in in_batches(texts):
            _core.tally_pairs(batch, plain.recipe(batch), words, pairs)
        known, counts, _, _ = words.columns(1)
        hashes, together, first, second = pairs.columns(at_least)
        total = float(counts.sum())
        alone = counts[np.searchsorted(known, first)].astype(float) * counts[np.searchsorted(known, second)]
        return cls(hashes[together * total >= lift * alone], plain.scheme)

    def __len__(self) -> int:
        return len(self.hashes)

    @cached_property
    def scheme(self) -> str:
        digest = hashlib.blake2b(self.features.encode(), digest_size=4)
        digest.update(self.hashes.astype("<u8").tobytes())
        return f"phrases({digest.hexdigest()})"

    @cached_property
    def native(self) -> _core.Words:
        return _core.Words(self.hashes, np.ones(len(self.hashes), np.uint64))

    def save(self, path: str | Path) -> None:
        """Write to a frozen file, completely or not at all."""
        write_frozen(path, "phrases", {"features": self.features}, {"hashes": self.hashes})

    @classmethod
    def load(cls, path: str | Path) -> Phrases:
        """Read a file written by `save`."""
        facts, columns = read_frozen(path, "phrases")
        return cls(columns["hashes"], facts["features"])
