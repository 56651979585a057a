"""Where a user wants something written: every command and every writer opens its outputs here.

- A file appears under its name when it is complete. It keeps the permissions of the file it replaces.
- Of a symbolic link, the file it points to is replaced; the link is not changed.
- Standard output (`-`), fifos, devices and open files such as /dev/stdout are written to as the data comes.
- Without `overwrite`, a file that exists is never replaced. The files of an index or of findings never are.
"""

from __future__ import annotations

import io
import os
import re
import stat
import sys
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import BinaryIO, cast

from neardup.errors import ConfigError, DataError
from neardup.storage.atomic_file import AtomicFile, CommitOnExit, sweep

__all__ = [
    "STANDARD_OUTPUT",
    "Output",
    "StreamOutput",
    "check_output_file",
    "check_outputs",
    "is_standard_output",
    "is_stream",
    "open_output",
    "same_file",
]

STANDARD_OUTPUT = "-"
Place = str | PathLike[str]
_LINKS = 40  # as many as the system follows
# Of folders with these files, the names that are not for outputs.
_OWN = {
    "the index": (["index.sqlite"], re.compile(r"index\.sqlite.*|lock")),
    "the findings folder": (
        ["manifest.json", "pairs.nd"],
        re.compile(r"\w+\.nd|(manifest|run|spark)\.json|(documents\.rejects|decisions|audit)\.jsonl"),
    ),
}


class StreamOutput(CommitOnExit):
    """Standard output or a special file: what is written is there at once, and nothing is removed or replaced."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path = path
        self._raw = _CountedOutput(open(handle, "wb", buffering=0), path)  # noqa: SIM115
        self.file: BinaryIO = cast(BinaryIO, io.BufferedWriter(self._raw, 1 << 16))

    def commit(self) -> None:
        """Write what is still in the buffer, and close; a second call does nothing."""
        if self._raw.open:
            try:
                self.file.flush()
            finally:
                self.discard()

    def discard(self) -> None:
        """Close; what was written already cannot be taken back."""
        self._raw.end()


class _CountedOutput(io.RawIOBase):
    """A stream that knows how much was written to it: Parquet needs that, and pipes do not count."""

    def __init__(self, file: io.RawIOBase, path: Path) -> None:
        self._file, self._path, self._written = file, path, 0
        self.open = True

    def end(self) -> None:
        """Close the stream. A buffer that is still to be written is dropped."""
        self.open = False
        self._file.close()

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._written

    def write(self, data: object) -> int:
        if not self.open:
            return memoryview(data).nbytes  # type: ignore[arg-type]
        try:
            done = self._file.write(data) or 0  # type: ignore[arg-type]
        except BrokenPipeError:
            if is_standard_output(self._path):
                raise
            raise DataError(f"{self._path}: its reader ended before everything was written") from None
        self._written += done
        return done

    def flush(self) -> None:
        """Nothing is kept here."""


Output = AtomicFile | StreamOutput


def open_output(path: Place, *, overwrite: bool = True, secret: bool = False) -> Output:
    """Open an output that a user named. Leaving its `with` block commits it; an error discards it."""
    name = os.fspath(path)
    if (number := _descriptor(name)) is not None:
        if number == 1:
            sys.stdout.flush()  # what was printed before comes first
        return StreamOutput(Path(name), os.dup(number))
    check_output_file(name, overwrite=overwrite)
    if is_stream(name):
        return StreamOutput(Path(name), os.open(name, os.O_WRONLY | os.O_CLOEXEC))
    target = Path(os.path.realpath(name))
    sweep(target)
    return AtomicFile(target, overwrite=overwrite, secret=secret)


def is_standard_output(path: Place) -> bool:
    """Whether a name is of standard output."""
    return _descriptor(os.fspath(path)) == 1


def is_stream(path: Place) -> bool:
    """Whether a name is standard output or a special file, which cannot be replaced."""
    name = os.fspath(path)
    if _descriptor(name) is not None:
        return True
    try:
        mode = os.stat(name).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _descriptor(name: str) -> int | None:
    """The number of the open file that a name is for: 1 for `-` and /dev/stdout. Where standard output is a file, the
    name /dev/stdout leads to it; it is written to and not replaced, because the user redirected it."""
    if name == STANDARD_OUTPUT:
        return 1
    folders = {os.path.realpath(folder) for folder in ("/dev/fd", "/proc/self/fd")}
    for _ in range(_LINKS):
        folder, last = os.path.split(name)
        if last.isdecimal() and os.path.realpath(folder) in folders:
            return int(last)
        try:
            name = os.path.join(folder, os.readlink(name))
        except OSError:
            return None
    return None


def check_output_file(path: Place, *, overwrite: bool = True) -> None:
    """Raise the errors about a file to write that can be known before it is written."""
    if is_stream(path):
        return
    target = Path(os.path.realpath(path))
    try:
        os.stat(path)
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise DataError(f"{path}: the folder {target.parent} does not exist; make it first") from None
        return
    except NotADirectoryError:
        raise DataError(f"{path}: a part of this path is a file, not a folder; name another file") from None
    if target.is_dir():
        raise DataError(f"{path}: is a folder; name a file to write")
    if (owner := _owner(target)) is not None:
        raise ConfigError(f"{path}: is in {owner} {target.parent}; name a file outside of it")
    if not overwrite:
        raise ConfigError(
            f"{path}: exists already; name another file, or add --overwrite to replace it (in Python overwrite=True)"
        ).with_options("--overwrite")


def _owner(target: Path) -> str | None:
    """What a file belongs to that only this program may replace."""
    for owner, (marks, names) in _OWN.items():
        if names.fullmatch(target.name) and all((target.parent / mark).exists() for mark in marks):
            return owner
    return None


def check_outputs(outputs: Mapping[str, Place], inputs: Iterable[Place] = ()) -> None:
    """Refuse two outputs that are the same file, and an output that is an input. `outputs` are by the options that
    name them; names that differ may still be one file: by another spelling, or by a link."""
    seen: dict[object, str] = {}
    for option, path in outputs.items():
        if (known := _identity(path)) in seen:
            raise ConfigError(f"{path}: {seen[known]} and {option} are the same file; name two")
        seen[known] = option
    for place in inputs:
        for option, path in outputs.items():
            if same_file(path, place):
                raise ConfigError(
                    f"{path}: {option} is one of the inputs; inputs are never changed, name another file"
                )


def same_file(one: Place, other: Place) -> bool:
    """Whether two names are of the same file, which need not exist yet. Pipes and devices are never the same: they
    can be read and written at once."""
    return not (_is_pipe(one) or _is_pipe(other)) and _identity(one) == _identity(other)


def _identity(path: Place) -> object:
    """Equal for the names of one file, and for no others."""
    name = os.fspath(path)
    if (number := _descriptor(name)) is not None:
        try:
            found = os.fstat(number)
            return ("open", number) if not stat.S_ISREG(found.st_mode) else (found.st_dev, found.st_ino)
        except OSError:
            return "open", number
    try:
        found = os.stat(name)
        return found.st_dev, found.st_ino
    except OSError:
        folder, last = os.path.split(os.path.realpath(name))
        try:
            parent = os.stat(folder)
        except OSError:
            return name
        return parent.st_dev, parent.st_ino, last


def _is_pipe(path: Place) -> bool:
    name = os.fspath(path)
    number = _descriptor(name)
    try:
        mode = (os.stat(name) if number is None else os.fstat(number)).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
