"""Spreadsheets (.xlsx), written with openpyxl where the user has it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from neardup.errors import DataError, MissingExtra
from neardup.readers.layout import Layout
from neardup.storage.output import Output
from neardup.values.plain import finite, json_value

__all__ = ["Spreadsheet"]

_MOST_ROWS, _MOST_CHARACTERS = 1 << 20, 32_767  # limits of the format, the header included
_NOT_ALLOWED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


class Spreadsheet:
    """One sheet with a header. Texts are always texts: one that begins with = is not a formula."""

    def __init__(self, file: Output, like: Layout | None) -> None:
        try:
            from openpyxl import Workbook
            from openpyxl.cell import WriteOnlyCell
        except ImportError as error:
            raise MissingExtra("writing .xlsx", "xlsx") from error
        self._file, self._cell = file, WriteOnlyCell
        self._book = Workbook(write_only=True)
        self._sheet = self._book.create_sheet("neardup")
        self._columns: list[str] | None = None
        self._rows = 0
        if like is not None:
            self._start([*like.columns, *([like.text] if like.text not in like.columns else [])])

    def _start(self, columns: list[str]) -> None:
        self._columns = columns
        self._put(columns)

    def _put(self, values: list[Any]) -> None:
        self._rows += 1
        if self._rows > _MOST_ROWS:
            raise DataError(
                f"{self._file.path}: a sheet has room for {_MOST_ROWS - 1:,} rows; write to a name in .csv or .parquet"
            )
        self._sheet.append([self._shown(value) for value in values])

    def _shown(self, value: Any) -> Any:
        if isinstance(value, bool | int | float) or value is None:
            return finite(value)
        if isinstance(value, Mapping | list | tuple):
            value = json.dumps(finite(value), ensure_ascii=False, default=str)
        elif not isinstance(value, str):
            try:
                value = str(json_value(value))
            except TypeError:
                value = str(value)
        if len(value) > _MOST_CHARACTERS:
            raise DataError(
                f"{self._file.path}: a cell has room for {_MOST_CHARACTERS:,} characters, and a text has "
                f"{len(value):,}; write to a name in .csv or .jsonl"
            )
        cell = self._cell(self._sheet, value=_NOT_ALLOWED.sub("\N{REPLACEMENT CHARACTER}", value))
        cell.data_type = "s"
        return cell

    def write(self, record: dict[str, Any]) -> None:
        if self._columns is None:
            self._start(list(record))
        assert self._columns is not None
        self._put([record.get(name) for name in self._columns])

    def write_line(self, line: bytes) -> None:
        raise NotImplementedError("a spreadsheet has no lines")

    def finish(self) -> None:
        self._book.save(self._file.file)
