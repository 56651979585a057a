"""The findings folder of a scan: made safely, and locked so that only one scan writes to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from neardup.errors import ConfigError, DataError
from neardup.storage.lock import FileLock

__all__ = ["alone", "make_folder"]

LOCK = ".neardup-lock"  # also shows that a folder was made by neardup


def make_folder(folder: Path) -> bool:
    """Make the folder; returns whether it is new. ConfigError if it holds other files, so that none is lost."""
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
    """Lock the folder: only one scan at a time may write to it."""

    def refused(_: bytes) -> DataError:
        return DataError(f"{folder}: another scan is writing there; wait for it or name another --out")

    with FileLock(folder / LOCK, refused):
        yield
