"""What an open index holds in memory: tables, flags, and how far in the database they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.index.local.cache import Cache
from neardup.index.local.columns import Columns, Flags, read_columns
from neardup.index.local.database import Database
from neardup.index.recipe import Recipe
from neardup.index.tables import Tables

__all__ = ["Change", "State", "logged"]

Rows = NDArray[np.int64]


class Change(NamedTuple):
    """What one transaction does to the rows: fresh ones, those that go, those that follow from now on, and those that
    lead."""

    fresh: Columns | None
    gone: Rows
    follow: Rows
    lead: Rows


@dataclass
class State:
    """Tables up to a row and a change of the database."""

    tables: Tables
    rows: int
    sequence: int
    watermark: int
    _gone: NDArray[np.bool_]
    _follows: NDArray[np.bool_]
    problems: tuple[str, ...] = ()  # with the cache, when it was loaded
    pending: list[Columns] = field(default_factory=list)

    @classmethod
    def load(cls, database: Database, cache: Cache, recipe: Recipe, threads: int) -> State:
        """From the cache as far as it goes, then from the database."""
        loaded = cache.load(database, threads)
        columns, watermark = loaded.columns, len(loaded.columns)
        # The files may be older than the last removals: those are in the log.
        flags = loaded.flags.after(*logged(database, loaded.sequence, watermark))
        counts = database.counters()
        fresh, newer = read_columns(database, recipe, watermark, counts["rows"], threads)
        columns = Columns.joined([columns, fresh])
        gone = np.concatenate([flags.gone, newer.gone])
        follows = np.concatenate([flags.follows, newer.follows])
        tables = Tables(recipe, threads)
        tables.load(columns.ids, columns.keys, gone, columns.empty)
        tables.hide(np.flatnonzero(follows & ~gone), True)
        state = cls(tables, len(columns), counts["sequence"], watermark, gone, follows, loaded.problems)
        if loaded.problems:
            # What was damaged is to be written again, and so all rows count as not yet in the cache.
            state.watermark, state.pending = 0, [columns]
        elif len(fresh):
            state.pending.append(fresh)
        return state

    def refresh(self, database: Database, recipe: Recipe, threads: int) -> bool:
        """Take in what the database has had since; False if its log no longer reaches back to here."""
        if database.counters()["pruned"] > self.sequence:
            return False
        gone, follow, lead = logged(database, self.sequence, self.rows)
        self.apply(Change(None, gone, follow, lead))
        self.pending.clear()
        counts = database.counters()
        self.sequence, last = counts["sequence"], counts["rows"]
        for first in range(self.rows, last, 200_000):
            columns, flags = read_columns(database, recipe, first, min(first + 200_000, last), threads)
            self.apply(
                Change(
                    columns,
                    first + np.flatnonzero(flags.gone),
                    first + np.flatnonzero(flags.follows),
                    gone[:0],
                )
            )
            self.pending.clear()
        return True

    def apply(self, change: Change) -> None:
        """Do to the tables what has been committed."""
        if change.fresh is not None and len(change.fresh):
            fresh = change.fresh
            none = np.zeros(len(fresh), bool)
            self.tables.add(fresh.ids, fresh.keys, none, fresh.empty)
            self._grow(self.rows + len(fresh))
            self.rows += len(fresh)
            self.pending.append(fresh)
        gone, follow, lead = change.gone, change.follow, change.lead
        if len(gone):
            self._gone[gone] = True
            self.tables.remove(gone)
        if len(follow):
            self._follows[follow] = True
            self.tables.hide(follow, True)
        if len(lead):
            self._follows[lead] = False
            self.tables.hide(lead, False)

    @property
    def flags(self) -> Flags:
        return Flags(self._gone[: self.rows], self._follows[: self.rows])

    def take_pending(self, recipe: Recipe) -> Columns:
        """The rows past the watermark."""
        none = Columns(np.empty(0, np.uint64), np.empty((0, recipe.words), np.uint64), np.empty(0, bool))
        return Columns.joined([none, *self.pending])

    @property
    def pending_rows(self) -> int:
        return self.rows - self.watermark

    def _grow(self, rows: int) -> None:
        if rows > len(self._gone):
            room = max(rows, len(self._gone) * 3 // 2, 1024) - len(self._gone)
            self._gone = np.concatenate([self._gone, np.zeros(room, bool)])
            self._follows = np.concatenate([self._follows, np.zeros(room, bool)])


def logged(database: Database, sequence: int, rows: int) -> tuple[Rows, Rows, Rows]:
    """What the log says of the first so many rows since a change: those that are gone, follow and lead."""
    lines = database.all(
        "SELECT row, keeper FROM changes WHERE sequence > ? AND row < ? ORDER BY sequence", (sequence, rows)
    )
    latest = dict(lines)
    gone = [row for row, keeper in lines if keeper is None]
    follow = [row for row, keeper in latest.items() if keeper is not None and keeper != row]
    lead = [row for row, keeper in latest.items() if keeper == row]
    return tuple(np.array(sorted(set(rows)), np.int64) for rows in (gone, follow, lead))  # type: ignore[return-value]
