"""Features of documents, as ragged columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import DataError, SchemeError
from neardup.values.checks import check_fields, check_whole, checked_methods
from neardup.values.seeds import DEFAULT_SEED, Seed

__all__ = ["Features", "combine"]


@checked_methods
@dataclass(frozen=True)
class Features:
    """The features of many documents: row i is `hashes[offsets[i]:offsets[i+1]]` with its weights.

    Inside a row the hashes are unique and ascending, so that two rows can be merged in one pass. A document without
    features is an empty row, and so is one whose weights are all 0. `scheme` says how they were made; rows of different
    schemes are never compared.
    `replaced` counts the ill-formed UTF-8 sequences that were read as U+FFFD.

    >>> import neardup as nd
    >>> features = nd.Shingles(2).extract(["the ferry leaves at eight", ""])
    >>> features.offsets.tolist(), features.weights.tolist()
    ([0, 4, 4], [1.0, 1.0, 1.0, 1.0])
    """

    hashes: NDArray[np.uint64]
    weights: NDArray[np.float32]
    offsets: NDArray[np.int64]
    scheme: str
    replaced: int = 0

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    def of(
        cls,
        rows: Iterable[Mapping[str | bytes | int, float] | Iterable[str | bytes | int]],
        *,
        name: str = "given/v1",
        seed: int | Seed = DEFAULT_SEED,
    ) -> Features:
        """Features of the caller: for each document a mapping from feature to weight, or only features (a repeated
        one counts as often as it occurs). Strings are hashed with the seed, integers are used as hashes; `name`
        describes how the features were made."""
        seed = Seed.of(seed)
        hashes: list[int | bytes] = []
        weights: list[float] = []
        sizes: list[int] = []
        for row in rows:
            if not isinstance(row, Iterable):
                raise DataError(f"rows must be mappings or lists of features, not {row!r:.80}")
            pairs = row.items() if isinstance(row, Mapping) else ((feature, 1.0) for feature in row)
            before = len(hashes)
            for feature, weight in pairs:
                hashes.append(feature.encode() if isinstance(feature, str) else feature)
                weights.append(float(weight))
            sizes.append(len(hashes) - before)
        column = np.zeros(len(hashes), np.uint64)
        texts = _core.Texts()
        texts.add(tuple(x for x in hashes if isinstance(x, bytes)))
        named = np.fromiter((isinstance(x, bytes) for x in hashes), np.bool_, len(hashes))
        column[named] = _core.hash_texts(texts, seed.value, _core.Hash.xxh3)
        numbers = [x for x in hashes if not isinstance(x, bytes)]
        try:
            if any(number < 0 for number in numbers):  # numpy 1 adds 2^64, and only warns
                raise OverflowError
            column[~named] = np.array(numbers, np.uint64)
        except (OverflowError, ValueError, TypeError):
            raise DataError("a feature must be str, bytes or an integer from 0 to 2^64 - 1") from None
        values = np.array(weights, np.float32)
        if not np.isfinite(values).all():
            raise DataError("a weight must be a finite number")
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        scheme = f"{name} xxh3:{seed.identifier}"
        return combine([cls(column, values, offsets, scheme)], [1.0], scheme)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def row(self, index: int) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
        """The hashes and weights of one document, as views."""
        index = check_whole(index, "index", 0, len(self) - 1)
        part = slice(self.offsets[index], self.offsets[index + 1])
        return self.hashes[part], self.weights[part]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many distinct features each document has."""
        return np.diff(self.offsets)

    @property
    def empty(self) -> NDArray[np.bool_]:
        """Which documents have no feature, or none with a weight other than 0: nothing is similar to them."""
        weighty = np.concatenate([[0], np.cumsum(self.weights != 0)])
        return np.asarray(weighty[self.offsets[1:]] == weighty[self.offsets[:-1]])


def combine(parts: Sequence[Features], multipliers: Sequence[float], scheme: str) -> Features:
    """Add rows feature by feature; the weights of each part are multiplied by its multiplier."""
    if len({part.scheme for part in parts}) > 1:
        raise SchemeError(parts[0].scheme, next(p.scheme for p in parts if p.scheme != parts[0].scheme))
    rows = np.concatenate([np.repeat(np.arange(len(part)), part.sizes) for part in parts])
    hashes = np.concatenate([part.hashes for part in parts])
    weights = np.concatenate(
        [part.weights.astype(np.float64) * by for part, by in zip(parts, multipliers, strict=True)]
    )
    order = np.lexsort((hashes, rows))
    rows, hashes, weights = rows[order], hashes[order], weights[order]
    first = np.ones(len(rows), np.bool_)
    first[1:] = (rows[1:] != rows[:-1]) | (hashes[1:] != hashes[:-1])
    starts = np.flatnonzero(first)
    sums = np.add.reduceat(weights, starts) if len(starts) else weights
    offsets = np.searchsorted(rows[starts], np.arange(len(parts[0]) + 1)).astype(np.int64)
    replaced = sum(part.replaced for part in parts)
    return Features(hashes[starts], sums.astype(np.float32), offsets, scheme, replaced)
