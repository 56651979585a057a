"""The records of a WARC file, one after the other, with the place where each begins."""

from __future__ import annotations

import io
import warnings
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from neardup.errors import MissingExtra
from neardup.readers.compression import Stream

__all__ = ["WARC_ERRORS", "WarcRecord", "warc_module", "warc_records"]

# Damage surfaces as one of these, or as an error of fastwarc's own, which is a RuntimeError or an OSError.
WARC_ERRORS = (OSError, ValueError, RuntimeError, EOFError)


@dataclass(frozen=True, slots=True)
class WarcRecord:
    """One record, of which fastwarc has read the headers.

    `row` is its number (from 1) among the records that can be documents, responses and conversions; None for others.
    `offset` is where it begins in the file, as an index of captures (CDX) has it: in a file that is compressed record
    by record, a place in the compressed file. None if the file is compressed in another way.
    """

    record: Any
    row: int | None
    offset: int | None


def warc_module() -> Any:
    """fastwarc's module; MissingExtra if it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # it uses what it deprecates
            import fastwarc.warc
    except ImportError as error:
        raise MissingExtra("reading WARC", "web") from error
    return fastwarc.warc


def warc_records(stream: Stream, *, every: bool = False) -> Iterator[WarcRecord]:
    """The records of a file that can be documents, or every record. Damage raises one of WARC_ERRORS."""
    warc = warc_module()
    documents = warc.WarcRecordType.response, warc.WarcRecordType.conversion
    kinds = warc.WarcRecordType.any_type if every else documents[0] | documents[1]
    stream.members = deque()
    member, row = (0, 0), 0
    file = io.BufferedReader(_StreamFile(stream))
    for record in warc.ArchiveIterator(file, record_types=kinds, parse_http=False):
        while stream.members and stream.members[0][0] <= record.stream_pos:
            member = stream.members.popleft()
        offset: int | None = record.stream_pos
        if stream.compression is not None:
            offset = member[1] if member[0] == record.stream_pos else None
        counts = record.record_type in documents
        row += counts
        yield WarcRecord(record, row if counts else None, offset)


class _StreamFile(io.RawIOBase):
    """A Stream as the file object that fastwarc expects: exact sizes, and a position."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self._held, self._at = stream, memoryview(b""), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._held:
            self._held = memoryview(self._stream.read(len(buffer)))
        size = min(len(buffer), len(self._held))
        buffer[:size] = self._held[:size]
        self._held = self._held[size:]
        self._at += size
        return size

    def tell(self) -> int:
        return self._at
