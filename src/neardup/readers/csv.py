"""CSV and TSV with a header line, quoted as spreadsheets and databases do; delimiter and encoding are detected."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from neardup.errors import ConfigError
from neardup.readers.compression import Stream
from neardup.readers.dialects import DELIMITERS, DelimitedForm, Dialect, sniff
from neardup.readers.encodings import Bytes, Recoded, as_utf8, encoding_name
from neardup.readers.interface import Opened, Terms
from neardup.readers.layout import Row, find_layout
from neardup.readers.limits import Limits
from neardup.readers.plain_records import MOST_FIELDS, PlainRecords
from neardup.readers.recognise import MARKS
from neardup.readers.sources import Source

__all__ = ["open_delimited"]

_SAMPLE = 1 << 16
_LONGEST_MARK = 4  # bytes
_EMPTY = (b"", b"\r")


class _TooLong(Exception):
    """A line or a record is beyond the limits; the reader may continue with the next line."""


class _Feed:
    """Lines for the csv module. Unlike a generator it survives the exceptions it raises."""

    def __init__(self, records: PlainRecords, limits: Limits, delimiter: str) -> None:
        self._records, self._limit = records, limits.line_bytes
        self._delimiter = delimiter.encode()
        self.lines: list[bytes] = []  # of the current record
        # Whether empty lines between records are skipped here, which is faster than in the csv module.
        self.between = False
        self.record = 0  # bytes since the record began: a quote never closed must not take in the whole file

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        data, whole = self._records.line()
        while self.between and not self.record and data in _EMPTY:
            self._records.skip_empty()
            data, whole = self._records.line()
        self.record += len(data)
        self.lines.append(data)
        if not whole or self.record > self._limit:
            raise _TooLong(f"a record of over {self._limit:,} bytes")
        if len(data) > MOST_FIELDS and self._fields(data) > MOST_FIELDS:
            raise _TooLong(f"a line with over {MOST_FIELDS:,} fields")
        # Bytes that are not UTF-8 become surrogates, so that only the row they are in is rejected.
        return data.decode("utf-8", "surrogateescape") + "\n"

    def plain(self, width: int) -> list[str] | None:
        """The next record without the csv module, if it is plain."""
        found = self._records.record(width)
        if found is None:
            return None
        self.lines.append(found[1])
        return found[0]

    def _fields(self, data: bytes) -> int:
        return sum(part.count(self._delimiter) for part in data.split(b'"')[::2])


def open_delimited(source: Source, terms: Terms) -> Opened:
    stream = Stream(source.open(), terms.limits)
    try:
        begin = stream.peek(_LONGEST_MARK, _SAMPLE)
        content, head = as_utf8(stream, terms.options.encoding, guess=True)
        sample = head[:_SAMPLE].decode("utf-8", "replace")
        dialect = sniff(sample, source.format, terms.options.delimiter, whole=len(head) < _SAMPLE)
        feed = _Feed(PlainRecords(content, terms.limits, dialect), terms.limits, dialect.delimiter)
        reader = csv.reader(feed, **dialect.settings)  # type: ignore[arg-type]
        header = _header(source, reader, terms)
        layout = find_layout(header, terms.text, terms.id, source.name) if header else None
        if layout is not None:
            layout = replace(layout, written=_written(source.format, dialect, content, feed.lines, begin))
    except BaseException:
        stream.close()
        raise
    if header is None or layout is None:
        stream.close()
        if stream.damage:
            terms.rejects.add(source.name, None, "damaged file", stream.damage)
        return Opened(iter(()))
    rows = _rows(source, stream, feed, reader, header, terms)
    return Opened(_noting(rows, source, content, dialect, terms), layout)


def _written(
    format: str, dialect: Dialect, content: Bytes, header: list[bytes], begin: bytes
) -> DelimitedForm:
    """How a file is written, as far as its beginning shows it."""
    marked = next((encoding for mark, encoding in MARKS if begin.startswith(mark)), None)
    encoding = content.encoding if isinstance(content, Recoded) else None
    if marked is not None:
        # Python's encodings of these names write a byte order mark.
        encoding = "utf-8-sig" if marked == "utf-8" else marked.removesuffix("-le").removesuffix("-be")
    elif encoding in (None, "ascii"):
        encoding = "utf-8"
    end = "\r\n" if header and header[-1].endswith(b"\r") else "\n"
    return DelimitedForm(format, dialect.delimiter, dialect.quote, dialect.escaped, end, encoding or "utf-8")


def _noting(
    rows: Iterator[Row], source: Source, content: Bytes, dialect: Dialect, terms: Terms
) -> Iterator[Row]:
    """The rows, and at their end a note of how they are written, if it is not the usual way."""
    yield from rows
    encoding = content.encoding if isinstance(content, Recoded) else None
    said = [] if dialect == Dialect(DELIMITERS[source.format]) else [str(dialect)]
    if encoding not in (None, "utf-8"):
        said.append(encoding_name(encoding))
    terms.account.shape(source.name, ", ".join(said))


def _header(source: Source, reader: Any, terms: Terms) -> list[str] | None:
    try:
        header = _next(reader, terms.limits)
    except (_TooLong, csv.Error) as error:
        raise ConfigError(f"{source.name}: its first line is not a header: {error}") from error
    return header


def _next(reader: Any, limits: Limits) -> list[str] | None:
    """The next record, None at the end. The csv module keeps its bound for the whole process: it is put back."""
    before = csv.field_size_limit(limits.document_bytes)
    try:
        record: list[str] | None = next(reader, None)
    finally:
        csv.field_size_limit(before)
    return record


def _rows(
    source: Source, stream: Stream, feed: _Feed, reader: Any, header: list[str], terms: Terms
) -> Iterator[Row]:
    row, width, rejects = 0, len(header), terms.rejects
    feed.between = True
    with stream:
        while True:
            feed.record = 0
            feed.lines.clear()
            try:
                record = feed.plain(width)
                if record is None:
                    record = _next(reader, terms.limits)
            except (_TooLong, csv.Error) as error:
                row += 1
                large = isinstance(error, _TooLong) or "field larger" in str(error)
                rejects.add(source.name, row, "too large" if large else "bad CSV", str(error))
                continue
            if record is None:
                break
            if not record:
                continue
            row += 1
            if len(record) != width:
                detail = f"{len(record)} fields where the header has {width}"
                rejects.add(source.name, row, "bad CSV", detail, "|".join(record[:8])[:400])
                continue
            if terms.raw is not None:
                terms.raw[row] = b"\n".join(feed.lines)
            yield row, dict(zip(header, record, strict=True))
        if stream.damage:
            rejects.add(source.name, row + 1, "damaged file", stream.damage)
