"""Texts and ids of JSONL as columns, many lines at a time, without a Python object for each: what a scan reads.

A native parser takes the simple lines of a block; a line that is anything else, such as a number for a text, NaN or
bad UTF-8, is read by the line reader. So both give the same documents and rejects.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.readers.account import Account
from neardup.readers.ahead import Ahead
from neardup.readers.compression import Stream
from neardup.readers.encodings import Bytes, as_utf8
from neardup.readers.interface import Terms
from neardup.readers.json_values import Values, is_spread
from neardup.readers.jsonl import decoded, spread_rows
from neardup.readers.layout import Layout, Row, Shaping, decided_layout, is_html
from neardup.readers.line_blocks import SAMPLE, Block, LineBlocks
from neardup.readers.lines import Line
from neardup.readers.rejects import Rejects
from neardup.readers.sources import Source
from neardup.readers.text_block import IdColumn, TextBlock, TextPlace

__all__ = ["TextBlock", "jsonl_blocks", "lines_block"]

Bytes1 = NDArray[np.uint8]


def jsonl_blocks(source: Source, terms: Terms, ahead: Ahead) -> Iterator[TextBlock]:
    """The documents of a JSONL file. The layout is found in its first rows, or else is that of the file before."""
    place = _place_of(source)
    try:
        with Stream(source.open(), terms.limits) as stream:
            content, head = as_utf8(stream, terms.options.encoding, guess=False)
            if is_spread(head):
                yield from ahead.drain()
                yield from _spread(stream, content, source, terms, ahead)
                return
            file = _JsonlFile(source, terms, ahead, place if content is stream and stream.direct else None)
            yield from file.blocks(LineBlocks(content, terms.limits.line_bytes))
            if stream.damage:
                damage = stream.damage
                yield from ahead.put(lambda: None, lambda _: file.reject(damage), None)
    except Exception:
        yield from ahead.drain()  # what was read before the error is given first
        raise


def _place_of(source: Source) -> TextPlace | None:
    """Where a local file is, and its size and time, which show whether it has changed."""
    if "://" in source.path or not os.path.isfile(source.path):
        return None
    seen = os.stat(source.path)
    none = np.empty(0, np.int64)
    return TextPlace(source.path, seen.st_size, seen.st_mtime_ns, none, none)


def _spread(
    stream: Stream, content: Bytes, source: Source, terms: Terms, ahead: Ahead
) -> Iterator[TextBlock]:
    last = [0]
    rows = spread_rows(Values(content, terms.limits.line_bytes), source, terms, last)
    shaping = _shaping(rows, source, terms)
    shaping.fallback = ahead.layout
    documents = iter(shaping)
    while part := list(islice(documents, terms.batch)):
        assert shaping.layout is not None
        ahead.layout = shaping.layout
        yield TextBlock.of(
            source.name, [row for row, _ in part], [found for _, found in part], is_html(shaping.layout)
        )
    if stream.damage:
        terms.rejects.add(source.name, last[0] + 1, "damaged file", stream.damage)


def lines_block(block: bytes, source: Source, row: int, terms: Terms, layout: Layout) -> TextBlock:
    """The documents of some whole lines, each with its line end, that were taken out of a file elsewhere. The first one
    has the number `row`; the layout is known."""
    file = _JsonlFile(source, terms, Ahead(None, layout), None)
    file.row = row
    if not _simple(layout):
        return file.slow(memoryview(block), True, layout)
    return file.settled(_parse(memoryview(block), layout, terms), layout, 0)


@dataclass(frozen=True)
class _Parsed:
    """What the native parser makes of a block."""

    block: memoryview
    lines: int
    data: Bytes1
    offsets: NDArray[np.int64]
    ids: IdColumn
    documents: tuple[Any, Any, Any]  # line, begin and raw bytes of each
    odd: tuple[Any, Any, Any]  # line, begin and end of lines that it leaves to the line reader
    worked: Any = None


def _simple(layout: Layout) -> bool:
    """Whether the native parser knows how to make documents of this layout."""
    return layout.id != layout.text and not layout.more


def _parse(block: memoryview, layout: Layout, terms: Terms) -> _Parsed:
    limits = terms.limits
    lines, (data, ends), ids, documents, odd = _core.read_documents(
        np.frombuffer(block, np.uint8),
        layout.text,
        layout.id,
        min(limits.line_bytes, limits.meta_bytes),
        limits.document_bytes,
    )
    offsets = np.zeros(len(ends) + 1, np.int64)
    offsets[1:] = ends
    return _Parsed(block, lines, data, offsets, IdColumn(*ids), documents, odd)


class _JsonlFile:
    """One file that is read as blocks: the number of the next row, and where its texts are."""

    def __init__(self, source: Source, terms: Terms, ahead: Ahead, place: TextPlace | None) -> None:
        self.source, self.terms, self.ahead, self.place = source, terms, ahead, place
        self.row = 1

    def blocks(self, blocks: LineBlocks) -> Iterator[TextBlock]:
        first = next(blocks, None)
        if first is None:
            return
        layout = self._decided(first, blocks)
        if layout is None:
            yield from self.ahead.drain()
            rows = self._first_rows(first, blocks, lambda: shaping.layout is None)
            shaping = _shaping(rows, self.source, self.terms)
            shaping.fallback = self.ahead.layout
            made = _slow(shaping, self.source)
            layout = shaping.layout
            yield from self.ahead.put(lambda: None, lambda _: made, layout)
            if layout is None:
                return
            first = next(blocks, None)
        parse = self._worked if _simple(layout) else None
        while first is not None:
            block, whole, at = first
            if parse is None or not whole:
                settle = partial(self._settle_slow, block, whole, layout)
                yield from self.ahead.put(lambda: None, settle, layout)
            else:
                settle_parsed = partial(self._settle, blocks, layout, at)
                yield from self.ahead.put(partial(parse, block, layout), settle_parsed, layout)
            first = next(blocks, None)

    def _decided(self, first: Block, blocks: LineBlocks) -> Layout | None:
        """The layout, if the rows of the first block decide it."""
        block, whole, _ = first
        if not whole:
            return None
        quiet = replace(self.terms, rejects=Rejects(), account=Account())
        rows = decoded(_each_line(block, self.terms.limits.line_bytes), self.source.name, quiet)
        return decided_layout(rows, self.terms.text, self.terms.id, blocks.ended)

    def _first_rows(self, first: Block, blocks: LineBlocks, more: Callable[[], bool]) -> Iterator[Row]:
        """The objects of as many blocks as it takes until there is no need for more."""
        found: Block | None = first
        while found is not None:
            yield from decoded(self._lines(*found[:2]), self.source.name, self.terms)
            if not more():
                return
            found = next(blocks, None)

    def _worked(self, block: memoryview, layout: Layout) -> _Parsed:
        parsed, work = _parse(block, layout, self.terms), self.ahead.work
        if work is None or (is_html(layout) and not work.pages) or not len(parsed.ids.ends):
            return parsed
        return replace(parsed, worked=work.run(parsed.data, parsed.offsets))

    def _settle(self, blocks: LineBlocks, layout: Layout, at: int, parsed: _Parsed) -> TextBlock:
        made = self.settled(parsed, layout, at)
        blocks.give_back(parsed.block)
        return made

    def settled(self, parsed: _Parsed, layout: Layout, at: int) -> TextBlock:
        """The block that begins at byte `at` of the file, its lines numbered; odd lines are read one by one."""
        row, self.row = self.row, self.row + parsed.lines
        lines, begins, raws = parsed.documents
        rows = lines + row
        place = self.place
        if place is not None:
            place = replace(place, begins=begins + at, raws=raws)
        ids = parsed.ids if layout.id is not None else [f"{self.source.name}:{n}" for n in rows.tolist()]
        html = is_html(layout)
        made = TextBlock(self.source.name, rows, ids, parsed.data, parsed.offsets, html, place, parsed.worked)
        self.terms.account.rows += len(made)
        if not len(parsed.odd[0]):
            return made
        limit = self.terms.limits.line_bytes
        odd = zip(*(column.tolist() for column in parsed.odd), strict=True)
        numbered = (
            (row + n, bytes(parsed.block[a : b if b - a <= limit else a + SAMPLE]), b - a <= limit)
            for n, a, b in odd
        )
        found = _slow(self._shaped(numbered, layout), self.source)
        return made.merged(found) if len(found) else made

    def _settle_slow(self, block: memoryview, whole: bool, layout: Layout, _: None) -> TextBlock:
        return self.slow(block, whole, layout)

    def slow(self, block: memoryview, whole: bool, layout: Layout) -> TextBlock:
        """A block that is read line by line."""
        return _slow(self._shaped(self._lines(block, whole), layout), self.source)

    def _shaped(self, lines: Iterator[Line], layout: Layout) -> Shaping:
        rows = decoded(lines, self.source.name, self.terms)
        return _shaping(rows, self.source, self.terms, layout)

    def _lines(self, block: memoryview, whole: bool) -> Iterator[Line]:
        """The lines of the next block, with their numbers."""
        if not whole:
            self.row += 1
            yield self.row - 1, bytes(block), False
            return
        for _, line, all_of_it in _each_line(block, self.terms.limits.line_bytes):
            self.row += 1
            yield self.row - 1, line, all_of_it

    def reject(self, damage: str) -> None:
        self.terms.rejects.add(self.source.name, self.row, "damaged file", damage)


def _each_line(block: memoryview, limit: int) -> Iterator[Line]:
    data, begin, number = bytes(block), 0, 1
    while begin < len(data):
        end = data.find(b"\n", begin)
        whole = end - begin <= limit
        yield number, data[begin : end if whole else begin + SAMPLE], whole
        begin, number = end + 1, number + 1


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
        vectors=terms.vectors,
    )


def _slow(shaping: Shaping, source: Source) -> TextBlock:
    rows, documents = [], []
    for row, document in shaping:
        rows.append(row)
        documents.append(document)
    html = shaping.layout is not None and is_html(shaping.layout)
    return TextBlock.of(source.name, rows, documents, html)
