"""The documents of a run, as a stream of batches: from a reader, a table, a list, or a column of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from os import PathLike
from typing import Any

from neardup.config.config import Config
from neardup.errors import DataError
from neardup.features.texts import as_arrow, text_items
from neardup.pipeline.batches import Batch, Incoming, TextColumn
from neardup.readers.ahead import Work
from neardup.readers.document import Document
from neardup.readers.layout import is_html
from neardup.readers.reader import Reader, read
from neardup.readers.text_block import TextBlock

__all__ = ["Again", "incoming", "of_reader"]

_BATCH = 1 << 16

# The documents once more, without those that gave no text, which are named by file and row.
Again = Callable[[set[tuple[str, int]]], Iterator[Document]]


def incoming(
    documents: Any, config: Config
) -> tuple[Again, Iterator[Batch] | Callable[[Work], Iterator[Batch]]]:
    """How to read the documents again, and the stream of what the config needs of them."""
    if isinstance(documents, str | PathLike):
        documents = read(documents)
    elif not isinstance(documents, Reader | list | tuple) and hasattr(documents, "columns"):
        documents = read(documents)  # a table of pandas, polars or pyarrow
    if isinstance(documents, Reader):
        return partial(_read_again, documents), partial(of_reader, documents, config)
    column = as_arrow(documents)
    if column is not None:
        ids = [str(row) for row in range(len(column))]
        again = partial(_column_again, column, ids)
    else:
        items: Any = documents if isinstance(documents, str | bytes | Document) else tuple(documents)
        column = text_items(items)
        ids = [item.id if isinstance(item, Document) else str(row) for row, item in enumerate(items)]
        again = partial(_items_again, items, ids)
    try:
        "".join(ids).encode()
    except UnicodeEncodeError as error:
        raise DataError("an id is not well-formed Unicode") from error
    return again, _of_documents(list(again(set()))) if config.keep.fields else _of_column(column, ids)


def _read_again(reader: Reader, failed: set[tuple[str, int]]) -> Iterator[Document]:
    for batch in reader:
        for file, row, document in zip(batch.files, batch.rows, batch.documents, strict=True):
            if (file, row) not in failed:
                yield document


def _column_again(column: Any, ids: Sequence[str], failed: set[tuple[str, int]]) -> Iterator[Document]:
    return _items_again((value.as_py() for value in column), ids, failed)


def _items_again(items: Any, ids: Sequence[str], failed: set[tuple[str, int]]) -> Iterator[Document]:
    """A list has no pages, so none of its documents failed."""
    for name, item in zip(ids, items, strict=True):
        if isinstance(item, Document):
            yield item
        else:
            yield Document(name, item.decode("utf-8", "replace") if isinstance(item, bytes) else item or "")


def _of_column(column: Any, ids: list[str]) -> Iterator[Batch]:
    for start in range(0, len(ids), _BATCH):
        part = slice(start, start + _BATCH)
        yield TextColumn.of(column[part], ids[part], start)


def _of_documents(documents: list[Document]) -> Iterator[Batch]:
    for start in range(0, len(documents), _BATCH):
        part = documents[start : start + _BATCH]
        yield Incoming(part, [""] * len(part), list(range(start, start + len(part))))


def of_reader(reader: Reader, config: Config, work: Work | None = None) -> Iterator[Incoming | TextBlock]:
    """The stream of a reader's documents: with their fields where the config asks for one, else as bare columns, which
    may be worked on while they are read."""
    formats = {source.name: source.format for source in reader.files or ()}
    for batch in reader if config.keep.fields else reader.blocks(work):
        if isinstance(batch, TextBlock):
            if batch.html and config.html != "none":
                files, rows = [batch.file] * len(batch), batch.rows.tolist()
                yield Incoming(batch.documents(), files, rows, html=True)
            else:
                yield batch
            continue
        page = is_html(batch.layout) or formats.get(batch.files[0]) in ("html", "warc")
        yield Incoming(batch.documents, batch.files, batch.rows, page)
