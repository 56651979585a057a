"""Consistency checks and backups of an index in a folder."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from neardup.errors import DataError, FormatError
from neardup.index.answers import Health
from neardup.index.interface import Access, file_mode
from neardup.index.local.cache import Loaded
from neardup.index.local.columns import Columns, Flags, read_columns
from neardup.index.local.database import Database
from neardup.index.local.documents import as_stored
from neardup.index.local.files import (
    CACHE,
    DATABASE,
    check_new_folder,
    make_folder,
    new_folder,
    open_to_others,
    whole_database,
)
from neardup.index.local.session import Session
from neardup.index.local.state import logged

__all__ = ["backup", "verify"]

AT_ONCE, READ_AT_ONCE = 100_000, 1000


Check = Callable[[int, Columns, Flags], Iterator[str]]


def verify(session: Session, database: Database) -> Health:
    """Compare the database with itself, with the cache files and with the tables in memory.

    The tables are as old as the session's snapshot, and a writer may have replaced the cache files of that snapshot.
    So files are compared with the newest state, which differs from the snapshot if a reader lags behind. What is
    damaged becomes a problem, and the rest is still looked at.
    """
    problems: list[str] = []
    documents = 0
    with _noted(problems), contextlib.closing(Database(database.path, readonly=True)) as newest:
        newest.begin(snapshot=True)
        with _noted(problems):
            problems += newest.check()
        checks: list[Check] = []
        with _noted(problems):
            loaded = session.cache.load(newest, session.threads)
            problems += loaded.problems
            checks.append(_files(loaded, newest))
        counts = newest.counters()  # after the load, which may move the snapshot to a newer state
        if counts == (mine := database.counters()):
            checks.append(_tables(session))
        documents = _compare(session, newest, counts, checks, problems)
        _read_all(session, newest, counts["rows"], problems)
        if counts != mine:
            documents = _compare(session, database, mine, [_tables(session)], problems)
    return Health(documents, tuple(dict.fromkeys(problems)), tuple(open_to_others(session.folder)))


@contextmanager
def _noted(problems: list[str]) -> Iterator[None]:
    """What is damaged is a problem and no error."""
    try:
        yield
    except (FormatError, DataError, OSError) as error:
        problems.append(str(error))


def _compare(
    session: Session, database: Database, counts: dict[str, int], checks: Sequence[Check], problems: list[str]
) -> int:
    """Check one state of the database and add its problems. Returns its number of documents."""
    alive = followers = unread = 0
    for first in range(0, counts["rows"], AT_ONCE):
        last = min(first + AT_ONCE, counts["rows"])
        unread += 1
        with _noted(problems):
            columns, flags = read_columns(database, session.recipe, first, last, session.threads)
            for check in checks:
                problems += [f"rows {first} to {last}: {said}" for said in check(first, columns, flags)]
            here = ~flags.deleted
            alive, followers = alive + int(here.sum()), followers + int(flags.follows[here].sum())
            unread -= 1
    if not unread:
        if alive != counts["documents"]:
            problems.append(f"the counter says {counts['documents']} documents, and {alive} are stored")
        if followers != counts["followers"]:
            problems.append(f"the counter says {counts['followers']} followers, and {followers} are stored")
    with _noted(problems):
        lost = database.all(
            "SELECT count(*) FROM documents AS d LEFT JOIN documents AS k ON k.row = d.keeper "
            "WHERE d.keeper <> d.row AND (k.row IS NULL OR k.keeper <> k.row)"
        )[0][0]
        if lost:
            problems.append(f"{lost} documents follow a row that is not a keeper")
    return alive


def _read_all(session: Session, database: Database, rows: int, problems: list[str]) -> None:
    """Read every document with its text and meta."""
    for first in range(0, rows, READ_AT_ONCE):
        with _noted(problems):
            for part in database.wholes_between(first, min(first + READ_AT_ONCE, rows), READ_AT_ONCE):
                as_stored(database, session.recipe, part)


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


def backup(session: Session, target: Path, access: Access = "owner") -> None:
    """Copy the database with SQLite's online backup, and the cache files that belong to it."""
    check_new_folder(target, "a backup needs a new folder")
    with new_folder(target, access), whole_database(target / DATABASE, access) as half:
        cache = target / CACHE
        shutil.rmtree(cache, ignore_errors=True)  # of a backup that died
        try:
            session.database.backup(half)
            with contextlib.closing(Database(half)) as copy:
                names = session.cache.names(copy)
                copy.fold_log()
            make_folder(cache, access)
            for name in names:
                # A file that was removed meanwhile is rebuilt when the copy is opened.
                with contextlib.suppress(FileNotFoundError):
                    shutil.copyfile(session.cache.folder / name, cache / name)
                    (cache / name).chmod(file_mode(access))
        except BaseException:
            shutil.rmtree(cache, ignore_errors=True)
            raise
