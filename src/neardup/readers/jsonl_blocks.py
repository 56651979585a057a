"""Texts and ids of JSONL as columns, many lines at a time, without a Python object for each: what a scan reads.

pyarrow parses a block of lines; a block that holds anything it takes otherwise than the line reader does, such as a
number for a text, NaN or bad UTF-8, is read again line by line. So both give the same documents and rejects.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.readers.compression import Stream
from neardup.readers.document import Document
from neardup.readers.encodings import Bytes, as_utf8
from neardup.readers.interface import Terms
from neardup.readers.json_values import Values, is_spread
from neardup.readers.jsonl import DEEPEST, decoded, spread_rows
from neardup.readers.layout import Layout, Row, Shaping, is_html
from neardup.readers.lines import CHUNK, Line, filled_lines
from neardup.readers.sources import Source

__all__ = ["TextBlock", "jsonl_blocks", "lines_block"]

_BLOCK, _SPARE = 1 << 22, 1 << 18
_SAMPLE = 400
_BOM = b"\xef\xbb\xbf"
_DIGITS = 300  # fewer than Python may be told to refuse in an integer


@dataclass(frozen=True)
class TextBlock:
    """Documents of one file: text i is the UTF-8 `data[offsets[i]:offsets[i + 1]]`, its row in the file `rows[i]`."""

    file: str
    rows: NDArray[np.int64]
    ids: list[str]
    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    html: bool = False

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, file: str, rows: list[int], documents: list[Document], html: bool = False) -> TextBlock:
        """The columns of documents; `html` says that their texts are pages."""
        texts = [document.text.encode() for document in documents]
        ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
        data = np.frombuffer(b"".join(texts), np.uint8)
        ids = [document.id for document in documents]
        offsets = np.concatenate([[0], ends]).astype(np.int64)
        return cls(file, np.array(rows, np.int64), ids, data, offsets, html)

    def documents(self) -> list[Document]:
        """The documents, without what else their lines held."""
        begins, ends = self.offsets[:-1].tolist(), self.offsets[1:].tolist()
        texts = (self.data[a:b].tobytes().decode() for a, b in zip(begins, ends, strict=True))
        return [Document(name, text) for name, text in zip(self.ids, texts, strict=True)]


def jsonl_blocks(source: Source, terms: Terms, before: list[Layout]) -> Iterator[TextBlock]:
    """The documents of a JSONL file. The layout is found in its first block, or else is that of the file `before`,
    which it then becomes."""
    with Stream(source.open(), terms.limits) as stream:
        content, head = as_utf8(stream, terms.options.encoding, guess=False)
        if is_spread(head):
            yield from _spread(stream, content, source, terms, before)
            return
        blocks = _Blocks(content, terms.limits.line_bytes)
        shaping = _shaping(blocks.first_rows(lambda: shaping.layout is None, source, terms), source, terms)
        shaping.fallback = before[0] if before else None
        made = _slow(shaping, source)
        layout = shaping.layout
        if len(made):
            yield made
        parser = _parser(layout, bytes(blocks.block)) if layout is not None else None
        any_made = len(made) > 0
        for block in blocks:
            parsed = None
            if parser is not None and blocks.plain:
                parsed = parser(block, source.name, blocks.row, blocks.lines, terms)
            made = parsed or _slow(_shaping(blocks.rows(source, terms), source, terms, layout), source)
            if len(made):
                any_made = True
                yield made
        if any_made and layout is not None:
            before[:] = [layout]
        if stream.damage:
            terms.rejects.add(source.name, blocks.next_row, "damaged file", stream.damage)


def _spread(
    stream: Stream, content: Bytes, source: Source, terms: Terms, before: list[Layout]
) -> Iterator[TextBlock]:
    last = [0]
    rows = spread_rows(Values(content, terms.limits.line_bytes), source, terms, last)
    shaping = _shaping(rows, source, terms)
    shaping.fallback = before[0] if before else None
    documents = iter(shaping)
    while part := list(islice(documents, terms.batch)):
        assert shaping.layout is not None
        before[:] = [shaping.layout]
        yield TextBlock.of(
            source.name, [row for row, _ in part], [found for _, found in part], is_html(shaping.layout)
        )
    if stream.damage:
        terms.rejects.add(source.name, last[0] + 1, "damaged file", stream.damage)


def lines_block(block: bytes, source: Source, row: int, terms: Terms, layout: Layout) -> TextBlock:
    """The documents of some whole lines, each with its line end, that were taken out of a file elsewhere. The first one
    has the number `row`; the layout is known."""
    parser = _parser(layout, block)
    lines, plain = _core.look_at_lines(np.frombuffer(block, np.uint8), DEEPEST, _DIGITS)
    if parser is not None and plain:
        parsed = parser(memoryview(block), source.name, row, lines, terms)
        if parsed is not None:
            assert isinstance(parsed, TextBlock)
            return parsed
    limit = terms.limits.line_bytes
    numbered = filled_lines(block[:-1], row)
    checked = (
        (number, line, True) if len(line) <= limit else (number, line[:_SAMPLE], False)
        for number, line in numbered
    )
    return _slow(_shaping(decoded(checked, source.name, terms), source, terms, layout), source)


class _Blocks:
    """The blocks of a stream one by one: the latest one is `block`, its first line has the number `row`. It is `plain`
    if the parser may have it, which would take two objects on a line, one on two, NaN, numbers and nesting of any size.
    """

    def __init__(self, stream: Bytes, limit: int) -> None:
        self._blocks, self._limit = _blocks(stream, limit), limit
        self.block: bytes | memoryview = b""
        self.whole, self.plain, self.lines = True, False, 0
        self.row, self.next_row = 1, 1

    def __iter__(self) -> Iterator[memoryview]:
        for block, whole in self._blocks:
            self.block, self.whole, self.row = block, whole, self.next_row
            self.lines, self.plain = 1, False
            if whole:
                self.lines, self.plain = _core.look_at_lines(np.frombuffer(block, np.uint8), DEEPEST, _DIGITS)
            self.next_row += self.lines
            yield block

    def first_rows(self, more: Callable[[], bool], source: Source, terms: Terms) -> Iterator[Row]:
        """The objects of as many blocks as it takes until there is no need for more."""
        for _ in self:
            yield from self.rows(source, terms)
            if not more():
                return

    def rows(self, source: Source, terms: Terms) -> Iterator[Row]:
        """The objects of the latest block, line by line."""
        return decoded(self._lines(), source.name, terms)

    def _lines(self) -> Iterator[Line]:
        if not self.whole:
            yield self.row, bytes(self.block), False
            return
        for number, line in filled_lines(bytes(self.block[:-1]), self.row):
            yield number, line, len(line) <= self._limit


def _blocks(stream: Bytes, limit: int) -> Iterator[tuple[memoryview, bool]]:
    """Whole lines, many at a time, each with its line end; or, not whole, the beginning of one beyond the limit. A
    block is good until the next one is asked for: all lie in one buffer, in turn."""
    room, used, first, skipping = bytearray(_BLOCK + _SPARE), 0, True, False
    while True:
        if len(room) - used < _BLOCK:
            room = room[:used] + bytearray(max(_BLOCK + _SPARE, used))
        if stream.direct:
            got = stream.readinto(memoryview(room)[used:])
        else:
            # Decompressors give as much as they like: little at a time mostly, which is gathered, or a lot.
            data = b"".join(_pieces(stream))
            got = len(data)
            room = room if used + got <= len(room) else room[:used] + bytearray(got)
            room[used : used + got] = data
        if not got:
            break
        begin, used = 0, used + got
        if first:
            if used < len(_BOM):
                continue
            begin, first = len(_BOM) if room.startswith(_BOM) else 0, False
        if skipping:
            end = room.find(b"\n", begin, used)
            if end < 0:
                used = 0
                continue
            begin, skipping = end + 1, False
        end = room.find(b"\n", begin, used)
        if end - begin > limit:
            # The first line is too long; what follows it is not.
            yield memoryview(room)[begin : begin + _SAMPLE], False
            begin = end + 1
        end = room.rfind(b"\n", begin, used)
        if end >= 0:
            yield memoryview(room)[begin : end + 1], True
            begin = end + 1
        room[: used - begin] = room[begin:used]
        used -= begin
        if used > limit:
            yield memoryview(room)[:_SAMPLE], False
            used, skipping = 0, True
    if used and stream.damage is None:
        begin = len(_BOM) if first and room.startswith(_BOM) else 0
        if used > begin:
            yield memoryview(room[begin:used] + b"\n"), True


def _pieces(stream: Bytes) -> Iterator[bytes]:
    """About a block of a compressed stream, read in the steps that the line reader takes, so that of a damaged file
    both get the same."""
    size = 0
    while (not size or size < _BLOCK // 2) and (piece := stream.read(CHUNK)):
        size += len(piece)
        yield piece


def _shaping(rows: Iterator[Row], source: Source, terms: Terms, layout: Layout | None = None) -> Shaping:
    return Shaping(
        rows,
        source.name,
        terms.text,
        terms.id,
        frozenset(),
        terms.limits,
        terms.rejects,
        layout,
        account=terms.account,
    )


def _slow(shaping: Shaping, source: Source) -> TextBlock:
    rows, documents = [], []
    for row, document in shaping:
        rows.append(row)
        documents.append(document)
    html = shaping.layout is not None and is_html(shaping.layout)
    return TextBlock.of(source.name, rows, documents, html)


def _parser(layout: Layout, block: bytes) -> Any:
    """A function from a block to its TextBlock, None where it must be read line by line; None without pyarrow."""
    try:
        import pyarrow as pa
        import pyarrow.json as arrow_json
    except ImportError:
        return None
    if layout.id == layout.text or layout.more:
        return None
    fields = [(layout.text, pa.string())]
    if layout.id is not None:
        try:
            first = json.loads(block[: block.index(b"\n")]).get(layout.id)
        except (ValueError, AttributeError, RecursionError):
            return None
        fields.append((layout.id, pa.int64() if type(first) is int else pa.string()))
    parse = arrow_json.ParseOptions(explicit_schema=pa.schema(fields), unexpected_field_behavior="ignore")

    def run(block: memoryview, name: str, row: int, lines: int, terms: Terms) -> TextBlock | None:
        if len(block) > min(terms.limits.meta_bytes, terms.limits.line_bytes):
            return None
        options = arrow_json.ReadOptions(use_threads=False, block_size=len(block) + 1)
        try:
            table = arrow_json.read_json(
                pa.BufferReader(pa.py_buffer(block)), read_options=options, parse_options=parse
            )
            table.validate(full=True)  # the parser takes any bytes for UTF-8, here and in what is ignored
            ends = pa.py_buffer(np.array([0, len(block)], np.int64))
            pa.LargeStringArray.from_buffers(1, ends, pa.py_buffer(block)).validate(full=True)
        except pa.ArrowException:
            return None
        if table.num_rows != lines or any(column.null_count for column in table.columns):
            return None
        text = table[layout.text].combine_chunks().cast(pa.large_string())
        _, ends, data = text.buffers()
        offsets = np.frombuffer(ends, np.int64)[text.offset : text.offset + lines + 1]
        flat = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
        if int(np.diff(offsets).max()) > terms.limits.document_bytes:
            return None
        if layout.id is None:
            ids = [f"{name}:{number}" for number in range(row, row + lines)]
        else:
            ids = table[layout.id].cast(pa.string()).to_pylist()
            if not all(ids):
                return None
        terms.account.rows += lines
        return TextBlock(name, np.arange(row, row + lines), ids, flat, offsets, is_html(layout))

    return run
