"""An index's SQLite file in WAL mode: opened, checked and asked; SQLite's errors become neardup's."""

from __future__ import annotations

import contextlib
import errno
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from neardup.errors import ConfigError, DataError, FormatError
from neardup.index.interface import Durability
from neardup.index.local.row_checks import damaged
from neardup.storage.regular_file import check_regular

__all__ = ["COUNTERS", "TOTAL", "VERSION", "SqliteFile", "size_of"]

VERSION = 2  # version 1 has no digests; such an index is used and written as it is
APPLICATION = 0x6E64_6978  # "ndix"
PAGE = 8192
PAGES_BEFORE_CHECKPOINT = 8192  # each checkpoint waits for the disk; this many pages are 64 MB

COUNTERS = ("rows", "sequence", "pruned", "documents", "followers")
TOTAL = "total"  # the sum of the others, which no single damaged one fits

DOCUMENTS = """CREATE TABLE documents (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL, keeper INTEGER NOT NULL, distance INTEGER, similarity REAL,
    added INTEGER NOT NULL, expires INTEGER, print BLOB, meta TEXT, content BLOB
)"""
CHANGES = "CREATE TABLE changes (sequence INTEGER PRIMARY KEY, row INTEGER NOT NULL, keeper INTEGER)"
TABLES = (
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE INDEX followers ON documents (keeper) WHERE keeper <> row",
    "CREATE INDEX expiring ON documents (expires) WHERE expires IS NOT NULL",
    "CREATE TABLE cache (name TEXT PRIMARY KEY, first INTEGER, last INTEGER, sequence INTEGER, checksum BLOB) "
    "WITHOUT ROWID",
)
SCHEMAS = {
    1: (DOCUMENTS, CHANGES, *TABLES),
    2: (
        DOCUMENTS.replace("content BLOB\n", "content BLOB,\n    head INTEGER NOT NULL, body INTEGER\n"),
        CHANGES.replace("keeper INTEGER)", "keeper INTEGER, digest INTEGER NOT NULL)"),
        *TABLES,
    ),
}


class SqliteFile:
    """A connection. Writers and readers use different ones."""

    def __init__(
        self, path: Path, *, create: bool = False, readonly: bool = False, durability: Durability = "normal"
    ) -> None:
        if durability not in ("full", "normal"):
            raise ConfigError(f'durability is "full" or "normal", not {durability!r}')
        self.path = path
        self._lock = threading.RLock()
        check_regular(path)
        _check_size(path)
        if readonly:
            _roll_back(path)
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
            run(f"PRAGMA page_size = {PAGE}")
        if not readonly:
            run("PRAGMA journal_mode = WAL")
            run(f"PRAGMA synchronous = {'FULL' if durability == 'full' else 'NORMAL'}")
            run(f"PRAGMA wal_autocheckpoint = {PAGES_BEFORE_CHECKPOINT}")
        run("PRAGMA cache_size = -65536")
        if create:
            self._create()
            run(f"PRAGMA application_id = {APPLICATION}")
            run(f"PRAGMA user_version = {VERSION}")
        application = run("PRAGMA application_id").fetchone()[0]
        if application != APPLICATION:
            raise FormatError(self.path, "an index of neardup", "another SQLite database")
        version = run("PRAGMA user_version").fetchone()[0]
        if version not in SCHEMAS:
            later = (
                "install a later neardup to open it"
                if version > VERSION
                else "export it with the neardup version that made it"
            )
            raise FormatError(self.path, f"an index of version {VERSION}", f"version {version}; {later}")
        self.digested = version >= 2
        found = {line[0] for line in run("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")}
        if {_plain(sql) for sql in found} != {_plain(sql) for sql in SCHEMAS[version]}:
            raise damaged(self.path, "its tables are not those of an index")

    def _create(self) -> None:
        run = self._connection.execute
        run("BEGIN")
        for statement in SCHEMAS[VERSION]:
            run(statement)
        self._connection.executemany(
            "INSERT INTO counters VALUES (?, 0)", [(name,) for name in (*COUNTERS, TOTAL)]
        )
        run("COMMIT")

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
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise DataError(
                    f"{self.path}: another process keeps the database locked; try again"
                ) from error
            # The statements are always the same, so one that fails otherwise failed on what the file holds.
            raise damaged(self.path, error) from error

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

    def backup(self, target: Path) -> None:
        """Copy the committed state, while others read and write."""
        where = f"{self.path.resolve().as_uri()}?mode=ro"
        with (
            self.errors(),
            contextlib.closing(sqlite3.connect(where, uri=True, timeout=60)) as source,
            contextlib.closing(sqlite3.connect(target)) as copy,
        ):
            source.backup(copy)  # in one step: a snapshot that writers do not disturb; the mode comes with it

    def fold_log(self) -> None:
        """Move everything from the log into the one file, on the disk; OSError if that is not possible."""
        busy = self.all("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
        if busy:
            raise OSError(errno.EBUSY, "the log of the database cannot be emptied", str(self.path))

    def check(self) -> list[str]:
        """The problems that SQLite finds in the file, its indexes included."""
        return [str(line[0]) for line in self.all("PRAGMA integrity_check(10)") if line[0] != "ok"]

    def size(self) -> int:
        """Bytes of the database and its log."""
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(size_of(file) for file in files)


def _check_size(path: Path) -> None:
    """FormatError if the file ends within a page; with a log beside it, the page may still come."""
    size = size_of(path)
    if size % PAGE and not size_of(path.with_name(f"{path.name}-wal")):
        raise damaged(path, "the file ends within a page")


def _roll_back(path: Path) -> None:
    """A writer that died while it set up the database leaves a journal, which a reader must not play back: SQLite
    would refuse to open the file."""
    if not size_of(path.with_name(f"{path.name}-journal")):
        return
    where = f"{path.resolve().as_uri()}?mode=rw"
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(where, uri=True)) as writer:
        writer.execute("SELECT count(*) FROM sqlite_schema").fetchall()


def _plain(sql: Any) -> str:
    return " ".join(str(sql).split())


def size_of(file: Path) -> int:
    """Bytes of a file, 0 if it does not exist: a writer may remove it at any moment."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
