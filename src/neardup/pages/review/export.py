"""The list of clusters as a file: CSV for spreadsheets, JSONL for programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from typing import Any

from neardup.errors import ConfigError
from neardup.http.routes import NDJSON, Reply

__all__ = ["exported"]

# A spreadsheet runs a cell that begins with one of these as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def exported(records: Iterable[dict[str, Any]], format: str) -> Reply:
    """The records in a format."""
    if format == "jsonl":
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        return Reply(200, lines.encode("utf-8", "surrogatepass"), NDJSON)
    if format == "csv":
        return Reply(200, _csv(records).encode("utf-8", "replace"), b"text/csv; charset=utf-8")
    raise ConfigError(f"export csv or jsonl, not {format!r}")


def _csv(records: Iterable[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = None
    for record in records:
        if writer is None:
            writer = csv.DictWriter(out, list(record))
            writer.writeheader()
        writer.writerow({name: _cell(value) for name, value in record.items()})
    return out.getvalue()


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
