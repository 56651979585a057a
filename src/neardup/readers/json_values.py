"""JSON that is not JSON Lines: one array of objects, or objects written over several lines.

The bytes are cut at the ends of the outermost values without decoding them; an array at the very top is opened, and its
elements are the values. Memory is bound by the longest value allowed, however long the file is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from neardup._core import pass_json_value
from neardup.readers.encodings import Bytes
from neardup.readers.lines import CHUNK, Line

__all__ = ["Values", "is_spread"]

_SAMPLE = 400
_BOM = b"\xef\xbb\xbf"
_OUTER = re.compile(rb"[^\s,]")  # what is between values
_PLAIN = re.compile(rb"[\s,\[\]{}]")  # what ends a number or a word
_NO_CLOSING = re.compile(rb"[^\]}]")  # what ends a run of brackets that close nothing: it counts as one value
_NO_BRACE = re.compile(rb"[^}]")  # the same within an array, which the next ] closes


def is_spread(head: bytes) -> bool:
    """Whether a file that begins so is an array, or an object that continues after its first line."""
    begin = head.lstrip()
    if begin.startswith(b"["):
        first, _, rest = begin.partition(b"\n")
        # Several lines that are lists are JSON Lines.
        return not (rest.lstrip().startswith(b"[") and _is_json(first))
    if not begin.startswith(b"{"):
        return False
    first, _, rest = begin.partition(b"\n")
    first = first.rstrip()
    if not rest or _is_json(first) or rest.lstrip().startswith(b"{"):
        return False
    return first.endswith((b"{", b"[", b",", b":"))


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


class Values:
    """The values of a stream, iterated as lines are: with their numbers, from 1; of one beyond `limit` bytes only the
    beginning. At the end, `unclosed` says whether the array around them never ended."""

    def __init__(self, stream: Bytes, limit: int) -> None:
        self._stream, self._limit = stream, limit
        self._parts: list[bytes] = []  # of the value that is being read, as far as it was in earlier pieces
        self._held, self._whole = 0, True
        self._start: int | None = None  # where it begins, or continues, in this piece
        self._depth, self._top = (
            0,
            False,
        )  # brackets open within the value, and whether an array is open around it
        self._in_string = False
        self._until: re.Pattern[bytes] | None = (
            None  # what ends the value, if it is no string, object or list
        )
        self._number = 0
        self.unclosed = False

    def __iter__(self) -> Iterator[Line]:
        rest, first = b"", True
        while chunk := self._stream.read(CHUNK):
            data = rest + chunk
            if first:
                while len(data) < len(_BOM) and (more := self._stream.read(CHUNK)):
                    data += more
                data, first = data.removeprefix(_BOM), False
            at = 0
            while at < len(data):
                before = at
                at, ended = self._step(data, at)
                if ended:
                    self._keep(data, at)
                    self._start = None
                    yield self._value()
                elif at == before:
                    break  # a backslash whose character is still to come
            self._keep(data, at)
            rest = data[at:]
        if self._start is not None:
            self._keep(rest, len(rest))
            yield self._value()
        elif self._top:
            self.unclosed = True

    def _step(self, data: bytes, at: int) -> tuple[int, bool]:
        """Advance by one step: the new position, and whether a value ends there."""
        if self._depth or self._in_string:
            end, self._depth, self._in_string = pass_json_value(data, at, self._depth, self._in_string)
            return end, not self._depth and not self._in_string
        if self._until is not None:
            stop = self._until.search(data, at)
            if stop is None:
                return len(data), False
            self._until = None
            return stop.start(), True
        return self._begin(data, at), False

    def _begin(self, data: bytes, at: int) -> int:
        """Move to the beginning of the next value, and into it."""
        found = _OUTER.search(data, at)
        if found is None:
            return len(data)
        mark = found[0]
        if (mark == b"[" and not self._top) or (mark == b"]" and self._top):
            self._top = not self._top
            return found.end()
        self._start = found.start()
        self._depth = int(mark in b"[{")
        self._in_string = mark == b'"'
        if mark in b"]}":
            self._until = _NO_BRACE if self._top else _NO_CLOSING
        elif not self._depth and not self._in_string:
            self._until = _PLAIN
        return found.end()

    def _keep(self, data: bytes, end: int) -> None:
        """Keep the part of the value that is in this piece, up to a position."""
        if self._start is None:
            return
        if self._whole:
            part = data[self._start : end]
            self._held += len(part)
            self._parts.append(part)
            if self._held > self._limit:
                self._parts, self._whole = [b"".join(self._parts)[:_SAMPLE]], False
        self._start = 0

    def _value(self) -> Line:
        self._number += 1
        line = (self._number, b"".join(self._parts), self._whole)
        self._parts, self._held, self._whole = [], 0, True
        return line
