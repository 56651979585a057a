"""WARC archives: the pages of a crawl (response records) or their texts (conversion records), named by URL."""

from __future__ import annotations

import io
import warnings
import zlib
from collections.abc import Iterator
from typing import Any

from neardup.errors import MissingExtra
from neardup.readers.compression import Stream
from neardup.readers.interface import Opened, Terms
from neardup.readers.layout import Layout, Row
from neardup.readers.limits import Limits
from neardup.readers.sources import Source
from neardup.readers.text_files import decode_page

__all__ = ["open_warc"]

_LAYOUT = Layout("text", "id", ("id", "url", "date", "status", "content_type", "text"))
_TEXTUAL = ("text/html", "application/xhtml+xml", "text/plain")


def open_warc(source: Source, terms: Terms) -> Opened:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # it uses what it deprecates
            import fastwarc.warc
    except ImportError as error:
        raise MissingExtra("reading WARC", "web") from error
    return Opened(_rows(source, terms, fastwarc.warc), layout=_LAYOUT)


class _File(io.RawIOBase):
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


def _rows(source: Source, terms: Terms, warc: Any) -> Iterator[Row]:
    from fastwarc.stream_io import FastWARCError

    kinds = warc.WarcRecordType.response | warc.WarcRecordType.conversion
    row, rejects = 0, terms.rejects
    with Stream(source.open(), terms.limits) as stream:
        records = warc.ArchiveIterator(io.BufferedReader(_File(stream)), record_types=kinds, parse_http=False)
        errors = (FastWARCError, OSError, ValueError, RuntimeError, EOFError)
        while True:
            try:
                record = next(records, None)
            except errors as error:
                rejects.add(source.name, row + 1, "damaged file", stream.damage or str(error))
                return
            if record is None:
                break
            row += 1
            try:
                page = _page(source, terms, record, row, stream)
            except errors as error:
                if stream.damage is None:  # otherwise the file is reported as a whole
                    rejects.add(
                        source.name, row, "bad HTTP", str(error), str(record.headers.get("WARC-Target-URI"))
                    )
                continue
            if page is not None:
                yield row, page
        if stream.damage:
            rejects.add(source.name, row + 1, "damaged file", stream.damage)


def _page(source: Source, terms: Terms, record: Any, row: int, stream: Stream) -> dict[str, Any] | None:
    """One record as a row; None when it was rejected, or passed over because it holds no text."""
    limit, rejects = terms.limits.document_bytes, terms.rejects
    headers = {name.lower(): value for name, value in record.headers.items()}
    url = headers.get("warc-target-uri", "").strip("<>")
    status: int | None = None
    charset: str | None = None
    length = record.content_length
    if record.is_http:
        record.parse_http(auto_decode="transfer")  # left unread, a page it unpacks costs the records after it
        if record.http_headers is None:
            rejects.add(source.name, row, "bad HTTP", "the record has no HTTP headers", url)
            return None
        status, charset = record.http_headers.status_code, record.http_charset
        kind = (record.http_content_type or "").lower()
    else:
        kind = headers.get("content-type", "").split(";")[0].strip().lower()
    if kind and kind not in _TEXTUAL:
        rejects.skip("WARC record without text")
        return None
    data = record.reader.read(limit + 1)
    if stream.damage and not _complete(record, stream):
        return None  # the file is reported as a whole
    packing = ""
    if len(data) <= limit and record.is_http:
        packing = (record.http_headers.get("Content-Encoding") or "").strip().lower()
        data = _unpacked(data, packing, terms.limits)
    if len(data) > limit:
        rejects.add(
            source.name, row, "too large", f"a page of over {limit:,} bytes, of {length:,} stored", url
        )
        return None
    text = decode_page(data, charset)
    if text is None:
        rejects.add(source.name, row, "invalid encoding", f"the page is not {charset or 'UTF-8'}", url)
        return None
    return {
        "id": url,
        "url": url,
        "date": headers.get("warc-date"),
        "status": status,
        "content_type": kind or None,
        "text": text,
    }


def _unpacked(data: bytes, packing: str, limits: Limits) -> bytes:
    """A page out of its Content-Encoding, cut off soon after the limit; ValueError when that cannot be done.

    Crawlers often unpack pages and keep the header, so what is text already is left alone.
    """
    if not packing or packing == "identity":
        return data
    if packing == "deflate" and data[:1] == b"\x78":
        try:
            return zlib.decompressobj().decompress(data, limits.document_bytes + 1)
        except zlib.error as error:
            raise ValueError(f"damaged deflate data: {error}") from error
    parts, size = [], 0
    with Stream(io.BytesIO(data), limits) as stream:
        if stream.compression is None:
            try:
                data.decode("utf-8")
            except UnicodeDecodeError as error:
                raise ValueError(f"cannot read Content-Encoding {packing[:40]!r}") from error
            return data
        while size <= limits.document_bytes and (part := stream.read()):
            parts.append(part)
            size += len(part)
    if stream.damage:
        raise ValueError(stream.damage)
    return b"".join(parts)


def _complete(record: Any, stream: Stream) -> bool:
    """Whether all of a record came before the stream broke off."""
    head = 12 + sum(len(name.encode()) + len(value.encode()) + 4 for name, value in record.headers.items())
    return bool(record.stream_pos + head + record.content_length <= stream.given)
