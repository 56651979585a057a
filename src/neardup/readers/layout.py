"""Which column is the text, which the id, and how a row becomes a Document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from neardup.errors import ConfigError
from neardup.readers.account import Account
from neardup.readers.cells import MADE_ID, Unfit, as_id, as_text, is_null, joined
from neardup.readers.dialects import DelimitedForm
from neardup.readers.document import Document
from neardup.readers.limits import Limits
from neardup.readers.rejects import Rejects

__all__ = [
    "Layout",
    "RawLines",
    "Row",
    "Shaping",
    "Text",
    "UnclearColumns",
    "decided_layout",
    "find_layout",
    "is_html",
]

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
RawLines = dict[int, bytes]  # the lines, as UTF-8, from which the rows that are still to be given were read
Text = str | tuple[str, ...] | None  # the column or columns with the text, None if they are to be found


class UnclearColumns(ConfigError):
    """The columns of an input do not show which is the text, or lack one that was named."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of an input: which is the text, which the id (None when ids are made), and their order.

    `schema` is the Arrow schema when the input has one, so that a copy keeps its types. Where the text is several
    columns, `more` are those behind the first. `written` says how a CSV or TSV file is written.

    >>> import neardup as nd
    >>> layout = next(iter(nd.read([{"id": "a", "text": "some words", "lang": "en"}]))).layout
    >>> layout.text, layout.id, layout.columns
    ('text', 'id', ('id', 'text', 'lang'))
    """

    text: str
    id: str | None
    columns: tuple[str, ...]
    schema: Any = None
    more: tuple[str, ...] = ()
    written: DelimitedForm | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.text, *self.more)

    def record(self, document: Document) -> dict[str, Any]:
        """The row a document was read from, its columns in the order of the input."""
        changed = self._changed(document)
        row: dict[str, Any] = {}
        for name in self.columns:
            if name in changed:
                row[name] = changed[name]
            elif name in document.meta:
                row[name] = document.meta[name]
        for name, value in (*changed.items(), *document.meta.items()):
            row.setdefault(name, value)
        return row

    def _changed(self, document: Document) -> dict[str, Any]:
        """The text columns: as they were read, if the text is still what they gave; else the text as it is now."""
        meta = document.meta
        if any(name in meta for name in self.texts):
            was = {name: meta.get(name) for name in self.texts}
            try:
                same = joined(as_text(v, name, vectors=True)[0] for name, v in was.items()) == document.text
            except Unfit:
                same = False
            if same:
                return {name: value for name, value in was.items() if name in meta}
        return {self.text: document.text, **dict.fromkeys(self.more)}


def is_html(layout: Layout) -> bool:
    """Whether the text column is named as one of pages."""
    return layout.text.lower() == "html"


def find_layout(
    columns: Sequence[str],
    text: Text,
    id: str | None,
    where: str,
    schema: Any = None,
    first: Sequence[Mapping[str, Any]] = (),
) -> Layout:
    """The layout of these columns. Raises UnclearColumns, listing them, when it is not clear which is the text; a
    column of numbers in the `schema` or the `first` rows is not, unless it is named."""
    if len(set(columns)) != len(columns):
        raise ConfigError(f"{where}: two columns have the same name: {_listed(columns)}")
    layout = _guess(columns, text, id, schema, first)
    if layout is not None:
        return layout
    for name in _named(text):
        if name not in columns:
            raise UnclearColumns(
                f"{where}: there is no column {name!r} for the text; its columns are: "
                f"{_listed(columns)}{_nested(first)}"
            )
    if id is not None and id not in columns:
        raise UnclearColumns(
            f"{where}: there is no column {id!r} for the id; its columns are: {_listed(columns)}"
        )
    raise UnclearColumns(
        f"{where}: which column is the text? Name it with --text (in Python text=...); its columns are: "
        f"{_listed(columns)}{_nested(first)}"
    ).with_options(*_likeliest(columns, id, first))


def _guess(
    columns: Sequence[str],
    text: Text,
    id: str | None,
    schema: Any = None,
    first: Sequence[Mapping[str, Any]] = (),
) -> Layout | None:
    named = _named(text)
    id_name = id if id is not None else _known(columns, ID_NAMES, named)
    if not named and (found := _known(columns, TEXT_NAMES, (id_name,))) is not None:
        named = (found,)
    if not named:
        others = [name for name in columns if name != id_name]
        if len(others) == 1 and _may_be_text(others[0], schema, first):
            named = (others[0],)
    if not named or not set(named) <= set(columns) or (id is not None and id not in columns):
        return None
    return Layout(named[0], id_name, tuple(columns), schema, named[1:])


def _likeliest(columns: Sequence[str], id: str | None, first: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """The option that names the column with the longest text of the first rows, or the first one beside the id."""
    id = id if id is not None else _known(columns, ID_NAMES)
    others = [name for name in columns if name != id]
    if first:
        others = [
            name for name in others if any(isinstance(row.get(name), str | int | float) for row in first)
        ]

    def longest(name: str) -> int:
        return max((len(row[name]) for row in first if isinstance(row.get(name), str)), default=0)

    return ("--text", max(others, key=longest)) if others else ()


def _nested(first: Sequence[Mapping[str, Any]]) -> str:
    """What to do about a text that is inside of another column."""
    for row in first:
        for name, value in row.items():
            inside = (
                [field for field, text in value.items() if isinstance(text, str)]
                if isinstance(value, dict)
                else ()
            )
            if inside:
                path = f".{name}.{inside[0]}"
                return (
                    f". {name!r} holds objects; give their text a column of its own first, such as with "
                    f"jq -c '.text = {path}'"
                )
    return ""


def _named(text: Text) -> tuple[str, ...]:
    return () if text is None else (text,) if isinstance(text, str) else text


def _may_be_text(name: str, schema: Any, first: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a column that nobody named holds texts, as far as is known."""
    if schema is not None:
        kind = str(schema.field(name).type)
        return any(word in kind for word in ("string", "utf8", "null", "binary")) and "<" not in kind.replace(
            "dictionary<", ""
        )
    values = [row[name] for row in first if row.get(name) is not None]
    return not values or any(isinstance(value, str | bytes) for value in values)


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(columns[:50]) or "none"


