"""Ordinary files only. In a folder that somebody else made, a fifo would be waited for without end, and a device
such as /dev/zero has no end."""

from __future__ import annotations

import os
import stat
from os import PathLike

from neardup.errors import FormatError

__all__ = ["check_regular", "open_regular", "read_regular"]

_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a fifo", stat.S_IFSOCK: "a socket"}


def check_regular(path: str | PathLike[str]) -> None:
    """FormatError if something else than a file has this name; nothing if nothing has it."""
    try:
        found = os.stat(path)
    except OSError:
        return  # the error comes when it is opened
    _check(path, found)


def open_regular(path: str | PathLike[str]) -> int:
    """The handle of a file that is opened for reading; FormatError if it is something else."""
    # Without O_NONBLOCK the opening of a fifo would wait for its writer.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        _check(path, os.fstat(handle))
    except BaseException:
        os.close(handle)
        raise
    return handle


def read_regular(path: str | PathLike[str]) -> bytes:
    """All bytes of a file; FormatError if it is something else."""
    with open(open_regular(path), "rb") as file:
        return file.read()


def _check(path: str | PathLike[str], found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise FormatError(os.fspath(path), "a file", _KINDS.get(stat.S_IFMT(found.st_mode), "a device"))
