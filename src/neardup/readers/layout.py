"""Which column is the text, which the id, and how a row becomes a Document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from numbers import Integral
from typing import Any

from neardup.errors import ConfigError
from neardup.readers.document import Document
from neardup.readers.limits import Limits
from neardup.readers.rejects import Rejects

__all__ = ["Layout", "Row", "Shaping", "find_layout", "is_html"]

# The likeliest first. Compared without regard to case.
TEXT_NAMES = (
    "text",
    "content",
    "body",
    "raw_content",
    "page_content",
    "document",
    "article",
    "contents",
    "html",
)
ID_NAMES = ("id", "doc_id", "docid", "document_id", "uid", "uuid", "url", "uri", "_id", "key")
_PEEK, _PEEK_CHARACTERS = 100, 32 << 20

Row = tuple[int, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of an input: which is the text, which the id (None when ids are made), and their order.

    `schema` is the Arrow schema when the input has one, so that a copy keeps its types.
    """

    text: str
    id: str | None
    columns: tuple[str, ...]
    schema: Any = None

    def record(self, document: Document) -> dict[str, Any]:
        """The row a document was read from, its columns in the order of the input."""
        row: dict[str, Any] = {}
        for name in self.columns:
            if name == self.text:
                row[name] = document.text
            elif name in document.meta:
                row[name] = document.meta[name]
        if self.text not in row:
            row[self.text] = document.text
        for name, value in document.meta.items():
            row.setdefault(name, value)
        return row


def is_html(layout: Layout) -> bool:
    """Whether the text column is named as one of pages."""
    return layout.text.lower() == "html"


def find_layout(
    columns: Sequence[str], text: str | None, id: str | None, where: str, schema: Any = None
) -> Layout:
    """The layout of these columns. Raises ConfigError, listing them, when it is not plain which is the text."""
    if len(set(columns)) != len(columns):
        raise ConfigError(f"{where}: two columns have the same name: {_listed(columns)}")
    layout = _guess(columns, text, id, schema)
    if layout is not None:
        return layout
    if text is not None and text not in columns:
        raise ConfigError(
            f"{where}: there is no column {text!r} for the text; its columns are: {_listed(columns)}"
        )
    if id is not None and id not in columns:
        raise ConfigError(
            f"{where}: there is no column {id!r} for the id; its columns are: {_listed(columns)}"
        )
    raise ConfigError(
        f"{where}: which column is the text? Name it with text=...; its columns are: {_listed(columns)}"
    )


def _guess(columns: Sequence[str], text: str | None, id: str | None, schema: Any = None) -> Layout | None:
    id_name = id if id is not None else _known(columns, ID_NAMES, text)
    if text is None:
        text = _known(columns, TEXT_NAMES, id_name)
    if text is None:
        others = [name for name in columns if name != id_name]
        text = others[0] if len(others) == 1 else None
    if text is None or text not in columns or (id is not None and id not in columns):
        return None
    return Layout(text, id_name, tuple(columns), schema)


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(columns[:50]) or "none"


def _known(columns: Sequence[str], names: Sequence[str], taken: str | None = None) -> str | None:
    lowered = {name.lower(): name for name in reversed(columns) if name != taken}
    lowered.update((name, name) for name in columns if name in lowered and name != taken)
    return next((lowered[name] for name in names if name in lowered), None)


@dataclass(slots=True)
class Shaping:
    """Documents out of rows, with the layout they turned out to have.

    `layout` may be known beforehand (from a header or schema, or from the file before); otherwise it is found in the
    first rows, whichever of the first 100 shows it.
    """

    rows: Iterable[Row]
    name: str
    text: str | None
    id: str | None
    columns: frozenset[str] | None
    limits: Limits
    rejects: Rejects
    layout: Layout | None = None
    fallback: Layout | None = None

    def __iter__(self) -> Iterator[tuple[int, Document]]:
        rows = iter(self.rows)
        if self.layout is None:
            rows = self._peek(rows)
        if self.layout is None:
            return
        for row, record in rows:
            try:
                document = self._document(row, record, self.layout)
            except _Unfit as unfit:
                sample = ", ".join(f"{k}: {_short(v)}" for k, v in list(record.items())[:8])
                self.rejects.add(self.name, row, unfit.reason, unfit.detail, sample)
                continue
            yield row, document

    def _peek(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Find the layout in the first rows, as many as it takes to see a text and an id, at most 100."""
        seen: dict[str, None] = {}
        first: list[Row] = []
        characters = 0
        for row in rows:
            first.append(row)
            seen.update(dict.fromkeys(row[1]))
            characters += sum(len(value) for value in row[1].values() if isinstance(value, str))
            names = list(seen)
            if (self.text or _known(names, TEXT_NAMES)) in seen and (
                self.id or _known(names, ID_NAMES)
            ) in seen:
                break
            if len(first) == _PEEK or characters > _PEEK_CHARACTERS:
                break
        if first:
            self.layout = _guess(list(seen), self.text, self.id) or self.fallback
            if self.layout is None:
                find_layout(list(seen), self.text, self.id, self.name)
        return chain(first, rows)

    def _document(self, row: int, record: dict[str, Any], layout: Layout) -> Document:
        text = record.get(layout.text)
        if text is None:
            raise _Unfit("no text", f"{layout.text!r} is missing or null")
        if not isinstance(text, str):
            raise _Unfit("wrong type", f"{layout.text!r} is {type(text).__name__}, not text")
        size = len(text) if text.isascii() else _utf8_bytes(text, layout.text)
        if size > self.limits.document_bytes:
            raise _Unfit("too large", f"the text has {size:,} bytes")
        name = record.get(layout.id) if layout.id is not None else None
        if name is None or name == "":
            name = f"{self.name}:{row}"
        elif isinstance(name, str):
            if not name.isascii():
                _utf8_bytes(name, layout.id)
        elif type(name) is int or (isinstance(name, Integral) and not isinstance(name, bool)):
            name = str(int(name))
        else:
            raise _Unfit("wrong type", f"{layout.id!r} is {type(name).__name__}, not an id")
        if self.columns is None:
            del record[layout.text]  # the row is ours, so what is left of it is the rest
            return Document(name, text, record)
        return Document(name, text, {key: value for key, value in record.items() if key in self.columns})


class _Unfit(Exception):
    """A row cannot be a document."""

    def __init__(self, reason: str, detail: str) -> None:
        self.reason, self.detail = reason, detail
        super().__init__(detail)


def _utf8_bytes(text: str, column: str | None) -> int:
    """The size of a text as UTF-8; with a lone surrogate in it no program could read it back."""
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise _Unfit("invalid encoding", f"{column!r} is not well-formed Unicode") from error


def _short(value: object) -> str:
    return repr(value[:40]) if isinstance(value, str | bytes) else type(value).__name__
