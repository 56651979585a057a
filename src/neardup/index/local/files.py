"""The files of an index in a folder: they are created whole, belong to their owner alone, and leave nothing behind."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from neardup.errors import DataError
from neardup.index.interface import Access, file_mode
from neardup.index.local.database import Database
from neardup.index.recipe import Recipe
from neardup.storage.atomic_file import hidden_name, locked_folder, sync_folder
from neardup.storage.atomic_file import sweep as sweep_hidden
from neardup.storage.lock import FileLock

__all__ = [
    "CACHE",
    "DATABASE",
    "LOCK",
    "built_beside",
    "check_new_folder",
    "create_database",
    "locked",
    "make_folder",
    "new_folder",
    "open_to_others",
    "remove",
    "sweep",
    "whole_database",
]

DATABASE, CACHE, LOCK = "index.sqlite", "cache", "lock"


def _folder_mode(mode: int) -> int:
    return mode | (mode & 0o444) >> 2


def create_database(path: Path, recipe: Recipe, access: Access = "owner") -> None:
    """Create the database of an empty index."""
    with (
        whole_database(path, access) as half,
        contextlib.closing(Database(half, create=True, durability="full")) as database,
    ):
        with database.transaction():
            database.set(recipe.to_settings() | {"identity": secrets.token_hex(8)})
        database.fold_log()


@contextmanager
def whole_database(path: Path, access: Access = "owner") -> Iterator[Path]:
    """A temporary name for a database that is not complete yet. It gets its final name if the block succeeds;
    otherwise it is removed, together with SQLite's files beside it. The block must leave everything in the one file:
    `Database.fold_log`."""
    half = path.with_name(f"{path.name}.new")
    remove(half)
    try:
        # SQLite's other files get the permissions of this one.
        os.close(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, file_mode(access)))
        yield half
        _check_whole(half)
        half.rename(path)
        sync_folder(path.parent)
    finally:
        remove(half)


def _check_whole(database: Path) -> None:
    """DataError if a part of a database that was closed is still in its log."""
    log = database.with_name(f"{database.name}-wal")
    if log.exists() and log.stat().st_size:
        raise DataError(f"{database}: another program holds the new database open; try again")


def remove(database: Path) -> None:
    """Remove a database that is not complete, with SQLite's files beside it."""
    for left in database.parent.glob(f"{database.name}*"):
        left.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove what an earlier writer that died left in the folder; the caller holds the lock."""
    with contextlib.suppress(OSError):
        remove(folder / f"{DATABASE}.new")


def locked(folder: Path) -> FileLock:
    """The lock of the only process that may write; readers need none."""

    def refused(note: bytes) -> DataError:
        owner = note[:32].decode("ascii", "replace").strip() or "unknown"
        return DataError(
            f"{folder}: process {owner} has this index open for writing, and there can be only one writer; "
            'close it there, or open it here for reading, with mode="read"'
        )

    return FileLock(folder / LOCK, refused, str(os.getpid()).encode())


def check_new_folder(
    folder: Path, made: str = "this folder is not empty and is not an index; give another folder"
) -> None:
    """DataError if the folder contains something else than what a writer that died may have left."""
    ours = (LOCK, f"{DATABASE}.new", CACHE)
    if folder.exists() and (
        not folder.is_dir() or any(not path.name.startswith(ours) for path in folder.iterdir())
    ):
        raise DataError(f"{folder}: {made}")


@contextmanager
def new_folder(folder: Path, access: Access = "owner") -> Iterator[None]:
    """Create a folder to be filled, and lock it. If that fails, the created folders are removed if they are empty."""
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    had_lock = (folder / LOCK).exists()
    make_folder(folder, access)
    try:
        with locked(folder):
            sweep(folder)
            try:
                yield
            except BaseException:
                if not had_lock:
                    (folder / LOCK).unlink(missing_ok=True)
                raise
    except BaseException:
        for path in made:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


@contextmanager
def built_beside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A hidden folder for an index that is filled step by step, and must be closed at the end of the block. It gets its
    name if the block succeeds; otherwise it is removed. If the process is killed, the next one removes it."""
    folder = Path(os.path.realpath(path))
    check_new_folder(folder, "a new index needs a new folder")
    sweep_hidden(folder)
    hidden = hidden_name(folder)
    make_folder(hidden)
    handle = locked_folder(hidden)
    try:
        yield hidden
        _check_whole(hidden / DATABASE)
        if folder.exists():
            with new_folder(folder):
                shutil.rmtree(folder / CACHE, ignore_errors=True)
                for name in (CACHE, DATABASE):
                    if (hidden / name).exists():
                        (hidden / name).rename(folder / name)
                sync_folder(folder)
        else:
            hidden.rename(folder)
        sync_folder(folder.parent)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
        os.close(handle)


def make_folder(folder: Path, access: Access = "owner") -> None:
    """Create the folder of an index, with those above it; one that exists keeps its permissions."""
    if folder.is_dir():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=_folder_mode(file_mode(access)), exist_ok=True)


def open_to_others(folder: Path) -> list[str]:
    """Files with the secret seed that others may read, and files and folders that others may change, in words."""
    said = []
    way = _mode(folder)
    for path in (folder / DATABASE, folder / f"{DATABASE}-wal"):
        if others := _allowed(_mode(path) & way << 2, 0o044):
            said.append(
                f"{path}: {others} may read it, and it holds the secret seed; if that is not wanted: chmod 600 {path}"
            )
    cache = folder / CACHE
    for path in (folder, *sorted(folder.glob(f"{DATABASE}*")), cache, *sorted(cache.glob("*"))):
        through = (
            0o777 if path == folder else way << 1 & (_mode(cache) << 1 if path.parent == cache else 0o777)
        )
        if others := _allowed(_mode(path) & through, 0o022):
            said.append(f"{path}: {others} may change it; if that is not wanted: chmod go-w {path}")
    return said


def _mode(path: Path) -> int:
    """Permissions; none of what does not exist."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(path.stat().st_mode)
    return 0


def _allowed(mode: int, bits: int) -> str:
    """Who has one of these permissions, in words."""
    return " and ".join(name for name, of in (("its group", 0o070), ("everybody", 0o007)) if mode & bits & of)
