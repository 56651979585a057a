"""The types of objects in memory that hold documents, for type checkers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeAlias

from neardup.readers.document import Document

__all__ = ["ArrowArray", "ArrowStream", "DataFrameLike", "Item", "Objects"]


class DataFrameLike(Protocol):
    """A DataFrame of pandas or polars."""

    @property
    def columns(self) -> Iterable[object]: ...

    def __len__(self) -> int: ...


class ArrowStream(Protocol):
    """A table or column that speaks the Arrow interface, as those of pyarrow and others do."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class ArrowArray(Protocol):
    """A record batch or an array that speaks the Arrow interface."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> object: ...


# One document: a text, a mapping of columns to values, or a Document. None is an empty text.
Item: TypeAlias = str | bytes | Document | Mapping[str, object] | None
# Objects in memory that hold documents. Columns of pandas, arrays of numpy, datasets of Hugging Face and generators are
# iterables; a mapping is one of ids to documents or of the names of splits to tables.
Objects: TypeAlias = (
    DataFrameLike
    | ArrowStream
    | ArrowArray
    | Iterable[Item]
    | Mapping[str, Item]
    | Mapping[int, Item]
    | Mapping[str, DataFrameLike | ArrowStream]
)
