"""What a worker does with the rows that Spark read: it makes documents, each with its place, and rejects.

A place is a piece of a file (its first byte) and the line in that piece. Pieces are the same in every pass, so once the
lines of all pieces are counted, a place is a number. Only this module knows the formats.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import DataError
from neardup.pipeline.batches import DocumentBatch
from neardup.readers.cells import NULL
from neardup.readers.document import Document
from neardup.readers.interface import Terms
from neardup.readers.jsonl import decoded
from neardup.readers.jsonl_blocks import lines_block
from neardup.readers.layout import Layout, Shaping, is_html
from neardup.readers.limits import Limits
from neardup.readers.reader import open_file
from neardup.readers.rejects import SAMPLE, Rejects
from neardup.readers.sources import Source
from neardup.readers.text_block import TextBlock
from neardup.spark.places import PlaceSet
from neardup.spark.ranges import FileRange, read_ranges

__all__ = [
    "MADE",
    "PATH",
    "START",
    "Pieces",
    "ReadRecipe",
    "plain_path",
    "split_of",
]

Rows = NDArray[np.int64]
# The first character of a piece's name, and so of ids made from it: they get the line number in the file later.
MADE = "\0"
PATH, START = "neardup_path", "neardup_start"  # the columns that name the piece of a row
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class ReadRecipe:
    """How Spark's rows become documents: `kind` is "lines" (JSONL), "columns" (with text and id) or "files" (whole
    files of any other format). `files` maps a path to its number; `fields` are read beside text and id."""

    kind: str
    text: str
    id: str | None
    fields: tuple[str, ...] = ()
    html: bool = False
    format: str = ""
    files: dict[str, int] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    tasks: tuple[tuple[FileRange, ...], ...] = ()  # if the workers read the files themselves

    @property
    def layout(self) -> Layout:
        return Layout(self.text, self.id, (self.text, *((self.id,) if self.id else ()), *self.fields))


class _RejectRows(Rejects):
    """Collects rejects as rows, for Spark to write. With `numbers`, a row is a position in that column."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers: Rows | None = None
        self.found: list[tuple[str, int | None, str, str, str]] = []

    def add(
        self, file: str, row: int | None, reason: str, detail: str = "", sample: bytes | str = ""
    ) -> None:
        super().add(file, row, reason, detail, sample)
        text = sample[:SAMPLE]
        shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        if self.numbers is not None and row is not None:
            row = int(self.numbers[row])
        self.found.append((file, row, reason, detail[:SAMPLE], shown))


@dataclass
class _Piece:
    file: int
    start: int
    lines: int = 0
    checksum: int = 0
    path: str = ""

    @property
    def name(self) -> str:
        return f"{MADE}{self.file}:{self.start}"


def plain_path(path: str) -> str:
    """A path with one slash after the scheme: Spark and Hadoop differ in their number."""
    return re.sub("^([a-z0-9]+):/+", r"\1:/", path)


def split_of(name: str) -> tuple[int, int]:
    """The file and first byte in a piece's name."""
    file, start = name.removeprefix(MADE).split(":")
    return int(file), int(start)


