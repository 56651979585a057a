"""Exact digests: equal texts have equal digests. Also, how often different texts may collide."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neardup import _core
from neardup.errors import ConfigError, DataError
from neardup.fingerprints.fingerprints import Digests
from neardup.values.checks import check_fields, checked, checked_methods
from neardup.values.seeds import DEFAULT_SEED, Seed

__all__ = ["Exact", "digest_texts", "expected_false_merges"]

# Cryptographic digests by their hashlib name, each with its size in bytes. xxh3 is the plain 64-bit hash: fast and
# seeded, but a person who knows the seed can make two texts collide.
_SIZES = {
    "xxh3": 8,
    "md5": 16,
    "blake2b-128": 16,
    "sha1": 20,
    "ripemd160": 20,
    "sha224": 28,
    "sha3_224": 28,
    "sha256": 32,
    "sha3_256": 32,
    "blake2s": 32,
    "sha384": 48,
    "sha3_384": 48,
    "sha512": 64,
    "sha3_512": 64,
    "blake2b": 64,
}


@checked_methods
@dataclass(frozen=True)
class Exact:
    """Digests of the raw text: one changed space gives another digest.

    `algorithm` is sha256 by default; the others are md5, sha1, sha224, sha384, sha512, sha3_224 to sha3_512,
    blake2b, blake2b-128, blake2s, ripemd160 (where OpenSSL still has it) and the plain 64-bit xxh3, which
    alone uses `seed`.

    >>> import neardup as nd
    >>> nd.fingerprints.Exact("xxh3", seed=7).compute(["the ferry", "the ferry "]).digests.shape
    (2, 8)
    """

    algorithm: str = "sha256"
    seed: int | Seed = DEFAULT_SEED

    def __post_init__(self) -> None:
        check_fields(self)
        if self.algorithm not in _SIZES:
            raise ConfigError(f"there is no digest {self.algorithm!r}; choose one of {', '.join(_SIZES)}")
        if self.algorithm == "ripemd160" and self.algorithm not in hashlib.algorithms_available:
            raise ConfigError("this Python's OpenSSL has no RIPEMD-160; choose sha256")
        Seed.of(self.seed)

    @property
    def bits(self) -> int:
        """The size of a digest."""
        return 8 * _SIZES[self.algorithm]

    @property
    def scheme(self) -> str:
        """The scheme of these digests."""
        return self.scheme_of("raw utf-8")

    def scheme_of(self, what: str) -> str:
        """The scheme of digests of something other than the raw text."""
        seed = f" seed={Seed.of(self.seed).identifier}" if self.algorithm == "xxh3" else ""
        return f"digest {self.algorithm}/v1{seed} | {what}"

    def compute(self, texts: Sequence[str | bytes]) -> Digests:
        """One digest for each text, over its UTF-8 bytes. Lone surrogates keep their own bytes, so that no two
        different strings have the same bytes. An empty text has no digest."""
        if isinstance(texts, str | bytes):
            raise DataError("expected a column of texts, got one text; put it in a list: [text]")
        out = np.zeros((len(texts), _SIZES[self.algorithm]), dtype=np.uint8)
        empty = np.zeros(len(texts), dtype=np.bool_)
        for row, text in enumerate(texts):
            if not isinstance(text, str | bytes):
                raise DataError(f"text {row} is {type(text).__name__}, not str or bytes")
            raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text)
            empty[row] = not raw
            if raw:
                out[row] = np.frombuffer(self.digest(raw), dtype=np.uint8)
        return Digests(self.scheme, empty, digests=out)

    def digest(self, raw: bytes) -> bytes:
        """The digest of one text."""
        if self.algorithm == "xxh3":
            return int(_core.hash_bytes(raw, Seed.of(self.seed).value)).to_bytes(8, "big")
        if self.algorithm == "blake2b-128":
            return hashlib.blake2b(raw, digest_size=16, usedforsecurity=False).digest()
        return hashlib.new(self.algorithm, raw, usedforsecurity=False).digest()


@checked
def digest_texts(
    texts: Sequence[str | bytes], algorithm: str = "sha256", seed: int | Seed = DEFAULT_SEED
) -> Digests:
    """The digests of raw texts: short for `Exact(algorithm, seed).compute(texts)`.

    raises  ConfigError for an unknown algorithm, DataError for what is not a text

    >>> import neardup as nd
    >>> nd.fingerprints.digest_texts(["the ferry"]).digests[0].tobytes().hex()[:16]
    'dd7ca2cbf6fff83a'
    """
    return Exact(algorithm, seed).compute(texts)


@checked
def expected_false_merges(documents: int, bits: int) -> float:
    """The expected number of pairs of different documents with the same digest: n (n - 1) / 2 pairs, each with
    probability 2**-bits.

    documents, bits  0 or more documents, digests of 1 or more bits
    raises  ConfigError for fewer

    >>> import neardup as nd
    >>> round(nd.fingerprints.expected_false_merges(1_000_000_000, bits=64), 3)
    0.027
    """
    if documents < 0 or bits < 1:
        raise ConfigError("documents must be 0 or more and bits 1 or more")
    return math.ldexp(documents * (documents - 1) / 2, -bits)
