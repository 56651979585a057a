"""The value of a text column as a text: nulls, numbers, dates and bytes too, with a note of what was done."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, time
from decimal import Decimal
from numbers import Real
from typing import Any

__all__ = ["Unfit", "as_text", "is_null", "joined"]

NULL = "null texts, read as empty documents"
NUMBER = "numbers in a text column, read as text"
DATE = "dates in a text column, read as text"
_MARKS = ("NAType", "NaTType")  # of pandas
BYTES = "binary values in a text column, read as UTF-8"


class Unfit(Exception):
    """A row cannot be a document."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason, self.detail = reason, detail
        super().__init__(detail)


def is_null(value: Any) -> bool:
    """Whether a value is missing: None, NaN, or what pandas has for them."""
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in _MARKS


def as_text(value: Any, column: str) -> tuple[str, str | None]:
    """The text, and a note if it was none before; raises Unfit for what has no text of its own."""
    if isinstance(value, str):
        return value, None
    if is_null(value):
        return "", NULL
    if isinstance(value, Real | Decimal) and not isinstance(value, bool):
        try:
            return str(value), NUMBER
        except ValueError as error:  # more digits than Python writes
            raise Unfit("too large", f"{column!r} is a number of too many digits") from error
    if isinstance(value, date | time):
        return value.isoformat(), DATE
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8"), BYTES
        except UnicodeDecodeError as error:
            raise Unfit("invalid encoding", f"{column!r} holds bytes that are not UTF-8") from error
    kind = type(value).__name__
    raise Unfit(
        "wrong type", f"{column!r} is {kind}, not text; name the column with the text with --text (text=...)"
    )


def joined(parts: Iterable[str]) -> str:
    """Several texts as one: what is not empty, with a blank line between."""
    return "\n\n".join(part for part in parts if part)
