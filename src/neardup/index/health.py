"""Is everything as it should be? And copies for the day when it is not."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import numpy as np

from neardup.errors import DataError, FormatError
from neardup.index.answers import Health
from neardup.index.cache import read_columns
from neardup.index.session import CACHE, DATABASE, Session
from neardup.index.store import Store

__all__ = ["backup", "verify"]

AT_ONCE = 100_000


def verify(session: Session, store: Store) -> Health:
    """Compare the database with itself, with the cache files and with the tables in memory."""
    try:
        problems = store.check()
    except FormatError as error:
        return Health(0, (str(error),))
    counts, state = store.counters(), session.state
    cached, _, _ = session.cache.load(store, session.threads)
    problems += session.cache.problems
    alive = followers = 0
    for first in range(0, state.rows, AT_ONCE):
        last = min(first + AT_ONCE, state.rows)
        columns, flags = read_columns(store, session.recipe, first, last, session.threads)
        known = state.flags
        if not np.array_equal(flags.gone, known.gone[first:last]):
            problems.append(f"rows {first} to {last}: the tables disagree on which rows are gone")
        here = ~flags.gone
        if first < len(cached):
            both = here[: len(cached) - first]
            for name in ("ids", "keys", "empty"):
                kept = getattr(cached, name)[first:last]
                if not np.array_equal(getattr(columns, name)[: len(kept)][both], kept[both]):
                    problems.append(f"rows {first} to {last}: database and cache disagree on {name}")
        if not np.array_equal(flags.follows[here], known.follows[first:last][here]):
            problems.append(f"rows {first} to {last}: the tables disagree on which rows follow another")
        rows = first + np.flatnonzero(here)
        _, found = state.tables.find(columns.ids[here])
        if len(np.setdiff1d(rows, found[np.isin(found, rows)])):
            problems.append(f"rows {first} to {last}: ids are missing from the tables")
        asked = here & ~columns.empty
        near = state.tables.search(columns.keys[asked], ~asked[asked], followers=True, most=1)
        zero = np.bincount(near.query[near.distance == 0], minlength=int(asked.sum()))
        if (zero == 0).any():
            problems.append(f"rows {first} to {last}: fingerprints are missing from the tables")
        alive, followers = alive + int(here.sum()), followers + int(flags.follows[here].sum())
    if (alive, followers) != (counts["documents"], counts["followers"]):
        problems.append(f"{counts['documents']} documents are counted, and {alive} are there")
    lost = store.all(
        "SELECT count(*) FROM documents AS d LEFT JOIN documents AS k ON k.row = d.keeper "
        "WHERE d.keeper <> d.row AND (k.row IS NULL OR k.keeper <> k.row)"
    )[0][0]
    if lost:
        problems.append(f"{lost} documents follow one that is no keeper")
    return Health(alive, tuple(problems))


def backup(session: Session, target: Path) -> None:
    """The database by SQLite's own online backup, and the cache files that fit it."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise DataError(f"{target}: a backup goes to a new folder")
    target.mkdir(parents=True, exist_ok=True)
    half = target / f"{DATABASE}.new"
    try:
        session.store.backup(half)
        copy = Store(half)
        try:
            names = session.cache.names(copy)
        finally:
            copy.close()
        (target / CACHE).mkdir()
        for name in names:
            # A file that went meanwhile is made again from the copy when that is opened.
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(session.cache.folder / name, target / CACHE / name)
        half.rename(target / DATABASE)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
