"""Documents of the same words: found by digest, and called equal only after their tokens were compared byte by byte."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.features.shingles import TextFeatures
from neardup.features.texts import as_texts, utf8_list
from neardup.pipeline.corpus import Corpus
from neardup.values.distinct import distinct

__all__ = ["confirmed", "first_rows", "same_words", "word_digests"]

Rows = NDArray[np.int64]


def first_rows(digests: NDArray[np.uint64], out: NDArray[np.bool_]) -> Rows:
    """For each row the first one with the same digest; the row itself if it takes no part."""
    first = np.arange(len(digests))
    # Rows without words have digests that mean nothing, and must not represent others.
    rows = _repeated(digests[:, 0], ~out)
    order = rows[np.lexsort((digests[rows, 1], digests[rows, 0]))]  # stable, so rows ascend among equals
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (digests[order[1:]] != digests[order[:-1]]).any(axis=1)
    first[order] = order[np.maximum.accumulate(np.where(fresh, np.arange(len(order)), 0))]
    return first


def _repeated(numbers: NDArray[np.uint64], some: NDArray[np.bool_]) -> Rows:
    """Those rows whose number occurs more than once, ascending: usually few, and found without a stable sort."""
    order = np.argsort(numbers)
    same = np.diff(numbers[order]) == 0
    repeated = np.zeros(len(numbers), np.bool_)
    repeated[order[1:][same]] = True
    repeated[order[:-1][same]] = True
    return np.flatnonzero(repeated & some)


def confirmed(
    first: Rows, corpus: Corpus, features: TextFeatures, most_tokens: int, threads: int = 1
) -> tuple[Rows, Rows]:
    """For each row, the first row with exactly its words, among those that have its digest; and the first row with
    exactly its text, byte by byte."""
    first = first.copy()
    later = np.flatnonzero(first != np.arange(len(first)))
    digests: dict[int, bytes] = {}  # of texts that are not those of their first rows
    while len(later):
        same = _same_as_first(later, first, corpus, features, most_tokens, threads, digests)
        # Rows that share the digest but not the words are compared with the first one of them in the next round.
        later = later[~same]
        later = later[np.lexsort((later, first[later]))]
        fresh = np.ones(len(later), np.bool_)
        fresh[1:] = first[later[1:]] != first[later[:-1]]
        first[later] = later[np.maximum.accumulate(np.where(fresh, np.arange(len(later)), 0))]
        later = later[~fresh]
    return first, _same_texts(first, digests)


def _same_texts(first: Rows, digests: dict[int, bytes]) -> Rows:
    """For each row the first one with its text: that of its words, or the first one with the same digest."""
    texts = first.copy()
    seen: dict[tuple[int, bytes], int] = {}
    for row in sorted(digests):
        if first[row] != row:
            texts[row] = seen.setdefault((int(first[row]), digests[row]), row)
    return texts


def _same_as_first(
    later: Rows,
    first: Rows,
    corpus: Corpus,
    features: TextFeatures,
    most_tokens: int,
    threads: int,
    digests: dict[int, bytes],
) -> NDArray[np.bool_]:
    """Whether rows have the words of their first rows. Texts of so many tokens are held at a time. The digests of texts
    that differ from those of their first rows are added to `digests`."""
    order = np.argsort(first[later], kind="stable")
    part = np.cumsum(corpus.tokens[later[order]]) // max(1, most_tokens)
    same = np.empty(len(later), np.bool_)
    for some in np.split(order, np.flatnonzero(np.diff(part)) + 1):
        rows = later[some]
        both = distinct(np.concatenate([rows, first[rows]]))
        corpus.expect(both)
        texts = _core.Texts()
        for shard, local in corpus.by_shard(both):
            texts.add_texts(shard.texts(local))
        left, right = np.searchsorted(both, rows), np.searchsorted(both, first[rows])
        equal = texts.same(left, right) != 0
        same[some] = equal
        for row in rows[equal].tolist():
            digests.pop(row, None)
        apart = np.flatnonzero(~equal)
        if not len(apart):
            continue
        one, other = texts.take(left[apart]), texts.take(right[apart])
        same[some[apart]] = _same_tokens(one, other, features, threads)
        for row, text in zip(rows[apart].tolist(), utf8_list(one), strict=True):
            digests[row] = hashlib.blake2b(text, digest_size=32).digest()
    return same


def same_words(
    left: list[bytes], right: list[bytes], features: TextFeatures, threads: int = 1
) -> NDArray[np.bool_]:
    """Whether each text has exactly the words of the other, as the features normalise them."""
    same = np.array([one == other for one, other in zip(left, right, strict=True)], np.bool_)
    apart = np.flatnonzero(~same)
    if len(apart):
        one, other = (as_texts([side[at] for at in apart.tolist()]) for side in (left, right))
        same[apart] = _same_tokens(one, other, features, threads)
    return same


def _same_tokens(
    one: _core.Texts, other: _core.Texts, features: TextFeatures, threads: int
) -> NDArray[np.bool_]:
    return np.asarray(_core.same_tokens(one, other, _recipe(features, one), threads) != 0)


def word_digests(texts: _core.Texts, features: TextFeatures) -> list[bytes]:
    """A cryptographic digest of each text's words, for workers that have only one of two texts."""
    words = _core.token_bytes(texts, _recipe(features, texts))
    return [hashlib.blake2b(one, digest_size=32).digest() for one in words]


def _recipe(features: TextFeatures, texts: _core.Texts) -> _core.Recipe:
    """The words as they were digested: before stop words and stems."""
    return replace(features.unweighted(), normalize=features.normalize.without_words()).recipe(texts)
