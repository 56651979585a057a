"""What every format gives the reader: rows, and what is known of their columns before the first one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from neardup.io.columns import Layout, Row
from neardup.io.limits import Limits
from neardup.io.rejects import Rejects

__all__ = ["Opened", "Terms"]


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for the whole of a read: bounds, the sink, the columns wanted (None: all), rows at a time."""

    limits: Limits
    rejects: Rejects
    text: str | None
    id: str | None
    columns: frozenset[str] | None
    batch: int


@dataclass(slots=True)
class Opened:
    """The rows of one input. Its columns are known from a header or schema, or not until rows are seen (None)."""

    rows: Iterator[Row]
    columns: list[str] | None = None
    schema: Any = None
    layout: Layout | None = None
