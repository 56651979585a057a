"""Fills a new folder with documents of another index; they keep their times and their keepers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from neardup.errors import DataError
from neardup.index.export import Line
from neardup.index.local.database import Database
from neardup.index.local.session import DATABASE, create_database, new_folder, whole_database
from neardup.index.recipe import Recipe

__all__ = ["fill_folder"]


def fill_folder(folder: Path, recipe: Recipe, lines: Iterable[Line]) -> int:
    """Create an index with these documents; it gets its name when it is complete."""
    if folder.exists() and any(folder.iterdir()):
        raise DataError(f"{folder}: a new index needs a new folder")
    with new_folder(folder), whole_database(folder / DATABASE) as half:
        create_database(half, recipe)
        with contextlib.closing(Database(half, durability="normal")) as database:
            count = _insert(database, lines)
            database.run("PRAGMA journal_mode = DELETE")
    return count


def _insert(database: Database, lines: Iterable[Line]) -> int:
    rows: dict[str, int] = {}
    follows: list[tuple[int, str]] = []
    with database.transaction():
        for line in lines:
            row = len(rows)
            if rows.setdefault(line.id, row) != row:
                raise DataError(f"two documents have the id {line.id!r}")
            if line.keeper != line.id:
                follows.append((row, line.keeper))
            values = (row, line.id, row, *line[2:])
            database.run(
                "INSERT INTO documents (row, id, keeper, distance, similarity, added, expires, print, meta, content) "
                "VALUES (?,?,?,?,?,?,?,?,?,?)",
                values,
            )
        missing = [keeper for _, keeper in follows if keeper not in rows]
        if missing:
            raise DataError(f"the keeper {missing[0]!r} is not among the documents")
        database.run_all(
            "UPDATE documents SET keeper = ? WHERE row = ?", [(rows[keeper], row) for row, keeper in follows]
        )
        database.count(rows=len(rows), documents=len(rows), followers=len(follows))
    return len(rows)