class Pieces:
    """The documents of one task, in order, with all their `fields` or those that the recipe names. `counted` are its
    pieces with their lines; `rejects` gives the rejects since the last call."""

    def __init__(self, recipe: ReadRecipe, wanted: PlaceSet | None = None, *, fields: bool = False) -> None:
        self.recipe, self.wanted = recipe, wanted
        self.counted: list[_Piece] = []
        self.sink = _RejectRows()
        columns = None if fields else frozenset(recipe.fields)
        self.terms = Terms(recipe.limits, self.sink, recipe.text, recipe.id, columns, 1000)

    def rejects(self) -> list[tuple[str, int | None, str, str, str]]:
        found, self.sink.found = self.sink.found, []
        return found

    def incoming(self, batches: Iterator[pa.RecordBatch]) -> Iterator[DocumentBatch | TextBlock]:
        """All documents, in the form that the sharder takes."""
        read = {"lines": self._lines, "columns": self._columns, "files": self._files}[self.recipe.kind]
        for piece, part in self._cut(batches):
            for made in read(piece, part):
                if isinstance(made, TextBlock) and made.html and self.recipe.html:
                    yield DocumentBatch(
                        made.documents(), [made.file] * len(made), made.rows.tolist(), html=True
                    )
                elif len(made):
                    yield made

    def texts(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[Rows, _core.Texts, Any]]:
        """The places and texts of the chosen documents, and the object that owns the texts. Not for pages: their texts
        are stored after the first pass."""
        assert self.wanted is not None
        for made in self.incoming(batches):
            if not isinstance(made, TextBlock):
                made = TextBlock.of(made.files[0], made.rows, made.documents)
            begin = self.wanted.begins.get(split_of(made.file))
            if begin is None:
                raise _changed()
            texts = _core.Texts()
            texts.add_spans(made.data, made.offsets[:-1], made.offsets[1:])
            yield begin + made.rows - 1, texts, made

    def rows(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, Rows, pa.RecordBatch]]:
        """The unchanged rows at the chosen places, with the number of their file and their places."""
        assert self.wanted is not None
        for piece, part in self._cut(batches, self.recipe.text):
            chosen = self._chosen(piece, part.num_rows)
            if len(chosen):
                places = self.wanted.begins[(piece.file, piece.start)] + piece.lines + chosen
                yield piece.file, places, part.take(pa.array(chosen))

    def _cut(
        self, batches: Iterator[pa.RecordBatch], text: str = "text"
    ) -> Iterator[tuple[_Piece, pa.RecordBatch]]:
        """Rows of one piece at a time; its `lines` count the rows before them. DataError if a later pass reads a piece
        with another checksum than the first one."""
        name = {"lines": "value", "columns": text}.get(self.recipe.kind)
        piece: _Piece | None = None
        for batch in _read(batches, self.recipe.tasks) if self.recipe.tasks else batches:
            if not batch.num_rows:
                continue
            paths = batch.column(PATH)
            if not pa.types.is_dictionary(paths.type):
                paths = paths.dictionary_encode()
            codes = paths.indices.to_numpy(zero_copy_only=False)
            starts = batch.column(START).to_numpy(zero_copy_only=False)
            change = np.flatnonzero((np.diff(codes) != 0) | (np.diff(starts) != 0)) + 1
            for a, b in zip([0, *change.tolist()], [*change.tolist(), batch.num_rows], strict=True):
                path, start = plain_path(unquote(paths.dictionary[int(codes[a])].as_py())), int(starts[a])
                file = self.recipe.files.get(path)
                if file is None:
                    file = int(path) if path.isdecimal() else -1
                    if file < 0:
                        raise DataError(f"{path}: was not there when the inputs were listed")
                if piece is None or (piece.file, piece.start) != (file, start):
                    self._check(piece)
                    piece = _Piece(file, start, path=path)
                    self.counted.append(piece)
                part = batch.slice(a, b - a)
                if name is not None:
                    piece.checksum = _checksum(part.column(name), piece.checksum)
                yield piece, part
                if self.recipe.kind != "files":
                    piece.lines += b - a
        self._check(piece)

    def _check(self, piece: _Piece | None) -> None:
        if piece is None or self.wanted is None:
            return
        if self.wanted.checksums.get((piece.file, piece.start), piece.checksum) != piece.checksum:
            raise _changed()

    def _chosen(self, piece: _Piece, count: int) -> Rows:
        """Which of the next lines are chosen, counted from 0 in this part."""
        every = np.arange(count, dtype=np.int64)
        if self.wanted is None or self.wanted.bits is None:
            return every
        begin = self.wanted.begins.get((piece.file, piece.start))
        if begin is None:
            raise _changed()
        return every[self.wanted.contains(begin + piece.lines + every)]

    def _lines(self, piece: _Piece, part: pa.RecordBatch) -> Iterator[TextBlock | DocumentBatch]:
        chosen, values = self._chosen(piece, part.num_rows), part.column("value")
        if not len(chosen):
            return
        if len(chosen) < part.num_rows:
            values = values.take(pa.array(chosen))
        lines = values.to_pylist()
        if piece.start == 0 and piece.lines + chosen[0] == 0:
            lines[0] = lines[0].removeprefix(_BOM)
        source = _source(piece.name)
        self.sink.numbers = numbers = piece.lines + 1 + chosen
        if self.recipe.fields:
            found = self._shaped(lines, source)
        else:
            block = b"\n".join(lines) + b"\n"
            found = lines_block(block, source, 0, self.terms, self.recipe.layout)
        self.sink.numbers = None
        yield from self._numbered(found, numbers)

    def _shaped(self, lines: list[bytes], source: Source) -> TextBlock | DocumentBatch:
        limit = self.recipe.limits.line_bytes
        numbered = ((number, line, len(line) <= limit) for number, line in enumerate(lines))
        rows = decoded(numbered, source.name, self.terms)
        shaping = Shaping(
            rows,
            source.name,
            None,
            None,
            self.terms.columns,
            self.terms.limits,
            self.sink,
            self.recipe.layout,
            account=self.terms.account,
        )
        found = list(shaping)
        return DocumentBatch([d for _, d in found], [source.name] * len(found), [row for row, _ in found])

    def _numbered(self, found: TextBlock | DocumentBatch, lines: Rows) -> Iterator[TextBlock | DocumentBatch]:
        """The same documents with their line numbers in the piece, also in ids that are made from line numbers."""
        if not len(found):
            return
        rows = lines[np.asarray(found.rows)]
        if isinstance(found, TextBlock):
            ids = [
                f"{found.file}:{row}" if name.startswith(MADE) else name
                for name, row in zip(found.ids, rows.tolist(), strict=True)
            ]
            html = is_html(self.recipe.layout)
            yield replace(found, rows=rows, ids=ids, html=html)
            return
        documents = [
            replace(d, id=f"{found.files[0]}:{row}") if d.id.startswith(MADE) else d
            for d, row in zip(found.documents, rows.tolist(), strict=True)
        ]
        yield DocumentBatch(
            documents, found.files, rows.tolist(), html=self.recipe.html and is_html(self.recipe.layout)
        )

    def _columns(self, piece: _Piece, part: pa.RecordBatch) -> Iterator[TextBlock | DocumentBatch]:
        chosen = self._chosen(piece, part.num_rows)
        if not len(chosen):
            return
        lines = piece.lines + 1 + chosen
        part = part if len(chosen) == part.num_rows else part.take(pa.array(chosen))
        column = part.column("text")
        if column.null_count:  # a null text is an empty document
            self.terms.account.notes[NULL] += column.null_count
        texts = column.cast(pa.large_binary()).fill_null(b"")
        sizes = np.diff(np.frombuffer(texts.buffers()[1], np.int64)[texts.offset :][: len(texts) + 1])
        large = sizes > self.recipe.limits.document_bytes
        for i in np.flatnonzero(large).tolist():
            self.sink.add(piece.name, int(lines[i]), "too large", f"the text has {int(sizes[i]):,} bytes")
        if large.any():
            fit = np.flatnonzero(~large)
            part, texts, lines = part.take(pa.array(fit)), texts.take(pa.array(fit)), lines[fit]
        if not len(lines):
            return
        made = [f"{piece.name}:{line}" for line in lines.tolist()]
        ids = made
        if self.recipe.id is not None:
            given = part.column("id").to_pylist()
            if self.recipe.format == "frame" and not all(given):
                raise DataError(f"a document has no id: {self.recipe.id!r} is null or empty in some row")
            ids = [name or other for name, other in zip(given, made, strict=True)]
        html = is_html(self.recipe.layout) and self.recipe.html
        if self.recipe.fields or html:
            meta = (
                part.select(list(self.recipe.fields)).to_pylist() if self.recipe.fields else [{}] * len(ids)
            )
            decoded_texts = [text.decode("utf-8", "replace") for text in texts.to_pylist()]
            documents = [Document(*row) for row in zip(ids, decoded_texts, meta, strict=True)]
            yield DocumentBatch(documents, [piece.name] * len(ids), lines.tolist(), html)
            return
        _, ends, data = texts.buffers()
        offsets = np.frombuffer(ends, np.int64)[texts.offset : texts.offset + len(texts) + 1]
        flat = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
        yield TextBlock(piece.name, lines, ids, flat, offsets)

    def _files(self, piece: _Piece, part: pa.RecordBatch) -> Iterator[DocumentBatch]:
        """Whole files, read by the readers of the local pipeline: from their place, or as Spark brings them."""
        assert part.num_rows == 1, "a file is one row"
        content = part.column("content")[0]
        source = _source(piece.name, self.recipe.format, lambda: _opened(piece.path, content))
        terms = replace(self.terms, text=None, id=None)
        opened = open_file(source, terms)
        shaping = Shaping(
            opened.rows,
            source.name,
            None,
            None,
            terms.columns,
            terms.limits,
            self.sink,
            opened.layout,
            account=terms.account,
        )
        documents: list[Document] = []
        rows: list[int] = []
        size = 0
        for row, document in shaping:
            piece.lines = row
            documents.append(document)
            rows.append(row)
            size += len(document.text)
            if size > 8 << 20:
                yield DocumentBatch(documents, [source.name] * len(rows), rows, self.recipe.html)
                documents, rows, size = [], [], 0
        if documents:
            yield DocumentBatch(documents, [source.name] * len(rows), rows, self.recipe.html)


