"""Text straight to fingerprints in one native call: features are made, used and forgotten document by document."""

from __future__ import annotations

from typing import overload

import numpy as np

from neardup import _core
from neardup.documents import Document
from neardup.errors import ConfigError
from neardup.features.extract import Shingles, TextFeatures, Words
from neardup.features.normalize import Normalize, normalize
from neardup.features.texts import Texts, as_texts
from neardup.fingerprints.base import Codes, Digests, Sketches
from neardup.fingerprints.exact import Exact
from neardup.fingerprints.minhash import BitMinHash, MinHash
from neardup.fingerprints.simhash import Simhash
from neardup.seeds import DEFAULT_SEED, Seed

__all__ = ["digest", "fingerprint"]


@overload
def fingerprint(
    texts: Texts, features: TextFeatures = ..., fingerprint: MinHash = ..., *, threads: int = ...
) -> Sketches: ...
@overload
def fingerprint(
    texts: Texts, features: TextFeatures, fingerprint: Simhash | BitMinHash, *, threads: int = ...
) -> Codes: ...
def fingerprint(
    texts: Texts,
    features: TextFeatures | None = None,
    fingerprint: MinHash | Simhash | BitMinHash | None = None,
    *,
    threads: int = 1,
) -> Sketches | Codes:
    """The same answer as `fingerprint.compute(features.extract(texts))`, without keeping the features in memory.

    By default MinHash with 128 values of word 5-shingles.
    """
    features = features if features is not None else Shingles()
    fingerprint = fingerprint if fingerprint is not None else MinHash()
    column = as_texts(texts)
    recipe = features.recipe(column)
    if isinstance(fingerprint, Simhash):
        columns, (empty, _, _) = _core.simhash_texts(column, recipe, *fingerprint.native(), threads)
        return fingerprint.codes(features.scheme, empty.astype(np.bool_), columns)
    sketch = fingerprint.sketch() if isinstance(fingerprint, BitMinHash) else fingerprint
    independent, seed = sketch.permutations == "independent", Seed.of(sketch.seed).value
    values, (empty, _, _) = _core.minhash_texts(column, recipe, sketch.values, seed, independent, threads)
    sketches = Sketches(sketch.scheme(features.scheme), empty.astype(np.bool_), values=values)
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
        raw = [text.text if isinstance(text, Document) else text or "" for text in texts]
        return Exact(algorithm or "sha256", seed).compute(raw)
    if algorithm not in (None, "tokens-128"):
        exact = Exact(algorithm or "", seed)
        made = exact.compute(normalize(texts, normalized))
        return Digests(f"digest {algorithm}/v1 | {normalized.scheme}", made.empty, digests=made.digests)
    if normalized.stopwords or normalized.stem:
        raise ConfigError(
            "tokens-128 takes words as they are; for stop words or stems name another algorithm"
        )
    column = as_texts(texts)
    recipe = Words(normalize=normalized, seed=seed).recipe(column)
    digests, (empty, _, _) = _core.digest_texts(column, recipe, threads)
    scheme = f"digest tokens-128/v1 seed={Seed.of(seed).identifier} | {normalized.scheme}"
    return Digests(scheme, empty.astype(np.bool_), digests=digests.astype("<u8").view(np.uint8))
