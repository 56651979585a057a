"""Files that every worker can open: it reads the lines of its parts of them itself, and Spark does not carry their
text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from neardup.errors import DataError

__all__ = ["FileRange", "ranges_of", "read_ranges"]

_BLOCK = 8 << 20  # bytes read at a time
_BOM = b"\xef\xbb\xbf"  # at the beginning of a file it is no part of the first line
_PACKED = re.compile(r"\.(gz|bz2|zst|deflate|snappy|lz4)$")  # what Spark decompresses by the name


@dataclass(frozen=True)
class FileRange:
    """Bytes `start` to before `end` of a file. Its lines are those that begin after `start`, or at 0, up to `end`: a
    line that begins at `end` is one of them. Spark cuts files in this way, too."""

    path: str
    start: int
    end: int


def ranges_of(files: Sequence[tuple[str, int]], split: int) -> tuple[tuple[FileRange, ...], ...]:
    """Files (path, size) as the ranges of each task, at most about `split` bytes; nothing if the workers cannot read
    them themselves."""
    if not split or any(not path.startswith("file:") or _PACKED.search(path) for path, _ in files):
        return ()
    most = min(split, sum(size for _, size in files)) or 1
    tasks: list[list[FileRange]] = []
    room = 0
    for path, size in files:
        for start in range(0, size, most):
            end = min(size, start + most)
            if end - start > room:
                tasks.append([])
                room = most
            tasks[-1].append(FileRange(path, start, end))
            room -= end - start
    return tuple(map(tuple, tasks))


def read_ranges(
    batches: Iterator[pa.RecordBatch], tasks: Sequence[Sequence[FileRange]]
) -> Iterator[tuple[FileRange, pa.Array]]:
    """The lines of some tasks, whose numbers are in the first column, without line ends, a block at a time."""
    for batch in batches:
        for task in batch.column(0).to_pylist():
            for one in tasks[task]:
                try:
                    with open(one.path.removeprefix("file://").removeprefix("file:"), "rb") as file:
                        for block in _blocks(file, one):
                            yield one, _lines(block)
                except OSError as error:
                    raise DataError(f"{one.path}: {error.strerror or error}") from None


def _blocks(file: BinaryIO, one: FileRange) -> Iterator[bytes]:
    """Whole lines of a range, with their ends."""
    stop = _after_line(file, one.end)
    file.seek(0)
    at = _after_line(file, one.start) if one.start else len(_BOM) * (file.read(len(_BOM)) == _BOM)
    file.seek(at)
    held: list[bytes] = []
    while at < stop:
        data = file.read(min(_BLOCK, stop - at))
        if not data:
            break
        at += len(data)
        cut = data.rfind(b"\n") + 1
        if not cut:
            held.append(data)
            continue
        yield b"".join([*held, data[:cut]])
        held = [data[cut:]] if cut < len(data) else []
    if held:
        yield b"".join(held)


def _after_line(file: BinaryIO, at: int) -> int:
    """Where the line ends that has byte `at`."""
    file.seek(at)
    file.readline()
    return file.tell()


def _lines(block: bytes) -> pa.Array:
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == 0x0A)
    if not block.endswith(b"\n"):
        ends = np.append(ends, len(block))
    offsets = np.append(0, ends - np.arange(len(ends)))
    data = pa.py_buffer(block.replace(b"\n", b""))
    return pa.Array.from_buffers(
        pa.large_binary(), len(ends), [None, pa.py_buffer(offsets.astype(np.int64)), data]
    )
