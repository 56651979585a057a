"""A stored set: segment files, plain or compressed, that together hold one set of codes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ConfigError, DataError, FormatError, SchemeError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.codes import rows_and_words, width_for
from neardup.search.disk.compressed import CompressedSegment
from neardup.search.disk.segments import Chunk, Segment, StoredCodes, write_segment
from neardup.storage.column_file import Closing
from neardup.values.checks import checked, checked_methods

__all__ = ["SegmentSet", "open_segment"]

_PLAIN, _COMPRESSED = ".seg", ".segz"


@checked
def open_segment(path: str | os.PathLike[str]) -> StoredCodes:
    """Open a plain or a compressed segment file; its first bytes say which one it is."""
    with open(path, "rb") as file:
        magic = file.read(8)
    for kind in (Segment, CompressedSegment):
        if magic == kind.MAGIC:
            return kind.open(path)
    raise FormatError(path, "a segment file", f"magic {magic!r}")


def _named(path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise ConfigError(f"source must be a folder or a list of file names, not a list with {path!r:.60}")
    return Path(path)


@checked_methods
class SegmentSet(Closing):
    """Segments of one scheme: a folder of `.seg` and `.segz` files in the order of their names, or a list.

    A folder can grow: each batch appended is one more sorted file. One process at a time may append to it.
    """

    @checked
    def __init__(self, source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> None:
        self.folder: Path | None = None
        if isinstance(source, (str, os.PathLike)):
            self.folder = Path(source)
            if not self.folder.is_dir():
                raise ConfigError(f"{self.folder} is not a folder; make it first, or give a list of files")
            suffixes = (_PLAIN, _COMPRESSED)
            paths = sorted(path for path in self.folder.iterdir() if path.suffix in suffixes)
        else:
            paths = [_named(path) for path in source]
        self.segments: list[StoredCodes] = []
        for path in paths:
            segment = open_segment(path)
            self._same_kind(segment.scheme, segment.bits)
            self.segments.append(segment)

    def __len__(self) -> int:
        return sum(len(segment) for segment in self.segments)

    def close(self) -> None:
        """Close all files."""
        for segment in self.segments:
            segment.close()

    def check(self, codes: Codes) -> None:
        """Raise SchemeError unless these codes have the scheme of the stored ones. An empty set takes any codes."""
        bits = width_for(codes, None)
        self._same_kind(codes.scheme, bits)

    def chunks(self, size: int, *, threads: int = 1) -> Iterator[Chunk]:
        """All stored codes, at most `size` at a time; each chunk is sorted and comes from one file."""
        for segment in self.segments:
            yield from segment.chunks(size, threads=threads)

    def append(self, codes: Codes, rows: NDArray[np.int64], *, threads: int = 1) -> Path:
        """Sort a batch and add it to the folder as one more segment; empty documents are left out."""
        if self.folder is None:
            raise ConfigError("only a set opened as a folder can grow")
        self.check(codes)
        if rows.shape != (len(codes),):
            raise DataError(f"rows must be int64[{len(codes)}], one for each code")
        kept, words = rows_and_words(codes, codes.bits)
        numbers = rows if kept is None else rows[kept]
        last = max((int(s.path.stem) for s in self.segments if s.path.stem.isdigit()), default=0)
        path = self.folder / f"{last + 1:08}{_PLAIN}"
        if path.exists():
            raise DataError(f"{path} exists already: another process appends to this folder")
        write_segment(path, words, numbers, codes.scheme, codes.bits, threads=threads)
        self.segments.append(Segment.open(path))
        return path

    def _same_kind(self, scheme: str, bits: int) -> None:
        for segment in self.segments[:1]:
            if (segment.scheme, segment.bits) != (scheme, bits):
                raise SchemeError(f"{segment.scheme} ({segment.bits} bits)", f"{scheme} ({bits} bits)")
