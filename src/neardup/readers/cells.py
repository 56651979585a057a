"""The value of a text column as a text: nulls, numbers, dates and bytes too, with a note of what was done."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import date, time
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

__all__ = ["VECTOR", "Unfit", "as_id", "as_text", "is_null", "joined"]

NULL = "null texts, read as empty documents"
NUMBER = "numbers in a text column, read as text"
DATE = "dates in a text column, read as text"
VECTOR = "lists of numbers in a text column, read as text"
_MARKS = ("NAType", "NaTType")  # of pandas
MADE_ID = "ids that are lists, objects or too long, made of file and row instead"
BYTES = "binary values in a text column, read as UTF-8"


class Unfit(Exception):
    """A row cannot be a document."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason, self.detail = reason, detail
        super().__init__(detail)


def is_null(value: Any) -> bool:
    """Whether a value is missing: None, NaN, or what pandas has for them."""
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ in _MARKS


def as_text(value: Any, column: str, *, vectors: bool = False) -> tuple[str, str | None]:
    """The value as a text, and a note if it was something else; raises Unfit for values that have no text. A list of
    numbers has one only in a column of `vectors`."""
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
    if vectors and (numbers := _numbers(value)) is not None:
        return numbers, VECTOR
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8"), BYTES
        except UnicodeDecodeError as error:
            raise Unfit("invalid encoding", f"{column!r} holds bytes that are not UTF-8") from error
    kind = type(value).__name__
    raise Unfit(
        "wrong type", f"{column!r} is {kind}, not text; name the column with the text with --text (text=...)"
    )


def as_id(value: Any) -> str | None:
    """The value of an id column as a text; None if it is missing or names nothing, so that an id has to be made.

    Whole numbers that became floats, because one of them was missing, are written as whole numbers. An object with one
    field, such as MongoDB's {"$oid": ...}, is its value.
    """
    if isinstance(value, str):
        return value or None
    if isinstance(value, Mapping) and len(value) == 1:
        (value,) = value.values()
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8") or None
        except UnicodeDecodeError:
            return value.hex()
    if is_null(value) or (isinstance(value, Collection) and not isinstance(value, str)):
        return None
    if isinstance(value, Integral) or (isinstance(value, float) and value.is_integer()):
        value = int(value)
    try:
        return str(value) or None
    except ValueError:  # more digits than Python writes
        return None


def _numbers(value: Any) -> str | None:
    """A list of several numbers, such as a vector, as text; None if it is none."""
    if not isinstance(value, list | tuple) and type(value).__name__ != "ndarray":
        return None
    items = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(items, list | tuple) or len(items) < 2:
        return None
    if not all(isinstance(item, int | float) and not isinstance(item, bool) for item in items):
        return None
    return " ".join(f"{item:.6g}" for item in items)


def joined(parts: Iterable[str]) -> str:
    """Several texts as one: what is not empty, with a blank line between."""
    return "\n\n".join(part for part in parts if part)
