"""How a CSV file is written: its delimiter, and how it quotes.

The header decides most: a delimiter is one that the header has, and with it the rows have as many fields as the
header. Python's own Sniffer looks at letters alone, and clevercsv (0.8.5) takes a file for an
unquoted one when the sample ends within a quoted text, as samples of long texts do.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, replace

__all__ = ["DELIMITERS", "DelimitedForm", "Dialect", "sniff"]

DELIMITERS = {"csv": ",", "tsv": "\t"}  # what each format is named after
_DELIMITERS = {"csv": ",;\t|", "tsv": "\t,;|"}
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars (|)"}
_ROWS = 200
_SINGLE = re.compile(r"'[,;|\t\r\n]")
_UNKNOWN = 0.5  # how well a dialect fits if only the header is seen
_BETTER = 0.02  # a less usual dialect must fit better by this much


@dataclass(frozen=True, slots=True)
class Dialect:
    """A delimiter, and the settings of the csv module for quotes."""

    delimiter: str
    quoted: bool = True
    escaped: bool = False  # a quote within quotes is written \" and not ""
    quote: str = '"'

    @property
    def settings(self) -> dict[str, object]:
        return {
            "delimiter": self.delimiter,
            "quoting": csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE,
            "escapechar": "\\" if self.escaped else None,
            "doublequote": not self.escaped,
            "quotechar": self.quote,
        }

    def __str__(self) -> str:
        said = f"fields separated by {_NAMES.get(self.delimiter, repr(self.delimiter))}"
        if not self.quoted:
            return f"{said}, not quoted"
        if self.escaped:
            return f"{said}, quotes escaped by a backslash"
        return f"{said}, quoted by {self.quote}" if self.quote != '"' else said


@dataclass(frozen=True, slots=True)
class DelimitedForm:
    """How a file of a format with delimiters is written, so that another one can be written in the same way."""

    format: str
    delimiter: str
    quote: str = '"'
    escaped: bool = False
    line_end: str = "\n"
    encoding: str = "utf-8"

    @property
    def settings(self) -> dict[str, object]:
        return {
            "delimiter": self.delimiter,
            "quotechar": self.quote,
            "doublequote": not self.escaped,
            "escapechar": "\\" if self.escaped else None,
            "lineterminator": self.line_end,
        }


def sniff(sample: str, format: str, delimiter: str | None, whole: bool) -> Dialect:
    """The dialect in which most lines of a sample belong to rows as wide as the header; of those that fit equally well,
    the most usual one. `whole` says that the sample is the whole file; otherwise its last row may be cut off."""
    delimiters = delimiter or _DELIMITERS[format]
    best, most = Dialect(delimiters[0]), 0.0
    for style in _styles(sample):
        for sign in delimiters:
            dialect = replace(style, delimiter=sign)
            fit = _fit(sample, dialect, whole, wide=delimiter is None)
            if fit > most + (_BETTER if most else 0.0):
                best, most = dialect, fit
        if most > 1 - _BETTER:
            break
    return best


def _styles(sample: str) -> list[Dialect]:
    """Ways to quote, the likeliest first."""
    usual, escaped = Dialect(","), Dialect(",", escaped=True)
    first = [escaped, usual] if sample.count('\\"') > sample.count('""') else [usual]
    single = [Dialect(",", quote="'")] if len(_SINGLE.findall(sample, 0, 1 << 14)) > 2 else []
    return [*first, *single, Dialect(",", quoted=False)]


def _fit(sample: str, dialect: Dialect, whole: bool, wide: bool) -> float:
    """The share of lines that belong to rows as wide as the header; 0 for a header of one column."""
    reader = csv.reader(io.StringIO(sample, newline="\n"), **dialect.settings)  # type: ignore[arg-type]
    rows: list[tuple[int, int]] = []  # lines and fields of each, -1 where quotes were taken for text
    usual = dialect.quoted and dialect.quote == '"'
    last = 0
    before = csv.field_size_limit(len(sample) + 1)
    try:
        for row in reader:
            stray = not usual and any(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in row)
            if row and row[-1].endswith("\n") and reader.line_num > last + 1 and whole:
                stray = stray or reader.line_num >= sample.count("\n")  # a quote that was never closed
            rows.append((reader.line_num - last, -1 if stray else len(row)))
            last = reader.line_num
            if len(rows) > _ROWS:
                break
    except csv.Error:
        return 0.0
    finally:
        csv.field_size_limit(before)
    if not rows or (wide and rows[0][1] < 2):
        return 0.0
    if not whole and len(rows) <= _ROWS:
        rows.pop()  # it may be cut off
        if len(rows) < 2:
            return _UNKNOWN
    good = sum(many for many, fields in rows if fields in (rows[0][1], 0))
    return good / sum(many for many, _ in rows)
