"""Standard input as a file: named `-`, read once, of the format that is given or that its first bytes show."""

from __future__ import annotations

import io
import re
import sys
from io import RawIOBase
from os import PathLike
from typing import Any, BinaryIO, ClassVar, cast
from weakref import WeakKeyDictionary

from neardup.errors import ConfigError, DataError
from neardup.readers.compression import Stream
from neardup.readers.layout import TEXT_NAMES
from neardup.readers.limits import Limits
from neardup.readers.recognise import is_binary
from neardup.storage.atomic_file import AtomicFile

__all__ = ["STANDARD_INPUT", "StandardInput", "check_streamable"]

STANDARD_INPUT = "-"
_HEAD, _PIECE = 8192, 1 << 20
_COLUMN = re.compile(rb"[\w.:-]+")


class StandardInput:
    """Standard input, whose first bytes can be read before it is opened."""

    # What was seen of a stream and not read yet, for the code that opens it: it may be named more than once.
    _heads: ClassVar[WeakKeyDictionary[Any, bytes]] = WeakKeyDictionary()

    def __init__(self) -> None:
        self._opened = False

    @property
    def _head(self) -> bytes | None:
        return self._heads.get(sys.stdin.buffer)

    @_head.setter
    def _head(self, data: bytes) -> None:
        self._heads[sys.stdin.buffer] = data

    def format(self) -> str:
        """JSON, a table with a header that names a column of text, or else one text a line: what else there is must be
        named."""
        head = self._head
        if head is None:
            self._head = head = cast(io.BufferedReader, sys.stdin.buffer).read1(_HEAD)
        with Stream(io.BytesIO(head), Limits()) as stream:
            begin = b""
            while len(begin) < _HEAD and (data := stream.read(_HEAD)):
                begin += data
        if is_binary(begin):
            raise DataError(
                "standard input is binary; Parquet, Arrow and other binary files are read by name, and the format of "
                "WARC is named with --format warc"
            )
        begin = begin.removeprefix(b"\xef\xbb\xbf").lstrip()
        return "jsonl" if begin.startswith((b"{", b"[")) else _table(begin) or "lines"

    def peek(self, size: int = 4 << 20) -> BinaryIO:
        """So many bytes of its beginning, which are given again when it is read."""
        if self._opened:
            return io.BytesIO()
        head = self._head or b""
        while len(head) < size and (data := sys.stdin.buffer.read(size - len(head))):
            head += data
        self._head = head
        return io.BytesIO(head)

    def open(self) -> BinaryIO:
        """The stream from its beginning. It can be opened only once."""
        if self._opened:
            raise DataError("standard input can be read only once; save it to a file, and name that file")
        self._opened = True
        return cast(BinaryIO, _Input(self._heads.pop(sys.stdin.buffer, b""), sys.stdin.buffer))

    def save(self, path: str | PathLike[str]) -> None:
        """All of it to a file, which appears when it is whole."""
        with AtomicFile(path) as file, self.open() as incoming:
            while data := incoming.read(_PIECE):
                file.write(data)
            file.commit()


def _table(begin: bytes) -> str | None:
    """The format of a table with a header: its first line has a column that is known to hold text, and its second line
    as many fields or more."""
    header, _, rest = begin.partition(b"\n")
    second = rest.partition(b"\n")[0]
    for sign, format in ((b"\t", "tsv"), (b",", "csv"), (b";", "csv"), (b"|", "csv")):
        names = [name.strip().strip(b"\"'").lower() for name in header.split(sign)]
        known = any(name.decode("ascii", "replace") in TEXT_NAMES for name in names)
        plain = all(_COLUMN.fullmatch(name) for name in names)  # words of a sentence have blanks between them
        if len(names) > 1 and known and plain and (not rest or second.count(sign) >= len(names) - 1):
            return format
    return None


class _Input(RawIOBase):
    """Standard input behind what was seen of it; closing leaves it open, as it is not ours."""

    def __init__(self, head: bytes, file: BinaryIO) -> None:
        self._head, self._file = head, file

    def read(self, size: int = -1) -> bytes:
        if self._head:
            data = self._head if size < 0 else self._head[:size]
            self._head = self._head[len(data) :]
            return data + self._file.read() if size < 0 else data
        return self._file.read(size)

    def readinto(self, room: Any) -> int:
        data = self.read(len(room))
        room[: len(data)] = data
        return len(data)


def check_streamable(format: str) -> str:
    """The format, if it can be read from its beginning to its end without going back."""
    if format in ("parquet", "arrow"):
        raise ConfigError(
            f"{format} cannot be read from standard input; save it to a file, and name that file"
        )
    return format
