"""Text of one document a line, as tools pass it through pipes."""

from __future__ import annotations

from collections.abc import Iterator

from neardup.readers.compression import Stream
from neardup.readers.encodings import as_utf8
from neardup.readers.interface import Opened, Terms
from neardup.readers.layout import Layout, Row
from neardup.readers.lines import lines
from neardup.readers.sources import Source

__all__ = ["open_lines"]

_LAYOUT = Layout("text", None, ("text",))


def open_lines(source: Source, terms: Terms) -> Opened:
    return Opened(_rows(source, terms), layout=_LAYOUT)


def _rows(source: Source, terms: Terms) -> Iterator[Row]:
    limit, rejects = terms.limits.line_bytes, terms.rejects
    number = 0
    with Stream(source.open(), terms.limits) as stream:
        content, _ = as_utf8(stream, terms.options.encoding, guess=True)
        for number, line, whole in lines(content, limit):
            if not whole:
                rejects.add(source.name, number, "too large", f"a line of over {limit:,} bytes", line)
                continue
            try:
                text = line.decode("utf-8").removesuffix("\r")
            except UnicodeDecodeError as error:
                rejects.add(source.name, number, "invalid encoding", error.reason, line)
                continue
            if terms.raw is not None:
                terms.raw[number] = line
            yield number, {"text": text}
        if stream.damage:
            rejects.add(source.name, number + 1, "damaged file", stream.damage)
