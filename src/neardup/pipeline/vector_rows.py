"""The vectors of documents on their way to a shard, and their part in a run in the place of words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.features.features import Features
from neardup.features.vectors import Vectors
from neardup.fingerprints.fingerprints import concatenate
from neardup.fingerprints.printer import Printer, Reading
from neardup.pipeline.corpus import Corpus
from neardup.pipeline.shards import Shard

__all__ = ["COLUMN", "Dimensions", "VectorRows", "read_vectors", "same_vectors", "vector_features"]

COLUMN = "vectors"
"""The column of a shard's fingerprints that holds the vectors, float32[n, dimensions]."""
_TOGETHER = 1 << 20  # numbers of vectors whose features are held at a time

Rows = NDArray[np.int64]
Matrix = NDArray[np.float32]


@dataclass
class Dimensions:
    """How many numbers each vector of a run has: as many as the first one, None before it is known."""

    count: int | None = None


@dataclass
class VectorRows:
    """The vectors of documents gathered for one shard."""

    vectors: Vectors
    dimensions: Dimensions
    parts: list[Matrix] = field(default_factory=list)

    def add(self, metas: Sequence[Mapping[str, Any]]) -> dict[int, str]:
        """The vectors of more documents, from their fields; gives the reason for each one that has none, by place."""
        values = [meta.get(self.vectors.column) for meta in metas]
        made, reasons = self.vectors.matrix(values, self.dimensions.count)
        if len(made):
            self.dimensions.count = made.shape[1]
            self.parts.append(made)
        return reasons

    @property
    def bytes(self) -> int:
        """Their size."""
        return sum(part.nbytes for part in self.parts)

    def matrix(self) -> Matrix:
        """All of them, float32[n, dimensions]."""
        return np.concatenate([np.empty((0, self.dimensions.count or 0), np.float32), *self.parts])


def read_vectors(matrix: Matrix, vectors: Vectors, printer: Printer, threads: int = 1) -> Reading:
    """What a pass over texts gives, of vectors: fingerprints, digests of the numbers, and the dimensions as tokens."""
    width = matrix.shape[1]
    prints = [printer.compute(vectors.extract(part), threads=threads) for part in _parts(matrix) if len(part)]
    digests = b"".join(
        blake2b(row.tobytes(), digest_size=16).digest() for row in matrix.astype("<f4", copy=False)
    )
    return Reading(
        concatenate(prints) if prints else printer.blank,
        np.frombuffer(digests, "<u8").reshape(-1, 2).astype(np.uint64),
        np.zeros(len(matrix), np.bool_),
        np.full(len(matrix), width, np.int64),
        0,
    )


def _parts(matrix: Matrix) -> Iterator[Matrix]:
    step = max(1, _TOGETHER // max(matrix.shape[1], 1))
    for start in range(0, len(matrix), step):
        yield matrix[start : start + step]


def vector_features(vectors: Vectors, shard: Shard, rows: Rows) -> Features:
    """The features of the vectors of some rows of a shard, which ascend."""
    return vectors.extract(shard.print_rows(COLUMN, rows))


def same_vectors(first: Rows, corpus: Corpus) -> tuple[Rows, Rows]:
    """For each row the first one with exactly its numbers, among those that have its digest; and the first one that
    also has exactly its text. The digest is cryptographic, so that the numbers of a digest are the same."""
    texts = first.copy()
    later = np.flatnonzero(first != np.arange(len(first)))
    if not len(later):
        return first, texts
    both = np.unique(np.concatenate([later, first[later]]))
    held = [
        blake2b(text, digest_size=32).digest()
        for s, local in corpus.by_shard(both)
        for text in s.text_bytes(local)
    ]
    seen: dict[tuple[int, bytes], int] = {}
    for row, digest in zip(both.tolist(), held, strict=True):
        texts[row] = seen.setdefault((int(first[row]), digest), row)
    return first, texts
