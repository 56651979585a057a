"""Consistency checks and backups of an index in a folder."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from neardup.errors import DataError, FormatError
from neardup.index.answers import Health
from neardup.index.local.cache import Loaded
from neardup.index.local.columns import Columns, Flags, read_columns
from neardup.index.local.database import Database
from neardup.index.local.session import CACHE, DATABASE, Session, new_folder, whole_database
from neardup.index.local.state import logged

__all__ = ["backup", "verify"]

AT_ONCE = 100_000


Check = Callable[[int, Columns, Flags], Iterator[str]]


def verify(session: Session, database: Database) -> Health:
    """Compare the database with itself, with the cache files and with the tables in memory.

    The tables are as old as the session's snapshot, and a writer may have replaced the cache files of that snapshot.
    So files are compared with the newest state, which differs from the snapshot if a reader lags behind.
    """
    problems: list[str] = []
    documents = 0
    try:
        with contextlib.closing(Database(database.path, readonly=True)) as newest:
            newest.begin(snapshot=True)
            problems += newest.check()
            loaded = session.cache.load(newest, session.threads)
            problems += loaded.problems
            counts = newest.counters()
            tables, files = _tables(session), _files(loaded, newest)
            behind = counts != database.counters()
            alive, found = _compare(session, newest, counts, [files] if behind else [files, tables])
            documents, problems = alive, problems + found
            if behind:
                documents, found = _compare(session, database, database.counters(), [tables])
                problems += found
    except FormatError as error:
        problems.append(str(error))
    return Health(documents, tuple(dict.fromkeys(problems)))


def _compare(
    session: Session, database: Database, counts: dict[str, int], checks: Sequence[Check]
) -> tuple[int, list[str]]:
    """Check one state of the database. Returns its number of documents and its problems."""
    problems: list[str] = []
    alive = followers = 0
    for first in range(0, counts["rows"], AT_ONCE):
        last = min(first + AT_ONCE, counts["rows"])
        columns, flags = read_columns(database, session.recipe, first, last, session.threads)
        for check in checks:
            problems += [f"rows {first} to {last}: {said}" for said in check(first, columns, flags)]
        here = ~flags.deleted
        alive, followers = alive + int(here.sum()), followers + int(flags.follows[here].sum())
    if (alive, followers) != (counts["documents"], counts["followers"]):
        problems.append(f"the counter says {counts['documents']} documents, and {alive} are stored")
    lost = database.all(
        "SELECT count(*) FROM documents AS d LEFT JOIN documents AS k ON k.row = d.keeper "
        "WHERE d.keeper <> d.row AND (k.row IS NULL OR k.keeper <> k.row)"
    )[0][0]
    if lost:
        problems.append(f"{lost} documents follow a row that is not a keeper")
    return alive, problems


def _files(loaded: Loaded, database: Database) -> Check:
    """Check that the cache and the database hold the same rows."""
    cached, known = (
        loaded.columns,
        loaded.flags.after(*logged(database, loaded.sequence, len(loaded.columns))),
    )

    def check(first: int, columns: Columns, flags: Flags) -> Iterator[str]:
        part = slice(first, min(first + len(columns), len(cached)))
        count = part.stop - part.start
        if count <= 0:
            return
        here = ~flags.deleted[:count]
        for name in ("ids", "keys", "empty"):
            if not np.array_equal(getattr(columns, name)[:count][here], getattr(cached, name)[part][here]):
                yield f"database and cache disagree on {name}"
        if not np.array_equal(flags.deleted[:count], known.deleted[part]):
            yield "database and cache disagree on which rows are deleted"
        if not np.array_equal(flags.follows[:count][here], known.follows[part][here]):
            yield "database and cache disagree on which rows follow another"

    return check


def _tables(session: Session) -> Check:
    """Check that the tables and the database hold the same rows, and that the tables find them."""
    tables, known = session.state.tables, session.state.flags

    def check(first: int, columns: Columns, flags: Flags) -> Iterator[str]:
        part = slice(first, first + len(columns))
        here = ~flags.deleted
        if not np.array_equal(flags.deleted, known.deleted[part]):
            yield "the tables disagree on which rows are deleted"
        elif not np.array_equal(flags.follows[here], known.follows[part][here]):
            yield "the tables disagree on which rows follow another"
        rows = first + np.flatnonzero(here)
        _, found = tables.find(columns.ids[here])
        if len(np.setdiff1d(rows, found)):
            yield "ids are missing from the tables"
        asked = here & ~columns.empty
        if session.recipe.sparse:
            asked &= columns.keys.any(axis=1)
        near = tables.search(columns.keys[asked], ~asked[asked], followers=True, most=1)
        zero = np.bincount(near.query[near.distance == 0], minlength=int(asked.sum()))
        if (zero == 0).any():
            yield "fingerprints are missing from the tables"

    return check


def backup(session: Session, target: Path) -> None:
    """Copy the database with SQLite's online backup, and the cache files that belong to it."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise DataError(f"{target}: a backup needs a new folder")
    with new_folder(target), whole_database(target / DATABASE) as half:
        try:
            session.database.backup(half)
            with contextlib.closing(Database(half)) as copy:
                names = session.cache.names(copy)
            (target / CACHE).mkdir()
            for name in names:
                # A file that was removed meanwhile is rebuilt when the copy is opened.
                with contextlib.suppress(FileNotFoundError):
                    shutil.copyfile(session.cache.folder / name, target / CACHE / name)
        except BaseException:
            shutil.rmtree(target / CACHE, ignore_errors=True)
            raise
