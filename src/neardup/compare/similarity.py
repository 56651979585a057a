"""Similarities and distances of pairs of documents: exact from features, estimated from fingerprints, and the
models that connect the two.

Pairs are two columns of row numbers, `left` and `right`; with `other`, right rows are those of the other
table. Every function takes many pairs in one call. Two rows without features are never similar: their
similarity is 0, and their distance is the largest possible.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neardup import _core
from neardup.errors import ConfigError, DataError, MissingExtra, SchemeError
from neardup.features import Features
from neardup.fingerprints import Codes, Fingerprints, PackedSketches, Sketches, same_scheme
from neardup.values.checks import check_whole, checked
from neardup.values.threads import check_threads

__all__ = [
    "angle",
    "bit_similarity",
    "containment",
    "cosine",
    "cosine_from_distance",
    "edit_distance",
    "edit_similarity",
    "euclidean",
    "expected_distance",
    "hamming",
    "jaccard",
    "sketch_curve",
    "sketch_similarity",
    "within_radius",
]

Kind = TypeVar("Kind", bound=Fingerprints)
Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
_MOST_VALUES = 1 << 20


@checked
def jaccard(
    features: Features, left: ArrayLike, right: ArrayLike, other: Features | None = None, threads: int = 1
) -> Floats:
    """Shared features over all features of each pair, 0 to 1; weights are ignored."""
    shared, left_sizes, right_sizes = _overlaps(features, left, right, other, threads)
    return _share(shared, left_sizes + right_sizes - shared)


@checked
def containment(
    features: Features,
    left: ArrayLike,
    right: ArrayLike,
    other: Features | None = None,
    of: Literal["left", "right", "smaller"] = "left",
    threads: int = 1,
) -> Floats:
    """Shared features over those of one side, 0 to 1: 1 when the other side has all of them."""
    shared, left_sizes, right_sizes = _overlaps(features, left, right, other, threads)
    if of == "left":
        return _share(shared, left_sizes)
    if of == "right":
        return _share(shared, right_sizes)
    if of == "smaller":
        return _share(shared, np.minimum(left_sizes, right_sizes))
    raise ConfigError(f'containment is of "left", "right" or "smaller", not {of!r}')


@checked
def cosine(
    features: Features, left: ArrayLike, right: ArrayLike, other: Features | None = None, threads: int = 1
) -> Floats:
    """Cosine of the angle between weight vectors: 0 to 1 for positive weights, -1 to 1 in general."""
    dot, left_square, right_square, _ = _products(features, left, right, other, threads)
    lengths = np.sqrt(left_square * right_square)
    ratio = np.divide(dot, lengths, out=np.zeros_like(dot), where=lengths > 0)
    return np.clip(ratio, -1.0, 1.0)


@checked
def angle(
    features: Features, left: ArrayLike, right: ArrayLike, other: Features | None = None, threads: int = 1
) -> Floats:
    """Angle between weight vectors in radians, 0 to pi, exact to about 1e-8; a right angle if a side has
    no features."""
    angles: Floats = np.arccos(cosine(features, left, right, other, threads))
    return angles


@checked
def euclidean(
    features: Features, left: ArrayLike, right: ArrayLike, other: Features | None = None, threads: int = 1
) -> Floats:
    """Euclidean distance of weight vectors; infinite if both sides are empty, because those are never similar."""
    table = _same_features(features, other)
    *_, square = _products(features, left, right, other, threads)
    both_empty = (features.sizes[np.asarray(left)] == 0) & (table.sizes[np.asarray(right)] == 0)
    return np.where(both_empty, np.inf, np.sqrt(square))


@checked
def hamming(
    codes: Codes, left: ArrayLike, right: ArrayLike, other: Codes | None = None, threads: int = 1
) -> NDArray[np.int32]:
    """Differing bits of each pair; bits + 1, beyond any radius, if a side has no code."""
    table = _same_kind(codes, other, "codes", Codes)
    rows = _pair_rows(left, right, len(codes), len(table))
    distances = _core.hamming_distances(codes.codes, table.codes, *rows, check_threads(threads))
    distances[codes.empty[rows[0]] | table.empty[rows[1]]] = codes.bits + 1
    return distances


@checked
def sketch_similarity(
    sketches: Sketches | PackedSketches,
    left: ArrayLike,
    right: ArrayLike,
    other: Sketches | PackedSketches | None = None,
    threads: int = 1,
) -> Floats:
    """Unbiased estimate of Jaccard similarity from sketches.

    For whole values it is the share of equal places, with standard error sqrt(J (1 - J) / k). Values cut to b
    bits also agree by chance, once in 2**b; that share is taken off, so that a single estimate may be below
    0.
    """
    table = _same_kind(sketches, other, "sketches", Sketches, PackedSketches)
    rows = _pair_rows(left, right, len(sketches), len(table))
    if isinstance(sketches, PackedSketches) and isinstance(table, PackedSketches):
        equal = _core.equal_packed(
            sketches.packed, table.packed, sketches.values, sketches.bits, *rows, check_threads(threads)
        )
        chance = 2.0**-sketches.bits
        estimate = (equal / sketches.values - chance) / (1 - chance)
    elif isinstance(sketches, Sketches) and isinstance(table, Sketches):
        equal = _core.equal_values(sketches.values, table.values, *rows, check_threads(threads))
        estimate = equal / sketches.values.shape[1]
    else:
        raise SchemeError(sketches.scheme, table.scheme)
    estimate[sketches.empty[rows[0]] | table.empty[rows[1]]] = 0.0
    return np.asarray(estimate, dtype=np.float64)


@checked
def bit_similarity(
    codes: Codes, left: ArrayLike, right: ArrayLike, other: Codes | None = None, threads: int = 1
) -> Floats:
    """Unbiased estimate of Jaccard similarity from codes of 1-bit sketches: 1 - 2 H / bits, possibly below
    0."""
    _check_kind(codes, "codes", Codes)
    if not codes.scheme.startswith("bits"):
        raise ConfigError("only codes of 1-bit sketches estimate Jaccard similarity")
    distances = hamming(codes, left, right, other, threads)
    return np.where(distances > codes.bits, 0.0, 1.0 - 2.0 * distances / codes.bits)


@checked
def edit_distance(left: Sequence[str], right: Sequence[str], threads: int = 1) -> NDArray[np.int64]:
    """Fewest insertions and deletions of characters that turn each left text into its right one."""
    _check_texts(left, right)
    distances = _indel(left, right, "distance", np.int64, threads)
    return np.asarray(distances, dtype=np.int64)


@checked
def edit_similarity(left: Sequence[str], right: Sequence[str], threads: int = 1) -> Floats:
    """1 - edit distance / (sum of lengths), 0 to 1, insertions and deletions only.

    Time grows with the product of the lengths, so use it to check few pairs. Needs the extra `edit`.
    """
    _check_texts(left, right)
    similarities = np.asarray(_indel(left, right, "normalized_similarity", np.float64, threads))
    both_empty = np.fromiter((not a and not b for a, b in zip(left, right, strict=True)), np.bool_, len(left))
    return np.where(both_empty, 0.0, similarities)


def _check_texts(left: Sequence[str], right: Sequence[str]) -> None:
    for name, texts in (("left", left), ("right", right)):
        wrong = next((text for text in texts if not isinstance(text, str)), None)
        if isinstance(texts, str) or wrong is not None:
            raise DataError(
                f"{name} must be a list of texts, not {(texts if wrong is None else wrong)!r:.60}"
            )


@checked
def sketch_curve(similarity: ArrayLike, values: int, needed: int) -> Floats:
    """P(at least `needed` of `values` places agree) for documents of the given Jaccard similarity: how a
    sketch threshold turns into a soft threshold on similarity."""
    if not 1 <= values <= _MOST_VALUES or not 0 <= needed <= values:
        raise ConfigError(f"values must be from 1 to {_MOST_VALUES:,}, and needed from 0 to values")
    return _at_least(_numbers(similarity, "similarity", 0, 1), values, needed)


@checked
def expected_distance(cosine: ArrayLike, bits: int = 64) -> Floats:
    """Mean Hamming distance of simhash codes of documents at the given cosine: bits * angle / pi.

    Exact for the Gaussian variant. The linear form (1 - cosine) / 2 holds only near a right angle.
    """
    check_whole(bits, "bits", 1, _MOST_VALUES)
    return bits * np.arccos(_numbers(cosine, "cosine", -1, 1)) / np.pi


@checked
def within_radius(cosine: ArrayLike, radius: int, bits: int = 64) -> Floats:
    """P(Hamming distance <= radius) at the given cosine: each bit differs with probability angle / pi."""
    check_whole(bits, "bits", 1, _MOST_VALUES)
    check_whole(radius, "radius", 0, bits)
    return _at_least(1 - np.arccos(_numbers(cosine, "cosine", -1, 1)) / np.pi, bits, bits - radius)


@checked
def cosine_from_distance(distance: ArrayLike, bits: int = 64) -> Floats:
    """The cosine at which the given Hamming distance is expected: cos(pi * distance / bits)."""
    check_whole(bits, "bits", 1, _MOST_VALUES)
    return np.cos(np.pi * _numbers(distance, "distance", 0, bits) / bits)


def _numbers(given: ArrayLike, name: str, least: int, most: int) -> Floats:
    """A column of numbers between two bounds; DataError with the name of the argument otherwise."""
    try:
        column = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{name} must be numbers from {least} to {most}, not {given!r:.60}") from None
    if not np.all((column >= least) & (column <= most)):
        raise DataError(f"{name} must be from {least} to {most}")
    return column


def _at_least(share: Floats, count: int, needed: int) -> Floats:
    # All terms are positive and computed by logarithms, so that tails as small as 1e-300 are still precise.
    places = np.arange(needed, count + 1)
    ways = np.array([math.log(math.comb(count, place)) for place in range(needed, count + 1)])
    inner = np.clip(share, 1e-320, None)[..., None]
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        misses = np.where(places == count, 0.0, (count - places) * np.log1p(-inner))
        terms = np.exp(ways + places * np.log(inner) + misses)
    total = np.minimum(terms.sum(axis=-1), 1.0)
    return np.asarray(np.where(share <= 0, float(needed == 0), total))


def _share(part: Rows, whole: Rows) -> Floats:
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


def _pair_rows(left: ArrayLike, right: ArrayLike, left_count: int, right_count: int) -> tuple[Rows, Rows]:
    columns = []
    for rows, count in ((left, left_count), (right, right_count)):
        given = np.asarray(rows)
        if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
            raise DataError("rows are a one-dimensional column of whole numbers")
        if given.size and (given.min() < 0 or given.max() >= count):
            raise DataError(f"a pair names a row outside of 0 to {count - 1}")
        columns.append(np.ascontiguousarray(given, dtype=np.int64))
    if len(columns[0]) != len(columns[1]):
        raise DataError("left and right must have the same number of rows")
    return columns[0], columns[1]


def _check_kind(given: object, expected: str, *kinds: type) -> None:
    if not isinstance(given, kinds):
        raise DataError(f"expected {expected}, got {type(given).__name__}")


def _same_features(features: Features, other: Features | None) -> Features:
    for given in (features, features if other is None else other):
        _check_kind(given, "features", Features)
    if other is not None and other.scheme != features.scheme:
        raise SchemeError(features.scheme, other.scheme)
    return features if other is None else other


def _same_kind(prints: Kind, other: Kind | None, expected: str, *kinds: type) -> Kind:
    _check_kind(prints, expected, *kinds)
    if other is None:
        return prints
    _check_kind(other, expected, *kinds)
    same_scheme(prints, other)
    return other


def _overlaps(
    features: Features, left: ArrayLike, right: ArrayLike, other: Features | None, threads: int
) -> tuple[Rows, Rows, Rows]:
    table = _same_features(features, other)
    rows = _pair_rows(left, right, len(features), len(table))
    shared = _core.shared_features(
        features.hashes, features.offsets, table.hashes, table.offsets, *rows, check_threads(threads)
    )
    return shared, features.sizes[rows[0]], table.sizes[rows[1]]


def _products(
    features: Features, left: ArrayLike, right: ArrayLike, other: Features | None, threads: int
) -> tuple[Floats, Floats, Floats, Floats]:
    table = _same_features(features, other)
    rows = _pair_rows(left, right, len(features), len(table))
    return _core.weighted_products(
        features.hashes,
        features.weights,
        features.offsets,
        table.hashes,
        table.weights,
        table.offsets,
        *rows,
        check_threads(threads),
    )


def _indel(left: Sequence[str], right: Sequence[str], measure: str, dtype: Any, threads: int) -> Any:
    try:
        from rapidfuzz.distance import Indel
        from rapidfuzz.process import cpdist
    except ImportError:
        raise MissingExtra("edit similarity", "edit") from None
    threads = check_threads(threads)
    if len(left) != len(right):
        raise DataError("left and right must have the same number of texts")
    if not left:
        return np.zeros(0, dtype=dtype)
    return cpdist(left, right, scorer=getattr(Indel, measure), dtype=dtype, workers=threads)
