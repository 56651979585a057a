"""What every format gives the reader: rows, and their layout when it is known beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from neardup.readers.account import Account
from neardup.readers.layout import Layout, RawLines, Row, Text
from neardup.readers.limits import Limits
from neardup.readers.options import ReadOptions
from neardup.readers.rejects import Rejects

__all__ = ["Opened", "Terms"]


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of one read: limits, the sink for rejects, the columns wanted (None: all), rows at a time, the options
    of the files, and the account. `raw`, if it is set, gets the line of each row from formats that have lines. Lists of
    numbers are texts only in the column `vectors`."""

    limits: Limits
    rejects: Rejects
    text: Text
    id: str | None
    columns: frozenset[str] | None
    batch: int
    options: ReadOptions = field(default_factory=ReadOptions)
    account: Account = field(default_factory=Account)
    raw: RawLines | None = None
    vectors: str | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """The rows of one input, and their layout if a header or schema gives it before the first row."""

    rows: Iterator[Row]
    layout: Layout | None = None
