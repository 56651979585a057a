"""Inputs of commands: options as arguments of `read` and `scan`, the text of one file, and a copy of standard input for
those who read it again."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.errors import DataError

if TYPE_CHECKING:
    from neardup.readers.reader import Reader

__all__ = ["check_read", "read_text", "reading_of", "scanning_of", "standard_input_saved"]

_OTHERS = ("include", "exclude", "ext", "hidden", "no_ignore", "encoding", "delimiter")
_RUNNING = ("strict", "allow_rejects", "sha256", "memory", "threads")
_ENDINGS = {"text": "txt"}
_LARGEST = 1 << 30


def reading_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """What was said about the inputs, as arguments of `read` and `scan`. The preset for source code reads all text
    files of a folder as text."""
    text = list(given["text"])
    return {
        "text": text if len(text) > 1 else text[0] if text else None,
        "id": given["id_"],
        "format": given["format_"] or ("source" if given.get("preset") == "source" else None),
        **{name: given[name] for name in _OTHERS},
    }


def scanning_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `scan` that all commands with a scan have as options."""
    return reading_of(given) | {name: given[name] for name in _RUNNING}


def check_read(reader: Reader, given: Mapping[str, Any], rejects: str | None = None) -> None:
    """UnreadableInput, which is exit code 2, if too little of a reader's input could be read; an empty input is no
    error."""
    if reader.account.rows:
        reader.account.check(given["allow_rejects"], strict=given["strict"], rejects=rejects)


@contextmanager
def standard_input_saved(inputs: Sequence[str], findings: str, format: str | None) -> Iterator[list[str]]:
    """The inputs, with a copy in the findings folder in the place of `-`: what is scanned is read again by `apply` and
    `explain`. If the scan fails, the copy is removed."""
    from neardup.findings.lock import LOCK, make_folder
    from neardup.readers.standard_input import STANDARD_INPUT, StandardInput

    if STANDARD_INPUT not in inputs:
        yield list(inputs)
        return
    standard = StandardInput()
    kind = standard.format() if format in (None, "source") else format
    folder = Path(findings) / "stdin"
    if not folder.parent.parent.is_dir():
        raise DataError(f"{findings}: the folder {folder.parent.parent} does not exist; make it first")
    new = make_folder(folder.parent)
    (folder.parent / LOCK).touch()
    folder.mkdir(exist_ok=True)
    path = folder / f"stdin.{_ENDINGS.get(kind or '', kind)}"
    try:
        standard.save(path)
        yield [str(path) if place == STANDARD_INPUT else place for place in inputs]
    except BaseException:
        shutil.rmtree(folder.parent if new else folder, ignore_errors=True)
        raise


def read_text(path: str) -> bytes:
    """The bytes of a file, or of standard input for `-`; at most 1 GiB."""
    data = sys.stdin.buffer.read(_LARGEST + 1) if path == "-" else _read(Path(path))
    if len(data) > _LARGEST:
        raise DataError(f"{path}: larger than 1 GiB")
    return data


def _read(path: Path) -> bytes:
    if path.is_dir():
        raise DataError(f"{path}: is a folder; name the files in it")
    with open(path, "rb") as file:
        return file.read(_LARGEST + 1)