def _read(
    batches: Iterator[pa.RecordBatch], tasks: tuple[tuple[FileRange, ...], ...]
) -> Iterator[pa.RecordBatch]:
    """The rows that Spark would read of these ranges."""
    for one, lines in read_ranges(batches, tasks):
        path = pa.DictionaryArray.from_arrays(
            pa.array(np.zeros(len(lines), np.int32)), [quote(one.path, safe=":/")]
        )
        start = pa.array(np.full(len(lines), one.start, np.int64))
        yield pa.record_batch([path, start, lines], [PATH, START, "value"])


def _checksum(column: pa.Array, before: int) -> int:
    """The CRC-32 of all bytes of a column of texts, continued from `before`."""
    wide = pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type)
    _, ends, data = column.buffers()
    if data is None or not len(column):
        return before
    offsets = np.frombuffer(ends, np.int64 if wide else np.int32)[column.offset :][: len(column) + 1]
    return zlib.crc32(memoryview(data)[int(offsets[0]) : int(offsets[-1])], before)


def _opened(path: str, content: pa.Scalar) -> Any:
    if content.is_valid:
        return io.BytesIO(content.as_buffer())
    return open(path.removeprefix("file:"), "rb")


def _changed() -> DataError:
    return DataError(
        "the inputs have changed since they were first read; remove the run's folder and start again"
    )


def _source(name: str, format: str = "jsonl", opener: Callable[[], Any] | None = None) -> Source:
    return Source(name, name, format, None, opener or (lambda: io.BytesIO()))