def _known(columns: Sequence[str], names: Sequence[str], taken: Sequence[str | None] = ()) -> str | None:
    lowered = {name.lower(): name for name in reversed(columns) if name not in taken}
    lowered.update((name, name) for name in columns if name in lowered and name not in taken)
    return next((lowered[name] for name in names if name in lowered), None)


def decided_layout(rows: Iterator[Row], text: Text, id: str | None, ended: bool) -> Layout | None:
    """The layout that a Shaping finds in these first rows, if no row behind them can change it: there is none if they
    `ended`. None also if they alone do not decide it."""
    first, seen, enough = _first_rows(rows, text, id)
    if not first or not (enough or ended):
        return None
    return _guess(seen, text, id, None, [record for _, record in first])


def _first_rows(rows: Iterator[Row], text: Text, id: str | None) -> tuple[list[Row], list[str], bool]:
    """The rows that a layout is found in, their columns, and whether that is enough of them."""
    seen: dict[str, None] = {}
    first: list[Row] = []
    characters = 0
    wanted = _named(text)
    for row in rows:
        first.append(row)
        seen.update(dict.fromkeys(row[1]))
        characters += sum(len(value) for value in row[1].values() if isinstance(value, str))
        names = list(seen)
        texts = wanted or (_known(names, TEXT_NAMES),)
        if seen.keys() >= {*texts, id or _known(names, ID_NAMES)}:
            return first, names, True
        if len(first) == _PEEK or characters > _PEEK_CHARACTERS:
            return first, names, True
    return first, list(seen), False


