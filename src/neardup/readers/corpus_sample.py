"""A digest of bytes sampled across all files of a corpus: the same for the same files, and unknown to anyone who
knows only some of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO

__all__ = ["Sampled", "sample_files", "sample_texts"]

# Size in bytes, None if it is unknown, and how to open it.
Sampled = tuple[int | None, Callable[[], BinaryIO]]

_PLACES, _PIECE = 1024, 4096  # 4 MiB: smaller corpora are read whole
_FAR_PLACES, _FAR_PIECE = 64, 65_536  # the same, for files that are far away: each piece is a request


def sample_files(files: Sequence[Sampled], *, far: bool = False) -> bytes:
    """16 bytes that depend on all sizes, and on pieces at evenly spaced places of all files one after another."""
    digest = hashlib.blake2b(digest_size=16, person=b"neardup corpus")
    sizes = [size or 0 for size, _ in files]
    for length in sizes:
        digest.update(length.to_bytes(8, "little"))
    places, piece = (_FAR_PLACES, _FAR_PIECE) if far else (_PLACES, _PIECE)
    total = sum(sizes)
    step = max(piece, -(-total // places))
    before = 0
    for (size, opener), length in zip(files, sizes, strict=True):
        # The places of the whole corpus that are in this file.
        first = -(-before // step) * step
        if size is None or first < before + length:
            with opener() as file:
                if size is None:  # its length is unknown: its beginning counts
                    digest.update(file.read(places * piece))
                for at in range(first - before, length, step):
                    file.seek(at)
                    digest.update(file.read(min(piece, length - at)))
        before += length
    return digest.digest()


def sample_texts(count: int, text: Callable[[int], bytes], more: Iterable[bytes] = ()) -> bytes:
    """The same for texts in memory: their number, and the beginnings and lengths of evenly spaced ones."""
    digest = hashlib.blake2b(digest_size=16, person=b"neardup corpus")
    digest.update(count.to_bytes(8, "little"))
    for number in range(min(count, _PLACES)):
        data = text(number * count // min(count, _PLACES))
        digest.update(len(data).to_bytes(8, "little") + data[:_PIECE])
    for data in more:
        digest.update(data)
    return digest.digest()
