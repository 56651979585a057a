"""Texts that are not copied out of the files they were read from: where they are, and how they are read again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import DataError
from neardup.readers.text_block import TextBlock
from neardup.values.distinct import distinct

__all__ = ["TextPlaces", "read_ahead"]

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class TextPlaces:
    """The texts of a shard in files of a user: text i is a JSON string from byte `begins[i]` on, in `raws[i]` bytes, or
    is stored in the shard if `begins[i]` is -1. `files` has path, size and time of last change of each file of the
    shard; None for files whose texts are all stored."""

    begins: Rows
    raws: Rows
    files: Sequence[tuple[str, int, int] | None] = field(default_factory=list)

    @classmethod
    def of(cls, blocks: Sequence[TextBlock]) -> TextPlaces:
        """The places of the texts of some blocks."""
        files: dict[str, tuple[str, int, int] | None] = {}
        begins, raws = [], []
        for block in blocks:
            place = block.place
            files.setdefault(block.file, None)
            if place is None:
                begins.append(np.full(len(block), -1, np.int64))
                raws.append(np.zeros(len(block), np.int64))
                continue
            files[block.file] = (place.path, place.size, place.changed)
            begins.append(place.begins)
            raws.append(place.raws)
        return cls(np.concatenate(begins), np.concatenate(raws), list(files.values()))

    def ranges(self, rows: Rows, files: NDArray[np.int32]) -> Iterator[tuple[str, Rows, Rows]]:
        """The files that hold the texts of some rows: where these begin in each, and how many bytes they have there."""
        placed = rows[self.begins[rows] >= 0]
        for number in distinct(files[placed]).tolist():
            here = placed[files[placed] == number]
            named = self.files[number]
            assert named is not None, "a text that is in a file has one"
            yield named[0], self.begins[here], self.raws[here]

    def read(
        self,
        rows: Rows,
        files: NDArray[np.int32],
        sizes: Rows,
        stored: Callable[[Rows], list[bytes]],
        threads: int = 1,
    ) -> tuple[NDArray[np.uint8], Rows, Rows]:
        """The texts of ascending rows: a buffer, and where each begins and ends in it. DataError if a file is no longer
        what was read."""
        begins, sizes = np.empty(len(rows), np.int64), sizes[rows].astype(np.int64)
        parts: list[NDArray[np.uint8]] = []
        used = 0
        own = self.begins[rows] < 0
        if own.any():
            here = np.flatnonzero(own)
            data = np.frombuffer(b"".join(stored(rows[here])), np.uint8)
            begins[here] = used + np.cumsum(sizes[here]) - sizes[here]
            parts.append(data)
            used += len(data)
        for number in distinct(files[rows[~own]]).tolist():
            here = np.flatnonzero(~own & (files[rows] == number))
            named = self.files[number]
            assert named is not None, "a text that is in a file has one"
            data = self._unescaped(named, rows[here], sizes[here], threads)
            begins[here] = used + np.cumsum(sizes[here]) - sizes[here]
            parts.append(data)
            used += len(data)
        together = parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.uint8), *parts])
        return together, begins, begins + sizes

    def _unescaped(
        self, file: tuple[str, int, int], rows: Rows, sizes: Rows, threads: int
    ) -> NDArray[np.uint8]:
        """The texts of rows of one file, one after another."""
        path, size, changed = file
        begins, raws = self.begins[rows], self.raws[rows]
        if len(begins) and (begins.min() < 0 or raws.min() < 0 or int((begins + raws).max()) > size):
            raise _changed(path)
        try:
            fd = os.open(path, os.O_RDONLY)
        except OSError:
            raise _changed(path) from None
        try:
            seen = os.fstat(fd)
            if (seen.st_size, seen.st_mtime_ns) != (size, changed):
                raise _changed(path)
            made = _core.placed_texts(fd, begins, raws, sizes, threads)
        finally:
            os.close(fd)
        if made is None:
            raise _changed(path)
        return made


def read_ahead(path: str, begins: Rows, raws: Rows) -> None:
    """Ask the system for some ranges of a file all at once, before they are read one after another. If they cannot be
    read, this is noticed then."""
    if not hasattr(os, "posix_fadvise"):
        return
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        for begin, size in zip(begins.tolist(), raws.tolist(), strict=True):
            os.posix_fadvise(fd, begin, size, os.POSIX_FADV_WILLNEED)
    finally:
        os.close(fd)


def _changed(path: str) -> DataError:
    return DataError(
        f"{path}: has changed while it was scanned; nothing was found. Scan again, with --overwrite"
    ).with_options("--overwrite")
