"""Fingerprints directly from text in one native call: the features of each document are dropped after use."""

from __future__ import annotations

from dataclasses import replace
from typing import overload

import numpy as np

from neardup import _core
from neardup.errors import ConfigError
from neardup.features.normalize import Normalize, normalize
from neardup.features.shingles import Shingles, TextFeatures, Words
from neardup.features.texts import Texts, as_texts, raw_texts
from neardup.fingerprints.exact import Exact
from neardup.fingerprints.fingerprints import Codes, Digests, Fingerprints, Sketches
from neardup.fingerprints.minhash import BitMinHash, MinHash
from neardup.fingerprints.printer import Printer, Reading, read_words
from neardup.fingerprints.simhash import Simhash
from neardup.values.checks import checked
from neardup.values.seeds import DEFAULT_SEED, Seed
from neardup.values.threads import check_threads

__all__ = ["digest", "fingerprint", "read_texts"]


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
@overload
def fingerprint(
    texts: Texts | _core.Texts, features: TextFeatures, fingerprint: Printer, *, threads: int = ...
) -> Fingerprints: ...
@checked
def fingerprint(
    texts: Texts | _core.Texts,
    features: TextFeatures | None = None,
    fingerprint: Printer | None = None,
    *,
    threads: int = 1,
) -> Fingerprints:
    """The same answer as `fingerprint.compute(features.extract(texts))`, without keeping the features in memory.

    By default MinHash with 128 values of word 5-shingles. Ill-formed UTF-8 is read as U+FFFD and counted in `replaced`.

    threads  from 1 up; the result is the same for any number
    returns  Fingerprints, one row for each text
    raises   DataError for a text that is not str, bytes or None

    >>> import neardup as nd
    >>> prints = nd.fingerprint(["a text of some words", ""], nd.Shingles(3), nd.MinHash(128))
    >>> prints.values.shape, prints.empty.tolist()
    ((2, 128), [False, True])
    """
    features = features if features is not None else Shingles()
    fingerprint = fingerprint if fingerprint is not None else MinHash()
    if not isinstance(features, TextFeatures):
        raise ConfigError(
            f"features must be Words, Shingles, Characters or Sentences, not {type(features).__name__}"
        )
    if not isinstance(fingerprint, Printer):
        kind = type(fingerprint).__name__
        raise ConfigError(
            f"a fingerprint of features is MinHash, Simhash or BitMinHash, not {kind}; see nd.fingerprints.digest"
        )
    column = as_texts(texts)
    made: Fingerprints = fingerprint.read(column, features, check_threads(threads), digests=False).prints
    return made


@checked
def digest(
    texts: Texts,
    *,
    normalized: Normalize | None = None,
    algorithm: str | None = None,
    seed: int | Seed = DEFAULT_SEED,
    threads: int = 1,
) -> Digests:
    """Exact fingerprints: SHA-256 of the raw text, or, with `normalized`, a 128-bit digest of the normalised text.

    The latter, "tokens-128", is native, seeded and not cryptographic: a digest of the tokens, as if they were joined
    by single separators. Any algorithm of `Exact` may be given instead, for raw and for normalised text.

    texts    texts or bytes in UTF-8
    seed     of the native digests; the others have none
    threads  from 1 up
    raises   ConfigError for an unknown algorithm, DataError for what is not a text

    >>> import neardup as nd
    >>> prints = nd.fingerprints.digest(["The ferry!", "the ferry"], normalized=nd.Normalize())
    >>> bool((prints.digests[0] == prints.digests[1]).all())
    True
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


def read_texts(
    texts: Texts | _core.Texts,
    features: TextFeatures,
    fingerprint: Printer | None,
    *,
    threads: int = 1,
) -> Reading:
    """Fingerprints, digests and sizes of texts in one native pass. The digests are seeded and not cryptographic. They
    are computed from the tokens before stop words and stems, and can be compared only with the same seed and
    normalisation."""
    column = as_texts(texts)
    check_threads(threads)
    if fingerprint is None:
        return read_words(column, features, threads)
    return fingerprint.read(column, features, threads)
