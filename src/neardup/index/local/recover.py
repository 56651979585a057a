"""Reads what is left of a damaged index in a folder: its recipe, its number of documents, and the documents."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from neardup.errors import DataError, FormatError
from neardup.index.contents import unpack_text
from neardup.index.export import ExportedDocument
from neardup.index.local.files import DATABASE
from neardup.index.local.pages import PAGE, salvage
from neardup.index.local.row_checks import body_digests, head_digests, settings_digest
from neardup.index.recipe import Recipe

__all__ = ["Recovered", "recovered"]


class Recovered(NamedTuple):
    """`documents` is None if the number cannot be read; lines are in the order of rows."""

    recipe: Recipe
    documents: int | None
    lines: Iterator[ExportedDocument]


def recovered(folder: Path, recipe: Recipe | None = None) -> Recovered:
    """Everything that can be read, including the recipe if none is given.

    The documents are read page by page. SQLite would lose everything below a damaged page of the tree.
    """
    file = folder / DATABASE
    if not file.is_file():
        raise FileNotFoundError(2, "there is no index here", str(folder))
    with open(file, "rb"):  # raises the reason if it cannot be read
        pass
    with contextlib.closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        documents = _counted(connection)
        try:
            known = recipe or _settings(connection, file)
        except FormatError:
            with contextlib.closing(_filled_up(file)) as whole:
                known = _settings(whole, file)
                documents = _counted(whole)
    return Recovered(known, documents, _lines(file, known))


def _lines(file: Path, recipe: Recipe) -> Iterator[ExportedDocument]:
    lines = {line.id: line for line in _salvaged(file, recipe)}  # the last line of each id
    for line in lines.values():
        yield line if line.keeper in lines else line._replace(keeper=line.id)


def _filled_up(file: Path) -> sqlite3.Connection:
    """The database in memory, with zeros for what is cut off: SQLite refuses a file that is too short."""
    data = bytearray(file.read_bytes())
    if len(data) >= 100:
        pages = int.from_bytes(data[28:32], "big")
        data[18:20] = b"\1\1"  # no log: a database in memory cannot have one
        data += bytes(max(min(pages, len(data) // PAGE + 10_000) * PAGE - len(data), 0))
    connection = sqlite3.connect(":memory:")
    with contextlib.suppress(sqlite3.Error, OverflowError, MemoryError):  # the last one for an empty file
        connection.deserialize(bytes(data))
    return connection


def _settings(connection: sqlite3.Connection, file: Path) -> Recipe:
    try:
        found = dict(connection.execute("SELECT name, value FROM settings"))
        if found.pop("digest", None) not in (None, settings_digest(found)):
            raise ValueError("they do not fit their digest")
        return Recipe.from_settings(found)
    except (sqlite3.Error, KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(
            file,
            "readable settings",
            f"{error}; give the key file that `neardup index export` wrote (--key)",
        ) from None


def _counted(connection: sqlite3.Connection) -> int | None:
    try:
        found = connection.execute("SELECT value FROM counters WHERE name = 'documents'").fetchone()
        return int(found[0])
    except (sqlite3.Error, TypeError, ValueError):
        return None


def _salvaged(file: Path, recipe: Recipe) -> Iterator[ExportedDocument]:
    """Every document that can be read, in the order of rows."""
    found: dict[int, tuple[Any, ...]] = {}
    for line in salvage(file):
        if _plausible(line[:10], recipe) and _whole(line):
            found[line[0]] = line[:10]
    names = {row: line[1] for row, line in found.items()}
    for row in sorted(found):
        line = found[row]
        yield ExportedDocument(line[1], names.get(line[2], line[1]), *line[3:])


def _whole(line: tuple[Any, ...]) -> bool:
    """Whether a line fits its digests, if it has them."""
    if len(line) == 10:
        return True
    row, meta, content = line[0], line[8], line[9]
    return line[10:] == (head_digests([line])[0], body_digests([(row, meta, content)])[0])


def _plausible(line: tuple[Any, ...], recipe: Recipe) -> bool:
    _, id, keeper, distance, similarity, added, expires, fingerprint, meta, content = line
    kinds = ((distance, int), (similarity, float), (expires, int), (meta, str), (content, bytes))
    if not (isinstance(id, str) and id and isinstance(keeper, int) and isinstance(added, int)):
        return False
    if any(value is not None and not isinstance(value, kind) for value, kind in kinds):
        return False
    if fingerprint is not None and not (isinstance(fingerprint, bytes) and len(fingerprint) == recipe.width):
        return False
    if recipe.contents == "none":
        return True
    if not isinstance(content, bytes):
        return False
    if meta is not None:
        try:
            if not isinstance(json.loads(meta), dict):
                return False
        except (ValueError, RecursionError):
            return False
    if recipe.contents == "text":
        try:
            unpack_text(content)
        except (DataError, UnicodeDecodeError):
            return False
    return True
