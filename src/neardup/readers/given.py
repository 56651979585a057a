"""Documents out of Python objects: a text and an id for each row, and the rows that cannot be documents."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from neardup.errors import ConfigError, UnreadableInput, UnsupportedInput
from neardup.readers.arrow_checks import checked_items
from neardup.readers.cells import NULL, VECTOR, Unfit, as_id, as_text, is_null, joined
from neardup.readers.document import Document
from neardup.readers.layout import Layout, find_layout, is_html
from neardup.readers.objects import MappingOfItems, MemoryTable, hold, plain_values, splits_of

__all__ = ["TAKEN", "Given", "GivenPart", "given"]

TAKEN = (
    "a list of texts, of mappings or of Documents; a dict of id to text; a pandas, polars or pyarrow table or column; "
    "a Hugging Face Dataset or DatasetDict; a numpy array of texts; a generator of texts or mappings; a pathlib.Path; "
    "or what nd.read gives"
)
_PLAIN = {str, bytes, type(None)}
_HEAD = slice(0, 100)  # values that show whether a column holds texts
_BATCH = 1000


@dataclass(frozen=True)
class GivenPart:
    """The documents of one table or column. Its first row has the position `start` in all that was given; `rejected`
    says by row why it is no document, and `texts` has None there. `name` is that of a split."""

    held: MemoryTable
    start: int
    name: str
    ids: list[str]
    texts: Any  # a list of str, bytes and None, or an Arrow column of strings
    rejected: dict[int, Unfit]
    layout: Layout | None
    converted: bool = False  # whether the text column holds something else than texts

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def html(self) -> bool:
        """Whether the texts are HTML pages, as the name of their column says."""
        return self.layout is not None and is_html(self.layout)

    def documents(self) -> Iterator[Document]:
        """Each row with all its columns; a rejected row is an empty document."""
        texts = (value.as_py() if hasattr(value, "as_py") else value for value in self.texts)
        for name, text, meta in zip(self.ids, texts, self._metas(), strict=True):
            shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else text or ""
            yield Document(name, shown, meta)

    def _metas(self) -> Iterator[Mapping[str, Any]]:
        items = getattr(self.held, "items", None)
        if items is not None:
            for item in items:
                yield item.meta if isinstance(item, Document) else self._rest(item)
            return
        names = [name for name in self.held.names if self._kept(name)]
        for start in range(0, len(self), _BATCH):
            part = slice(start, start + _BATCH)
            columns = [plain_values(self.held.values(name, part)) for name in names]
            rows = zip(*columns, strict=True) if columns else (() for _ in self.ids[part])
            for values in rows:
                yield dict(zip(names, values, strict=True))

    def _rest(self, item: Any) -> Mapping[str, Any]:
        if not isinstance(item, Mapping):
            return {}
        return {str(name): value for name, value in item.items() if self._kept(str(name))}

    def _kept(self, name: str) -> bool:
        """Whether a column is kept beside the text: all but the one that is the text itself, unless it is one of
        vectors."""
        layout = self.layout
        return layout is None or bool(layout.more) or self.converted or name != layout.text


@dataclass
class Given:
    """Everything that was given, in order. `notes` counts conversions of values that are not texts."""

    parts: list[GivenPart] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)
    vectors: str | None = None

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    @property
    def ids(self) -> list[str]:
        return [name for part in self.parts for name in part.ids]

    @property
    def rejected(self) -> dict[int, Unfit]:
        return {part.start + row: why for part in self.parts for row, why in part.rejected.items()}

    def documents(self) -> Iterator[Document]:
        for part in self.parts:
            yield from part.documents()

    def text_bytes(self, position: int) -> bytes:
        """The text at a position; empty if there is none."""
        part = next(part for part in reversed(self.parts) if part.start <= position)
        text = part.texts[position - part.start : position - part.start + 1]
        if not isinstance(text, list):  # an Arrow column, which nothing has checked yet
            text = [item for chunk in getattr(text, "chunks", [text]) for item in checked_items(chunk)]
        text = text[0]
        return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text or b""

    def add(self, source: Any, text: str | tuple[str, ...] | None, id: str | None, name: str = "") -> None:
        """The documents of one more table or column; those of a split are named by it."""
        held = _held(source)
        layout = _layout(held, text, id, name)
        if layout is None:
            if text is not None or id is not None:
                raise ConfigError(
                    "text= and id= name columns; here are texts without columns: leave them out"
                )
            values = held.values("")
            _check_column(values, source)
            texts, rejected = self._texts([values], ("text",))
            converted = False
        else:
            columns = [held.values(column) for column in layout.texts]
            before = self.notes[VECTOR]
            texts, rejected = self._texts(columns, layout.texts)
            converted = self.notes[VECTOR] > before
        ids = _ids(held, layout.id if layout is not None else None)
        if name:
            ids = [f"{name}:{one}" for one in ids]
        self.parts.append(GivenPart(held, len(self), name, ids, texts, rejected, layout, converted))

    def _texts(self, columns: Sequence[Any], names: Sequence[str]) -> tuple[Any, dict[int, Unfit]]:
        """One text for each row. Strings are used where they are."""
        if len(columns) == 1:
            if _holds_strings(columns[0]):
                return columns[0], {}
            values = plain_values(columns[0])
            if set(map(type, values)) <= _PLAIN:
                return values, {}
        texts: list[str | bytes | None] = []
        rejected: dict[int, Unfit] = {}
        for row, cells in enumerate(zip(*map(plain_values, columns), strict=True)):
            try:
                parts = [self._text(cell, name) for cell, name in zip(cells, names, strict=True)]
                texts.append(joined(parts))
            except Unfit as why:
                texts.append(None)
                # The rest of the message is for the command line.
                rejected[row] = Unfit(why.reason, why.detail.partition(";")[0])
        return texts, rejected

    def _text(self, value: Any, name: str) -> str:
        if isinstance(value, Document):
            return value.text
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        text, note = as_text(value, name, vectors=name == self.vectors)
        if note is not None and note != NULL:
            self.notes[note] += 1
        return text


def given(
    source: Any,
    text: str | tuple[str, ...] | None = None,
    id: str | None = None,
    vectors: str | None = None,
) -> Given:
    """The documents of any object that holds documents. Raises UnsupportedInput for one that does not, and
    UnreadableInput if none of its rows can be a document. Lists of numbers are texts only in the column
    `vectors`."""
    found = Given(vectors=vectors)
    splits = splits_of(source)
    if splits is not None:
        for name, table in splits.items():
            found.add(table, text, id, name)
    else:
        found.add(source, text, id)
    rejected = found.rejected
    if rejected and len(rejected) == len(found):
        counts = Counter(why.reason for why in rejected.values())
        first = [f"row {row}: {why.reason}: {why.detail}" for row, why in list(rejected.items())[:3]]
        raise UnreadableInput(len(found), 0, dict(counts), first)
    return found


def _held(source: Any) -> MemoryTable:
    if isinstance(source, str | bytes | Document):
        raise UnsupportedInput(_one_text(source))
    if isinstance(source, set | frozenset):
        raise UnsupportedInput("a set has no order, so there are no positions in it; pass a list")
    held = hold(source)
    if held is None and hasattr(source, "__arrow_c_stream__"):
        import pyarrow as pa

        held = hold(pa.table(source))
    if held is None and isinstance(source, Iterable):
        held = hold(list(source))
    if held is None:
        raise UnsupportedInput(f"documents are {TAKEN}; not {type(source).__name__}")
    return held


def _one_text(source: str | bytes | Document) -> str:
    if isinstance(source, str) and len(source) < 4096 and "\n" not in source:
        try:
            is_path = os.path.exists(source) or any(mark in source for mark in ("/", "*", "\\"))
        except ValueError:  # a zero byte
            is_path = False
        if is_path or (" " not in source.strip() and os.path.splitext(source)[1]):
            return f"this str is one text, or a path: to read files write nd.dedup(nd.read({source!r}))"
    return "got one text; documents come in a list: [text]"


def _check_column(values: Any, source: Any) -> None:
    """A column without any text is a mistake, such as a list of numbers."""
    if _holds_strings(values):
        return
    values = plain_values(values)
    if any(issubclass(kind, str | bytes | Document) for kind in set(map(type, values))):
        return
    other = next((value for value in values if not is_null(value)), None)
    if other is None:
        return
    kind = type(other).__name__
    hint = ""
    if isinstance(source, Mapping):
        hint = ". A dict is one of id to text; of a dict of columns make a table, such as pandas.DataFrame"
    raise UnsupportedInput(
        f"there is no text in this {type(source).__name__}: it holds {kind}. Documents are {TAKEN}{hint}"
    )


def _holds_strings(values: Any) -> bool:
    """Whether this is an Arrow column whose strings can be used where they are."""
    if isinstance(values, list):
        return False
    kind = str(values.type)
    return kind.startswith(
        ("string", "large_string", "dictionary<values=string", "dictionary<values=large_string")
    )


def _layout(
    held: MemoryTable, text: str | tuple[str, ...] | None, id: str | None, name: str
) -> Layout | None:
    if not held.names:
        return None
    where = f"the split {name!r}" if name else "the table"
    first: list[dict[str, Any]] = []
    if held.schema is None:
        head = {column: plain_values(held.values(column, _HEAD)) for column in held.names}
        first = [dict(zip(head, row, strict=True)) for row in zip(*head.values(), strict=True)]
    return find_layout(held.names, text, id, where, held.schema, first)


def _ids(held: MemoryTable, column: str | None) -> list[str]:
    """Ids of all rows: those of a mapping or a column; else of Documents, or the positions."""
    if isinstance(held, MappingOfItems):
        return held.keys
    items = getattr(held, "items", None)
    if column is None and (items is None or set(map(type, items)) <= _PLAIN):
        return [str(row) for row in range(len(held))]
    if items is None:
        values = plain_values(held.values(column or ""))
    else:
        rows = (item.get(column) if isinstance(item, Mapping) else item for item in items)
        values = [
            value if isinstance(value, Document) or isinstance(item, Mapping) else None
            for item, value in zip(items, rows, strict=True)
        ]
    ids = []
    for row, value in enumerate(values):
        if isinstance(value, Document):
            ids.append(value.id)
        elif column is None:
            ids.append(str(row))
        else:
            ids.append(as_id(value) or f"rows:{row + 1}")  # as nd.read makes them
    return ids
