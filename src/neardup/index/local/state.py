"""The state of an open index in memory: tables, flags, and the last change of the database that they include."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.index.local.cache import Cache
from neardup.index.local.columns import Columns, Flags, read_columns
from neardup.index.local.database import Database
from neardup.index.local.row_checks import damaged
from neardup.index.recipe import Recipe
from neardup.index.tables import Tables

__all__ = ["Change", "State", "logged"]

Rows = NDArray[np.int64]


class Change(NamedTuple):
    """The effect of one transaction on the rows: new rows, deleted rows, new followers, and new keepers."""

    fresh: Columns | None
    deleted: Rows
    follow: Rows
    lead: Rows


@dataclass
class State:
    """Tables that include all rows and changes of the database up to some point."""

    tables: Tables
    rows: int
    sequence: int
    watermark: int
    _deleted: NDArray[np.bool_]
    _follows: NDArray[np.bool_]
    problems: tuple[str, ...] = ()  # of the cache, when it was loaded
    pending: list[Columns] = field(default_factory=list)

    @classmethod
    def load(cls, database: Database, cache: Cache, recipe: Recipe, threads: int) -> State:
        """Load what the cache holds, then the rest from the database."""
        loaded = cache.load(database, threads)
        columns, watermark = loaded.columns, len(loaded.columns)
        # The files may be older than the last removals, which are in the log.
        flags = loaded.flags.after(*logged(database, loaded.sequence, watermark))
        counts = database.counters()
        fresh, newer = read_columns(database, recipe, watermark, counts["rows"], threads)
        columns = Columns.joined([columns, fresh])
        deleted = np.concatenate([flags.deleted, newer.deleted])
        follows = np.concatenate([flags.follows, newer.follows])
        if (missing := counts["documents"] - int((~deleted).sum())) != 0:
            raise damaged(
                database.path, f"{abs(missing)} rows are {'missing' if missing > 0 else 'too many'}"
            )
        tables = Tables(recipe, threads)
        tables.load(columns.ids, columns.keys, deleted, columns.empty)
        tables.hide(np.flatnonzero(follows & ~deleted), True)
        state = cls(tables, len(columns), counts["sequence"], watermark, deleted, follows, loaded.problems)
        if loaded.problems:
            # Damaged files must be written again, so all rows count as not yet in the cache.
            state.watermark, state.pending = 0, [columns]
        elif len(fresh):
            state.pending.append(fresh)
        return state

    def refresh(self, database: Database, recipe: Recipe, threads: int) -> bool:
        """Load newer changes from the database; False if its log no longer includes all of them."""
        if database.counters()["pruned"] > self.sequence:
            return False
        deleted, follow, lead = logged(database, self.sequence, self.rows)
        self.apply(Change(None, deleted, follow, lead))
        self.pending.clear()
        counts = database.counters()
        self.sequence, last = counts["sequence"], counts["rows"]
        for first in range(self.rows, last, 200_000):
            columns, flags = read_columns(database, recipe, first, min(first + 200_000, last), threads)
            self.apply(
                Change(
                    columns,
                    first + np.flatnonzero(flags.deleted),
                    first + np.flatnonzero(flags.follows),
                    deleted[:0],
                )
            )
            self.pending.clear()
        return True

    def apply(self, change: Change) -> None:
        """Apply a committed change to the tables."""
        if change.fresh is not None and len(change.fresh):
            fresh = change.fresh
            none = np.zeros(len(fresh), bool)
            self.tables.add(fresh.ids, fresh.keys, none, fresh.empty)
            self._grow(self.rows + len(fresh))
            self.rows += len(fresh)
            self.pending.append(fresh)
        deleted, follow, lead = change.deleted, change.follow, change.lead
        if len(deleted):
            self._deleted[deleted] = True
            self.tables.remove(deleted)
        if len(follow):
            self._follows[follow] = True
            self.tables.hide(follow, True)
        if len(lead):
            self._follows[lead] = False
            self.tables.hide(lead, False)

    @property
    def flags(self) -> Flags:
        return Flags(self._deleted[: self.rows], self._follows[: self.rows])

    def take_pending(self, recipe: Recipe) -> Columns:
        """The rows above the watermark."""
        none = Columns(np.empty(0, np.uint64), np.empty((0, recipe.words), np.uint64), np.empty(0, bool))
        return Columns.joined([none, *self.pending])

    @property
    def pending_rows(self) -> int:
        return self.rows - self.watermark

    def _grow(self, rows: int) -> None:
        if rows > len(self._deleted):
            room = max(rows, len(self._deleted) * 3 // 2, 1024) - len(self._deleted)
            self._deleted = np.concatenate([self._deleted, np.zeros(room, bool)])
            self._follows = np.concatenate([self._follows, np.zeros(room, bool)])


def logged(database: Database, sequence: int, rows: int) -> tuple[Rows, Rows, Rows]:
    """The changes of the first `rows` rows in the log since `sequence`: deleted rows, new followers, new keepers."""
    lines = database.changes(sequence, rows)
    latest = dict(lines)
    deleted = [row for row, keeper in lines if keeper is None]
    follow = [row for row, keeper in latest.items() if keeper is not None and keeper != row]
    lead = [row for row, keeper in latest.items() if keeper == row]
    return tuple(np.array(sorted(set(rows)), np.int64) for rows in (deleted, follow, lead))  # type: ignore[return-value]
