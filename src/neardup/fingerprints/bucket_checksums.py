"""Bucket checksums (Pugh and Henzinger): words are put into buckets with a checksum each; similar if most are
equal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.errors import ConfigError
from neardup.features import Features
from neardup.fingerprints.keyed import Keys, KeyScheme, distinct_sums, mix
from neardup.values.checks import check_fields, checked_methods
from neardup.values.seeds import DEFAULT_SEED, Seed

__all__ = ["BucketChecksums"]


@checked_methods
@dataclass(frozen=True)
class BucketChecksums(KeyScheme):
    """`buckets` checksums: features fall into buckets by hash, and each bucket's distinct features make its checksum.

    A changed word changes one bucket. With b buckets and d differing features about b (1 - exp(-d / b)) buckets
    change, so most are equal while d < .69 b. A bucket without features has no checksum and never counts as equal.

    seed  of all hashes: a whole number or a Seed

    >>> import neardup as nd
    >>> texts = ["the ferry leaves at eight", "the ferry leaves at nine"]
    >>> nd.fingerprint(texts, nd.Words(), nd.fingerprints.BucketChecksums(16)).keys.shape
    (2, 16)
    """

    buckets: int = 64
    seed: int | Seed = DEFAULT_SEED

    def __post_init__(self) -> None:
        check_fields(self)
        if not 1 <= self.buckets <= 4096:
            raise ConfigError(f"there are 1 to 4096 buckets, not {self.buckets}")
        Seed.of(self.seed)

    @property
    def places(self) -> int:
        return self.buckets

    def scheme(self, features: str) -> str:
        return f"buckets{self.buckets}/v1 seed={Seed.of(self.seed).identifier} | {features}"

    def compute(self, features: Features, threads: int = 1) -> Keys:
        seed, rows = Seed.of(self.seed).value, len(features)
        bucket = (mix(features.hashes, seed) % np.uint64(self.buckets)).astype(np.int64)
        row = np.repeat(np.arange(rows), features.sizes)
        keys = distinct_sums(row * self.buckets + bucket, features.hashes, rows * self.buckets, seed + 1)
        scheme = self.scheme(features.scheme)
        keys = np.where(features.empty[:, None], np.uint64(0), keys.reshape(rows, self.buckets))
        return Keys(scheme, features.empty, keys, replaced=features.replaced)
