"""Places of documents: the pieces of all files one after another, line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["PlaceSet", "begins_of", "checksums_of", "file_begins", "places_of"]

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class PlaceSet:
    """A set of places: where each piece begins, and one bit for each place (None: all places)."""

    begins: dict[tuple[int, int], int]
    bits: NDArray[np.uint8] | None
    checksums: dict[tuple[int, int], int] = field(
        default_factory=dict
    )  # of the pieces as they were first read

    def contains(self, places: Rows) -> NDArray[np.bool_]:
        if self.bits is None:
            return np.ones(len(places), np.bool_)
        byte = self.bits[places >> 3]
        return np.asarray((byte >> (places & 7).astype(np.uint8)) & 1, np.bool_)

    def places(self, documents: pa.Table) -> Rows:
        """The places of documents, by their columns file, start and line."""
        return places_of(documents, self.begins)


def begins_of(pieces: Sequence[tuple[int, int, int]]) -> dict[tuple[int, int], int]:
    """The place at which each piece (file, first byte, lines) begins, by file and first byte."""
    ends = np.cumsum([0, *(lines for _, _, lines in pieces)]).tolist()
    return {(file, start): at for (file, start, _), at in zip(pieces, ends, strict=False)}


def places_of(documents: pa.Table, begins: Mapping[tuple[int, int], int]) -> Rows:
    """The places of documents (file, start, line), where each piece begins at one of `begins`."""
    file, start, line = (np.asarray(documents.column(name), np.int64) for name in ("file", "start", "line"))
    if not len(line):
        return line
    change = np.flatnonzero((file[1:] != file[:-1]) | (start[1:] != start[:-1])) + 1
    ends = [*change.tolist(), len(line)]
    begin = np.empty(len(line), np.int64)
    for a, b in zip([0, *change.tolist()], ends, strict=True):
        begin[a:b] = begins[int(file[a]), int(start[a])]
    return begin + line - 1


def file_begins(begins: Mapping[tuple[int, int], int]) -> dict[int, int]:
    """The place at which each file begins."""
    found: dict[int, int] = {}
    for (file, _), at in begins.items():
        found[file] = min(at, found.get(file, at))
    return found


def checksums_of(facts: Mapping[str, Any]) -> dict[tuple[int, int], int]:
    """The checksum of each piece, by file and first byte."""
    pairs = zip(facts["pieces"], facts["checksums"], strict=False)
    return {(file, start): checksum for (file, start, _), checksum in pairs}
