"""Writing JSONL, CSV, TSV, Parquet, Arrow and lists of ids; a file appears when it is whole."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from os import PathLike
from types import TracebackType
from typing import Any, Protocol

from neardup.errors import ConfigError, DataError
from neardup.readers.compression import COMPRESSIONS, compressed
from neardup.readers.csv import DELIMITERS
from neardup.readers.document import Document
from neardup.readers.layout import Layout
from neardup.readers.parquet import pyarrow
from neardup.storage.atomic_file import AtomicFile
from neardup.values.plain import finite, json_value

__all__ = ["Writer", "format_for", "open_writer"]

_FORMATS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".csv": "csv",
    ".tsv": "tsv",
    ".ids": "ids",
    ".txt": "ids",
}
_PARQUET_ROWS, _PARQUET_CHARACTERS = 10_000, 64 << 20


class _Form(Protocol):
    def write(self, record: dict[str, Any]) -> None: ...

    def finish(self) -> None: ...


class Writer:
    """Writes rows to a hidden file beside the target. Leaving the `with` block puts it in place; an error removes it.

    `rows` is the number written so far.
    """

    def __init__(self, file: AtomicFile, form: _Form, like: Layout | None, ids_only: bool) -> None:
        self._file, self._form, self._like, self._ids_only = file, form, like, ids_only
        self.rows, self._open = 0, True

    def write(self, row: Document | Mapping[str, Any] | str) -> None:
        """One row: a mapping as it is; a Document with the columns it was read with; for id lists also an id."""
        if isinstance(row, Document):
            if self._ids_only:
                record: dict[str, Any] = {"id": row.id}
            elif self._like is not None:
                record = self._like.record(row)
            else:
                record = {"id": row.id, "text": row.text, **row.meta}
        elif isinstance(row, str):
            if not self._ids_only:
                raise ConfigError("a row is a mapping or a Document; only lists of ids take an id")
            record = {"id": row}
        else:
            record = dict(row)
        self._form.write(record)
        self.rows += 1

    def write_all(self, rows: Iterable[Document | Mapping[str, Any] | str]) -> None:
        for row in rows:
            self.write(row)

    def write_lines(self, parts: Sequence[memoryview], rows: int) -> None:
        """Rows as they are to be in the file, each with its line end; for JSONL that is not compressed."""
        assert isinstance(self._form, _Jsonl)
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
        """A full disk tells no file of its own."""
        if error.filename is None:
            error.filename = str(self._file.path)


def open_writer(
    path: str | PathLike[str],
    format: str | None = None,
    compression: str | None = None,
    like: Layout | None = None,
) -> Writer:
    """A writer for `path`, whose name tells format and compression unless they are given.

    `like`, a batch's layout, keeps the input's columns, their order and types. Parquet and Arrow compress inside.
    """
    format, compression = format_for(path, format, compression)
    file = AtomicFile(path)
    try:
        form = _form(file, format, compression, like)
    except BaseException:
        file.discard()
        raise
    return Writer(file, form, like, format == "ids")


def format_for(
    path: str | PathLike[str], format: str | None = None, compression: str | None = None
) -> tuple[str, str | None]:
    """The format and compression of a file to write, told by its name where they are not given; ConfigError where
    there is no telling, or no writing there."""
    name = os.fspath(path)
    if "://" in name:
        raise ConfigError(f"{name}: output goes to local files; write there and copy it")
    stem, suffix = os.path.splitext(name.lower())
    if suffix in COMPRESSIONS:
        compression = compression or COMPRESSIONS[suffix]
        suffix = os.path.splitext(stem)[1]
    format = format or _FORMATS.get(suffix)
    if format is None or format not in _FORMATS.values():
        known = ", ".join(sorted(set(_FORMATS.values())))
        what = f"there is no format {format!r}" if format else "its name tells no format"
        raise ConfigError(f"{name}: {what}; name one with --format (in Python format=): {known}")
    if format in ("parquet", "arrow"):
        if compression is not None:
            raise ConfigError(f"{name}: Parquet and Arrow compress inside; leave the compression out")
        pyarrow(f"writing {format}")
    return format, compression


def _form(file: AtomicFile, format: str, compression: str | None, like: Layout | None) -> _Form:
    if format in ("parquet", "arrow"):
        return _Columnar(file, like.schema if like is not None else None, format)
    if format in DELIMITERS:
        return _Delimited(file, compression, DELIMITERS[format], like)
    return _Jsonl(file, compression) if format == "jsonl" else _Ids(file, compression)


class _Jsonl:
    """Strings go through msgspec when it is there, ten times faster; all else through the standard library.

    For strings both write the same bytes, for numbers they do not: so a file never depends on what is installed.
    """

    def __init__(self, file: AtomicFile, compression: str | None) -> None:
        self._file, self._whole = compressed(file.file, compression), file
        self._string = _string_encoder()

    def write(self, record: dict[str, Any]) -> None:
        try:
            cells = [
                self._string(str(name)) + b":" + (self._string(value) if type(value) is str else _json(value))
                for name, value in record.items()
            ]
        except UnicodeEncodeError as error:
            raise DataError(
                f"{self._whole.path}: a row is not well-formed Unicode: {error.reason}"
            ) from error
        self._file.write(b"{" + b",".join(cells) + b"}\n")

    def finish(self) -> None:
        if self._file is not self._whole.file:
            self._file.close()


def _string_encoder() -> Callable[[str], bytes]:
    try:
        import msgspec
    except ImportError:
        return _json
    encode: Callable[[str], bytes] = msgspec.json.Encoder().encode
    return encode


def _json(value: Any) -> bytes:
    try:
        return _ENCODE(value).encode()
    except UnicodeEncodeError:
        raise
    except ValueError:
        return _ENCODE(finite(value)).encode()


def _plain(value: Any) -> Any:
    """What JSON has no type for; as it prints, if there is no better form."""
    try:
        return json_value(value)
    except TypeError:
        return str(value)


_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain).encode


class _Delimited:
    """The header is the layout's columns, or those of the first row; nested values are written as JSON."""

    def __init__(
        self, file: AtomicFile, compression: str | None, delimiter: str, like: Layout | None
    ) -> None:
        self._whole, self._bytes = file, compressed(file.file, compression)
        self._text = io.TextIOWrapper(self._bytes, encoding="utf-8", newline="", write_through=False)
        self._csv = csv.writer(self._text, delimiter=delimiter, lineterminator="\n")
        self._columns: list[str] | None = None
        if like is not None:
            self._start([*like.columns, *([like.text] if like.text not in like.columns else [])])

    def _start(self, columns: list[str]) -> None:
        self._columns = columns
        self._csv.writerow(columns)

    def write(self, record: dict[str, Any]) -> None:
        if self._columns is None:
            self._start(list(record))
        assert self._columns is not None
        if record.keys() - set(self._columns):
            extra = ", ".join(sorted(record.keys() - set(self._columns)))
            raise DataError(f"{self._whole.path}: a row has columns the header has not: {extra}")
        self._csv.writerow([_cell(record.get(name)) for name in self._columns])

    def finish(self) -> None:
        self._text.flush()
        self._text.detach()
        if self._bytes is not self._whole.file:
            self._bytes.close()


