"""gzip, bzip2, xz and zstd, read a bounded piece at a time.

A Stream never raises over bad compressed data: it ends, and `damage` says why. So everything before the damage is
used, and no exception is raised inside another library's parser."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections import deque
from typing import Any, BinaryIO, Protocol, cast

from neardup.errors import ConfigError, MissingExtra
from neardup.readers.limits import Limits

__all__ = ["COMPRESSIONS", "Stream", "compressed"]

COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".zstd": "zstd"}

_FEED = 1 << 16
_FIRST = 1 << 14  # bytes of the first read: the whole of most text files
# zstd offers no bound on what one call gives back, but four bytes never give more than 128 KiB: so at most 16 MiB.
_ZSTD_FEED = 512
_XZ_MEMORY = 256 << 20


class _Codec(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _Gzip:
    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        out = self._inner.decompress(self._inner.unconsumed_tail + data, max_length)
        self.needs_input = not self._inner.unconsumed_tail
        return out


class _Zstd:
    def __init__(self) -> None:
        self._inner = _zstandard("reading").ZstdDecompressor().decompressobj()
        self._held = memoryview(b"")
        self.needs_input, self.eof, self.unused_data = True, False, b""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        held = memoryview(data) if data else self._held
        out: bytes = self._inner.decompress(held[:_ZSTD_FEED])
        self._held = held[_ZSTD_FEED:]
        self.needs_input = not self._held
        if self._inner.eof:
            self.eof, self.unused_data = True, self._inner.unused_data + bytes(self._held)
        return out


def _sniff(head: bytes) -> str | None:
    """The compression a file starts with; its bytes are trusted, its name is not."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head.startswith(b"BZh") and head[4:10] in (
        b"1AY&SY",
        b"\x17rE8P\x90",
    ):  # a block, or the end of an empty file
        return "bz2"
    if head.startswith(b"\xfd7zXZ\x00"):
        return "xz"
    if head.startswith(b"(\xb5/\xfd") or (head[1:4] == b"*M\x18" and 0x50 <= head[0] <= 0x5F):
        return "zstd"
    return None


def _codec(kind: str, limits: Limits) -> _Codec:
    match kind:
        case "gzip":
            return _Gzip()
        case "bz2":
            return bz2.BZ2Decompressor()
        case "xz":
            return lzma.LZMADecompressor(
                format=lzma.FORMAT_XZ, memlimit=min(_XZ_MEMORY, max(limits.line_bytes, 1 << 26))
            )
    return _Zstd()


def _zstandard(doing: str) -> Any:
    try:
        import zstandard
    except ImportError as error:
        raise MissingExtra(f"{doing} zstd", "io") from error
    return zstandard


