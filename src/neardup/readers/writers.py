"""Writing documents and other rows: to files of many formats, and to standard output."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from os import PathLike
from types import TracebackType
from typing import Any

from neardup.errors import ConfigError
from neardup.readers.arrow_checks import pyarrow
from neardup.readers.compression import COMPRESSIONS
from neardup.readers.document import Document
from neardup.readers.layout import Layout
from neardup.readers.written_forms import FORMATS, LISTS, Form, made_form
from neardup.storage.atomic_file import AtomicFile
from neardup.storage.output import STANDARD_OUTPUT, Output, StreamOutput, is_stream, open_output
from neardup.values.checks import checked

__all__ = ["Writer", "format_for", "open_writer", "split_compression"]

_BINARY = ("parquet", "arrow", "xlsx")


class Writer:
    """Writes rows to an output of `storage/output.py`. Leaving the `with` block puts a file in place; an error
    removes it.

    `rows` is the number written so far; `format` is how they are written.

    >>> import tempfile
    >>> import neardup as nd
    >>> with nd.readers.open_writer(tempfile.mkdtemp() + "/kept.csv") as writer:
    ...     writer.write(nd.Document("a", "some words"))
    >>> writer.rows, writer.format
    (1, 'csv')
    """

    @checked
    def __init__(self, file: Output, form: Form, like: Layout | None, format: str) -> None:
        self._file, self._form, self._like, self.format = file, form, like, format
        self.rows, self._open = 0, True

    def write(self, row: Document | Mapping[str, Any] | str) -> None:
        """One row: a mapping as it is; a Document with the columns it was read with; for id lists also an id."""
        if isinstance(row, Document):
            if self.format in LISTS:
                record: dict[str, Any] = {"id": row.id, "text": row.text}
            elif self._like is not None:
                record = self._like.record(row)
            else:
                record = {"id": row.id, "text": row.text, **row.meta}
        elif isinstance(row, str):
            if self.format != "ids":
                raise ConfigError("a row is a mapping or a Document; only lists of ids take an id")
            record = {"id": row}
        else:
            record = dict(row)
        self._form.write(record)
        self.rows += 1

    def write_line(self, document: Document, line: bytes | None, layout: Layout, format: str) -> None:
        """A document as the line it was read from, if the output has the same format and columns; else as `write`."""
        same = line is not None and format == self.format
        if same and format not in ("jsonl", "lines"):
            same = self._like is not None and layout.written == self._like.written
            same = same and self._like is not None and layout.columns == self._like.columns
        if not same or line is None:
            self.write(document)
            return
        self._form.write_line(line)
        self.rows += 1

    def flush(self) -> None:
        """To standard output and special files, write what is in the buffer, so that their reader has it."""
        if isinstance(self._file, StreamOutput):
            self._file.file.flush()

    def write_all(self, rows: Iterable[Document | Mapping[str, Any] | str]) -> None:
        for row in rows:
            self.write(row)

    def write_lines(self, parts: Sequence[memoryview], rows: int) -> None:
        """Rows as they are to be in the file, each with its line end; for JSONL that is not compressed."""
        assert self.format == "jsonl" and isinstance(self._file, AtomicFile)
        self._file.write_all(parts)
        self.rows += rows

    def close(self) -> None:
        """Finish the file and put it in place; a second call does nothing."""
        if self._open:
            self._open = False
            try:
                self._form.finish()
                self._file.commit()
            finally:
                self._file.discard()

    def discard(self) -> None:
        """Leave nothing behind; nothing happens after `close`."""
        if self._open:
            self._open = False
            # Compressors write their last bytes when they are closed: better now than when they are collected.
            with suppress(Exception):
                self._form.finish()
            self._file.discard()

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            try:
                self.close()
            except OSError as late:  # buffers may fill the disk only now
                self._name(late)
                raise
        else:
            self.discard()
            if isinstance(error, OSError):
                self._name(error)

    def _name(self, error: OSError) -> None:
        """The error of a full disk does not name the file."""
        if error.filename is None and not isinstance(error, BrokenPipeError):
            error.filename = str(self._file.path)


@checked
def open_writer(
    path: str | PathLike[str],
    format: str | None = None,
    compression: str | None = None,
    like: Layout | None = None,
    *,
    overwrite: bool = True,
    encoding: str | None = None,
    secret: bool = False,
) -> Writer:
    r"""A writer for `path`, whose name gives format and compression unless they are given; `-` is standard output.

    `like`, a batch's layout, keeps the input's columns, their order and types, and of CSV the delimiter, the quotes
    and the encoding (unless `encoding` is given). Parquet and Arrow compress inside. Without `overwrite`, a file that
    exists is an error. Only the owner can read a `secret` file.

    raises  ConfigError for an unknown format, DataError if the file cannot be written

    >>> import pathlib, tempfile
    >>> import neardup as nd
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "kept.jsonl"
    >>> with nd.readers.open_writer(path) as writer:
    ...     writer.write(nd.Document("a", "some words"))
    >>> path.read_text()
    '{"id":"a","text":"some words"}\n'
    """
    format, compression = format_for(path, format, compression)
    if (format in _BINARY or compression) and os.fspath(path) == STANDARD_OUTPUT and os.isatty(1):
        raise ConfigError(f"{compression or format} is not for a terminal; redirect the output to a file")
    file = open_output(path, overwrite=overwrite, secret=secret)
    try:
        form = made_form(file, format, compression, like, encoding)
    except BaseException:
        file.discard()
        raise
    return Writer(file, form, like, format)


def split_compression(path: str | PathLike[str]) -> tuple[str, str | None]:
    """A name in lower case without the ending of its compression, and that compression."""
    name = os.fspath(path).lower()
    stem, suffix = os.path.splitext(name)
    return (stem, COMPRESSIONS[suffix]) if suffix in COMPRESSIONS else (name, None)


def format_for(
    path: str | PathLike[str],
    format: str | None = None,
    compression: str | None = None,
    *,
    stream_format: str = "jsonl",
) -> tuple[str, str | None]:
    """The format and compression of a file to write, by its name where they are not given. Standard output and special
    files get the `stream_format`. ConfigError if neither name nor format say it, or if nothing can be written there."""
    name = os.fspath(path)
    if "://" in name:
        raise ConfigError(f"{name}: output can only be written to local files; write there and copy it")
    stem, named = split_compression(name)
    compression = compression or named
    suffix = os.path.splitext(stem)[1]
    format = format or FORMATS.get(suffix)
    if format is None and is_stream(name):
        format = stream_format
    if format is None or format not in FORMATS.values():
        known = ", ".join(sorted(set(FORMATS.values())))
        what = f"the ending {suffix!r} is no format" if suffix else "a name without an ending says no format"
        if format:
            what = f"there is no format {format!r}"
        raise ConfigError(
            f"{name}: {what} to write; name one with --out-format (in Python format=): {known}"
        ).with_options("--out-format", stream_format)
    if format in _BINARY and compression is not None:
        raise ConfigError(f"{name}: {format} files compress inside; leave the compression out")
    if format in ("parquet", "arrow"):
        pyarrow(f"writing {format}")
    return format, compression
