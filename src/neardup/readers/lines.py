"""Lines of a stream, none longer than allowed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from neardup.readers.encodings import Bytes

__all__ = ["CHUNK", "EMPTY_LINES", "SAMPLE", "Blank", "Line", "lines", "without_mark"]

CHUNK = 1 << 18  # how much of a damaged file is given depends on it
SAMPLE = 400  # bytes that are given of a line that is too long
_BOM = b"\xef\xbb\xbf"
_BLANK = re.compile(rb"(?:[ \t\r\f\v]*+\n)++")
EMPTY_LINES = re.compile(rb"(?:\r?\n)++")

# A line without its line end, its number from 1, and whether that is all of it. A plain tuple: there are millions.
Line = tuple[int, bytes, bool]


@dataclass
class Blank:
    """Lines that a reader takes many at once, as far as it can: the empty ones, or also those of `spaces` alone. They
    are skipped, or `joined` to one line. It may set `now` between two lines."""

    spaces: bool = False
    joined: bool = False
    now: bool = True


def without_mark(stream: Bytes) -> Iterator[bytes]:
    """The chunks of a stream without its byte order mark."""
    first = True
    while chunk := stream.read(CHUNK):
        if first:
            while len(chunk) < len(_BOM) and (more := stream.read(CHUNK)):
                chunk += more
            chunk, first = chunk.removeprefix(_BOM), False
        if chunk:
            yield chunk


def lines(stream: Bytes, limit: int, blank: Blank | None = None) -> Iterator[Line]:
    """Every line, but for `blank` ones. Of a line beyond `limit` bytes only the beginning is given, and reading
    continues after its end.

    A byte order mark is dropped. An unfinished last line is given unless the stream broke off there.
    """
    parts: list[bytes] = []
    held, number, skipping = 0, 1, False
    run_of = (_BLANK if blank and blank.spaces else EMPTY_LINES).match
    for chunk in without_mark(stream):
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            if blank and blank.now and not parts and not skipping and (run := run_of(chunk, start)):
                if blank.joined:
                    yield number, chunk[start : run.end() - 1], True
                number += chunk.count(b"\n", start, run.end())
                start = run.end()
                continue
            if skipping:
                skipping = False
            else:
                whole = held + end - start <= limit
                data = chunk[start:end] if whole else chunk[start : min(end, start + SAMPLE)]
                yield number, b"".join((*parts, data)) if parts else data, whole
            parts, held, start = [], 0, end + 1
            number += 1
        if start < len(chunk) and not skipping:
            parts.append(chunk[start:])
            held += len(chunk) - start
            if held > limit:
                yield number, parts[0][:SAMPLE], False
                parts, held, skipping = [], 0, True
    if parts and stream.damage is None:
        yield number, b"".join(parts), True
