"""Broder's super-fingerprints: a sketch in six parts, each hashed to one number; similar if two are equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from neardup import _core
from neardup.errors import ConfigError
from neardup.features import Features
from neardup.fingerprints.keyed import Keys, KeyScheme
from neardup.fingerprints.minhash import MinHash
from neardup.values.checks import check_fields, checked_methods
from neardup.values.seeds import DEFAULT_SEED, Seed

__all__ = ["SuperFingerprints"]


@checked_methods
@dataclass(frozen=True)
class SuperFingerprints(KeyScheme):
    """`many` fingerprints, each of `values` MinHash values: 6 of 14, of which 2 must be equal, as in AltaVista.

    Documents with Jaccard similarity s agree on one with probability s**14, so on 2 of 6 with .879 at s = .95 and .026
    at s = .8. It is meant for copies that are almost identical.

    permutations  "one" or "independent", as for MinHash
    seed          of all hashes: a whole number or a Seed

    >>> import neardup as nd
    >>> printer = nd.fingerprints.SuperFingerprints(many=6, values=14)
    >>> nd.fingerprint(["the ferry leaves at eight"], nd.Words(), printer).keys.shape
    (1, 6)
    """

    many: int = 6
    values: int = 14
    permutations: Literal["one", "independent"] = "one"
    seed: int | Seed = DEFAULT_SEED

    def __post_init__(self) -> None:
        check_fields(self)
        if self.many < 1 or self.values < 1:
            raise ConfigError("super-fingerprints: many and values are 1 or more")
        self.sketch()

    @property
    def places(self) -> int:
        return self.many

    @property
    def agreeing(self) -> int:
        return min(2, self.many)

    def sketch(self) -> MinHash:
        """The sketch that is split into parts."""
        return MinHash(self.many * self.values, self.permutations, self.seed)

    def scheme(self, features: str) -> str:
        return f"supers {self.many}x{self.values}/v1 | {self.sketch().scheme(features)}"

    def compute(self, features: Features, threads: int = 1) -> Keys:
        sketches = self.sketch().compute(features, threads)
        keys = _core.band_keys(sketches.values, self.many, self.values, 0, self.many, threads)
        by_row = np.maximum(keys.reshape(self.many, len(features)).T, np.uint64(1))
        by_row[sketches.empty] = 0
        scheme = self.scheme(features.scheme)
        return Keys(scheme, sketches.empty, np.ascontiguousarray(by_row), replaced=features.replaced)
