"""WARC archives: the pages of a crawl (successful responses) or their texts (conversion records).

A capture is named by its record id: one URL may be captured many times.
"""

from __future__ import annotations

import base64
import hashlib
import io
import zlib
from collections.abc import Iterator
from typing import Any

from neardup.readers.compression import Stream
from neardup.readers.interface import Opened, Terms
from neardup.readers.layout import Layout, Row
from neardup.readers.limits import Limits
from neardup.readers.sources import Source
from neardup.readers.text_files import decode_page
from neardup.readers.warc_records import WARC_ERRORS, WarcRecord, warc_module, warc_records

__all__ = ["open_warc"]

_COLUMNS = ("id", "url", "date", "status", "content_type", "digest", "offset", "http_headers", "text")
_LAYOUT = Layout("text", "id", _COLUMNS)
_TEXTUAL = ("text/html", "application/xhtml+xml", "text/plain")


def open_warc(source: Source, terms: Terms) -> Opened:
    warc_module()
    return Opened(_rows(source, terms), layout=_LAYOUT)


def _rows(source: Source, terms: Terms) -> Iterator[Row]:
    row, rejects = 0, terms.rejects
    with Stream(source.open(), terms.limits) as stream:
        records = warc_records(stream)
        while True:
            try:
                found = next(records, None)
            except WARC_ERRORS as error:
                rejects.add(source.name, row + 1, "damaged file", stream.damage or str(error))
                return
            if found is None:
                break
            assert found.row is not None
            row = found.row
            try:
                page = _page(source, terms, found, stream)
            except WARC_ERRORS as error:
                if stream.damage is None:  # otherwise the file is reported as a whole
                    url = str(found.record.headers.get("WARC-Target-URI"))
                    rejects.add(source.name, row, "bad HTTP", str(error), url)
                continue
            if page is not None:
                yield row, page
        if stream.damage:
            rejects.add(source.name, row + 1, "damaged file", stream.damage)


def _page(source: Source, terms: Terms, found: WarcRecord, stream: Stream) -> dict[str, Any] | None:
    """One record as a row; None when it was rejected, or passed over because it is not a page with text."""
    record, row = found.record, found.row
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
        if (other := _no_success(status)) is not None:
            rejects.skip(other)
            return None
        kind = (record.http_content_type or "").lower()
    else:
        kind = headers.get("content-type", "").split(";")[0].strip().lower()
    if kind and kind not in _TEXTUAL:
        rejects.skip("WARC record without text")
        return None
    data = record.reader.read(limit + 1)
    if stream.damage and not _complete(record, stream):
        return None  # the file is reported as a whole
    if len(data) <= limit and len(data) < _stored_size(record):
        reason = f"the record ends after {len(data):,} of {record.content_length:,} bytes of the page"
        rejects.add(source.name, row, "damaged file", reason, url)
        return None
    digest = headers.get("warc-payload-digest")
    if digest is None and len(data) <= limit:
        digest = "sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()
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
        "id": headers.get("warc-record-id", "").strip("<> ") or None,
        "url": url,
        "date": headers.get("warc-date"),
        "status": status,
        "content_type": kind or None,
        "digest": digest,
        "offset": found.offset,
        "http_headers": _header_lines(record) if record.is_http else None,
        "text": text,
    }


def _stored_size(record: Any) -> int:
    """How many bytes of the page a record says it has, at least. Of chunks it is
    not known."""
    if record.is_http and "chunked" in (record.http_headers.get("Transfer-Encoding") or "").lower():
        return 0
    return int(record.content_length)


def _no_success(status: int | None) -> str | None:
    """What a response is called that has no page, or not the whole page; None if it has one."""
    if status is None:
        return "WARC response without a status"
    if status == 206:
        return "WARC response with a part of a page"
    if 200 <= status < 300:
        return None
    return "WARC redirect" if 300 <= status < 400 else "WARC error response"


def _header_lines(record: Any) -> str:
    """The HTTP headers in their order, a line each: a header may occur several times."""
    return "\n".join(f"{name}: {value}" for name, value in record.http_headers.items())


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
