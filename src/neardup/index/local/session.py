"""An open index: its files, its tables in memory, and their locks."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neardup.errors import DataError
from neardup.index.inputs import check_ids
from neardup.index.interface import Access, Durability, read_only
from neardup.index.local.cache import Cache
from neardup.index.local.database import Database
from neardup.index.local.files import CACHE, DATABASE, create_database, locked, make_folder, remove, sweep
from neardup.index.local.row_checks import damaged
from neardup.index.local.state import State
from neardup.index.local.transaction import Incoming, Written, write
from neardup.index.match import Matcher
from neardup.index.recipe import Recipe
from neardup.index.tables import hash_ids
from neardup.storage.lock import Gate

__all__ = ["Session"]

ROWS_BEFORE_SAVE = 1 << 18
FEW_ROWS = 4096  # so few new rows are not written to the cache when an index is closed
Rows = NDArray[np.int64]


class Session:
    """The files and tables of one open index.

    Only one thread writes at a time. A change is committed and then applied to the tables. No reader is then between
    a search and the reading of its results, so each reader sees one state.
    """

    def __init__(
        self,
        folder: Path,
        *,
        recipe: Recipe | None,
        writes: bool,
        durability: Durability,
        threads: int,
        access: Access = "owner",
    ) -> None:
        self.folder, self.writes, self.threads = folder, writes, threads
        self.writer = threading.RLock()
        self._gate = Gate()
        self._broken: str | None = None
        self._open = contextlib.ExitStack()
        file = folder / DATABASE
        with contextlib.ExitStack() as stack:
            made = contextlib.ExitStack()
            if writes:
                if recipe is not None:
                    make_folder(folder, access)
                stack.enter_context(locked(folder))
                sweep(folder)
                stack.enter_context(made)
                if recipe is not None and not file.exists():
                    made.callback(_take_back, file)
                    create_database(file, recipe, access)
            self.database = Database(file, readonly=not writes, durability=durability)
            stack.callback(self.database.close)
            # Readers in this process use their own connection, which never sees half a change.
            self.reads = Database(file, readonly=True) if writes else self.database
            stack.callback(self.reads.close)
            if not writes:
                self.database.begin(snapshot=True)
            settings = self.database.settings()
            try:
                self.recipe = Recipe.from_settings(settings)
                self.cache = Cache(folder / CACHE, self.recipe, settings["identity"])
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise damaged(file, f"its settings cannot be read: {error}") from error
            self._load()
            made.pop_all()  # it can be opened, so it remains
            self._open = stack.pop_all()

    def _load(self) -> None:
        self.state = State.load(self.database, self.cache, self.recipe, self.threads)
        self.matcher = Matcher(self.recipe, self.state.tables, self.threads)
        self.rebuilt = self.state.problems
        if not self.writes:
            self.state.pending.clear()
        elif self.rebuilt:
            self.cache.forget(self.database)
            self.save()

    @contextmanager
    def reading(self) -> Iterator[Database]:
        """Lock for a search and the reading of its results: nothing changes meanwhile."""
        with self._gate.reading():
            self._check_open()
            yield self.reads

    def rows_of(
        self, ids: Sequence[str], database: Database, hashes: NDArray[np.uint64] | None = None
    ) -> dict[str, int]:
        """The rows of those ids that exist. If two ids have the same hash, the stored id decides."""
        if not len(ids):
            return {}
        if hashes is None:
            check_ids(ids)
            hashes = hash_ids(ids, self.recipe.seed.value)
        place, rows = self.state.tables.find(hashes)
        if not len(rows):
            return {}
        names = database.ids(rows)
        if len(names) != len(np.unique(rows)):
            raise damaged(database.path, "rows are missing")
        pairs = zip(place.tolist(), rows.tolist(), strict=True)
        return {ids[at]: row for at, row in pairs if names.get(row) == ids[at]}

    def change(self, incoming: Incoming | None, removed: Rows) -> Written:
        """Insert documents and delete rows, all or nothing; the caller holds `writer`. The change is committed on
        return."""
        self._check_open()
        self.database.begin()
        try:
            written = write(self.database, self.matcher, incoming, removed, self.state.rows)
        except BaseException:
            self.database.rollback()
            raise
        with self._gate.changing():
            self.database.commit()
            try:
                self.state.apply(written.change)
                self.state.sequence = (
                    self.database.counters()["sequence"] if written.removed else self.state.sequence
                )
            except BaseException as error:
                self._broken = (
                    f"the committed change could not be loaded ({error}); it is safe: open the index again"
                )
                raise
        self.state.tables.tidy()
        if self.state.pending_rows >= ROWS_BEFORE_SAVE:
            with contextlib.suppress(OSError):  # for example a full disk: the cache can be written later
                self.save()
        return written

    def save(self) -> None:
        """Write the cache."""
        state = self.state
        state.watermark = self.cache.save(
            self.database, state.take_pending(self.recipe), state.flags, state.sequence
        )
        state.pending.clear()

    def refresh(self) -> bool:
        """Move a reader to the newest state. Returns whether there was one."""
        if self.writes:
            return False
        with self.writer, self._gate.changing():
            self._check_open()
            self.database.rollback()
            self.database.begin(snapshot=True)
            before = (self.state.rows, self.state.sequence)
            if not self.state.refresh(self.database, self.recipe, self.threads):
                self._load()
            self.state.tables.tidy()
            return before != (self.state.rows, self.state.sequence)

    def compact(self) -> None:
        """Remove deleted rows from the tables, write the whole cache, and empty the log of the database."""
        self.state.tables.compact()
        self.save()
        self.database.run("PRAGMA wal_checkpoint(PASSIVE)")

    def close(self) -> None:
        with self.writer:
            if self.writes and self._broken is None and self.state.pending_rows >= FEW_ROWS:
                with contextlib.suppress(OSError):  # the cache is rebuilt when the index is opened
                    self.save()
            with self._gate.changing():
                self._broken = self._broken or "this index is closed"
                self._open.close()
            self.state.tables.finish_merge()

    def check_writable(self) -> None:
        if not self.writes:
            raise read_only(self.folder)

    def _check_open(self) -> None:
        if self._broken is not None:
            raise DataError(f"{self.folder}: {self._broken}")


def _take_back(file: Path) -> None:
    """Remove a database that was just made and cannot be opened: an empty index must not look like a whole one."""
    with contextlib.suppress(OSError):
        remove(file)
