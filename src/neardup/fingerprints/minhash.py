"""MinHash: sketches whose share of equal values estimates the Jaccard similarity."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from neardup import _core
from neardup.errors import ConfigError
from neardup.features import Features
from neardup.features.shingles import TextFeatures
from neardup.fingerprints.fingerprints import Codes, Sketches
from neardup.fingerprints.printer import Printer, Reading
from neardup.values.checks import check_fields, checked_methods
from neardup.values.seeds import DEFAULT_SEED, Seed

__all__ = ["BitMinHash", "MinHash"]


@checked_methods
@dataclass(frozen=True)
class MinHash(Printer):
    """Sketches of `values` 32-bit values each; weights are ignored.

    `permutations="one"` hashes every feature once and fills empty positions by optimal densification: as accurate as
    independent permutations on documents with a hundred features or more, and much cheaper. "independent" keeps the
    minimum under each of `values` bijections, as in Broder's scheme. The standard error of the estimate is sqrt(J (1
    - J) / values).

    seed  of all hashes: a whole number or a Seed

    >>> import neardup as nd
    >>> nd.fingerprint(["some text", "another text"], nd.Shingles(2), nd.MinHash(64)).values.shape
    (2, 64)
    """

    values: int = 128
    permutations: Literal["one", "independent"] = "one"
    seed: int | Seed = DEFAULT_SEED

    makes = Sketches

    def __post_init__(self) -> None:
        check_fields(self)
        if not 1 <= self.values <= 65536:
            raise ConfigError(f"a sketch has 1 to 65536 values, not {self.values}")
        if self.permutations not in ("one", "independent"):
            raise ConfigError(f'permutations are "one" or "independent", not {self.permutations!r}')
        Seed.of(self.seed)

    @property
    def places(self) -> int:
        """The number of values that two sketches can share."""
        return self.values

    def scheme(self, features: str) -> str:
        """The scheme of sketches made from features of the given scheme."""
        seed = Seed.of(self.seed).identifier
        return f"minhash{self.values}/v1 permutations={self.permutations} seed={seed} | {features}"

    def compute(self, features: Features, threads: int = 1) -> Sketches:
        """The sketches of all rows; the same for any order of features, threads and machine."""
        values = _core.minhash(
            features.hashes,
            features.offsets,
            self.values,
            Seed.of(self.seed).value,
            self.permutations == "independent",
            threads,
        )
        scheme = self.scheme(features.scheme)
        values[features.empty] = 0
        return Sketches(scheme, features.empty, values=values, replaced=features.replaced)

    def read(
        self, texts: _core.Texts, features: TextFeatures, threads: int = 1, digests: bool = True
    ) -> Reading:
        """Sketches directly from text: the features of each document are dropped after use."""
        values, facts = _core.minhash_texts(
            texts,
            features.recipe(texts),
            self.values,
            Seed.of(self.seed).value,
            self.permutations == "independent",
            threads,
            digests,
        )
        none, tokens, replaced, digest = facts
        empty = none.astype(np.bool_)
        sketches = Sketches(self.scheme(features.scheme), empty, values=values, replaced=replaced)
        return Reading(sketches, digest, empty, tokens, replaced)


@checked_methods
@dataclass(frozen=True)
class BitMinHash(Printer):
    """Codes of 64 or 128 bits that keep one bit of each of as many MinHash values, for Hamming search.

    More accurate than simhash of the same size on shingle sets, and it needs no weights. It has no margins, so search
    it with an exact method.

    permutations  "one" or "independent", as for MinHash
    seed          of all hashes: a whole number or a Seed

    >>> import neardup as nd
    >>> nd.fingerprint(["some text", "another text"], nd.Shingles(2), nd.BitMinHash(128)).codes.shape
    (2, 2)
    """

    bits: int = 64
    permutations: Literal["one", "independent"] = "one"
    seed: int | Seed = DEFAULT_SEED

    makes = Codes

    def __post_init__(self) -> None:
        check_fields(self)
        if self.bits not in (64, 128):
            raise ConfigError(f"a 1-bit sketch makes codes of 64 or 128 bits, not {self.bits}")
        self.sketch()

    def sketch(self) -> MinHash:
        """The sketch that these codes take the low bits of."""
        return MinHash(self.bits, self.permutations, self.seed)

    def scheme(self, features: str) -> str:
        """The scheme of codes made from features of the given scheme."""
        return f"bits{self.bits}/v1 | {self.sketch().scheme(features)}"

    def compute(self, features: Features, threads: int = 1) -> Codes:
        """The codes of all rows."""
        return self.sketch().compute(features, threads).code(self.bits)

    def read(
        self, texts: _core.Texts, features: TextFeatures, threads: int = 1, digests: bool = True
    ) -> Reading:
        """Codes directly from text."""
        reading = self.sketch().read(texts, features, threads, digests)
        return replace(reading, prints=reading.prints.code(self.bits))
