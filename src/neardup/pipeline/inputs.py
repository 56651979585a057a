"""The documents of a run, as a stream of batches: from a reader, a table, or a list."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from os import PathLike
from typing import Any

from neardup.config.config import Config
from neardup.errors import DataError
from neardup.features.texts import raw_texts
from neardup.pipeline.sharder import Incoming
from neardup.readers.document import Document
from neardup.readers.jsonl_blocks import TextBlock
from neardup.readers.layout import is_html
from neardup.readers.reader import Reader, read

__all__ = ["incoming", "of_reader"]

_BATCH = 1 << 14


def incoming(documents: Any, config: Config) -> tuple[Any, Iterator[Incoming | TextBlock]]:
    """What documents come from, to be read again without those that failed, named by file and row; and the stream of
    what the config needs of them."""
    if isinstance(documents, str | PathLike):
        documents = read(documents)
    elif not isinstance(documents, Reader | list | tuple) and hasattr(documents, "columns"):
        documents = read(documents)  # a table of pandas, polars or pyarrow
    if isinstance(documents, Reader):
        reader = documents
        return partial(_read_again, reader), of_reader(reader, config)
    items = documents if hasattr(documents, "__len__") else list(documents)
    if all(isinstance(item, Document) for item in items):
        made = list(items)
    else:
        texts = raw_texts(items)
        ids = [item.id if isinstance(item, Document) else str(row) for row, item in enumerate(items)]
        made = [
            Document(id_, text if isinstance(text, str) else text.decode("utf-8", "replace"))
            for id_, text in zip(ids, texts, strict=True)
        ]
    try:
        "".join(document.id for document in made).encode()
    except UnicodeEncodeError as error:
        raise DataError("an id is not well-formed Unicode") from error
    return lambda failed: iter(made), _of_list(made)


def _read_again(reader: Reader, failed: set[tuple[str, int]]) -> Iterator[Document]:
    for batch in reader:
        for file, row, document in zip(batch.files, batch.rows, batch.documents, strict=True):
            if (file, row) not in failed:
                yield document


def _of_list(documents: list[Document]) -> Iterator[Incoming | TextBlock]:
    for start in range(0, len(documents), _BATCH):
        part = documents[start : start + _BATCH]
        yield Incoming(part, [""] * len(part), list(range(start, start + len(part))))


def of_reader(reader: Reader, config: Config) -> Iterator[Incoming | TextBlock]:
    """The stream of a reader's documents: with their fields where the config asks for one, else as bare columns."""
    formats = {source.name: source.format for source in reader.files or ()}
    bare = config.keep.source is None and config.keep.score is None
    for batch in reader.blocks() if bare else reader:
        if isinstance(batch, TextBlock):
            if batch.html and config.html != "none":
                files, rows = [batch.file] * len(batch), batch.rows.tolist()
                yield Incoming(batch.documents(), files, rows, html=True)
            else:
                yield batch
            continue
        page = is_html(batch.layout) or formats.get(batch.files[0]) in ("html", "warc")
        yield Incoming(batch.documents, batch.files, batch.rows, page)
