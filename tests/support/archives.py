"""WARC files for tests: records written by hand, and read back record by record."""

from __future__ import annotations

import io
import warnings
import zlib
from typing import Any

__all__ = ["captured", "http_response", "records_of", "warc_record"]

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import fastwarc.warc as warc


def http_response(
    body: str, status: str = "200 OK", kind: str = "text/html; charset=utf-8", more: str = ""
) -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{more}\r\n{body}".encode()


def warc_record(
    kind: str,
    block: bytes,
    content: str,
    id: str | None = None,
    url: str = "",
    date: str = "",
    more: str = "",
) -> bytes:
    lines = [f"WARC-Type: {kind}"]
    lines += [f"WARC-Record-ID: <{id}>"] if id else []
    lines += [f"WARC-Target-URI: {url}"] if url else []
    lines += [f"WARC-Date: {date}"] if date else []
    lines += [more] if more else []
    lines += [f"Content-Type: {content}", f"Content-Length: {len(block)}"]
    return ("WARC/1.0\r\n" + "\r\n".join(lines) + "\r\n\r\n").encode() + block + b"\r\n\r\n"


def captured(
    number: int, url: str, block: bytes, date: str = "2026-01-02T03:04:05Z", more: str = ""
) -> bytes:
    """A capture of a page: a response record whose id ends in the number."""
    id = f"urn:uuid:00000000-0000-0000-0000-{number:012d}"
    return warc_record("response", block, "application/http; msgtype=response", id, url, date, more)


def records_of(data: bytes) -> list[tuple[str, dict[str, str], bytes, int]]:
    """Type, headers, block and offset of every record; of gzip, each record must be a member of its own."""
    parts: list[tuple[int, bytes]] = [(0, data)]
    if data.startswith(b"\x1f\x8b"):
        parts, at = [], 0
        while at < len(data):
            one, used = _member(data[at:])
            parts.append((at, one))
            at += used
    found: list[tuple[str, dict[str, str], bytes, int]] = []
    for at, part in parts:
        for record in warc.ArchiveIterator(io.BytesIO(part), parse_http=False):
            headers: dict[str, Any] = dict(record.headers.items())
            found.append((headers["WARC-Type"], headers, record.reader.read(), at or record.stream_pos))
    return found


def _member(data: bytes) -> tuple[bytes, int]:
    inner = zlib.decompressobj(31)
    out = inner.decompress(data)
    return out, len(data) - len(inner.unused_data)
