"""The system of record: one SQLite database in WAL mode (docs/reference/format.md, "Index")."""

from __future__ import annotations

import errno
import functools
import itertools
import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ConfigError, DataError, FormatError
from neardup.index.interface import Durability

__all__ = ["VERSION", "Database", "integers", "size_of"]

VERSION = 1
APPLICATION = 0x6E64_6978  # "ndix"
INSERTED_AT_ONCE = (64, 8, 1)  # documents in one statement; a statement is prepared once for each size
PAGES_BEFORE_CHECKPOINT = 8192  # each checkpoint waits for the disk; this many pages are 64 MB

SCHEMA = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL, keeper INTEGER NOT NULL, distance INTEGER, similarity REAL,
    added INTEGER NOT NULL, expires INTEGER, print BLOB, meta TEXT, content BLOB
);
CREATE INDEX followers ON documents (keeper) WHERE keeper <> row;
CREATE INDEX expiring ON documents (expires) WHERE expires IS NOT NULL;
CREATE TABLE changes (sequence INTEGER PRIMARY KEY, row INTEGER NOT NULL, keeper INTEGER);
CREATE TABLE cache (name TEXT PRIMARY KEY, first INTEGER, last INTEGER, sequence INTEGER, checksum BLOB) WITHOUT ROWID;
INSERT INTO counters VALUES ('rows', 0), ('sequence', 0), ('pruned', 0), ('documents', 0), ('followers', 0);
"""


def integers(rows: Iterable[int] | NDArray[np.int64]) -> str:
    """Row numbers as one parameter of a statement."""
    return json.dumps(rows.tolist() if isinstance(rows, np.ndarray) else list(rows))


@functools.cache
def _marks(shared: int, own: int, lines: int) -> str:
    """The placeholders of parameters: the first `shared` are the same on every line, the others differ."""
    first = [f"?{n}" for n in range(1, shared + 1)]
    return ", ".join(
        f"({', '.join([*first, *(f'?{shared + line * own + n}' for n in range(1, own + 1))])})"
        for line in range(lines)
    )


class Database:
    """A database of documents. Writers and readers use different connections; errors are converted to neardup's."""

    def __init__(
        self, path: Path, *, create: bool = False, readonly: bool = False, durability: Durability = "normal"
    ) -> None:
        if durability not in ("full", "normal"):
            raise ConfigError(f'durability is "full" or "normal", not {durability!r}')
        self.path = path
        self._lock = threading.RLock()
        with self.errors():
            mode = "ro" if readonly else "rwc" if create else "rw"
            uri = f"{path.resolve().as_uri()}?mode={mode}"
            self._connection = sqlite3.connect(
                uri,
                uri=True,
                timeout=60,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=256,
            )
            try:
                self._prepare(create, readonly, durability)
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self, create: bool, readonly: bool, durability: Durability) -> None:
        run = self._connection.execute
        if create:
            run("PRAGMA page_size = 8192")
        if not readonly:
            run("PRAGMA journal_mode = WAL")
            run(f"PRAGMA synchronous = {'FULL' if durability == 'full' else 'NORMAL'}")
            run(f"PRAGMA wal_autocheckpoint = {PAGES_BEFORE_CHECKPOINT}")
        run("PRAGMA cache_size = -65536")
        if create:
            self._connection.executescript(f"BEGIN; {SCHEMA} COMMIT;")
            run(f"PRAGMA application_id = {APPLICATION}")
            run(f"PRAGMA user_version = {VERSION}")
        application = run("PRAGMA application_id").fetchone()[0]
        if application != APPLICATION:
            raise FormatError(self.path, "an index of neardup", "another SQLite database")
        version = run("PRAGMA user_version").fetchone()[0]
        if version != VERSION:
            later = (
                "install a later neardup to open it"
                if version > VERSION
                else "export it with the neardup version that made it"
            )
            raise FormatError(self.path, f"an index of version {VERSION}", f"version {version}; {later}")

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Convert SQLite's errors: what is wrong with which file, and what to do."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code == sqlite3.SQLITE_FULL:
                why = "the disk is full; what was acknowledged is safe, what was under way was not added"
                raise OSError(errno.ENOSPC, why, str(self.path)) from error
            if code in (
                sqlite3.SQLITE_IOERR,
                sqlite3.SQLITE_CANTOPEN,
                sqlite3.SQLITE_READONLY,
                sqlite3.SQLITE_PERM,
            ):
                kind = errno.EIO if code == sqlite3.SQLITE_IOERR else errno.EACCES
                raise OSError(kind, f"{error}; nothing of this call was kept", str(self.path)) from error
            if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise FormatError(
                    self.path,
                    "a sound database",
                    f"a damaged one ({error}). Way out: put a backup in its place (neardup index backup makes one), or "
                    "save what can be read into a new index with: neardup index recover OLD NEW",
                ) from error
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise DataError(
                    f"{self.path}: another process keeps the database locked; try again"
                ) from error
            raise DataError(f"{self.path}: {error}") from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All changes are committed, or none."""
        with self._lock, self.errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self.rollback()
                raise
            self.commit()

    def begin(self, snapshot: bool = False) -> None:
        """Start a transaction; a reading one sees the same state until it ends."""
        with self._lock, self.errors():
            self._connection.execute("BEGIN" if snapshot else "BEGIN IMMEDIATE")
            if snapshot:
                self._connection.execute(
                    "SELECT value FROM counters"
                ).fetchall()  # the snapshot starts at a read

    def commit(self) -> None:
        with self._lock, self.errors():
            try:
                self._connection.execute("COMMIT")
            except BaseException:
                self.rollback()
                raise

    def rollback(self) -> None:
        with self._lock:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def all(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """All lines that a query returns."""
        with self._lock, self.errors():
            return self._connection.execute(statement, parameters).fetchall()

    def run(self, statement: str, parameters: Sequence[Any] = ()) -> int:
        """Run a change. Returns how many lines it changed."""
        with self._lock, self.errors():
            return self._connection.execute(statement, parameters).rowcount

    def run_all(self, statement: str, lines: Iterable[Sequence[Any]]) -> None:
        """Run a change once for each line of parameters."""
        with self._lock, self.errors():
            self._connection.executemany(statement, lines)

    def settings(self) -> dict[str, Any]:
        return dict(self.all("SELECT name, value FROM settings"))

    def set(self, settings: dict[str, Any]) -> None:
        self.run_all("INSERT OR REPLACE INTO settings VALUES (?, ?)", settings.items())

    def counters(self) -> dict[str, int]:
        return dict(self.all("SELECT name, value FROM counters"))

    def count(self, **by: int) -> None:
        """Add to counters."""
        given = {name: int(by[name]) for name in sorted(by) if by[name]}
        if not given:
            return
        cases = " ".join(f"WHEN '{name}' THEN ?" for name in given)
        names = ", ".join(f"'{name}'" for name in given)
        self.run(
            f"UPDATE counters SET value = value + CASE name {cases} END WHERE name IN ({names})",
            tuple(given.values()),
        )

    def insert(self, columns: Mapping[str, Sequence[Any]], same: Mapping[str, int | None]) -> None:
        """Insert documents, column by column, and values that are the same for all. Every bound value costs time, so
        columns without a value are left out: this doubles the speed for fingerprints without contents. Each statement
        inserts many documents, because other threads may delay the end of each."""
        given = {
            name: column for name, column in columns.items() if any(value is not None for value in column)
        }
        shared = {name: int(value) for name, value in same.items() if value is not None}
        lines = list(zip(*given.values(), strict=True))
        names, at = ", ".join([*shared, *given]), 0
        with self._lock, self.errors():
            for size in INSERTED_AT_ONCE:
                if len(lines) - at < size:
                    continue
                values = _marks(len(shared), len(given), size)
                statement = f"INSERT INTO documents ({names}) VALUES {values}"
                while len(lines) - at >= size:
                    flat = itertools.chain(shared.values(), *lines[at : at + size])
                    self._connection.execute(statement, tuple(flat))
                    at += size

    def chunks(self, columns: str, first: int, last: int, size: int = 50_000) -> Iterator[list[Any]]:
        """The documents of rows first to last - 1, in order, `size` row numbers at a time."""
        for start in range(first, last, size):
            yield self.all(
                f"SELECT {columns} FROM documents WHERE row >= ? AND row < ? ORDER BY row",
                (start, min(start + size, last)),
            )

    def of_rows(self, columns: str, rows: Iterable[int] | NDArray[np.int64]) -> list[Any]:
        """The documents of those rows that exist, in no particular order."""
        return self.all(
            f"SELECT {columns} FROM documents WHERE row IN (SELECT value FROM json_each(?))",
            (integers(rows),),
        )

    def contents(self, rows: NDArray[np.int64]) -> dict[int, tuple[bytes | None, bytes | None]]:
        """Fingerprint and content of those rows that exist."""
        return {
            row: (fingerprint, content)
            for row, fingerprint, content in self.of_rows("row, print, content", rows)
        }

    def ids(self, rows: NDArray[np.int64]) -> dict[int, str]:
        """The ids of those rows that exist."""
        return dict(self.of_rows("row, id", np.unique(rows)))

    def backup(self, target: Path) -> None:
        """Copy the committed state, while others read and write."""
        with self.errors():
            source = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True, timeout=60)
            copy = sqlite3.connect(target)
            try:
                source.backup(copy)  # in one step: a snapshot that writers do not disturb
                copy.execute("PRAGMA journal_mode = WAL")
            finally:
                copy.close()
                source.close()

    def check(self) -> list[str]:
        """The problems that SQLite finds in the file."""
        return [line[0] for line in self.all("PRAGMA quick_check(10)") if line[0] != "ok"]

    def size(self) -> int:
        """Bytes of the database and its log."""
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(size_of(file) for file in files)


def size_of(file: Path) -> int:
    """Bytes of a file, 0 if it does not exist: a writer may remove it at any moment."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
