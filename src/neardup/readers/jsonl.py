"""JSON: one object a line (JSON Lines), an array of objects, or objects written over several lines."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from neardup._core import json_depth
from neardup.readers.compression import Stream
from neardup.readers.encodings import as_utf8
from neardup.readers.interface import Opened, Terms
from neardup.readers.json_values import Values, is_spread
from neardup.readers.layout import RawLines, Row
from neardup.readers.lines import Blank, Line, lines
from neardup.readers.sources import Source

__all__ = ["DEEPEST", "decoded", "open_jsonl", "spread_rows", "too_deep"]

# A fixed bound on nesting: a decoder's own depends on the stack it is called from, and the answer must not.
DEEPEST = 500

_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')


def open_jsonl(source: Source, terms: Terms) -> Opened:
    return Opened(_rows(source, terms))


def _rows(source: Source, terms: Terms) -> Iterator[Row]:
    with Stream(source.open(), terms.limits) as stream:
        last = [0]
        content, head = as_utf8(stream, terms.options.encoding, guess=False)
        if is_spread(head):
            yield from spread_rows(Values(content, terms.limits.line_bytes), source, terms, last)
        else:
            found = lines(content, terms.limits.line_bytes, Blank(spaces=True))
            yield from decoded(found, source.name, terms, last, terms.raw)
        if stream.damage:
            terms.rejects.add(source.name, last[0] + 1, "damaged file", stream.damage)


def spread_rows(found: Values, source: Source, terms: Terms, last: list[int]) -> Iterator[Row]:
    """The objects of an array, or objects that are written over several lines."""
    terms.account.shape(source.name, "JSON values over several lines, or in an array")
    yield from decoded(found, source.name, terms, last)
    if found.unclosed:
        terms.rejects.add(source.name, last[0] + 1, "bad JSON", "the file ends within an array")


def decoded(
    numbered: Iterable[Line],
    name: str,
    terms: Terms,
    last: list[int] | None = None,
    raw: RawLines | None = None,
) -> Iterator[Row]:
    """The objects of lines; lines without one are rejected. `last` gets the number of the latest line, `raw` the lines
    of the rows."""
    decode, limits, rejects = _decoder(), terms.limits, terms.rejects
    for number, line, whole in numbered:
        if last is not None:
            last[0] = number
        if not whole:
            rejects.add(name, number, "too large", f"a line of over {limits.line_bytes:,} bytes", line)
            continue
        if line.isspace() or not line:
            continue
        # JSON outside of strings takes many times its size once it is decoded.
        if len(line) > limits.meta_bytes and _more_outside(line, limits.meta_bytes):
            rejects.add(name, number, "too large", "a line with too much outside of strings", line)
            continue
        if too_deep(line):
            rejects.add(name, number, "bad JSON", "nested too deeply", line)
            continue
        try:
            record = decode(line)
        except UnicodeDecodeError as error:
            rejects.add(name, number, "invalid encoding", str(error.reason), line)
            continue
        except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors too
            rejects.add(name, number, "bad JSON", str(error), line)
            continue
        if not isinstance(record, dict):
            rejects.add(name, number, "wrong type", "this is not a JSON object", line)
            continue
        if raw is not None:
            raw[number] = line
        yield number, record


def _more_outside(line: bytes, most: int) -> bool:
    """Whether more bytes than so many are outside of strings; no longer looked at than it takes to know."""
    total = at = 0
    for found in _STRINGS.finditer(line):
        total += found.start() - at
        if total > most:
            return True
        at = found.end()
    return total + len(line) - at > most


def too_deep(line: bytes) -> bool:
    """Whether objects and lists are nested more than DEEPEST deep."""
    if line.count(b"[") + line.count(b"{") <= DEEPEST:
        return False
    return json_depth(line) > DEEPEST


def _decoder() -> Callable[[bytes], Any]:
    try:
        import msgspec
    except ImportError:
        return _decode
    decode: Callable[[bytes], Any] = msgspec.json.Decoder().decode
    return decode


def _decode(line: bytes) -> Any:
    """The standard library's decoder, as strict as msgspec: UTF-8 alone, no NaN."""
    return json.loads(line.decode("utf-8"), parse_constant=_no_constant)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
