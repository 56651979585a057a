"""A batch of documents, as readers give them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from neardup.readers.document import Document
from neardup.readers.layout import Layout
from neardup.values.checks import check_fields

__all__ = ["Batch"]


@dataclass(frozen=True, slots=True)
class Batch(Sequence[Document]):
    """Some documents of one layout, in order, with the file and row (from 1) each came from.

    `lines` are the lines they were read from, as UTF-8, if the reader keeps them; None for a document that has none.

    files, rows  the file and the row of each document
    layout       the columns of the documents

    >>> import neardup as nd
    >>> batch = next(iter(nd.read([{"id": "a", "text": "some words"}])))
    >>> batch.documents[0].id, batch.rows
    ('a', [1])
    """

    documents: list[Document]
    files: list[str]
    rows: list[int]
    layout: Layout
    lines: list[bytes | None] | None = None

    def __post_init__(self) -> None:
        check_fields(self)

    def __len__(self) -> int:
        return len(self.documents)

    @overload
    def __getitem__(self, index: int) -> Document: ...
    @overload
    def __getitem__(self, index: slice) -> list[Document]: ...
    def __getitem__(self, index: int | slice) -> Document | list[Document]:
        return self.documents[index]

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)

    def records(self) -> Iterator[dict[str, Any]]:
        """The rows as they were in the input, columns in their order."""
        return map(self.layout.record, self.documents)
