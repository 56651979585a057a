"""One change to an index: inserts documents, deletes others, and gives a new keeper to clusters that lost theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.index.clusters import Keepers, choose_keepers
from neardup.index.local.columns import Columns
from neardup.index.local.database import Database
from neardup.index.local.documents import every_head
from neardup.index.local.row_checks import damaged
from neardup.index.local.state import Change
from neardup.index.match import Items, Matcher
from neardup.index.tables import hash_ids

__all__ = ["Incoming", "Written", "write"]

Rows = NDArray[np.int64]
ORPHANS_AT_ONCE = 1024
NONE: Rows = np.empty(0, np.int64)


@dataclass(frozen=True)
class Incoming:
    """Documents to be stored, with different ids. Times are in milliseconds since 1970."""

    ids: Sequence[str]
    items: Items
    metas: Sequence[str | None]
    added: int
    expires: int | None
    hashes: NDArray[np.uint64]

    @classmethod
    def of(
        cls,
        ids: Sequence[str],
        items: Items,
        metas: Sequence[str | None],
        added: int,
        expires: int | None,
        seed: int,
    ) -> Incoming:
        return cls(ids, items, metas, added, expires, hash_ids(ids, seed))


@dataclass(frozen=True)
class Written:
    """The result: the rows and keepers of the documents, the ids of the keepers that others follow, the number of
    deleted rows, and the change for the tables."""

    rows: Rows
    keepers: Keepers
    names: dict[int, str]
    removed: int
    change: Change


def write(
    database: Database, matcher: Matcher, incoming: Incoming | None, removed: Rows, next_row: int
) -> Written:
    """Inside a transaction: delete the rows in `removed`, insert documents, choose keepers; the tables are not changed.

    Rows are deleted first, so that no document matches an older version of itself. Then the documents are inserted in
    order. Then the followers of deleted keepers get new keepers.
    """
    rows, keepers, fresh = NONE, Keepers(NONE, NONE, np.empty(0)), None
    leaders: tuple[Rows, Items] | None = None
    if incoming is not None:
        items = incoming.items
        rows = np.arange(next_row, next_row + len(items))
        found = matcher.stored(items, database, followers=False, without=removed)
        keepers = choose_keepers(rows, found, *matcher.together(items, found.left), matcher.same)
        fresh = Columns(incoming.hashes, items.keys, items.empty)
    follow, lead = [rows[keepers.row != rows]], [NONE]
    names: dict[int, str] = {}
    orphans = _orphans(database, removed)
    deleted = _delete(database, removed)
    if incoming is not None:
        _insert(database, incoming, rows, keepers)
        names = _followed(database, keepers.row[keepers.row != rows])
        if len(orphans):
            leading = np.flatnonzero((keepers.row == rows) & ~incoming.items.empty)
            leaders = rows[leading], incoming.items.take(leading)
    for start in range(0, len(orphans), ORPHANS_AT_ONCE):
        part = orphans[start : start + ORPHANS_AT_ONCE]
        chosen, leaders = _reassign(database, matcher, part, leaders, removed)
        leads = chosen.row == part
        follow.append(part[~leads])
        lead.append(part[leads])
    lost, led = np.concatenate(follow), np.concatenate(lead)
    lines: list[tuple[int, int | None]] = [(row, None) for row in deleted.tolist()]
    if len(orphans):
        lines += [(head.row, head.keeper) for head in database.heads(orphans)]
    _log(database, lines)
    return Written(rows, keepers, names, len(deleted), Change(fresh, deleted, lost, led))


def _insert(database: Database, incoming: Incoming, rows: Rows, keepers: Keepers) -> None:
    bits: list[int | None] = keepers.distance.tolist()
    shares: list[float | None] = keepers.similarity.tolist()
    for at in np.flatnonzero(keepers.distance < 0).tolist():
        bits[at] = None
    for at in np.flatnonzero(np.isnan(keepers.similarity)).tolist():
        shares[at] = None
    columns: dict[str, Sequence[Any]] = {
        "row": rows.tolist(),
        "id": incoming.ids,
        "keeper": keepers.row.tolist(),
        "print": incoming.items.blobs(),
        "distance": bits,
        "similarity": shares,
        "meta": incoming.metas,
        "content": incoming.items.stored(),
    }
    database.insert(columns, {"added": incoming.added, "expires": incoming.expires})
    database.count(rows=len(rows), documents=len(rows), followers=int((keepers.row != rows).sum()))


def _followed(database: Database, keepers: Rows) -> dict[int, str]:
    """The ids of these keepers. Tables may name a row that the database has lost: nothing may follow it."""
    heads = every_head(database, np.unique(keepers)) if len(keepers) else []
    return {head.row: head.id for head in heads}


def _orphans(database: Database, removed: Rows) -> Rows:
    """The followers of deleted rows that are not deleted themselves, by row."""
    if not len(removed):
        return NONE
    heads = database.followers(removed)
    return np.setdiff1d(np.array([head.row for head in heads], np.int64), removed)


def _delete(database: Database, removed: Rows) -> Rows:
    """Delete rows. Returns those that existed."""
    if not len(removed):
        return NONE
    heads = database.heads(removed)
    there = np.array([head.row for head in heads], np.int64)
    database.run_all("DELETE FROM documents WHERE row = ?", [(row,) for row in there.tolist()])
    database.count(documents=-len(there), followers=-sum(head.row != head.keeper for head in heads))
    return there


def _reassign(
    database: Database, matcher: Matcher, rows: Rows, leaders: tuple[Rows, Items] | None, removed: Rows
) -> tuple[Keepers, tuple[Rows, Items] | None]:
    """New keepers for rows that lost theirs. `leaders` became keepers in this change, so they are not in the tables
    yet."""
    lines = database.wholes(rows)
    if len(lines) != len(rows):
        raise damaged(database.path, "the list of followers names rows that do not exist")
    items = matcher.of_contents(rows, {line.row: (line.fingerprint, line.content) for line in lines})
    fixed, everything, numbers = 0, items, rows
    if leaders is not None:
        fixed, everything = len(leaders[0]), Items.joined(leaders[1], items)
        numbers = np.concatenate([leaders[0], rows])
    found = matcher.stored(items, database, followers=False, without=removed)
    shifted = type(found)(found.left + fixed, found.right, found.distance, found.similarity)
    inner = matcher.together(everything, shifted.left, fixed)
    chosen = choose_keepers(numbers, shifted, *inner, matcher.same, fixed).part(fixed)
    distance = [value if value >= 0 else None for value in chosen.distance.tolist()]
    similarity = [value if value == value else None for value in chosen.similarity.tolist()]
    new = zip(lines, chosen.row.tolist(), distance, similarity, strict=True)
    database.change_heads(
        [line.head._replace(keeper=row, distance=bits, similarity=share) for line, row, bits, share in new]
    )
    leads = np.flatnonzero(chosen.row == rows)
    database.count(followers=-len(leads))
    risen = items.take(leads)
    together = risen if leaders is None else Items.joined(leaders[1], risen)
    return chosen, (np.concatenate([NONE if leaders is None else leaders[0], rows[leads]]), together)


def _log(database: Database, lines: list[tuple[int, int | None]]) -> None:
    if not lines:
        return
    sequence = database.counters()["sequence"]
    database.log_changes([(sequence + at, row, keeper) for at, (row, keeper) in enumerate(lines, 1)])
    database.count(sequence=len(lines))
