"""Rows turned back into documents: hits, what is stored, and clusters."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from neardup.index.answers import Cluster, Hit, Stored
from neardup.index.contents import unpack_text
from neardup.index.local.store import Store
from neardup.index.match import Matches
from neardup.index.recipe import Recipe
from neardup.search.interface import Mode

__all__ = ["cluster_of", "hits_of", "stored_documents"]


def hits_of(found: Matches, store: Store, own: Sequence[int], mode: Mode, now: float) -> list[list[Hit]]:
    """For each query its hits, the best first. Its own row is left out, and so is what has expired."""
    hits: list[list[Hit]] = [[] for _ in own]
    alive = {
        row: (id, expires) for row, id, expires in store.of_rows("row, id, expires", np.unique(found.right))
    }
    order = np.lexsort((found.right, found.cost, found.left))
    columns = (found.left[order], found.right[order], found.distance[order], found.similarity[order])
    for query, row, bits, share in zip(*(column.tolist() for column in columns), strict=True):
        id, expires = alive.get(row, ("", 0))
        if row == own[query] or (expires is not None and expires <= now * 1000):
            continue
        if mode == "all" or not hits[query]:
            hits[query].append(Hit(id, row, _bits(bits), _share(share)))
    return hits


def stored_documents(store: Store, recipe: Recipe, rows: Iterable[int]) -> list[Stored]:
    """What is stored under rows, by row, for those that are there."""
    columns = "row, id, keeper, added, expires, meta, content, print"
    lines = sorted(store.of_rows(columns, rows))
    keepers = store.ids(np.array([line[2] for line in lines], np.int64))
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
            fingerprint=print,
        )
        for row, id, keeper, added, expires, meta, content, print in lines
    ]


def cluster_of(store: Store, row: int) -> Cluster | None:
    """The cluster that a row is in."""
    lines = store.all("SELECT keeper FROM documents WHERE row = ?", (row,))
    if not lines:
        return None
    keeper = lines[0][0]
    head = store.ids(np.array([keeper], np.int64))[keeper]
    lines = store.all(
        "SELECT row, id, distance, similarity FROM documents WHERE keeper = ? AND keeper <> row ORDER BY row",
        (keeper,),
    )
    members = [Hit(id, row, distance, similarity) for row, id, distance, similarity in lines]
    return Cluster(head, [Hit(head, keeper, None, None), *members])


def _meta(text: str | None) -> dict[str, Any]:
    meta = {} if text is None else json.loads(text)
    assert isinstance(meta, dict)
    return meta


def _bits(bits: int) -> int | None:
    return bits if bits >= 0 else None


def _share(share: float) -> float | None:
    return share if share == share else None