class Stream:
    """The decompressed bytes of a file in any of these compressions.

    If `members` is set to a deque, it gets the start of each compressed member after the first: its place in the
    decompressed bytes, and in the file.
    """

    def __init__(self, raw: BinaryIO, limits: Limits) -> None:
        self._raw, self._limits = raw, limits
        self._pending = raw.read(_FIRST)
        self.compression = _sniff(self._pending)
        self.damage: str | None = None
        self.taken, self.given = len(self._pending), 0
        self.members: deque[tuple[int, int]] | None = None
        self._done = False
        self._ahead: list[bytes] = []  # pieces that were looked at and are still to be given
        self._errors: tuple[type[Exception], ...] = (
            zlib.error,
            lzma.LZMAError,
            OSError,
            EOFError,
            ValueError,
        )
        try:
            self._codec = _codec(self.compression, limits) if self.compression else None
            if self.compression == "zstd":
                self._errors += (_zstandard("reading").ZstdError,)
        except BaseException:
            raw.close()
            raise

    def _take(self, size: int) -> bytes:
        if self._pending:
            data, self._pending = self._pending, b""
            return data
        data = self._raw.read(size)
        self.taken += len(data)
        return data

    def read(self, size: int = _FEED) -> bytes:
        """Some bytes, at most about `size` of them (zstd may give up to 16 MiB); none at the end."""
        size = size if size > 0 else _FEED
        if self._ahead:
            return self._ahead.pop(0)
        if self.compression is None:
            data = self._pending[:size]
            if data:
                self._pending = self._pending[size:]
            else:
                data = self._take(size)
            self.given += len(data)
            return data
        while not self._done:
            out = self._step(size)
            if out:
                return out
        return b""

    def peek(self, size: int, piece: int) -> bytes:
        """About the next `size` bytes, fewer at the end, in the pieces they were read in; they are read again later.
        Call it before anything was read; later reads must be of at least `piece` bytes."""
        ahead: list[bytes] = []
        head = b""
        while len(head) < size and (data := self.read(piece)):
            ahead.append(data)
            head += data[:size]
        self._ahead = ahead
        return head

    @property
    def direct(self) -> bool:
        """Whether the file is not compressed, so that `readinto` may be used."""
        return self.compression is None

    def readinto(self, room: memoryview) -> int:
        """Read as many bytes as there are and fit into `room`; 0 at the end. Only for files that are not compressed."""
        assert self.direct
        if self._ahead or self._pending or not hasattr(self._raw, "readinto"):
            data = self.read(len(room))
            if len(data) > len(room):
                self._ahead.insert(0, data[len(room) :])
                data = data[: len(room)]
            room[: len(data)] = data
            return len(data)
        got = self._raw.readinto(room) or 0
        self.taken += got
        self.given += got
        return got

    def _step(self, size: int) -> bytes:
        if self._codec is None and not self._next_member():
            return b""
        assert self._codec is not None and self.compression is not None
        data = self._take(_FEED) if self._codec.needs_input else b""
        exhausted = self._codec.needs_input and not data
        try:
            out = self._codec.decompress(data, size)
        except self._errors as error:
            return self._end(f"damaged {self.compression} data: {error}")
        self.given += len(out)
        if self.given > self._limits.file_bytes:
            return self._end(f"decompresses to more than {self._limits.file_bytes:,} bytes")
        if self.given > max(self._limits.free_bytes, self._limits.expansion * self.taken):
            return self._end(f"decompresses to more than {self._limits.expansion:,} times its size")
        if self._codec.eof:
            self._pending, self._codec = self._codec.unused_data, None
        elif exhausted and not out:
            return self._end(f"truncated {self.compression} data")
        return out

    def _next_member(self) -> bool:
        """Files may be several compressed ones in a row, with zero bytes between and after them."""
        assert self.compression is not None
        rest = self._pending.lstrip(b"\0")
        self._pending = b""
        while not rest:
            if not (data := self._take(_FEED)):
                self._done = True
                return False
            rest = data.lstrip(b"\0")
        self._pending = rest
        self._codec = _codec(self.compression, self._limits)
        if self.members is not None:
            if self.members and self.members[-1][0] == self.given:  # the member before this one was empty
                self.members.pop()
            self.members.append((self.given, self.taken - len(rest)))
        return True

    def _end(self, damage: str) -> bytes:
        self.damage, self._done = damage, True
        return b""

    def close(self) -> None:
        self._raw.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()


def compressed(file: BinaryIO, compression: str | None) -> BinaryIO:
    """A file to write to whose bytes arrive in `file` compressed; equal input gives equal bytes.

    Closing it leaves `file` open.
    """
    match compression:
        case None:
            return file
        case "gzip":
            return cast(
                BinaryIO, gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0)
            )
        case "bz2":
            return cast(BinaryIO, bz2.BZ2File(file, "wb"))
        case "xz":
            return cast(BinaryIO, lzma.LZMAFile(file, "wb"))
        case "zstd":
            return cast(
                BinaryIO, _zstandard("writing").ZstdCompressor(level=3).stream_writer(file, closefd=False)
            )
    raise ConfigError(f"no compression {compression!r}; there are: gzip, bz2, xz, zstd")
