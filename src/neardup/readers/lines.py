"""Lines of a stream, none longer than allowed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from neardup.readers.encodings import Bytes

__all__ = ["CHUNK", "Line", "lines"]

CHUNK = 1 << 18  # how much of a damaged file is given depends on it
_SAMPLE = 400
_BOM = b"\xef\xbb\xbf"
_BLANK = re.compile(rb"(?:[ \t\r\f\v]*+\n)++")


# A line without its line end, its number from 1, and whether that is all of it. A plain tuple: there are millions.
Line = tuple[int, bytes, bool]


def lines(stream: Bytes, limit: int, *, blank: bool = True) -> Iterator[Line]:
    """Every line; without `blank`, most lines of spaces alone are skipped, many at once. Of a line beyond `limit` bytes
    only the beginning is given, and reading continues after its end.

    A byte order mark is dropped. An unfinished last line is given unless the stream broke off there.
    """
    parts: list[bytes] = []
    held, number, skipping = 0, 1, False
    first = True
    while chunk := stream.read(CHUNK):
        if first:
            while len(chunk) < len(_BOM) and (more := stream.read(CHUNK)):
                chunk += more
            chunk, first = chunk.removeprefix(_BOM), False
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            if not blank and not parts and not skipping and (run := _BLANK.match(chunk, start)):
                number += chunk.count(b"\n", start, run.end())
                start = run.end()
                continue
            if skipping:
                skipping = False
            else:
                whole = held + end - start <= limit
                data = chunk[start:end] if whole else chunk[start : min(end, start + _SAMPLE)]
                yield number, b"".join((*parts, data)) if parts else data, whole
            parts, held, start = [], 0, end + 1
            number += 1
        if start < len(chunk) and not skipping:
            parts.append(chunk[start:])
            held += len(chunk) - start
            if held > limit:
                yield number, parts[0][:_SAMPLE], False
                parts, held, skipping = [], 0, True
    if parts and stream.damage is None:
        yield number, b"".join(parts), True
