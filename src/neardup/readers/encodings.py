"""Files in any encoding, read as UTF-8.

A byte order mark decides, or the encoding that is given, or that the bytes are UTF-8. Otherwise resiliparse's
detector is asked, and Windows-1252 is taken where it is not installed. A file that is ASCII as far as it was seen is
decided on when the first other byte comes.
"""

from __future__ import annotations

import codecs
from contextlib import suppress
from typing import Protocol

from neardup.readers.compression import Stream
from neardup.readers.recognise import ANY_MARK, MARKS

__all__ = ["Bytes", "Recoded", "as_utf8", "decode_text", "detect", "encoding_name"]

_SAMPLE, _PIECE = 1 << 18, 1 << 18
_LONGEST_MARK = max(len(mark) for mark, _ in MARKS)
_UTF8 = ("utf-8", "ascii")
_NAMES = {"cp1252": "Windows-1252", "cp1250": "Windows-1250", "cp1251": "Windows-1251", "utf-8": "UTF-8"}


class Bytes(Protocol):
    """What lines are taken from: a Stream, or one in another encoding."""

    @property
    def damage(self) -> str | None: ...

    @property
    def direct(self) -> bool: ...

    def read(self, size: int = ...) -> bytes: ...

    def readinto(self, room: memoryview) -> int: ...


class Recoded:
    """A stream as UTF-8. Bytes that the encoding has not are passed on as they are, so that the row they are in is
    rejected, and no other."""

    def __init__(self, stream: Stream, encoding: str | None, guess: bool) -> None:
        self._stream, self._guess = stream, guess
        self.encoding = encoding
        self._decoder = _decoder(encoding) if encoding not in (None, *_UTF8) else None
        self._first = True

    @property
    def damage(self) -> str | None:
        return self._stream.damage

    @property
    def direct(self) -> bool:
        return False

    def read(self, size: int = _PIECE) -> bytes:
        while data := self._stream.read(size):
            if self._first:
                while len(data) < _LONGEST_MARK and (more := self._stream.read(size)):
                    data += more
                data, self._first = _without_mark(data, self.encoding), False
            if self._decoder is None and self.encoding is None and self._guess and not data.isascii():
                self.encoding = detect(data)
                self._decoder = None if self.encoding in _UTF8 else _decoder(self.encoding)
            out = data if self._decoder is None else _encoded(self._decoder.decode(data))
            if out:
                return out
        rest = _encoded(self._decoder.decode(b"", True)) if self._decoder is not None else b""
        self._decoder = None
        return rest

    def readinto(self, room: memoryview) -> int:
        raise NotImplementedError("a stream in another encoding is read in pieces")


def as_utf8(stream: Stream, encoding: str | None, guess: bool) -> tuple[Stream | Recoded, bytes]:
    """The stream itself if it is UTF-8, or else recoded; and the beginning of it, recoded too. With `guess`, an
    encoding that is neither given nor marked is guessed."""
    head = stream.peek(_SAMPLE, _PIECE)
    found = _marked(head) or encoding
    if found is None and guess and not head.isascii():
        found = detect(head)
    if found in _UTF8 or (found is None and not guess):
        return stream, head.removeprefix(codecs.BOM_UTF8)
    recoded = Recoded(stream, found, guess)
    if found is None:
        return recoded, head
    return recoded, _encoded(_decoder(found).decode(_without_mark(head, found)))


def decode_text(data: bytes, encoding: str | None) -> tuple[str | None, str]:
    """A whole text, None if its bytes are not of its encoding; and the encoding."""
    found = _marked(data) or encoding
    if found is None:
        with suppress(UnicodeDecodeError):
            return data.decode("utf-8"), "utf-8"
        found = detect(data)
    try:
        return _without_mark(data, found).decode(found), found
    except UnicodeDecodeError:
        return None, found


def detect(data: bytes) -> str:
    """The likeliest encoding of some bytes that are not ASCII. UTF-8 with a few damaged bytes is still UTF-8."""
    text = data.decode("utf-8", "replace")
    wrong = text.count("\N{REPLACEMENT CHARACTER}")
    if not wrong:
        return "utf-8"
    good = len(text) - len(text.encode("ascii", "ignore")) - wrong
    if good >= wrong:
        return "utf-8"
    try:
        from resiliparse.parse.encoding import detect_encoding
    except ImportError:
        return "cp1252"
    try:
        name = codecs.lookup(detect_encoding(data) or "cp1252").name
    except LookupError:
        return "cp1252"
    # What is not UTF-8 in the end is taken for what most such files are.
    return "cp1252" if name in (*_UTF8, "iso8859-1") or name.startswith("utf") else name


def encoding_name(encoding: str | None) -> str:
    """The name of an encoding as people write it."""
    return _NAMES.get(encoding or "utf-8", (encoding or "").upper())


def _marked(head: bytes) -> str | None:
    if not head.startswith(ANY_MARK):
        return None
    return next(encoding for mark, encoding in MARKS if head.startswith(mark))


def _without_mark(data: bytes, encoding: str | None) -> bytes:
    for mark, marked in MARKS:
        if data.startswith(mark) and encoding in (None, marked, marked.rpartition("-")[0]):
            return data[len(mark) :]
    return data


def _decoder(encoding: str | None) -> codecs.IncrementalDecoder:
    assert encoding is not None
    wide = encoding.startswith(("utf-16", "utf-32", "utf_16", "utf_32"))
    return codecs.getincrementaldecoder(encoding)("surrogatepass" if wide else "surrogateescape")


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        escaped = any("\udc80" <= char <= "\udcff" for char in text)
        return text.encode("utf-8", "surrogateescape" if escaped else "surrogatepass")
