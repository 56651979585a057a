"""Limits on what a reader accepts."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

from neardup.errors import ConfigError
from neardup.values.checks import check_fields, checked_methods

__all__ = ["Limits"]


@checked_methods
@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds, in bytes and inclusive, that bound the memory of a read for any input.

    What exceeds one is rejected and counted, and reading continues after it.

    document_bytes  the text of one document
    line_bytes  one line of a file
    meta_bytes  the other columns of one row
    expansion   how many times its size a compressed file may grow, beyond the first `free_bytes`
    file_bytes  one file after decompression

    >>> import neardup as nd
    >>> limits = nd.readers.Limits(document_bytes=1000)
    >>> reader = nd.read([{"text": "some words"}, {"text": "x" * 2000}], limits=limits)
    >>> [document.text for document in reader.documents()]
    ['some words']
    """

    document_bytes: int = 128 << 20  # one text, as UTF-8
    line_bytes: int = 256 << 20  # one line of JSONL or record of CSV, decompressed: a text may be escaped
    meta_bytes: int = (
        8 << 20
    )  # JSON outside of strings: a list of empty lists takes 25 times its size in memory
    expansion: int = 10_000  # decompressed bytes for each compressed one, beyond free_bytes
    free_bytes: int = 1 << 30  # a file may decompress to this much at any ratio
    file_bytes: int = 1 << 42  # a compressed file, decompressed

    def __post_init__(self) -> None:
        check_fields(self)
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, int) or value < 1:
                raise ConfigError(f"Limits.{field.name} must be a whole number of at least 1, not {value!r}")

    @classmethod
    def within(cls, memory: int) -> Self:
        """The usual limits, or smaller ones for a run that may use less than 2 GB: a line takes several times its size
        while it is decoded."""
        usual = cls()
        return cls(
            document_bytes=max(min(usual.document_bytes, memory // 14), 1 << 20),
            line_bytes=max(min(usual.line_bytes, memory // 7), 1 << 21),
            meta_bytes=max(min(usual.meta_bytes, memory // 128), 1 << 18),
        )
