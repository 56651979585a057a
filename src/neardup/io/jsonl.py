"""JSON Lines: one object a line, in UTF-8."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from neardup.io.columns import Row
from neardup.io.compression import Stream
from neardup.io.lines import lines
from neardup.io.opened import Opened, Terms
from neardup.io.sources import Source

__all__ = ["open_jsonl"]

_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')


def open_jsonl(source: Source, terms: Terms) -> Opened:
    return Opened(_rows(source, terms))


def _rows(source: Source, terms: Terms) -> Iterator[Row]:
    decode, limits, rejects = _decoder(), terms.limits, terms.rejects
    last = 0
    with Stream(source.open(), limits) as stream:
        for number, line, whole in lines(stream, limits.line_bytes):
            last = number
            if not whole:
                rejects.add(
                    source.name, number, "too large", f"a line of over {limits.line_bytes:,} bytes", line
                )
                continue
            if line.isspace() or not line:
                continue
            # What lies outside of strings is what takes many times its size once decoded.
            if len(line) > limits.meta_bytes and len(_STRINGS.sub(b"", line)) > limits.meta_bytes:
                rejects.add(source.name, number, "too large", "a line with too much besides strings", line)
                continue
            try:
                record = decode(line)
            except UnicodeDecodeError as error:
                rejects.add(source.name, number, "invalid encoding", str(error.reason), line)
                continue
            except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors too
                deep = isinstance(error, RecursionError)
                rejects.add(
                    source.name, number, "bad JSON", "nested too deeply" if deep else str(error), line
                )
                continue
            if not isinstance(record, dict):
                rejects.add(source.name, number, "wrong type", "the line is not a JSON object", line)
                continue
            yield number, record
        if stream.damage:
            rejects.add(source.name, last + 1, "damaged file", stream.damage)


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
