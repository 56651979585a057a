"""I-Match (Chowdhury and others): one digest of the words that are neither too frequent nor too rare.

A changed word of the lexicon changes the digest, so the scheme is fragile. Kolcz and others make it robust with
several lexicons, random parts of the first; most of their digests must be equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ConfigError
from neardup.features import Features
from neardup.features.weights import Frequencies
from neardup.fingerprints.keyed import Keys, KeyScheme, distinct_sums, mix
from neardup.values.checks import check_fields, checked_methods
from neardup.values.seeds import DEFAULT_SEED, Seed

__all__ = ["FittedIMatch", "IMatch"]


@checked_methods
@dataclass(frozen=True)
class IMatch(KeyScheme):
    """The lexicon holds features whose normalised idf, ln(n / frequency) / ln n, is from `low` to `high`: 0 is a word
    in every document, 1 a word in only one.

    If `lexicons` is more than one, each is a random part with the given `share` of the lexicon. A document with fewer
    than `least` features in a lexicon has no digest for it: a few words say too little. Rare words are left out,
    because each edit adds some, and one is enough to change the digest.

    seed  of all hashes: a whole number or a Seed

    >>> import neardup as nd
    >>> texts = [f"the ferry leaves at {hour} from pier {hour % 3}" for hour in range(20)]
    >>> frequencies = nd.features.Frequencies.count(texts, nd.Words())
    >>> nd.fingerprint(texts, nd.Words(), nd.fingerprints.IMatch(least=1).fit(frequencies)).keys.shape
    (20, 1)
    """

    low: float = 0.2
    high: float = 0.6
    lexicons: int = 1
    share: float = 0.7
    least: int = 5
    seed: int | Seed = DEFAULT_SEED

    learns = True

    def __post_init__(self) -> None:
        check_fields(self)
        if not 0 <= self.low < self.high <= 1:
            raise ConfigError(f"I-Match: idf from 0 to 1, low below high, not {self.low} and {self.high}")
        if not 0 < self.share <= 1:
            raise ConfigError(f"I-Match: a share is above 0 and at most 1, not {self.share}")
        if not 1 <= self.lexicons <= 64 or self.least < 1:
            raise ConfigError("I-Match: 1 to 64 lexicons, and at least 1 feature")
        Seed.of(self.seed)

    @property
    def places(self) -> int:
        """The number of digests of a document."""
        return self.lexicons

    def scheme(self, features: str) -> str:
        raise ConfigError("I-Match learns its lexicon from a corpus: fit it first")

    def compute(self, features: Features, threads: int = 1) -> Keys:
        raise ConfigError("I-Match learns its lexicon from a corpus: fit it first")

    def fit(self, frequencies: Frequencies) -> FittedIMatch:
        """The scheme with the lexicon made from these document frequencies."""
        n = max(2, frequencies.documents)
        idf = np.log(n / np.maximum(frequencies.counts, 1)) / np.log(n)
        inside = (idf >= self.low - 1e-12) & (idf <= self.high + 1e-12)
        return FittedIMatch(self, frequencies.hashes[inside], frequencies.identifier, frequencies.features)


@dataclass(frozen=True, eq=False)
class FittedIMatch(KeyScheme):
    """I-Match with its `lexicon`, ascending hashes of features."""

    how: IMatch
    lexicon: NDArray[np.uint64]
    frequencies: str
    features: str

    def __repr__(self) -> str:
        return f"{self.how!r} {self.frequencies}"

    @property
    def places(self) -> int:
        return self.how.places

    @property
    def agreeing(self) -> int:
        return self.how.agreeing

    def scheme(self, features: str) -> str:
        how = self.how
        facts = f"{how.low:g}..{how.high:g} {how.lexicons}x{how.share:g} least={how.least}"
        return f"imatch/v1 {facts} seed={Seed.of(how.seed).identifier} {self.frequencies} | {features}"

    def compute(self, features: Features, threads: int = 1) -> Keys:
        rows, seed = len(features), Seed.of(self.how.seed).value
        at = np.searchsorted(self.lexicon, features.hashes)
        known = np.zeros(len(at), np.bool_)
        if len(self.lexicon):
            known = self.lexicon[np.minimum(at, len(self.lexicon) - 1)] == features.hashes
        hashes, row = features.hashes[known], np.repeat(np.arange(rows), features.sizes)[known]
        keys = np.zeros((rows, self.places), np.uint64)
        bound = np.uint64(min(int(self.how.share * 2.0**64), 2**64 - 1))
        for number in range(self.places):
            drawn = np.ones(len(hashes), np.bool_)
            if self.places > 1:
                drawn = mix(hashes, seed + 3 + number) <= bound
            found = distinct_sums(row[drawn], hashes[drawn], rows, seed)
            found[np.bincount(row[drawn], minlength=rows) < self.how.least] = 0
            keys[:, number] = found
        return Keys(
            self.scheme(features.scheme),
            features.empty,
            np.where(features.empty[:, None], np.uint64(0), keys),
            replaced=features.replaced,
        )
