"""Writes WARC files: records copied as they are, and revisit records in place of duplicates (ISO 28500)."""

from __future__ import annotations

import uuid
import zlib
from dataclasses import dataclass
from os import PathLike
from typing import Any

from neardup.errors import ConfigError
from neardup.readers.writers import split_compression
from neardup.storage.output import Output

__all__ = ["IDENTICAL", "NEAR", "Capture", "WarcWriter", "is_warc_name"]

IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
# The standard names no profile for near-duplicates and lets writers name their own.
NEAR = "urn:neardup:revisit:near-duplicate"
_LONGEST_HEAD = 1 << 20
_NAMES = uuid.UUID("8b2f1d52-2c0e-5d0b-9d0e-7a4f6c1be0a3")


@dataclass(frozen=True, slots=True)
class Capture:
    """What a revisit record says of the capture it refers to; what is not known is None."""

    id: str
    url: str | None = None
    date: str | None = None
    digest: str | None = None


class WarcWriter:
    """Records for one file. With `compression="gzip"`, each record is a member of its own, so that it can be read by
    its offset."""

    def __init__(self, file: Output, compression: str | None) -> None:
        self._file, self._gzip = file, compression == "gzip"

    def copy(self, record: Any) -> None:
        """Write a record as it was read."""
        member = _Member(self._file, self._gzip)
        record.write(member)
        member.end()

    def revisit(self, record: Any, keeper: Capture, digest: str | None) -> None:
        """Write a record that says: this capture is a duplicate of the keeper. Its HTTP headers are kept, its page is
        not. `digest` is that of the page."""
        same = digest is not None and digest == keeper.digest
        own = record.headers.get("WARC-Record-ID") or ""
        block = _http_head(record) if record.is_http else b""
        lines = {
            "WARC-Type": "revisit",
            "WARC-Record-ID": f"<{uuid.uuid5(_NAMES, own).urn}>",
            "WARC-Target-URI": record.headers.get("WARC-Target-URI"),
            "WARC-Date": record.headers.get("WARC-Date"),
            "WARC-Profile": IDENTICAL if same else NEAR,
            "WARC-Payload-Digest": digest,
            "WARC-Refers-To": f"<{keeper.id}>" if ":" in keeper.id else None,
            "WARC-Refers-To-Target-URI": keeper.url,
            "WARC-Refers-To-Date": keeper.date,
            "WARC-Truncated": "length",
            "Content-Type": record.headers.get("Content-Type"),
            "Content-Length": str(len(block)),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value)
        member = _Member(self._file, self._gzip)
        member.write(b"WARC/1.1\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n")
        member.end()


def _http_head(record: Any) -> bytes:
    """The status line and the headers of a response as they are, with the blank line behind them."""
    head, blank, _ = record.reader.read(_LONGEST_HEAD).partition(b"\r\n\r\n")
    return bytes(head + blank) if blank else b""


class _Member:
    """One record on its way to the file."""

    def __init__(self, file: Output, gzip: bool) -> None:
        self._file = file
        self._coder = zlib.compressobj(6, zlib.DEFLATED, 31) if gzip else None

    def write(self, data: bytes) -> int:
        self._file.write(self._coder.compress(data) if self._coder is not None else data)
        return len(data)

    def end(self) -> None:
        if self._coder is not None:
            self._file.write(self._coder.flush())


def is_warc_name(path: str | PathLike[str]) -> bool:
    """Whether an output of this name is a WARC file. ConfigError if it is one in a compression that we do not write."""
    stem, compression = split_compression(path)
    if not stem.endswith(".warc"):
        return False
    if compression not in (None, "gzip"):
        raise ConfigError(f"{path}: WARC is written plain or with gzip; name it .warc or .warc.gz")
    return True
