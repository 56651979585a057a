"""Columns of texts in any form: Python strings, bytes, documents, or Arrow arrays without a copy."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from neardup import _core
from neardup.errors import DataError
from neardup.readers.arrow_checks import arrow_of_pandas, checked_items, checked_texts, malformed
from neardup.readers.document import Document

__all__ = ["Texts", "as_arrow", "as_texts", "raw_texts", "text_items", "utf8_list"]

_PLAIN = {str, bytes, type(None)}

# Strings, bytes, None or Documents; or a pyarrow, pandas or polars column of strings.
Texts: TypeAlias = Iterable[str | bytes | Document | None]


def as_texts(column: Texts | _core.Texts) -> _core.Texts:
    """The native view of a column of texts. Strings and Arrow buffers are kept alive, never copied."""
    if isinstance(column, _core.Texts):
        return column
    texts = _core.Texts()
    arrow = as_arrow(column)
    if arrow is not None:
        for chunk in getattr(arrow, "chunks", [arrow]):
            _add_arrow(texts, chunk)
    else:
        texts.add(text_items(column))
    return texts


def raw_texts(column: Texts) -> list[str | bytes]:
    """The same column as Python strings and bytes; a missing text is an empty one."""
    arrow = as_arrow(column)
    if arrow is None:
        return [item or "" for item in text_items(column)]
    return [item or "" for chunk in getattr(arrow, "chunks", [arrow]) for item in checked_items(chunk)]


def utf8_list(texts: _core.Texts) -> list[bytes]:
    """The texts of a native column, each as UTF-8."""
    data, ends = texts.utf8()
    whole, cuts = data.tobytes(), [0, *ends.tolist()]
    return [whole[a:b] for a, b in pairwise(cuts)]


def as_arrow(column: Any) -> Any:
    """A pyarrow array, or None if the column is something else."""
    arrow = column.to_arrow() if hasattr(column, "to_arrow") else column  # polars
    if type(arrow).__module__.split(".")[0] == "pandas":
        arrow = arrow_of_pandas(arrow)
    return arrow if type(arrow).__module__.split(".")[0] == "pyarrow" else None


def text_items(column: Texts) -> tuple[str | bytes | None, ...]:
    """The texts of any other column, as Python objects."""
    if isinstance(column, str | bytes | Document):
        raise DataError("expected a column of texts, got one text; put it in a list: [text]")
    items: tuple[Any, ...] = tuple(column)
    if set(map(type, items)) <= _PLAIN:
        return items
    items = tuple(item.text if isinstance(item, Document) else item for item in items)
    for row, item in enumerate(items):
        if not isinstance(item, str | bytes | None):
            raise DataError(f"text {row} is {type(item).__name__}, not str, bytes or None")
    return items


def _add_arrow(texts: _core.Texts, array: Any) -> None:
    import pyarrow as pa

    array = checked_texts(array)
    wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    if not wide and not pa.types.is_string(array.type) and not pa.types.is_binary(array.type):
        raise DataError(f"expected a column of strings, got an Arrow column of {array.type}")
    if len(array) == 0:
        return
    validity, offsets, data = array.buffers()
    part = slice(array.offset, array.offset + len(array) + 1)
    try:
        texts.add_arrow(
            np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8),
            np.frombuffer(offsets, np.int64)[part] if wide else np.frombuffer(offsets, np.int32)[part],
            None if validity is None else np.frombuffer(validity, np.uint8),
            array.offset,
        )
    except ValueError as error:
        raise malformed(error) from None
