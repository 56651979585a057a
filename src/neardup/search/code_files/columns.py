"""Codes as columns on their way from a file or to one, and what is known of a file of codes before it is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ConfigError, DataError, SchemeError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.codes import WIDTHS
from neardup.search.disk.segments import words_of
from neardup.values.checks import checked_methods
from neardup.values.sizes import parse_size, size_text
from neardup.values.wording import counted

__all__ = [
    "CHUNK",
    "FORMATS",
    "CodeColumns",
    "CodeFile",
    "CodeFormat",
    "check_width",
    "format_of",
    "holding_bytes",
    "same_kind",
]

CodeFormat = Literal["segment", "compressed", "parquet", "npy", "raw", "hex"]
FORMATS: dict[str, CodeFormat] = {
    ".seg": "segment",
    ".segz": "compressed",
    ".parquet": "parquet",
    ".npy": "npy",
    ".raw": "raw",
    ".bin": "raw",
    ".hex": "hex",
    ".txt": "hex",
}
"""The format of each ending."""
CHUNK = 1 << 18
"""Codes read at a time."""


def format_of(path: str | os.PathLike[str], format: str | None = None) -> CodeFormat:
    """The format that is named, or that of the ending; ConfigError if it is none of those there are."""
    ending = os.path.splitext(os.fspath(path).lower())[1]
    found = format or FORMATS.get(ending, "hex" if os.fspath(path) == "-" else None)
    for known in get_args(CodeFormat):
        if found == known:
            return known  # type: ignore[no-any-return]
    what = f"the ending {ending!r} is no format" if ending else "a name without an ending says no format"
    if format:
        what = f"there is no format {format!r}"
    known = ", ".join(get_args(CodeFormat))
    raise ConfigError(f"{path}: {what} of codes; name one with --format (in Python format=): {known}")


def check_width(bits: int, path: object = "codes") -> int:
    """The width, if it can be searched."""
    if bits not in WIDTHS:
        raise ConfigError(f"{path}: codes have 32, 64 or 128 bits, not {bits}")
    return bits


@dataclass(frozen=True)
class CodeColumns:
    """Some codes: `codes` uint64[n, words], the row number of each, which are empty documents, and what else there is
    of them: ids, margins as bytes uint8[n, bits] with their scales float32[n]."""

    codes: NDArray[np.uint64]
    rows: NDArray[np.int64]
    empty: NDArray[np.bool_]
    ids: Sequence[str] | None = None
    margin_bytes: NDArray[np.uint8] | None = None
    margin_scales: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def of(cls, words: NDArray[Any], start: int, **others: Any) -> CodeColumns:
        """Words of codes, none of them empty unless it is said, with rows from `start` on."""
        codes = np.ascontiguousarray(words, np.uint64).reshape(len(words), -1)
        others.setdefault("empty", np.zeros(len(codes), np.bool_))
        return cls(codes, np.arange(start, start + len(codes)), **others)

    @classmethod
    def of_codes(cls, codes: Codes, start: int = 0, ids: Sequence[str] | None = None) -> CodeColumns:
        """Codes in memory; full margins are left out, those in bytes are kept."""
        return cls.of(
            codes.codes,
            start,
            empty=codes.empty,
            ids=ids,
            margin_bytes=codes.margin_bytes,
            margin_scales=codes.margin_scales,
        )

    def prints(self, scheme: str, bits: int) -> Codes:
        """The same as fingerprints."""
        return Codes(
            scheme,
            self.empty,
            bits,
            self.codes,
            margin_bytes=self.margin_bytes,
            margin_scales=self.margin_scales,
        )

    @classmethod
    def together(cls, parts: Sequence[CodeColumns], bits: int) -> CodeColumns:
        """One after another; parts of one file have the same columns."""
        if not parts:
            return cls.of(np.empty((0, words_of(bits)), np.uint64), 0)
        if len(parts) == 1:
            return parts[0]
        first = parts[0]

        def joined(name: str) -> Any:
            return None if getattr(first, name) is None else np.concatenate([getattr(p, name) for p in parts])

        ids = None if first.ids is None else [name for part in parts for name in part.ids or ()]
        names = ("codes", "rows", "empty", "margin_bytes", "margin_scales")
        return cls(ids=ids, **{name: joined(name) for name in names})


@checked_methods
@dataclass(frozen=True)
class CodeFile:
    """Codes in a file, opened. `count` counts its rows. A file of numbers alone says neither how the codes were made,
    so that its `scheme` is None, nor how firm their bits are."""

    path: str
    format: CodeFormat
    bits: int
    count: int
    stream: Callable[[int], Iterator[CodeColumns]] = field(repr=False)
    scheme: str | None = None
    has_ids: bool = False
    has_margins: bool = False

    def __len__(self) -> int:
        return self.count

    def chunks(self, size: int = CHUNK) -> Iterator[CodeColumns]:
        """All codes, `size` at a time."""
        if size < 1:
            raise ConfigError(f"a chunk has at least one code, not {size}")
        return self.stream(size)

    def load(
        self,
        *,
        scheme: str | None = None,
        memory: int | str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[Codes, CodeColumns]:
        """All codes in memory: as fingerprints, of the `scheme` if the file names none, and as columns. ConfigError if
        they take more than `memory`."""
        if memory is not None and (needed := holding_bytes([self])) > parse_size(memory):
            raise ConfigError(
                f"{self.path}: {counted(self.count, 'code')} take about {size_text(needed)} of memory, more than the "
                f"{memory} allowed: give more, or search the queries in parts"
            )
        parts, done = [], 0
        for part in self.chunks():
            parts.append(part)
            done += len(part)
            if progress is not None:
                progress(done)
        columns = CodeColumns.together(parts, self.bits)
        if self.format in ("segment", "compressed"):  # sorted by code; rows are what users know
            order = np.argsort(columns.rows, kind="stable")
            columns = CodeColumns(columns.codes[order], columns.rows[order], columns.empty)
        return columns.prints(self.scheme or scheme or f"bare{self.bits}", self.bits), columns

    def renamed(self, scheme: str) -> CodeFile:
        """The same, known to be of this scheme; SchemeError if it names another one."""
        if self.scheme not in (None, scheme):
            raise SchemeError(scheme, str(self.scheme))
        return replace(self, scheme=scheme)


def holding_bytes(files: Sequence[CodeFile]) -> int:
    """About the memory to hold all codes of files and a search table of them."""
    total = 0
    for file in files:
        row = 8 * words_of(file.bits) + 8 + 1 + (file.bits + 4 if file.has_margins else 0) + 80 * file.has_ids
        total += file.count * (2 * row + 40)
    return total


def same_kind(files: Sequence[CodeFile]) -> str:
    """The scheme of files whose codes are compared with each other. A file that names none is taken for the others';
    SchemeError if two name different ones, DataError if widths differ."""
    for file in files[1:]:
        if file.bits != files[0].bits:
            raise DataError(
                f"{files[0].path} has codes of {files[0].bits} bits and {file.path} of {file.bits}: they cannot be "
                "compared"
            )
    named = [file.scheme for file in files if file.scheme is not None]
    for scheme in named[1:]:
        if scheme != named[0]:
            raise SchemeError(named[0], scheme)
    return named[0] if named else f"bare{files[0].bits}"
