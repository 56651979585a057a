"""The words of a whole corpus as one file of hashes, 8 bytes each, read in pieces or by random access."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

__all__ = ["Piece", "TokenFile"]

Places = NDArray[np.int64]
# Words, offsets of the documents among them, and the words and documents before this piece.
Piece = tuple[NDArray[np.uint64], Places, int, int]


class TokenFile:
    """Words are appended in batches of whole documents. It needs 8 bytes of memory per document."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "w+b")  # noqa: SIM115
        self._counts: list[Places] = []
        self._map: mmap.mmap | None = None
        self.words = 0

    def add(self, hashes: NDArray[np.uint64], offsets: Places) -> None:
        self._file.write(hashes.data)
        self._counts.append(np.diff(offsets))
        self.words += len(hashes)

    def finish(self) -> Places:
        """Where each document begins, and the last one ends; after this, nothing can be added."""
        self._file.flush()
        counts = np.concatenate([np.empty(0, np.int64), *self._counts])
        self.offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        self._counts = []
        return self.offsets

    def pieces(self, words: int) -> Iterator[Piece]:
        """All documents in order, about `words` words at a time; a longer document is a piece of its own."""
        self._file.seek(0)
        document, last = 0, len(self.offsets) - 1
        while document < last:
            place = int(self.offsets[document])
            until = int(np.searchsorted(self.offsets, place + words, side="right")) - 1
            until = min(max(until, document + 1), last)
            offsets = self.offsets[document : until + 1] - place
            yield np.fromfile(self._file, np.uint64, int(offsets[-1])), offsets, place, document
            document = until

    def mapped(self) -> NDArray[np.uint64]:
        """All words, memory-mapped."""
        if not self.words:
            return np.empty(0, np.uint64)
        if self._map is None:
            self._map = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        return np.frombuffer(self._map, np.uint64)

    def forget(self) -> None:
        """Release the memory of pages that were read; they are read again when needed."""
        if self._map is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def __enter__(self) -> TokenFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._map = None  # unmapped when the last array that uses it is deleted
        self._file.close()
