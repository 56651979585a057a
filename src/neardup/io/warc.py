"""WARC archives: the pages of a crawl (response records) or their texts (conversion records), named by URL."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from neardup.errors import MissingExtra
from neardup.io.columns import Layout, Row
from neardup.io.compression import Stream
from neardup.io.folders import decode_page
from neardup.io.opened import Opened, Terms
from neardup.io.sources import Source

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


def _rows(source: Source, terms: Terms, warc: Any) -> Iterator[Row]:
    from fastwarc.stream_io import FastWARCError

    kinds = warc.WarcRecordType.response | warc.WarcRecordType.conversion
    row, rejects = 0, terms.rejects
    with Stream(source.open(), terms.limits) as stream:
        try:
            for record in warc.ArchiveIterator(stream, record_types=kinds, parse_http=False):
                row += 1
                page = _page(source, terms, record, row, stream)
                if page is not None:
                    yield row, page
        except (FastWARCError, OSError, ValueError, RuntimeError, EOFError) as error:
            rejects.add(source.name, row + 1, "damaged file", str(error))
            return
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
        record.parse_http(auto_decode="all")
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
    if len(data) > limit:
        rejects.add(
            source.name, row, "too large", f"a page of over {limit:,} bytes, of {length:,} stored", url
        )
        return None
    if stream.damage:
        return None  # its end is missing; the file is reported as a whole
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
