"""The formats that rows are written in, one class each."""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from neardup.errors import ConfigError, DataError
from neardup.readers.arrow_checks import pyarrow
from neardup.readers.compression import compressed
from neardup.readers.dialects import DELIMITERS, DelimitedForm
from neardup.readers.layout import Layout
from neardup.storage.output import Output
from neardup.values.plain import finite, json_value

__all__ = ["FORMATS", "LISTS", "Form", "made_form"]

FORMATS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".csv": "csv",
    ".tsv": "tsv",
    ".xlsx": "xlsx",
    ".ids": "ids",
    ".txt": "lines",
    ".lines": "lines",
    ".md": "markdown",
}
"""The format of each ending."""
LISTS = ("ids", "lines", "markdown")
"""Formats without columns: they take ids, texts, or both."""

_PARQUET_ROWS, _PARQUET_CHARACTERS = 10_000, 64 << 20


class Form(Protocol):
    """How rows become bytes."""

    def write(self, record: dict[str, Any]) -> None: ...

    def write_line(self, line: bytes) -> None:
        """A row of the same format as it was read; only for formats of lines."""
        ...

    def finish(self) -> None: ...


def made_form(
    file: Output, format: str, compression: str | None, like: Layout | None, encoding: str | None
) -> Form:
    if encoding is not None and format not in DELIMITERS:
        raise ConfigError(f"{file.path}: only CSV and TSV are written in other encodings; {format} is UTF-8")
    if format in ("parquet", "arrow"):
        return _Columnar(file, like.schema if like is not None else None, format)
    if format == "xlsx":
        from neardup.readers.spreadsheets import Spreadsheet

        return Spreadsheet(file, like)
    if format in DELIMITERS:
        written = like.written if like is not None else None
        if written is None or written.format != format:
            written = DelimitedForm(format, DELIMITERS[format])
        return _Delimited(file, compression, written, like, encoding or written.encoding)
    if format == "jsonl":
        return _Jsonl(file, compression)
    return _Lists(file, compression, {"ids": _id, "lines": _line, "markdown": _section}[format])


class _Jsonl:
    """Strings are encoded by msgspec if it is installed, ten times faster; all else by the standard library.

    For strings both write the same bytes, for numbers they do not: so a file never depends on what is installed.
    """

    def __init__(self, file: Output, compression: str | None) -> None:
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

    def write_line(self, line: bytes) -> None:
        self._file.write(line + b"\n")

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
        self,
        file: Output,
        compression: str | None,
        written: DelimitedForm,
        like: Layout | None,
        encoding: str,
    ) -> None:
        self._whole, self._bytes, self._encoding = file, compressed(file.file, compression), encoding
        self._coder = codecs.getincrementalencoder(encoding)()  # it writes a byte order mark once
        self._row = io.StringIO(newline="")
        self._csv = csv.writer(self._row, **written.settings)  # type: ignore[arg-type]
        self._columns: list[str] | None = None
        if like is not None:
            self._start([*like.columns, *([like.text] if like.text not in like.columns else [])])

    def _start(self, columns: list[str]) -> None:
        self._columns = columns
        self._put(columns)

    def _put(self, cells: list[Any]) -> None:
        self._csv.writerow(cells)
        self._encode(self._row.getvalue())
        self._row.seek(0)
        self._row.truncate()

    def _encode(self, text: str) -> None:
        try:
            self._bytes.write(self._coder.encode(text))
        except UnicodeEncodeError as error:
            raise DataError(
                f"{self._whole.path}: {error.object[error.start]!r} cannot be written in {self._encoding}; "
                "choose an encoding with --out-encoding utf-8 (in Python encoding=)"
            ) from error

    def write(self, record: dict[str, Any]) -> None:
        if self._columns is None:
            self._start(list(record))
        assert self._columns is not None
        if record.keys() - set(self._columns):
            extra = ", ".join(sorted(record.keys() - set(self._columns)))
            raise DataError(f"{self._whole.path}: a row has columns that the header does not have: {extra}")
        self._put([_cell(record.get(name)) for name in self._columns])

    def write_line(self, line: bytes) -> None:
        self._encode(line.decode("utf-8") + "\n")

    def finish(self) -> None:
        if self._bytes is not self._whole.file:
            self._bytes.close()


def _cell(value: Any) -> Any:
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(finite(value), ensure_ascii=False, default=_plain)
    return value if value is None or isinstance(value, str | int | float) else _plain(value)


class _Columnar:
    """Parquet, or the Arrow file format."""

    def __init__(self, file: Output, schema: Any, format: str) -> None:
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

    def write_line(self, line: bytes) -> None:
        raise NotImplementedError("a table has no lines")

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
                        raise DataError(
                            f"{self._whole.path}: a row has columns that the file does not have: {extra}"
                        )
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


class _Lists:
    """What one document gives, one after the other."""

    def __init__(self, file: Output, compression: str | None, entry: Callable[[dict[str, Any]], str]) -> None:
        self._whole, self._file, self._entry = file, compressed(file.file, compression), entry

    def write(self, record: dict[str, Any]) -> None:
        try:
            self._file.write(self._entry(record).encode("utf-8"))
        except KeyError as error:
            raise ConfigError(
                f"{self._whole.path}: these rows have no {error.args[0]}; write them to a table such as .csv or .jsonl"
            ) from None
        except DataError as error:
            raise DataError(f"{self._whole.path}: {error}") from None

    def write_line(self, line: bytes) -> None:
        self._file.write(line + b"\n")

    def finish(self) -> None:
        if self._file is not self._whole.file:
            self._file.close()


def _id(record: dict[str, Any]) -> str:
    name = str(record["id"])
    if "\n" in name or "\r" in name:
        raise DataError(f"an id with a line break does not fit in a list of ids: {name[:200]!r}")
    return f"{name}\n"


def _line(record: dict[str, Any]) -> str:
    text = str(record["text"]).rstrip("\r\n")  # files end with a line end; it is no second line
    if "\n" in text:
        raise DataError(
            f"has one text a line, but document {str(record.get('id', ''))[:200]!r} has several lines; write to a name "
            "in .md or .jsonl, or to a folder/"
        )
    return f"{text}\n"


def _section(record: dict[str, Any]) -> str:
    """A heading with the id, and the text."""
    name = " ".join(str(record["id"]).split())
    return f"## {name}\n\n{str(record['text']).rstrip()}\n\n"
