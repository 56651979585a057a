"""Text straight to fingerprints in one native call: features are made, used and forgotten document by document."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import overload

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError
from neardup.features.normalize import Normalize, normalize
from neardup.features.shingles import Shingles, TextFeatures, Words
from neardup.features.texts import Texts, as_texts, raw_texts
from neardup.fingerprints.exact import Exact
from neardup.fingerprints.fingerprints import Codes, Digests, Sketches
from neardup.fingerprints.keyed import Keys, KeyScheme
from neardup.fingerprints.minhash import BitMinHash, MinHash
from neardup.fingerprints.simhash import Simhash
from neardup.values.seeds import DEFAULT_SEED, Seed
from neardup.values.threads import check_threads

__all__ = ["Printer", "Reading", "digest", "fingerprint", "read_texts"]

# What texts can be given in one pass.
Printer = MinHash | Simhash | BitMinHash | KeyScheme


@overload
def fingerprint(
    texts: Texts | _core.Texts,
    features: TextFeatures = ...,
    fingerprint: MinHash = ...,
    *,
    threads: int = ...,
) -> Sketches: ...
@overload
def fingerprint(
    texts: Texts | _core.Texts,
    features: TextFeatures,
    fingerprint: Simhash | BitMinHash,
    *,
    threads: int = ...,
) -> Codes: ...
def fingerprint(
    texts: Texts | _core.Texts,
    features: TextFeatures | None = None,
    fingerprint: MinHash | Simhash | BitMinHash | None = None,
    *,
    threads: int = 1,
) -> Sketches | Codes:
    """The same answer as `fingerprint.compute(features.extract(texts))`, without keeping the features in memory.

    By default MinHash with 128 values of word 5-shingles. Ill-formed UTF-8 is read as U+FFFD and counted in `replaced`.
    """
    features = features if features is not None else Shingles()
    fingerprint = fingerprint if fingerprint is not None else MinHash()
    if not isinstance(features, TextFeatures):
        raise ConfigError(
            f"features must be Words, Shingles, Characters or Sentences, not {type(features).__name__}"
        )
    if not isinstance(fingerprint, MinHash | Simhash | BitMinHash):
        kind = type(fingerprint).__name__
        raise ConfigError(
            f"a fingerprint of features is MinHash, Simhash or BitMinHash, not {kind}; see nd.fingerprints.digest"
        )
    column = as_texts(texts)
    recipe = features.recipe(column)
    check_threads(threads)
    if isinstance(fingerprint, Simhash):
        columns, (empty, _, replaced, _) = _core.simhash_texts(column, recipe, *fingerprint.native(), threads)
        codes = fingerprint.codes(features.scheme, empty.astype(np.bool_), columns)
        return replace(codes, replaced=replaced)
    sketch = fingerprint.sketch() if isinstance(fingerprint, BitMinHash) else fingerprint
    independent, seed = sketch.permutations == "independent", Seed.of(sketch.seed).value
    values, (empty, _, replaced, _) = _core.minhash_texts(
        column, recipe, sketch.values, seed, independent, threads
    )
    sketches = Sketches(
        sketch.scheme(features.scheme), empty.astype(np.bool_), values=values, replaced=replaced
    )
    return sketches.code(fingerprint.bits) if isinstance(fingerprint, BitMinHash) else sketches


def digest(
    texts: Texts,
    *,
    normalized: Normalize | None = None,
    algorithm: str | None = None,
    seed: int | Seed = DEFAULT_SEED,
    threads: int = 1,
) -> Digests:
    """Exact fingerprints: SHA-256 of the raw text, or, with `normalized`, a 128-bit digest of the normalised one.

    The latter, "tokens-128", is native, seeded and not cryptographic: over the tokens, as if they were joined by single
    separators. Any algorithm of `Exact` may be named instead, for raw and for normalised text.
    """
    if normalized is None:
        return Exact(algorithm or "sha256", seed).compute(raw_texts(texts))
    if not isinstance(normalized, Normalize):
        raise ConfigError(f"normalized={normalized!r}: say how, for example nd.Normalize()")
    if algorithm not in (None, "tokens-128"):
        exact = Exact(algorithm or "", seed)
        return replace(exact.compute(normalize(texts, normalized)), scheme=exact.scheme_of(normalized.scheme))
    if normalized.stopwords or normalized.stem:
        raise ConfigError(
            "tokens-128 takes words as they are; for stop words or stems name another algorithm"
        )
    column = as_texts(texts)
    recipe = Words(normalize=normalized, seed=seed).recipe(column)
    digests, (empty, _, replaced, _) = _core.digest_texts(column, recipe, check_threads(threads))
    scheme = f"digest tokens-128/v1 seed={Seed.of(seed).identifier} | {normalized.scheme}"
    column_of_bytes = digests.astype("<u8").view(np.uint8)
    return Digests(scheme, empty.astype(np.bool_), digests=column_of_bytes, replaced=replaced)


@dataclass(frozen=True)
class Reading:
    """What one pass over texts tells: fingerprints (None if none were asked for), `digests` uint64[n, 2] equal for
    equal tokens, `empty` where there are no features, and how many `tokens` each has."""

    prints: Sketches | Codes | Keys | None
    digests: NDArray[np.uint64]
    empty: NDArray[np.bool_]
    tokens: NDArray[np.int64]
    replaced: int


def read_texts(
    texts: Texts | _core.Texts,
    features: TextFeatures,
    fingerprint: Printer | None,
    *,
    threads: int = 1,
) -> Reading:
    """Fingerprints, digests and sizes of texts in one native pass. The digests are seeded and not cryptographic; they
    are of the tokens before stop words and stems, and equal only within one seed and normalisation."""
    column = as_texts(texts)
    check_threads(threads)
    if isinstance(fingerprint, KeyScheme):
        plain = read_texts(column, features, None, threads=threads)
        keys = fingerprint.compute(features.extract(column, threads=threads), threads)
        return replace(plain, prints=keys, empty=keys.empty)
    sketch = fingerprint.sketch() if isinstance(fingerprint, BitMinHash) else fingerprint
    if isinstance(sketch, Simhash):
        recipe = features.recipe(column)
        columns, told = _core.simhash_texts(column, recipe, *sketch.native(), threads, True)
        empty = told[0].astype(np.bool_)
        return Reading(sketch.codes(features.scheme, empty, columns), told[3], empty, told[1], told[2])
    if sketch is None:
        # The shortest of sketches: the digests come along with any.
        sketch = MinHash(1)
    recipe = features.recipe(column)
    values, told = _core.minhash_texts(
        column,
        recipe,
        sketch.values,
        Seed.of(sketch.seed).value,
        sketch.permutations == "independent",
        threads,
        True,
    )
    empty = told[0].astype(np.bool_)
    sketches = Sketches(sketch.scheme(features.scheme), empty, values=values, replaced=told[2])
    prints = sketches.code(fingerprint.bits) if isinstance(fingerprint, BitMinHash) else sketches
    return Reading(prints if fingerprint is not None else None, told[3], empty, told[1], told[2])
