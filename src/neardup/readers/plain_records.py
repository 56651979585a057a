"""Records of a delimited file of which most are taken out of a chunk at once, and the others line by line for the csv
module."""

from __future__ import annotations

import re

from neardup.readers.dialects import Dialect
from neardup.readers.encodings import Bytes
from neardup.readers.limits import Limits
from neardup.readers.lines import EMPTY_LINES, SAMPLE, without_mark

__all__ = ["MOST_FIELDS", "PlainRecords"]

MOST_FIELDS = 1 << 20
_WIDEST = 16  # fields of a record that is taken out here: the csv module is faster with many short ones
_ROOM = 1 << 16  # so much is at hand when a record begins; the csv module gets what is longer, and cut off


class PlainRecords:
    """The lines of a stream, as `lines` gives them, and its plain records: fields with quotes around them or without
    any, by the rules of a dialect. Both can be read in turn."""

    def __init__(self, stream: Bytes, limits: Limits, dialect: Dialect) -> None:
        self._stream, self._limit = stream, limits.line_bytes
        self._longest = min(limits.line_bytes, limits.document_bytes, MOST_FIELDS)
        self._chunks = without_mark(stream)
        self._data, self._at, self._skipping = b"", 0, False
        delimiter, quote = re.escape(dialect.delimiter.encode()), re.escape(dialect.quote.encode())
        self._quote = dialect.quote.encode()
        self._plain = dialect.quoted and not dialect.escaped
        self._field = re.compile(
            rb"(?:Q([^Q]*+(?:QQ[^Q]*+)*+)Q|([^QD\r\n][^D\r\n]*+)?+)(?:D|(\r?\n))".replace(
                b"Q", quote
            ).replace(b"D", delimiter)
        )

    def line(self) -> tuple[bytes, bool]:
        """The next line without its end, and whether that is all of it. StopIteration at the end."""
        parts: list[bytes] = []
        held = 0
        while True:
            end = self._data.find(b"\n", self._at)
            if end >= 0:
                start, self._at = self._at, end + 1
                if self._skipping:
                    self._skipping = False
                    continue
                whole = held + end - start <= self._limit
                parts.append(self._data[start : end if whole else min(end, start + SAMPLE)])
                return (b"".join(parts) if len(parts) > 1 else parts[0]), whole
            if self._at < len(self._data) and not self._skipping:
                parts.append(self._data[self._at :])
                held += len(self._data) - self._at
            self._data, self._at = next(self._chunks, b""), 0
            if held > self._limit:
                self._skipping = True
                return parts[0][:SAMPLE], False
            if not self._data:
                if parts and self._stream.damage is None:
                    return b"".join(parts), True
                raise StopIteration

    def skip_empty(self) -> None:
        """Pass over the empty lines that are at hand."""
        if (run := EMPTY_LINES.match(self._data, self._at)) is not None:
            self._at = run.end()

    def record(self, width: int) -> tuple[list[str], bytes] | None:
        """The fields of the next record, and its bytes without the line end, if it is plain; None if the csv module has
        to read it. Only where a record begins, and empty lines may be passed over."""
        if not self._plain or width > _WIDEST or self._skipping:
            return None
        if len(self._data) - self._at < _ROOM and (more := next(self._chunks, b"")):
            self._data, self._at = self._data[self._at :] + more, 0
        self.skip_empty()
        data, at = self._data, self._at
        if data[at : at + 1] in (b"", b"\r", b"\n"):
            return None
        fields, stop = [], at + self._longest
        while (found := self._field.match(data, at, stop)) is not None:
            quoted, plain, end = found.groups()
            field = plain or b"" if quoted is None else quoted.replace(self._quote * 2, self._quote)
            fields.append(field.decode("utf-8", "surrogateescape"))
            at = found.end()
            if end is not None:
                start, self._at = self._at, at
                return fields, data[start : at - 1]
        return None
