"""The messages of an Arrow file, from their headers: a record batch is decoded whole, so a reader must know how large
one is before it does that.

The headers are FlatBuffers (Message.fbs, File.fbs): a table is a place with, four bytes before it, the way back to the
list of places of its fields. Only the few fields that say sizes are read, and every place is checked against the bytes.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from typing import BinaryIO

__all__ = ["Message", "messages_of"]

FILE_MARK = b"ARROW1"
_CONTINUED = 0xFFFFFFFF  # in front of each message, except in streams of before 2019
_MOST_HEADER = 1 << 26
_DICTIONARY, _BATCH = 2, 3  # kinds of header


class _NotArrow(ValueError):
    """The bytes are no such message."""


@dataclass(frozen=True, slots=True)
class Message:
    """A record batch, or a dictionary: its rows, the bytes of its body, and what its buffers take decompressed, 0 if
    none is compressed. `end` is the place behind it."""

    dictionary: bool
    rows: int
    size: int
    decompressed: int
    end: int


def messages_of(file: BinaryIO) -> tuple[list[Message], bool]:
    """The dictionaries and batches of a file (dictionaries first) or of a stream (in their order), and whether these
    are all, up to the end mark of a stream. The position of the file is not kept."""
    file.seek(0, 2)
    length = file.tell()
    file.seek(0)
    found = list[Message]()
    try:
        if file.read(6) != FILE_MARK:
            return found, _streamed(file, length, found)
        for at, size in _blocks(file, length):
            header, behind = _header(file, at)
            message = _message(file, header, behind)
            if message is None:
                return found, False
            found.append(replace(message, size=max(message.size, size)))
    except (_NotArrow, struct.error, OverflowError):
        return found, False
    return found, True


def _streamed(file: BinaryIO, length: int, found: list[Message]) -> bool:
    at = 0
    while at < length:
        header, at = _header(file, at)
        if header is None:
            return True
        message = _message(file, header, at)
        at += header.number(3, "<q")
        if message is not None:
            found.append(message)
    return False


def _blocks(file: BinaryIO, length: int) -> list[tuple[int, int]]:
    """Where the messages of a file begin, and the bytes of their bodies; dictionaries first."""
    if length < 18:
        raise _NotArrow
    file.seek(length - 10)
    tail = file.read(10)
    size = _number(tail, 0, "<i")
    if tail[4:] != FILE_MARK or not 0 < size <= min(length - 18, _MOST_HEADER):
        raise _NotArrow
    file.seek(length - 10 - size)
    footer = _HeaderTable.root(file.read(size))
    places = [at for field in (2, 3) for at in footer.structures(field, 24)]
    return [(_number(footer.data, at, "<q"), _number(footer.data, at + 16, "<q")) for at in places]


def _header(file: BinaryIO, at: int) -> tuple[_HeaderTable | None, int]:
    """The header of the message at a place, None for the end mark, and the place behind it."""
    if at < 0:
        raise _NotArrow
    file.seek(at)
    head = file.read(8)
    long = _number(head, 0, "<I") == _CONTINUED
    size = _number(head, 4, "<i") if long else _number(head, 0, "<i")
    if size == 0:
        return None, at + 8
    if not 0 < size <= _MOST_HEADER:
        raise _NotArrow
    start = at + (8 if long else 4)
    file.seek(start)
    return _HeaderTable.root(file.read(size)), start + size


def _message(file: BinaryIO, header: _HeaderTable | None, body: int) -> Message | None:
    """The message with this header; None if it is neither a batch nor a dictionary."""
    if header is None or header.number(3, "<q") < 0:
        raise _NotArrow
    kind, inner = header.number(1, "<B"), header.table(2)
    if kind not in (_DICTIONARY, _BATCH) or inner is None:
        return None
    batch = inner.table(1) if kind == _DICTIONARY else inner
    if batch is None:
        raise _NotArrow
    decompressed = 0
    if batch.table(3) is not None:
        for at in batch.structures(2, 16):
            place, size = _number(batch.data, at, "<q"), _number(batch.data, at + 8, "<q")
            if place < 0 or size < 0:
                raise _NotArrow
            if size:
                file.seek(body + place)
                whole = _number(file.read(8), 0, "<q")  # -1: it is not compressed
                decompressed += max(whole, size)
    size = header.number(3, "<q")
    return Message(kind == _DICTIONARY, max(0, batch.number(0, "<q")), size, decompressed, body + size)


def _number(data: bytes, at: int, kind: str) -> int:
    if at < 0:
        raise _NotArrow
    return int(struct.unpack_from(kind, data, at)[0])


@dataclass(frozen=True, slots=True)
class _HeaderTable:
    data: bytes
    at: int

    @classmethod
    def root(cls, data: bytes) -> _HeaderTable:
        return cls(data, _number(data, 0, "<I"))

    def _place(self, field: int) -> int | None:
        fields = self.at - _number(self.data, self.at, "<i")
        if 4 + 2 * field >= _number(self.data, fields, "<H"):
            return None
        offset = _number(self.data, fields + 4 + 2 * field, "<H")
        return self.at + offset if offset else None

    def number(self, field: int, kind: str) -> int:
        place = self._place(field)
        return 0 if place is None else _number(self.data, place, kind)

    def table(self, field: int) -> _HeaderTable | None:
        place = self._place(field)
        return None if place is None else _HeaderTable(self.data, place + _number(self.data, place, "<I"))

    def structures(self, field: int, size: int) -> range:
        """The places of the structures of a vector."""
        place = self._place(field)
        if place is None:
            return range(0)
        place += _number(self.data, place, "<I")
        many = _number(self.data, place, "<I")
        if place + 4 + size * many > len(self.data):
            raise _NotArrow
        return range(place + 4, place + 4 + size * many, size)
