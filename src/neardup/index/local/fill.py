"""Fills a new folder with documents of another index; they keep their times and their keepers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from neardup.errors import DataError
from neardup.index.export import ExportedDocument
from neardup.index.interface import Access
from neardup.index.local.database import Database
from neardup.index.local.files import (
    DATABASE,
    check_new_folder,
    create_database,
    new_folder,
    whole_database,
)
from neardup.index.recipe import Recipe

__all__ = ["fill_folder"]

AT_ONCE = 1000


def fill_folder(
    folder: Path, recipe: Recipe, lines: Iterable[ExportedDocument], access: Access = "owner"
) -> int:
    """Create an index with these documents; it gets its name when it is complete."""
    check_new_folder(folder, "a new index needs a new folder")
    with new_folder(folder, access), whole_database(folder / DATABASE, access) as half:
        create_database(half, recipe, access)
        with contextlib.closing(Database(half, durability="normal")) as database:
            count = _insert(database, lines)
            database.fold_log()
    return count


def _insert(database: Database, lines: Iterable[ExportedDocument]) -> int:
    rows: dict[str, int] = {}
    follows: dict[int, str] = {}
    waiting = iter(lines)
    with database.transaction():
        while part := list(islice(waiting, AT_ONCE)):
            first = len(rows)
            for row, line in enumerate(part, first):
                if rows.setdefault(line.id, row) != row:
                    raise DataError(f"two documents have the id {line.id!r}")
                if line.keeper != line.id:
                    follows[row] = line.keeper
            columns = dict(zip(ExportedDocument._fields, map(list, zip(*part, strict=True)), strict=True))
            columns["row"] = columns["keeper"] = list(range(first, first + len(part)))
            columns["print"] = columns.pop("fingerprint")
            database.insert(columns, {})
        missing = [keeper for keeper in follows.values() if keeper not in rows]
        if missing:
            raise DataError(f"the keeper {missing[0]!r} is not among the documents")
        changed = iter(follows)
        while some := list(islice(changed, AT_ONCE)):
            heads = database.heads(some)
            database.change_heads([head._replace(keeper=rows[follows[head.row]]) for head in heads])
        database.count(rows=len(rows), documents=len(rows), followers=len(follows))
    return len(rows)
