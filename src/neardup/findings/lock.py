"""A folder for the findings of one scan at a time, told from folders that hold anything else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from neardup.errors import ConfigError, DataError
from neardup.storage.lock import FileLock

__all__ = ["alone", "make_folder"]

LOCK = ".neardup-lock"  # also tells a folder of ours from all others


def make_folder(folder: Path) -> bool:
    """Whether it was made now; ConfigError if something else is there, of which nothing may be lost."""
    try:
        folder.mkdir()
        return True
    except FileExistsError:
        if not folder.is_dir():
            raise ConfigError(f"{folder}: is a file; name a folder for the findings") from None
    if not (folder / LOCK).exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder}: holds other files; name a new folder for the findings")
    return False


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """No two scans in one folder at a time."""

    def refused(_: bytes) -> DataError:
        return DataError(f"{folder}: another scan is writing there; wait for it or name another --out")

    with FileLock(folder / LOCK, refused):
        yield
