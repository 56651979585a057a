"""Lines of a plain JSONL file copied to another file as they are, without parsing them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.readers.compression import Stream
from neardup.readers.counted_file import Tally, counted_file
from neardup.readers.encodings import as_utf8
from neardup.readers.json_values import is_spread
from neardup.readers.limits import Limits
from neardup.readers.sources import Source

__all__ = ["chosen_lines", "has_lines"]

_BLOCK = 1 << 22
_BOM = b"\xef\xbb\xbf"


def has_lines(source: Source, encoding: str | None) -> bool:
    """Whether this is a plain local file of UTF-8 in which every row is a line, so that rows can be copied."""
    if source.format != "jsonl" or "://" in source.path or not os.path.isfile(source.path):
        return False
    with Stream(source.open(), Limits()) as stream:
        content, head = as_utf8(stream, encoding, guess=False)
        return content is stream and stream.direct and not is_spread(head)


def chosen_lines(
    source: Source, rows: NDArray[np.int64], tally: Tally
) -> Iterator[tuple[list[memoryview], int]]:
    """The lines with these numbers, which ascend, with their line ends: some runs of bytes at a time, good until the
    next ones are asked for, and how many lines they are. The whole file is read, so that its digest is that of all of
    it."""
    room, begin, used, row, at = bytearray(_BLOCK), 0, 0, 1, 0
    first = True
    with Stream(replace(source, open=partial(counted_file, source, tally)).open(), Limits()) as stream:
        while True:
            if used == len(room):
                room = room + bytearray(len(room))
            got = stream.readinto(memoryview(room)[used:])
            used += got
            if first and used < len(_BOM) and got:
                continue
            if first:
                begin, first = len(_BOM) if room.startswith(_BOM) else 0, False
            end = room.rfind(b"\n", begin, used) + 1
            if not got and used > begin and end < used:  # the last line has no end
                room[used : used + 1] = b"\n"
                used = end = used + 1
            if end > begin:
                ends = begin + _core.line_ends(np.frombuffer(room, np.uint8)[begin:end])
                last = int(np.searchsorted(rows, row + len(ends)))
                if last > at:
                    runs = _runs(np.concatenate([[begin], ends]), rows[at:last] - row)
                    view = memoryview(room)
                    yield [view[a:b] for a, b in runs], last - at
                row, at = row + len(ends), last
                room[: used - end] = room[end:used]
                used, begin = used - end, 0
            if not got:
                return


def _runs(places: NDArray[np.int64], lines: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Begin and end of the bytes of some lines; neighbours are one run."""
    cuts = np.flatnonzero(np.diff(lines) != 1) + 1
    firsts = lines[np.concatenate([[0], cuts]).astype(np.int64)]
    lasts = lines[np.concatenate([cuts, [len(lines)]]).astype(np.int64) - 1]
    return list(zip(places[firsts].tolist(), places[lasts + 1].tolist(), strict=True))
