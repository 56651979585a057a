"""Lists of URLs and pairs in common formats: lines, TSV, CSV or JSONL, compressed or not, or standard input."""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from io import RawIOBase
from os import PathLike, fspath
from typing import BinaryIO, cast

from neardup.errors import ConfigError, DataError
from neardup.readers.compression import Stream
from neardup.readers.limits import Limits
from neardup.readers.lines import lines
from neardup.readers.reader import read
from neardup.readers.sources import find_sources, format_of
from neardup.values.checks import checked

__all__ = ["numbered_lines", "read_pairs", "read_urls"]

# Names of the two columns, the most likely first; without such names the first two columns are used.
_NAMES = (
    ("from", "to"),
    ("left", "right"),
    ("url_a", "url_b"),
    ("left_url", "right_url"),
    ("id_a", "id_b"),
    ("left_id", "right_id"),
    ("source", "target"),
    ("url", "canonical"),
    ("id", "keeper"),
    ("url", "content"),
    ("url", "digest"),
    ("url", "cluster"),
    ("id", "cluster"),
    ("id", "url"),
    ("a", "b"),
)


@checked
def read_pairs(path: str | PathLike[str]) -> Iterator[tuple[str, str]]:
    """The first two columns of each row, or the columns named by a header or by the keys of JSON objects.

    CSV and JSONL are recognised by the name of the file. Other files and standard input (`-`) are split at tabs or, if
    there is no tab, at white space. DataError names the line that cannot be read.
    """
    name = fspath(path)
    format = format_of(name)
    named: tuple[int, int] | None = None
    first = True
    for number, text in numbered_lines(name):
        where = f"{name}, line {number}"
        if format == "jsonl" or (format is None and text.lstrip().startswith(("{", "["))):
            yield _json_pair(text, where)
            continue
        if format == "csv":
            cells = next(csv.reader([text], strict=False))
        else:
            cells = text.split("\t") if "\t" in text else text.split()
        if first:
            first = False
            named = _header(cells)
            if named is not None:
                continue
        left, right = named or (0, 1)
        if len(cells) <= max(left, right):
            raise DataError(f"{where}: expected two columns, got {text[:80]!r}")
        yield cells[left].strip(), cells[right].strip()


@checked
def read_urls(
    places: Iterable[str | PathLike[str]],
    column: str | None = None,
    format: str | None = None,
    rejected: Counter[str] | None = None,
) -> Iterator[str]:
    """URLs from files: one on each line in text files and standard input (`-`), or a column (`url`) of JSONL, CSV,
    TSV, Parquet and Arrow. Blank lines are skipped; rows that cannot be read are counted in `rejected` by reason."""
    for place in places:
        if not isinstance(place, str | PathLike):
            raise ConfigError(f"places must be paths, not {place!r}")
        name = fspath(place)
        kind = format or (format_of(name) if name != "-" else "text")
        if kind in (None, "text"):
            for _, text in numbered_lines(name):
                yield text.strip()
            continue
        reader = read(name, text=column or "url", format=format)
        for document in reader.documents():
            yield document.text
        if rejected is not None:
            rejected.update(reader.rejects.counts)


@checked
def numbered_lines(name: str) -> Iterator[tuple[int, str]]:
    """The lines of a file, or of standard input (`-`), that are not blank, with their numbers."""
    limits = Limits()
    stream = Stream(_open(name), limits)
    with stream:
        for number, data, whole in lines(stream, limits.line_bytes):
            if not whole:
                raise DataError(f"{name}, line {number}: longer than {limits.line_bytes:,} bytes")
            text = data.decode("utf-8", "replace").rstrip("\r\n")
            if text and not text.isspace():
                yield number, text
        if stream.damage:
            raise DataError(f"{name}: damaged file: {stream.damage}")


def _open(name: str) -> BinaryIO:
    if name == "-":
        return cast(BinaryIO, _KeptOpen(sys.stdin.buffer))
    return find_sources(name, "text")[0].open()


class _KeptOpen(RawIOBase):
    """Standard input, which must not be closed here."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)


def _header(cells: list[str]) -> tuple[int, int] | None:
    lowered = [cell.strip().lower() for cell in cells]
    for left, right in _NAMES:
        if left in lowered and right in lowered:
            return lowered.index(left), lowered.index(right)
    return None


def _json_pair(text: str, where: str) -> tuple[str, str]:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not JSON: {error}") from error
    values: list[object] = []
    if isinstance(said, dict):
        named = next(([said[a], said[b]] for a, b in _NAMES if a in said and b in said), None)
        values = named if named is not None else list(said.values())
    elif isinstance(said, list):
        values = said
    pair = [str(value) if isinstance(value, str | int) else "" for value in values[:2]]
    if len(pair) < 2 or not all(pair):
        raise DataError(f"{where}: expected an object or list with two texts, got {text[:80]!r}")
    return pair[0], pair[1]