def _cell(value: Any) -> Any:
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(finite(value), ensure_ascii=False, default=_plain)
    return value if value is None or isinstance(value, str | int | float) else _plain(value)


class _Columnar:
    """Parquet, or the Arrow file format."""

    def __init__(self, file: AtomicFile, schema: Any, format: str) -> None:
        self._whole, self._schema, self._format = file, schema, format
        self._writer: Any = None
        self._rows: list[dict[str, Any]] = []
        self._characters = 0
        if schema is not None:
            self._flush()

    def write(self, record: dict[str, Any]) -> None:
        self._rows.append(record)
        self._characters += sum(len(value) for value in record.values() if isinstance(value, str))
        if len(self._rows) == _PARQUET_ROWS or self._characters > _PARQUET_CHARACTERS:
            self._flush()

    def _flush(self) -> None:
        pa = pyarrow(f"writing {self._format}")
        try:
            if self._schema is None:
                names = dict.fromkeys(name for row in self._rows for name in row)
                self._rows = [{name: row.get(name) for name in names} for row in self._rows]
            else:
                known = set(self._schema.names)
                for row in self._rows:
                    if row.keys() - known:
                        extra = ", ".join(sorted(row.keys() - known))
                        raise DataError(f"{self._whole.path}: a row has columns the file has not: {extra}")
            table = pa.Table.from_pylist(self._rows, schema=self._schema)
        except (pa.ArrowException, OverflowError, TypeError) as error:
            raise DataError(f"{self._whole.path}: a row does not fit the columns' types: {error}") from error
        if self._writer is None:
            self._schema = table.schema
            self._writer = self._open()
        if self._rows:
            self._writer.write_table(table)
        self._rows, self._characters = [], 0

    def _open(self) -> Any:
        if self._format == "parquet":
            from pyarrow import parquet

            return parquet.ParquetWriter(self._whole.file, self._schema, compression="zstd")
        from pyarrow import ipc

        options = ipc.IpcWriteOptions(compression="zstd")
        return ipc.new_file(self._whole.file, self._schema, options=options)

    def finish(self) -> None:
        try:
            if self._rows or self._writer is None:
                self._flush()
        finally:
            if self._writer is not None:
                self._writer.close()


class _Ids:
    def __init__(self, file: AtomicFile, compression: str | None) -> None:
        self._whole, self._file = file, compressed(file.file, compression)

    def write(self, record: dict[str, Any]) -> None:
        name = str(record["id"])
        if "\n" in name or "\r" in name:
            raise DataError(
                f"{self._whole.path}: an id with a line break cannot stand in a list: {name[:200]!r}"
            )
        self._file.write(name.encode("utf-8") + b"\n")

    def finish(self) -> None:
        if self._file is not self._whole.file:
            self._file.close()
