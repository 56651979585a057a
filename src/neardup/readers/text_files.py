"""Plain text and HTML: one file is one document, named by its path."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from neardup.readers.compression import Stream
from neardup.readers.encodings import decode_text, encoding_name
from neardup.readers.interface import Opened, Terms
from neardup.readers.layout import Layout, Row
from neardup.readers.recognise import ANY_MARK, HEAD, is_binary
from neardup.readers.sources import Source

__all__ = ["decode_page", "open_page"]

_TEXT = Layout("text", "id", ("id", "text"))
_HTML = Layout("text", "id", ("id", "content_type", "text"))
_EMPTY = "empty files, read as empty documents"
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
# Pages that declare these mean the Windows code page, as browsers take them.
_LATIN = {"ascii", "us-ascii", "iso-8859-1", "latin-1", "latin1", "iso8859-1"}


def open_page(source: Source, terms: Terms) -> Opened:
    return Opened(_page(source, terms), layout=_HTML if source.format == "html" else _TEXT)


def _page(source: Source, terms: Terms) -> Iterator[Row]:
    limit, rejects = terms.limits.document_bytes, terms.rejects
    parts, size = [], 0
    with Stream(source.open(), terms.limits) as stream:
        while size <= limit and (data := stream.read()):
            parts.append(data)
            size += len(data)
        damage = stream.damage
    if size > limit:
        rejects.add(source.name, 1, "too large", f"the file has over {limit:,} bytes", parts[0])
        return
    if damage:
        rejects.add(source.name, 1, "damaged file", damage)
        return
    html = source.format == "html"
    data = b"".join(parts)
    if is_binary(data[:HEAD]) and terms.options.encoding is None:
        if source.listed:
            terms.account.skip_after_all("binary", source.name)
        else:
            rejects.add(source.name, 1, "binary file", "the file holds no text")
        return
    if html and terms.options.encoding is None:
        text, encoding = decode_page(data, None), "utf-8"
    else:
        text, encoding = decode_text(data, terms.options.encoding)
    if not size:
        terms.account.notes[_EMPTY] += 1
    if text is None:
        detail = f"the file is not {encoding_name(encoding)}; name its encoding with --encoding (encoding=)"
        rejects.add(source.name, 1, "invalid encoding", detail, data)
        return
    if encoding not in ("utf-8", "ascii"):
        terms.account.shape(source.name, encoding_name(encoding))
    if html:
        yield 1, {"id": source.name, "content_type": "text/html", "text": text}
    else:
        yield 1, {"id": source.name, "text": text}


def decode_page(data: bytes, charset: str | None) -> str | None:
    """A web page as text: by its byte order mark, the charset of its transport, the one it declares, else UTF-8.

    None when that encoding is unknown or does not fit; what declares nothing and is not UTF-8 is Windows-1252.
    """
    if data.startswith(ANY_MARK):
        return decode_text(data, None)[0]
    if charset is None and (found := _CHARSET.search(data, 0, 2048)):
        charset = found[1].decode("ascii")
    try:
        return data.decode(
            "utf-8"
        )  # for any declared charset: texts in other encodings are almost never valid UTF-8
    except UnicodeDecodeError:
        pass
    encoding = (charset or "windows-1252").lower()
    if encoding in _LATIN:
        encoding = "windows-1252"
    try:
        if not codecs.lookup(encoding)._is_text_encoding:
            return None
        return data.decode(encoding)
    except (LookupError, UnicodeError, ValueError):
        return None
