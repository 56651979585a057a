"""What an open index holds in memory: tables, flags, and how far in the database they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.index.cache import Cache, Columns, Flags, read_columns
from neardup.index.recipe import Recipe
from neardup.index.store import Store
from neardup.index.tables import Tables

__all__ = ["Change", "State"]

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
    pending: list[Columns] = field(default_factory=list)

    @classmethod
    def load(cls, store: Store, cache: Cache, recipe: Recipe, threads: int) -> State:
        """From the cache as far as it goes, then from the database."""
        columns, flags, sequence = cache.load(store, threads)
        watermark = len(columns)
        state = cls(
            Tables(recipe, threads), watermark, sequence, watermark, flags.gone.copy(), flags.follows.copy()
        )
        # The files may be older than the last removals: those are in the log.
        gone, follow, lead = state._logged(store)
        state._gone[gone] = True
        state._follows[follow], state._follows[lead] = True, False
        fresh, newer = read_columns(store, recipe, watermark, store.counters()["rows"], threads)
        state._gone = np.concatenate([state._gone, newer.gone])
        state._follows = np.concatenate([state._follows, newer.follows])
        columns = Columns.joined([columns, fresh])
        state.tables.load(columns.ids, columns.keys, state._gone, columns.empty)
        state.tables.hide(np.flatnonzero(state._follows & ~state._gone), True)
        state.rows = len(columns)
        if cache.problems:
            # What was damaged is to be written again, and so all rows count as not yet in the cache.
            state.watermark, state.pending = 0, [columns]
        elif len(fresh):
            state.pending.append(fresh)
        return state

    def refresh(self, store: Store, recipe: Recipe, threads: int) -> bool:
        """Take in what the database has had since; False if its log no longer reaches back to here."""
        if store.counters()["pruned"] > self.sequence:
            return False
        gone, follow, lead = self._logged(store)
        self.apply(Change(None, gone, follow, lead))
        self.pending.clear()
        last = store.counters()["rows"]
        for first in range(self.rows, last, 200_000):
            columns, flags = read_columns(store, recipe, first, min(first + 200_000, last), threads)
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
        words = recipe.tables if recipe.kind == "sketches" else recipe.width // 8
        none = Columns(np.empty(0, np.uint64), np.empty((0, words), np.uint64), np.empty(0, bool))
        return Columns.joined([none, *self.pending])

    @property
    def pending_rows(self) -> int:
        return self.rows - self.watermark

    def _logged(self, store: Store) -> tuple[Rows, Rows, Rows]:
        """What the log says of the rows known here since the change they are up to."""
        lines = store.all(
            "SELECT row, keeper FROM changes WHERE sequence > ? AND row < ? ORDER BY sequence",
            (self.sequence, self.rows),
        )
        latest = dict(lines)
        gone = [row for row, keeper in lines if keeper is None]
        follow = [row for row, keeper in latest.items() if keeper is not None and keeper != row]
        lead = [row for row, keeper in latest.items() if keeper == row]
        self.sequence = store.counters()["sequence"]
        return tuple(np.array(sorted(set(rows)), np.int64) for rows in (gone, follow, lead))  # type: ignore[return-value]

    def _grow(self, rows: int) -> None:
        if rows > len(self._gone):
            room = max(rows, len(self._gone) * 3 // 2, 1024) - len(self._gone)
            self._gone = np.concatenate([self._gone, np.zeros(room, bool)])
            self._follows = np.concatenate([self._follows, np.zeros(room, bool)])