@dataclass(slots=True)
class Shaping:
    """Documents out of rows, with the layout that was found.

    `layout` may be known beforehand (from a header or schema, or from the file before); otherwise it is found in the
    first rows, whichever of the first 100 shows it. In tables in memory every row is a document, so that places in
    them do not shift: where `missing_is_null`, a row without the text column is an empty document.
    In the column `vectors`, lists of numbers are shown as text; elsewhere they are none.
    """

    rows: Iterable[Row]
    name: str
    text: Text
    id: str | None
    columns: frozenset[str] | None
    limits: Limits
    rejects: Rejects
    layout: Layout | None = None
    fallback: Layout | None = None
    account: Account = field(default_factory=Account)
    missing_is_null: bool = False
    raw: RawLines | None = None
    vectors: str | None = None

    def __iter__(self) -> Iterator[tuple[int, Document]]:
        rows = iter(self.rows)
        if self.layout is None:
            rows = self._peek(rows)
        if self.layout is None:
            return
        account = self.account
        for row, record in rows:
            try:
                document = self._document(row, record, self.layout)
            except Unfit as unfit:
                sample = ", ".join(f"{k}: {_short(v)}" for k, v in list(record.items())[:8])
                self.rejects.add(self.name, row, unfit.reason, unfit.detail, sample)
                if self.raw is not None:
                    self.raw.pop(row, None)
                continue
            account.rows += 1
            yield row, document

    def _peek(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Find the layout in the first rows, as many as it takes to see a text and an id, at most 100."""
        self.rejects.hold()
        first: list[Row] = []
        try:
            first, seen, _ = _first_rows(rows, self.text, self.id)
            if first:
                records = [record for _, record in first]
                self.layout = _guess(seen, self.text, self.id, None, records) or self.fallback
                if self.layout is None:
                    find_layout(seen, self.text, self.id, self.name, None, records)
        finally:
            held = self.rejects.held()
            if self.layout is None:
                list(held)
        return chain(_in_order(first, held), rows)

    def _document(self, row: int, record: dict[str, Any], layout: Layout) -> Document:
        text, changed = self._text(record, layout)
        size = len(text) if text.isascii() else _utf8_bytes(text, layout.text)
        if size > self.limits.document_bytes:
            raise Unfit("too large", f"the text has {size:,} bytes")
        name = record.get(layout.id) if layout.id is not None else None
        known = as_id(name)
        if known is not None:
            if not known.isascii():
                _utf8_bytes(known, layout.id)
        else:
            if not is_null(name) and name != "":
                self.account.notes[MADE_ID] += 1
            known = f"{self.name}:{row}"
        if self.columns is None:
            if not changed:
                del record[layout.text]  # the row is ours, so what is left of it is the rest
            return Document(known, text, record)
        return Document(known, text, {key: value for key, value in record.items() if key in self.columns})

    def _text(self, record: dict[str, Any], layout: Layout) -> tuple[str, bool]:
        """The text of a row, and whether it is anything but the value of its column."""
        text = record.get(layout.text)
        if isinstance(text, str) and not layout.more:
            return text, False
        if not self.missing_is_null and not any(name in record for name in layout.texts):
            raise Unfit("no text", f"there is no {layout.text!r}")
        parts = []
        for name in layout.texts:
            part, note = as_text(record.get(name), name, vectors=name == self.vectors)
            parts.append(part)
            if note:
                self.account.notes[note] += 1
        return joined(parts), True


def _in_order(rows: list[Row], held: Iterator[int | None]) -> Iterator[Row]:
    """The rows, each after the rejections of rows before it."""
    rejected = next(held, None)
    for row in rows:
        while rejected is not None and rejected < row[0]:
            rejected = next(held, None)
        yield row
    for _ in held:
        pass


def _utf8_bytes(text: str, column: str | None) -> int:
    """The size of a text as UTF-8; with a lone surrogate in it no program could read it back."""
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise Unfit("invalid encoding", f"{column!r} is not well-formed Unicode") from error


def _short(value: object) -> str:
    return repr(value[:40]) if isinstance(value, str | bytes) else type(value).__name__
