"""Small tables of results and labels, read strictly: a bad row is an error that names the file and the line.

A corpus is read leniently, because one broken page among millions matters little. A table with the truth is not: a
lost label would change the scores.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any, NoReturn

from neardup.errors import ConfigError, DataError
from neardup.readers.arrow_checks import pyarrow
from neardup.readers.compression import Stream
from neardup.readers.dialects import DELIMITERS
from neardup.readers.interface import Terms
from neardup.readers.limits import Limits
from neardup.readers.lines import lines
from neardup.readers.parquet import arrow_rows
from neardup.readers.rejects import Rejects
from neardup.readers.sources import Source, find_sources

__all__ = ["Record", "RowTable", "bad_row"]

Record = tuple[int, dict[str, Any]]

_LIMITS = Limits(line_bytes=1 << 20)
_TABLES = ("csv", "tsv", "jsonl", "parquet", "arrow")


def bad_row(where: str, line: int, reason: str) -> DataError:
    """The error that names file, line and reason."""
    return DataError(f"{where}, line {line}: {reason}")


class RowTable:
    """The rows of one CSV, TSV, JSONL, Parquet or Arrow file as (line, record), line counted from 1.

    `columns` are those of the header or schema, or of the first JSON object. A CSV or TSV file whose first line has
    none of the `known` names has no header; its columns then get the names in `headless`, and `headless_note` says so.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        format: str | None = None,
        *,
        known: frozenset[str] = frozenset(),
        headless: Sequence[str] = (),
    ) -> None:
        sources = find_sources(path, format)
        if len(sources) != 1:
            raise ConfigError(f"{path}: {len(sources)} files; name one table")
        self.source = sources[0]
        self.name = str(path)
        if self.source.format not in _TABLES:
            raise ConfigError(
                f"{path}: a table is csv, tsv, jsonl, parquet or arrow, not {self.source.format}; "
                "give its format if the file name does not show it"
            )
        self._known, self._headless = known, headless
        self.headless_note = ""
        self.columns: tuple[str, ...] = ()
        if self.source.format in DELIMITERS:
            self._records = self._delimited()
        elif self.source.format == "jsonl":
            self._records = self._jsonl()
        else:
            self._records = self._arrow()
        self._first = next(self._records, None)

    def __iter__(self) -> Iterator[Record]:
        if self._first is not None:
            yield self._first
            self._first = None
            yield from self._records

    def _delimited(self) -> Iterator[Record]:
        with Stream(self.source.open(), _LIMITS) as stream:
            reader = csv.reader(self._texts(stream), delimiter=DELIMITERS[self.source.format], strict=True)
            header: tuple[str, ...] | None = None
            while True:
                try:
                    record = next(reader, None)
                except csv.Error as error:
                    raise bad_row(self.name, reader.line_num, str(error)) from None
                if record is None:
                    break
                if not record or record == [""]:
                    continue
                if header is None:
                    header = self._header(record)
                    if not self.headless_note:
                        continue
                if len(record) != len(header):
                    raise bad_row(
                        self.name,
                        reader.line_num,
                        f"{len(record)} fields, but there should be {len(header)}: {', '.join(header)}",
                    )
                yield reader.line_num, dict(zip(header, record, strict=True))
            self._whole(stream)

    def _header(self, record: list[str]) -> tuple[str, ...]:
        names = tuple(name.strip().lower() for name in record)
        if not set(names) & self._known and 2 <= len(record) <= len(self._headless):
            if len(record) == 2 or _is_number(record[2]):
                names = tuple(self._headless[: len(record)])
                self.headless_note = (
                    f"{self.name} has no header; its columns were taken as {', '.join(names)}"
                )
        elif len(set(names)) != len(names):
            raise bad_row(self.name, 1, f"two columns have the same name: {', '.join(names)}")
        self.columns = names
        return names

    def _texts(self, stream: Stream) -> Iterator[str]:
        for number, line, whole in lines(stream, _LIMITS.line_bytes):
            if not whole:
                raise bad_row(self.name, number, f"a line of over {_LIMITS.line_bytes:,} bytes")
            try:
                yield line.removesuffix(b"\r").decode() + "\n"
            except UnicodeDecodeError as error:
                raise bad_row(self.name, number, f"not UTF-8: {error.reason}") from None

    def _jsonl(self) -> Iterator[Record]:
        with Stream(self.source.open(), _LIMITS) as stream:
            for number, text in enumerate(self._texts(stream), 1):
                if text.isspace():
                    continue
                try:
                    record = json.loads(text, parse_constant=_no_constant)
                except (ValueError, RecursionError) as error:
                    raise bad_row(self.name, number, f"bad JSON: {error}") from None
                if not isinstance(record, dict):
                    raise bad_row(self.name, number, "not a JSON object")
                row = {name.lower(): value for name, value in record.items()}
                if not self.columns:
                    self.columns = tuple(row)
                yield number, row
            self._whole(stream)

    def _arrow(self) -> Iterator[Record]:
        pa = pyarrow("reading Parquet and Arrow tables")
        with self.source.open() as file:
            try:
                batches, names = _batches(pa, self.source, file)
                self.columns = tuple(name.lower() for name in names)
                terms = Terms(_LIMITS, Rejects(), None, None, None, 1000)
                for row, record in arrow_rows(batches, self.name, terms):
                    yield row, {name.lower(): value for name, value in record.items()}
            except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
                raise DataError(f"{self.name}: damaged: {error}") from None
            if terms.rejects.total:
                raise DataError(f"{self.name}: {terms.rejects.total} rows are not UTF-8")

    def _whole(self, stream: Stream) -> None:
        if stream.damage:
            raise DataError(f"{self.name}: {stream.damage}")


def _batches(pa: Any, source: Source, file: Any) -> tuple[Iterator[Any], list[str]]:
    if source.format == "parquet":
        import pyarrow.parquet as parquet

        table = parquet.ParquetFile(file)
        return table.iter_batches(batch_size=4096, use_threads=False), table.schema_arrow.names
    head = file.read(6)
    file.seek(0)
    if head == b"ARROW1":
        whole = pa.ipc.open_file(file)
        return (whole.get_batch(i) for i in range(whole.num_record_batches)), whole.schema.names
    stream = pa.ipc.open_stream(file)
    return iter(stream), stream.schema.names


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
