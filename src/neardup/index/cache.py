"""Cache files: what the native tables are loaded from, so that opening an index need not read its whole database.

Files hold stretches of rows that never change, and one more the state of all rows at some moment. The database lists
them with their checksums; a file that is missing, damaged or of another time is made again from the database. Nothing
is lost with them. docs/format.md, "Index", has the bytes.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import FormatError
from neardup.index.recipe import Recipe
from neardup.index.store import Store
from neardup.index.tables import hash_ids
from neardup.search.column_file import BLOCK, PAGE, ColumnFile
from neardup.search.column_writer import ColumnFileWriter

__all__ = ["Cache", "Columns", "Flags", "read_columns"]

SEGMENT, STATE = b"\x89NDirw\r\n", b"\x89NDist\r\n"
LOG_KEPT = 100_000  # changes kept for readers that are behind


@dataclass(frozen=True)
class Columns:
    """Rows as the tables take them: hashed ids, keys, and which have no fingerprint. Rows that are gone hold zeros."""

    ids: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    empty: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def joined(cls, parts: Sequence[Columns]) -> Columns:
        if len(parts) == 1:
            return parts[0]
        return cls(
            *(np.concatenate([getattr(part, name) for part in parts]) for name in ("ids", "keys", "empty"))
        )


@dataclass(frozen=True)
class Flags:
    """Of each row: is it gone, and does it follow another."""

    gone: NDArray[np.bool_]
    follows: NDArray[np.bool_]


@dataclass(frozen=True)
class _File:
    name: str
    first: int
    last: int
    sequence: int
    checksum: bytes


def read_columns(store: Store, recipe: Recipe, first: int, last: int, threads: int) -> tuple[Columns, Flags]:
    """Rows first to last - 1 from the database."""
    width = recipe.width
    count, words = last - first, recipe.tables if recipe.kind == "sketches" else width // 8
    ids, keys = np.zeros(count, np.uint64), np.zeros((count, words), np.uint64)
    empty, gone, follows = np.zeros(count, bool), np.ones(count, bool), np.zeros(count, bool)
    blank = bytes(width)
    for lines in store.chunks("row, id, print, keeper", first, last):
        if not lines:
            continue
        rows, names, prints, keepers = zip(*lines, strict=True)
        at = np.array(rows, np.int64) - first
        for line, print in enumerate(prints):
            if print is not None and len(print) != width:
                raise FormatError(
                    store.path, f"a fingerprint of {width} bytes", f"{len(print)} in row {rows[line]}"
                )
        ids[at] = hash_ids(names, recipe.seed.value)
        keys[at] = recipe.keys(recipe.column(b"".join(print or blank for print in prints)), threads)
        empty[at] = [print is None for print in prints]
        gone[at] = False
        follows[at] = np.array(keepers, np.int64) != np.array(rows, np.int64)
    return Columns(ids, keys, empty), Flags(gone, follows)


class Cache:
    """The cache files of one index."""

    def __init__(self, folder: Path, recipe: Recipe, identity: str) -> None:
        self.folder, self._recipe = folder, recipe
        self._scheme = f"index {identity}"
        self.problems: list[str] = []

    def load(self, store: Store, threads: int) -> tuple[Columns, Flags, int]:
        """All rows below the watermark, and the change they are up to. What is wrong with a file goes to `problems`,
        and the database takes its place."""
        self.problems = []
        listed = self._listed(store)
        segments = [file for file in listed if file.name.startswith("rows-")]
        parts, at = [read_columns(store, self._recipe, 0, 0, threads)[0]], 0
        for file in segments:
            if file.first != at:
                self.problems.append(f"{file.name}: rows {at} to {file.first} are in no file")
                break
            part = self._read_segment(file, threads)
            parts.append(
                read_columns(store, self._recipe, file.first, file.last, threads)[0] if part is None else part
            )
            at = file.last
        states = [file for file in listed if file.name.startswith("state-")]
        flags = self._read_state(states[-1], at) if states else None
        if flags is None:
            if at:
                self.problems.append("the state of the rows is read from the database")
            flags = _stored_flags(store, at)
            return Columns.joined(parts), flags, store.counters()["sequence"]
        return Columns.joined(parts), flags, states[-1].sequence

    def save(self, store: Store, fresh: Columns, flags: Flags, sequence: int) -> int:
        """Write the rows past the watermark and the state of all; gives the new watermark. Small segments become one
        with their neighbours, so that there are few."""
        self.folder.mkdir(exist_ok=True)
        listed = self._listed(store)
        segments = [file for file in listed if file.name.startswith("rows-")]
        whole, taken, first, size = [fresh], [], segments[-1].last if segments else 0, len(fresh)
        while size and segments and segments[-1].last - segments[-1].first < 2 * size:
            file = segments.pop()
            part = self._read_segment(file, 1)
            if part is None:
                part = read_columns(store, self._recipe, file.first, file.last, 1)[0]
            whole.insert(0, part)
            taken.append(file.name)
            first, size = file.first, size + len(part)
        made = [self._write_segment(Columns.joined(whole), first)] if size else []
        last = first + size
        made.append(self._write_state(flags, last, sequence))
        old = taken + [file.name for file in listed if file.name.startswith("state-")]
        with store.transaction():
            store.run_all("DELETE FROM cache WHERE name = ?", [(name,) for name in old])
            store.run_all(
                "INSERT INTO cache VALUES (?,?,?,?,?)",
                [(f.name, f.first, f.last, f.sequence, f.checksum) for f in made],
            )
            store.run("DELETE FROM changes WHERE sequence <= ?", (sequence - LOG_KEPT,))
            store.run(
                "UPDATE counters SET value = max(value, ?) WHERE name = 'pruned'", (sequence - LOG_KEPT,)
            )
        self.tidy(store)
        return last

    def tidy(self, store: Store) -> None:
        """Remove files the database does not list."""
        names = {file.name for file in self._listed(store)}
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            if path.name not in names:
                with contextlib.suppress(OSError):
                    path.unlink()

    def forget(self, store: Store) -> None:
        """List no file any more: the next load reads the database."""
        with store.transaction():
            store.run("DELETE FROM cache")

    def names(self, store: Store) -> list[str]:
        return [file.name for file in self._listed(store)]

    def size(self) -> int:
        return sum(path.stat().st_size for path in self.folder.iterdir()) if self.folder.is_dir() else 0

    def _listed(self, store: Store) -> list[_File]:
        return [_File(*line) for line in store.all("SELECT * FROM cache ORDER BY first, sequence")]

    def _open(self, file: _File, magic: bytes) -> ColumnFile | None:
        try:
            opened = ColumnFile(self.folder / file.name, magic)
            with open(self.folder / file.name, "rb") as raw:
                checksum = raw.read(PAGE)[-8:]
            if checksum != file.checksum or opened.header.scheme != self._scheme:
                raise opened.damage("the file that the database lists", "another one")
            return opened
        except (FormatError, OSError) as error:
            self.problems.append(str(error))
            return None

    def _read_segment(self, file: _File, threads: int) -> Columns | None:
        opened = self._open(file, SEGMENT)
        if opened is None:
            return None
        try:
            ids = opened.column("ids", threads).view("<u8")
            keys = opened.column("keys", threads).view("<u8").reshape(len(ids), -1)
            empty = np.unpackbits(opened.column("empty", threads), count=len(ids)).view(bool)
            if len(ids) != file.last - file.first:
                raise opened.damage(f"{file.last - file.first} rows", f"{len(ids)}")
            return Columns(ids, keys, empty)
        except (FormatError, ValueError) as error:
            self.problems.append(str(error))
            return None
        finally:
            opened.close()

    def _read_state(self, file: _File, rows: int) -> Flags | None:
        opened = self._open(file, STATE)
        if opened is None:
            return None
        try:
            if file.last != rows:
                raise opened.damage(f"the state of {rows} rows", f"of {file.last}")
            gone, follows = (
                np.unpackbits(opened.column(name), count=rows).view(bool) for name in ("gone", "follows")
            )
            return Flags(gone, follows)
        except (FormatError, ValueError) as error:
            self.problems.append(str(error))
            return None
        finally:
            opened.close()

    def _write_segment(self, columns: Columns, first: int) -> _File:
        last = first + len(columns)
        parts: dict[str, NDArray[Any]] = {
            "ids": columns.ids,
            "keys": columns.keys,
            "empty": np.packbits(columns.empty),
        }
        return self._write(
            f"rows-{first}-{last}-{secrets.token_hex(4)}.ndx", SEGMENT, parts, (first, last, 0)
        )

    def _write_state(self, flags: Flags, rows: int, sequence: int) -> _File:
        parts = {"gone": np.packbits(flags.gone[:rows]), "follows": np.packbits(flags.follows[:rows])}
        return self._write(f"state-{sequence}-{secrets.token_hex(4)}.ndx", STATE, parts, (0, rows, sequence))

    def _write(
        self, name: str, magic: bytes, parts: Mapping[str, NDArray[Any]], place: tuple[int, int, int]
    ) -> _File:
        columns = [(column, BLOCK, part.nbytes) for column, part in parts.items()]
        path = self.folder / name
        with ColumnFileWriter(
            path, magic=magic, flags=0, bits=64, scheme=self._scheme, parameter=0, columns=columns
        ) as file:
            for column, part in parts.items():
                file.append(column, part)
            file.finish(place[1] - place[0])
        with open(path, "rb") as raw:
            return _File(name, *place, raw.read(PAGE)[-8:])


def _stored_flags(store: Store, rows: int) -> Flags:
    gone, follows = np.ones(rows, bool), np.zeros(rows, bool)
    for lines in store.chunks("row, keeper", 0, rows, 500_000):
        if lines:
            both = np.array(lines, np.int64)
            gone[both[:, 0]] = False
            follows[both[:, 0]] = both[:, 0] != both[:, 1]
    return Flags(gone, follows)
