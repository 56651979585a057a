"""Dense vectors, such as embeddings, as features: each dimension is one feature, and its number is the weight.

So a vector has the Gaussian projections of simhash (Sood and Loguinov, equation 4), with margins, and its cosine with
another one, by the same exact code that texts have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError, DataError
from neardup.features.features import Features
from neardup.values.checks import check_fields, checked_methods
from neardup.values.seeds import DEFAULT_SEED, Seed

__all__ = ["MOST_DIMENSIONS", "Vectors"]

MOST_DIMENSIONS = 65_536

Matrix = NDArray[np.float32]


@checked_methods
@dataclass(frozen=True)
class Vectors:
    """The vectors of a column, which are compared by their angle in the place of words.

    A vector is a list of finite numbers, not all of them 0, as many in every document; numbers are rounded to float32.
    `seed` is that of the random projections.

    >>> import numpy as np
    >>> import neardup as nd
    >>> codes = nd.Simhash(64, gaussian=True).compute(nd.Vectors().extract(np.eye(3)))
    >>> codes.codes.shape
    (3, 1)
    """

    column: str = "vector"
    seed: int | Seed = DEFAULT_SEED

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.column:
            raise ConfigError("vectors are in a column: give its name")

    def scheme(self, dimensions: int) -> str:
        """What decides the features of vectors with so many dimensions."""
        return f"vectors{dimensions}/v1 xxh3:{Seed.of(self.seed).identifier}"

    def matrix(self, values: Sequence[Any], dimensions: int | None = None) -> tuple[Matrix, dict[int, str]]:
        """The vectors among some values as float32[n, dimensions], and why each of the others is none, by its place.
        The first vector gives the dimensions, unless they are known."""
        rows: list[NDArray[np.float32]] = []
        reasons: dict[int, str] = {}
        for place, value in enumerate(values):
            found = _vector(value)
            if isinstance(found, str):
                reasons[place] = found
                continue
            dimensions = len(found) if dimensions is None else dimensions
            if len(found) != dimensions:
                reasons[place] = f"a vector of {len(found):,} numbers, where the first one has {dimensions:,}"
                continue
            rows.append(found)
        return np.array(rows, np.float32).reshape(len(rows), dimensions or 0), reasons

    def extract(self, vectors: Any) -> Features:
        """The features of the rows of a matrix [n, dimensions], in the order of the rows; DataError, with its row, if
        one is no vector."""
        given = np.asarray(vectors)
        if given.ndim != 2 or given.dtype.kind not in "fiu":
            raise DataError(
                f"vectors are a matrix of numbers [n, dimensions], not {given.dtype}{list(given.shape)}"
            )
        if not 1 <= given.shape[1] <= MOST_DIMENSIONS:
            raise DataError(f"vectors have 1 to {MOST_DIMENSIONS:,} dimensions, not {given.shape[1]:,}")
        with np.errstate(over="ignore"):
            matrix = given.astype(np.float32)
        wrong = ~np.isfinite(matrix).all(axis=1) | ~matrix.any(axis=1)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise DataError(f"row {row:,} is not a vector: {_vector(given[row])}")
        order, hashes = self._dimensions(matrix.shape[1])
        count, width = matrix.shape
        return Features(
            np.tile(hashes, count),
            np.ascontiguousarray(matrix[:, order]).ravel() + np.float32(0),
            np.arange(count + 1, dtype=np.int64) * width,
            self.scheme(width),
        )

    def _dimensions(self, width: int) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
        """The dimensions in the order of their hashes, and these hashes."""
        texts = _core.Texts()
        texts.add(tuple(b"dimension %d" % at for at in range(width)))
        hashes = _core.hash_texts(texts, Seed.of(self.seed).value, _core.Hash.xxh3)
        order = np.argsort(hashes)
        return order, hashes[order]


def _vector(value: Any) -> NDArray[np.float32] | str:
    """A vector, or why it is none."""
    if value is None:
        return "there is none"
    try:
        numbers = np.asarray(value)
        if numbers.ndim != 1 or numbers.dtype.kind not in "fiu":
            raise ValueError
    except (ValueError, TypeError, OverflowError):
        return f"not a list of numbers: {str(value)[:60]}"
    if not 1 <= len(numbers) <= MOST_DIMENSIONS:
        return f"a vector has 1 to {MOST_DIMENSIONS:,} numbers, not {len(numbers):,}"
    with np.errstate(over="ignore"):
        made = numbers.astype(np.float32)
    if not np.isfinite(made).all():
        at = int(np.flatnonzero(~np.isfinite(made))[0])
        what = numbers[at] if not np.isfinite(numbers[at]) else f"{numbers[at]}, too large for float32"
        return f"number {at:,} of its vector is {what}"
    if not made.any():
        return "all numbers of its vector are 0"
    return made + np.float32(0)  # no negative zeros: they would make equal vectors different
