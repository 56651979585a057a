"""Cache files: the native tables are loaded from them, so that opening an index does not read its whole database.

Segment files hold ranges of rows and never change; one state file holds the flags of all rows at some moment. The
database lists the files with their checksums. A file that is missing, damaged or outdated is rebuilt from the
database, so no data is lost with it. docs/reference/format.md, "Index", describes the format.
"""

from __future__ import annotations

import contextlib
import secrets
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup.errors import FormatError
from neardup.index.local.columns import Columns, Flags, read_columns, read_flags
from neardup.index.local.database import Database, size_of
from neardup.index.local.row_checks import damaged
from neardup.index.recipe import Recipe
from neardup.storage.column_file import BLOCK, PAGE, ColumnFile
from neardup.storage.column_writer import ColumnFileWriter

__all__ = ["Cache", "CacheFile", "CacheFiles", "Loaded"]

T = TypeVar("T")
SEGMENT, STATE = b"\x89NDirw\r\n", b"\x89NDist\r\n"
LOG_KEPT = 100_000  # changes kept for readers that lag behind
LOOKS = 10  # attempts to read files that a writer keeps replacing, before the database is read instead


@dataclass(frozen=True)
class CacheFile:
    """A cache file as listed in the database: rows first to last - 1, and the last change that a state includes."""

    name: str
    first: int
    last: int
    sequence: int
    checksum: bytes

    @property
    def is_state(self) -> bool:
        return self.name.startswith("state-")


