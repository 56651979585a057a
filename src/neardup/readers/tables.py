"""Tables already in memory: pandas, polars, pyarrow and Hugging Face datasets, or plain rows.

They are known by what they can do, so none of those packages is imported here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from neardup.errors import ConfigError
from neardup.readers.arrow_checks import malformed
from neardup.readers.document import Document
from neardup.readers.interface import Opened, Terms
from neardup.readers.layout import Row, find_layout
from neardup.readers.objects import MemoryTable, hold, plain_values
from neardup.readers.parquet import arrow_rows

__all__ = ["NAME", "open_object"]

NAME = "rows"  # in the place of a file name, for any object: the same rows get the same ids


def open_object(source: Any, terms: Terms) -> Opened:
    """Rows of an object. Raises ConfigError for what is no table and no iterable of rows."""
    if hasattr(source, "column_names") and hasattr(source, "features") and hasattr(source, "iter"):
        return _dataset(source, terms)
    if hasattr(source, "collect_schema") and hasattr(source, "collect"):
        raise ConfigError("this is a lazy frame; pass what its collect() gives")
    if hasattr(source, "columns") and (hasattr(source, "iloc") or hasattr(source, "iter_slices")):
        frame = hold(source)  # of pandas or polars
        if frame is not None:
            return _named(enumerate(_rows(frame, terms.batch), 1), frame.names, terms)
    if hasattr(source, "schema") and hasattr(source.schema, "names"):
        return _arrow(source, terms)
    if isinstance(source, Mapping):
        raise ConfigError(
            f"this is a mapping; pass one of its parts: {', '.join(map(str, list(source)[:20]))}"
        )
    if isinstance(source, Iterable) and not isinstance(source, bytes):
        return Opened(_plain(source, terms))
    raise ConfigError(f"cannot read documents from {type(source).__name__}")


def _named(rows: Iterator[Row] | Any, columns: list[str], terms: Terms, schema: Any = None) -> Opened:
    return Opened(iter(rows), find_layout(columns, terms.text, terms.id, f"the {NAME}", schema))


def _arrow(source: Any, terms: Terms) -> Opened:
    if hasattr(source, "to_batches"):  # a Table or a Dataset
        batches = source.to_batches()
    elif hasattr(source, "read_next_batch"):
        batches = source
    else:
        batches = [source]
    pieces = (
        batch.slice(start, terms.batch)
        for batch in batches
        for start in range(0, batch.num_rows, terms.batch)
    )
    return _named(_sound(pieces, terms), list(source.schema.names), terms, source.schema)


def _sound(pieces: Iterable[Any], terms: Terms) -> Iterator[Row]:
    import pyarrow as pa

    try:
        yield from arrow_rows(pieces, NAME, terms)
    except pa.ArrowException as error:
        raise malformed(error) from None


def _dataset(source: Any, terms: Terms) -> Opened:
    def rows() -> Iterator[Row]:
        row = 0
        for columns in source.iter(batch_size=terms.batch):
            names = list(columns)
            for values in zip(*columns.values(), strict=True):
                row += 1
                yield row, dict(zip(names, values, strict=True))

    if source.column_names is None:  # streamed, so known only from its rows
        return Opened(rows())
    return _named(rows(), list(source.column_names), terms)


def _rows(frame: MemoryTable, batch: int) -> Iterator[dict[str, Any]]:
    for start in range(0, len(frame), batch):
        part = slice(start, start + batch)
        columns = [plain_values(frame.values(name, part)) for name in frame.names]
        for values in zip(*columns, strict=True):
            yield dict(zip(frame.names, values, strict=True))


def _plain(source: Iterable[Any], terms: Terms) -> Iterator[Row]:
    text = terms.text if isinstance(terms.text, str) else terms.text[0] if terms.text else "text"
    for row, item in enumerate(source, 1):
        if isinstance(item, Document):
            # The id and text of a document win over its meta; the text gets the name that the layout looks for.
            yield (
                row,
                {"id": item.id, **item.meta, terms.id or "id": item.id, text: item.text},
            )
        elif isinstance(item, Mapping):
            yield row, dict(item)
        else:
            detail = f"a row is {type(item).__name__}, not a mapping or a Document"
            terms.rejects.add(
                NAME, row, "wrong type", detail, str(item)[:200] if isinstance(item, str) else ""
            )
