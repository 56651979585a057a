"""Mailboxes (mbox): one mail is one document, its subject and body, named by its Message-ID."""

from __future__ import annotations

import email
import email.policy
import io
import itertools
import re
from collections.abc import Callable, Iterator
from email.message import Message
from email.parser import BytesHeaderParser
from html import unescape
from typing import Any

from neardup.readers.compression import Stream
from neardup.readers.interface import Opened, Terms
from neardup.readers.layout import Layout, Row
from neardup.readers.lines import Blank, lines
from neardup.readers.sources import Source

__all__ = ["open_mbox"]

_LAYOUT = Layout("text", "id", ("id", "date", "from", "to", "subject", "text"))
_FROM = b"From "
_QUOTED = re.compile(rb">+From ")
_BLANK = re.compile(rb"^\r?\n", re.MULTILINE)
_SPACES = re.compile(r"\s+")
_PARTS = 1000  # a mail with more parts is an attempt to slow the reader down
_LINE = (
    32  # bytes of a line in a mail of several parts, at least on average: the parser keeps an object for each
)
_COMPAT = email.policy.compat32


def open_mbox(source: Source, terms: Terms) -> Opened:
    return Opened(_rows(source, terms), layout=_LAYOUT)


def _rows(source: Source, terms: Terms) -> Iterator[Row]:
    limit, rejects = terms.limits.document_bytes, terms.rejects
    held = bytearray()
    row, size, blank = 0, 0, True
    with Stream(source.open(), terms.limits) as stream:
        for _, line, whole in lines(stream, terms.limits.line_bytes, Blank(joined=True)):
            if line.startswith(_FROM) and blank:
                if row:
                    yield from _mail(source, terms, row, held, size)
                row, held, size = row + 1, bytearray(), 0
            elif row == 0 and line.strip():
                rejects.add(source.name, 1, "not a mailbox", "an mbox begins with a line 'From '", line[:200])
                return
            elif row:
                size += len(line) + 1 if whole else limit + 1
                if size <= limit:
                    held += line[1:] if _QUOTED.match(line) else line
                    held += b"\n"
            blank = not line.strip()
        damage = stream.damage
    if damage:
        rejects.add(source.name, row + 1, "damaged file", damage)
    if row and not damage:
        yield from _mail(source, terms, row, held, size)


def _mail(source: Source, terms: Terms, row: int, held: bytearray, size: int) -> Iterator[Row]:
    limits, rejects = terms.limits, terms.rejects
    blank = _BLANK.search(held)
    end = blank.start() if blank else len(held)
    if size > limits.document_bytes or end > limits.meta_bytes:
        most, what = (
            (limits.meta_bytes, "headers") if end > limits.meta_bytes else (limits.document_bytes, "a mail")
        )
        rejects.add(source.name, row, "too large", f"{what} of over {most:,} bytes", bytes(held[:200]))
        return
    try:
        message = _parsed(bytes(held), end, limits.document_bytes // _LINE)
        subject = _header(message, "Subject")
        record = {
            "id": _header(message, "Message-ID").strip("<> "),
            "date": _header(message, "Date") or None,
            "from": _header(message, "From") or None,
            "to": _header(message, "To") or None,
            "subject": subject,
            "text": "\n\n".join(filter(None, (subject, _body(message)))),
        }
    except (ValueError, LookupError, RecursionError, AttributeError, TypeError, IndexError) as error:
        # The parser of the standard library raises these over malformed mail.
        rejects.add(source.name, row, "bad mail", f"{type(error).__name__}: {error}"[:200])
        return
    yield row, record


def _parsed(data: bytes, end: int, most_lines: int) -> Message:
    """A mail whose headers end at `end`. Only several parts need the parser of the standard library, which keeps an
    object for each line; ValueError if a mail has too many of them for it."""
    message = BytesHeaderParser(policy=_COMPAT).parsebytes(data[:end])
    if message.get_content_maintype() not in ("multipart", "message"):
        rest = data[end:]
        if not message.get_payload():  # else a line that is no header began the body
            rest = rest.removeprefix(b"\r").removeprefix(b"\n")
        message.set_payload(str(message.get_payload()) + rest.decode("ascii", "surrogateescape"))
        return message
    if data.count(b"\n") > most_lines:
        raise ValueError(f"more than {most_lines:,} lines in several parts")
    return email.message_from_bytes(data, _class=_few_parts(), policy=_COMPAT)


def _few_parts() -> Callable[..., Message]:
    """Makes the parts of one mail, up to the most that there may be."""
    made = itertools.count()

    def make(**given: Any) -> Message:
        if next(made) > _PARTS:
            raise ValueError(f"more than {_PARTS} parts")
        return Message(**given)

    return make


def _header(message: Any, name: str) -> str:
    """A header as characters on one line, encoded words decoded; what cannot be decoded is left as it is."""
    value = message.get(name)
    if value is None:
        return ""
    from email.header import decode_header

    try:
        parts = decode_header(str(value))
    except (ValueError, LookupError):
        parts = [(str(value), None)]
    text = "".join(_decoded(part, charset) if isinstance(part, bytes) else part for part, charset in parts)
    return " ".join(_sound(text).split())


def _body(message: Any) -> str:
    """The text of a mail: its plain parts, or, where there are none, the words of its HTML parts."""
    plain: list[str] = []
    pages: list[str] = []
    for part in message.walk():
        if part.is_multipart() or part.get_content_disposition() == "attachment":
            continue
        kind = part.get_content_type()
        if kind not in ("text/plain", "text/html"):
            continue
        data = part.get_payload(decode=True)
        text = _sound(_decoded(data if isinstance(data, bytes) else b"", part.get_content_charset()))
        (plain if kind == "text/plain" else pages).append(text)
    if any(text.strip() for text in plain):
        return "\n".join(plain).strip()
    return "\n".join(_words(page) for page in pages).strip()


def _decoded(data: bytes, charset: str | None) -> str:
    for name in (charset, "utf-8"):
        if name:
            try:
                return data.decode(name)
            except (LookupError, UnicodeError, ValueError):
                pass
    return data.decode("cp1252", "replace")


def _sound(text: str) -> str:
    """Without lone surrogates, which the parser makes of bytes that are no ASCII."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _words(page: str) -> str:
    """The words of a mail's HTML, styles and scripts left out; linear in its length for any input."""
    kept, unseen, start = io.StringIO(), "", 0
    while start >= 0:
        end = page.find("<", start)
        part = page[start : end if end >= 0 else None]
        tag, _, text = part.partition(">") if start else ("", "", part)
        name = tag[:7].lower()
        if unseen:
            unseen = "" if name.startswith(unseen) else unseen
        elif name.startswith(("style", "script")):
            unseen = f"/{name[:5]}"
        if not unseen:
            kept.write(f"{text} ")
        start = end + 1 if end >= 0 else -1
    return _SPACES.sub(" ", unescape(kept.getvalue())).strip()
