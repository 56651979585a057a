"""Converts rows to documents: ids, stored data, and clusters."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import DataError
from neardup.index.answers import Cluster, Hit, Stored
from neardup.index.contents import LARGEST_TEXT, TextTooLarge, unpack_text
from neardup.index.local.database import Database
from neardup.index.local.row_checks import Head, Whole, damaged
from neardup.index.recipe import Recipe

__all__ = ["Everything", "as_stored", "cluster_of", "every_head", "names_alive", "stored_documents"]


def names_alive(database: Database, rows: NDArray[np.int64], now: float) -> dict[int, str]:
    """The ids of rows that have not expired. FormatError if the database does not have one of them."""
    heads = every_head(database, np.unique(rows))
    return {head.row: head.id for head in heads if head.expires is None or head.expires > now * 1000}


def every_head(database: Database, rows: NDArray[np.int64]) -> list[Head]:
    """The small columns of rows that the tables have; the database must have them, too."""
    heads = database.heads(rows)
    if len(heads) != len(rows):
        raise damaged(database.path, f"{len(rows) - len(heads)} rows are missing")
    return heads


@dataclass(frozen=True)
class Everything:
    """The contents of rows that the tables have; the database must have them, too."""

    database: Database

    def sizes(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.database.sizes(rows)

    def contents(self, rows: NDArray[np.int64]) -> dict[int, tuple[bytes | None, bytes | None]]:
        found = self.database.contents(rows)
        if len(found) != len(rows):
            raise damaged(self.database.path, f"{len(rows) - len(found)} rows are missing")
        return found


def stored_documents(
    database: Database, recipe: Recipe, rows: Iterable[int], most: int | None = None
) -> list[Stored]:
    """What is stored under those rows that exist, in the order of rows; TextTooLarge if that is more than `most` bytes,
    before it is loaded."""
    wanted = list(rows)
    if most is None:
        return as_stored(database, recipe, database.wholes(wanted))
    if database.stored_bytes(wanted) > most:
        raise TextTooLarge(f"what is stored has more than {most:,} bytes")
    found = []
    for row in sorted(wanted):
        one = as_stored(database, recipe, database.wholes([row]), most)
        most -= sum(len(entry.text or "") for entry in one)
        if most < 0:
            raise TextTooLarge("the stored texts are too large together")
        found += one
    return found


def as_stored(
    database: Database, recipe: Recipe, lines: Sequence[Whole], most: int = LARGEST_TEXT
) -> list[Stored]:
    """Rows as documents, with the ids of their keepers; no text has more than `most` bytes."""
    keepers = database.ids(np.array([line.keeper for line in lines], np.int64))
    if not all(line.keeper in keepers for line in lines):
        raise damaged(database.path, "a document follows a row that does not exist")
    texts = recipe.contents == "text"
    try:
        return [
            Stored(
                id=line.id,
                row=line.row,
                keeper=keepers[line.keeper],
                added=line.added / 1000,
                expires=None if line.expires is None else line.expires / 1000,
                meta=_meta(line.meta),
                text=unpack_text(line.content, most) if texts and line.content is not None else None,
                fingerprint=line.fingerprint,
            )
            for line in lines
        ]
    except TextTooLarge:
        raise
    except (DataError, ValueError, RecursionError) as error:
        raise damaged(database.path, error) from None


def cluster_of(database: Database, row: int, most: int | None = None) -> Cluster | None:
    """The cluster that a row is in; TextTooLarge if it has more than `most` members, before they are loaded."""
    own = database.heads([row])
    if not own:
        return None
    keeper = own[0].keeper
    head = database.ids(np.array([keeper], np.int64)).get(keeper)
    if head is None:
        raise damaged(database.path, f"row {row} follows a row that does not exist")
    if most is not None and database.count_followers(keeper) >= most:
        raise TextTooLarge(f"the cluster has more than {most:,} members")
    heads = database.followers([keeper])
    if any(one.keeper != keeper for one in heads) or (row != keeper and all(one.row != row for one in heads)):
        raise damaged(database.path, f"the list of followers of row {keeper} is wrong")
    members = [Hit(one.id, one.row, one.distance, one.similarity) for one in heads]
    return Cluster(head, [Hit(head, keeper, None, None), *members])


def _meta(text: str | None) -> dict[str, Any]:
    meta = {} if text is None else json.loads(text)
    if not isinstance(meta, dict):
        raise DataError("a stored meta is not a JSON object")
    return meta
