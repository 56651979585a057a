"""Converts rows to documents: ids, stored data, and clusters."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.index.answers import Cluster, Hit, Stored
from neardup.index.contents import unpack_text
from neardup.index.local.database import Database
from neardup.index.recipe import Recipe

__all__ = ["cluster_of", "names_alive", "stored_documents"]


def names_alive(database: Database, rows: NDArray[np.int64], now: float) -> dict[int, str]:
    """The ids of rows that exist and have not expired."""
    lines = database.of_rows("row, id, expires", np.unique(rows))
    return {row: id for row, id, expires in lines if expires is None or expires > now * 1000}


def stored_documents(database: Database, recipe: Recipe, rows: Iterable[int]) -> list[Stored]:
    """What is stored under those rows that exist, in the order of rows."""
    columns = "row, id, keeper, added, expires, meta, content, print"
    lines = sorted(database.of_rows(columns, rows))
    keepers = database.ids(np.array([line[2] for line in lines], np.int64))
    texts = recipe.contents == "text"
    return [
        Stored(
            id=id,
            row=row,
            keeper=keepers.get(keeper, id),
            added=added / 1000,
            expires=None if expires is None else expires / 1000,
            meta=_meta(meta),
            text=unpack_text(content) if texts and content is not None else None,
            fingerprint=fingerprint,
        )
        for row, id, keeper, added, expires, meta, content, fingerprint in lines
    ]


def cluster_of(database: Database, row: int) -> Cluster | None:
    """The cluster that a row is in."""
    lines = database.all("SELECT keeper FROM documents WHERE row = ?", (row,))
    if not lines:
        return None
    keeper = lines[0][0]
    head = database.ids(np.array([keeper], np.int64))[keeper]
    lines = database.all(
        "SELECT row, id, distance, similarity FROM documents WHERE keeper = ? AND keeper <> row ORDER BY row",
        (keeper,),
    )
    members = [Hit(id, row, distance, similarity) for row, id, distance, similarity in lines]
    return Cluster(head, [Hit(head, keeper, None, None), *members])


def _meta(text: str | None) -> dict[str, Any]:
    meta = {} if text is None else json.loads(text)
    assert isinstance(meta, dict)
    return meta