@dataclass
class CacheFiles:
    """The open files of one state of the database; they can be read even after a writer replaced them. None for files
    that must not be read. `problems` lists errors; `replaced` is true if a writer replaced some files meanwhile,
    which is not an error."""

    listed: list[tuple[CacheFile, ColumnFile | None]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    replaced: bool = False


class Loaded(NamedTuple):
    """All rows below the watermark, their flags after a change, and the problems of the files."""

    columns: Columns
    flags: Flags
    sequence: int
    problems: tuple[str, ...]


class Cache:
    """The cache files of one index."""

    def __init__(self, folder: Path, recipe: Recipe, identity: str) -> None:
        self.folder, self._recipe = folder, recipe
        self._scheme = f"index {identity}"

    def load(self, database: Database, threads: int) -> Loaded:
        """Load the rows from the files; missing or damaged files are replaced by the database.

        If a writer has replaced the files of a reader's snapshot, the snapshot moves to the newer state.
        """
        for look in range(LOOKS):
            if look:
                database.rollback()
                database.begin(snapshot=True)
            files = self._open_all(database)
            if not files.replaced:
                break
        problems = files.problems
        parts, at = [read_columns(database, self._recipe, 0, 0, threads)[0]], 0
        states = []
        for file, opened in files.listed:
            if file.is_state:
                states.append((file, opened))
                continue
            if file.first != at:
                problems.append(f"{file.name}: rows {at} to {file.first} are in no file")
                break
            part = None if opened is None else _tried(problems, _read_segment, opened, file, threads)
            if part is None:
                part = read_columns(database, self._recipe, file.first, file.last, threads)[0]
            parts.append(part)
            at = file.last
        if at and not states:
            problems.append("the state of the rows is in no file")
        last, opened = states[-1] if states else (None, None)
        flags = None if opened is None else _tried(problems, _read_state, opened, last, at)
        sequence = database.counters()["sequence"] if flags is None or last is None else last.sequence
        flags = read_flags(database, at) if flags is None else flags
        return Loaded(Columns.joined(parts), flags, sequence, tuple(problems))

    def save(self, database: Database, fresh: Columns, flags: Flags, sequence: int) -> int:
        """Write the rows above the watermark and the state of all rows. Returns the new watermark. Small neighbouring
        segments are merged, so that there are few."""
        mode = stat.S_IMODE(database.path.stat().st_mode) & 0o666
        if not self.folder.is_dir():
            self.folder.mkdir(mode=stat.S_IMODE(database.path.parent.stat().st_mode), exist_ok=True)
        listed = self._listed(database)
        segments = [file for file in listed if not file.is_state]
        whole, taken, first, size = [fresh], [], segments[-1].last if segments else 0, len(fresh)
        while size and segments and segments[-1].last - segments[-1].first < 2 * size:
            file = segments.pop()
            try:
                part = _read_segment(self._open(file), file, 1)
            except (FormatError, OSError, ValueError):
                part = read_columns(database, self._recipe, file.first, file.last, 1)[0]
            whole.insert(0, part)
            taken.append(file.name)
            first, size = file.first, size + len(part)
        made = [self._write_segment(Columns.joined(whole), first)] if size else []
        last = first + size
        made.append(self._write_state(flags, last, sequence))
        for file in made:
            (self.folder / file.name).chmod(mode)  # who may read the database may read these
        old = taken + [file.name for file in listed if file.is_state]
        with database.transaction():
            database.run_all("DELETE FROM cache WHERE name = ?", [(name,) for name in old])
            database.run_all(
                "INSERT INTO cache VALUES (?,?,?,?,?)",
                [(f.name, f.first, f.last, f.sequence, f.checksum) for f in made],
            )
            database.run("DELETE FROM changes WHERE sequence <= ?", (sequence - LOG_KEPT,))
            database.count(pruned=max(sequence - LOG_KEPT - database.counters()["pruned"], 0))
        self.tidy(database)
        return last

    def tidy(self, database: Database) -> None:
        """Remove files the database does not list."""
        names = {file.name for file in self._listed(database)}
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            if path.name not in names:
                with contextlib.suppress(OSError):
                    path.unlink()

    def forget(self, database: Database) -> None:
        """Remove all files from the list, so that the next load reads the database."""
        with database.transaction():
            database.run("DELETE FROM cache")

    def names(self, database: Database) -> list[str]:
        return [file.name for file in self._listed(database)]

    def size(self) -> int:
        """Bytes of the files."""
        return sum(size_of(path) for path in self.folder.iterdir()) if self.folder.is_dir() else 0

    def _listed(self, database: Database) -> list[CacheFile]:
        lines = database.all("SELECT * FROM cache ORDER BY first, sequence")
        kinds = (str, int, int, int, bytes)
        for line in lines:
            if tuple(map(type, line)) != kinds or not 0 <= line[1] <= line[2] or "/" in line[0]:
                raise damaged(database.path, "the list of cache files holds an impossible value")
        return [CacheFile(*line) for line in lines]

    def _open_all(self, database: Database) -> CacheFiles:
        files, missing = CacheFiles(), {}
        for file in self._listed(database):
            opened = None
            try:
                opened = self._open(file)
            except FileNotFoundError as error:
                missing[file.name] = str(error)
            except (FormatError, OSError) as error:
                files.problems.append(str(error))
            files.listed.append((file, opened))
        if missing:
            # A writer first lists the new files and then removes the old ones, whose names are never used again. So a
            # file that is missing and still listed afterwards is lost.
            with contextlib.closing(Database(database.path, readonly=True)) as newest:
                names = self.names(newest)
            files.problems += [said for name, said in missing.items() if name in names]
            files.replaced = not missing.keys() <= set(names)
        return files

    def _open(self, file: CacheFile) -> ColumnFile:
        opened = ColumnFile(self.folder / file.name, STATE if file.is_state else SEGMENT)
        with open(self.folder / file.name, "rb") as raw:
            checksum = raw.read(PAGE)[-8:]
        if checksum != file.checksum or opened.header.scheme != self._scheme:
            raise opened.damage("the file that the database lists", "another one")
        return opened

    def _write_segment(self, columns: Columns, first: int) -> CacheFile:
        last = first + len(columns)
        parts: dict[str, NDArray[Any]] = {
            "ids": columns.ids,
            "keys": columns.keys,
            "empty": np.packbits(columns.empty),
        }
        return self._write(
            f"rows-{first}-{last}-{secrets.token_hex(4)}.ndx", SEGMENT, parts, (first, last, 0)
        )

    def _write_state(self, flags: Flags, rows: int, sequence: int) -> CacheFile:
        parts = {"gone": np.packbits(flags.deleted[:rows]), "follows": np.packbits(flags.follows[:rows])}
        return self._write(f"state-{sequence}-{secrets.token_hex(4)}.ndx", STATE, parts, (0, rows, sequence))

    def _write(
        self, name: str, magic: bytes, parts: Mapping[str, NDArray[Any]], place: tuple[int, int, int]
    ) -> CacheFile:
        columns = [(column, BLOCK, part.nbytes) for column, part in parts.items()]
        path = self.folder / name
        try:
            with ColumnFileWriter(
                path, magic=magic, flags=0, bits=64, scheme=self._scheme, parameter=0, columns=columns
            ) as file:
                for column, part in parts.items():
                    file.append(column, part)
                file.finish(place[1] - place[0])
        except OSError as error:
            raise OSError(error.errno, f"{error.strerror}; nothing is lost", str(path)) from error
        with open(path, "rb") as raw:
            return CacheFile(name, *place, raw.read(PAGE)[-8:])


def _tried(problems: list[str], read: Callable[..., T], *arguments: Any) -> T | None:
    """The result of `read`, or None and a new problem."""
    try:
        return read(*arguments)
    except (FormatError, ValueError) as error:
        problems.append(str(error))
        return None


def _read_segment(opened: ColumnFile, file: CacheFile, threads: int) -> Columns:
    with contextlib.closing(opened):
        ids = opened.column("ids", threads).view("<u8")
        keys = opened.column("keys", threads).view("<u8").reshape(len(ids), -1)
        empty = np.unpackbits(opened.column("empty", threads), count=len(ids)).view(bool)
        if len(ids) != file.last - file.first:
            raise opened.damage(f"{file.last - file.first} rows", f"{len(ids)}")
        return Columns(ids, keys, empty)


def _read_state(opened: ColumnFile, file: CacheFile, rows: int) -> Flags:
    with contextlib.closing(opened):
        if file.last != rows:
            raise opened.damage(f"the state of {rows} rows", f"of {file.last}")
        deleted, follows = (
            np.unpackbits(opened.column(name), count=rows).view(bool) for name in ("gone", "follows")
        )
        return Flags(deleted, follows)
