"""JSON objects that end with a checksum of all bytes before it: a file, or one line of a log.

docs/reference/format.md, "Checked JSON", describes the form.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neardup.errors import FormatError
from neardup.storage.atomic_file import AtomicFile
from neardup.storage.regular_file import read_regular

__all__ = [
    "CHECKSUM",
    "check_names",
    "checked_json",
    "complete_lines",
    "parse_checked",
    "read_checked",
    "write_checked",
]

CHECKSUM = "checksum"
_MOST = 256 << 20
_END = re.compile(rb',\s*"checksum": "([0-9a-f]{32})"\s*\}\s*\Z')
_encode = json.JSONEncoder(ensure_ascii=False).encode
_LOST_END = re.compile(rb'"checksum": "[0-9a-f]{32}"\}.\Z', re.DOTALL)


def checked_json(value: Mapping[str, Any], *, indent: int | None = 1) -> bytes:
    """A JSON object with its checksum as the last member."""
    # A name that is not Unicode has lone surrogates; "backslashreplace" turns them into valid JSON escapes.
    text = _in_lines(value, indent) if indent else _encode(dict(value))
    data = text.encode("utf-8", "backslashreplace")
    gap, end = (b" ", b"}") if indent is None else (b"\n" + b" " * indent, b"\n}")
    body = data.removesuffix(end)
    return body + b"," + gap + b'"checksum": "%s"' % _digest(body) + end


def _in_lines(value: Mapping[str, Any], indent: int) -> str:
    """A line for each member, and for each item of a list in it. Long lists are written much faster so than by the
    indents of the json module."""
    gap = "\n" + " " * indent
    members = []
    for name, member in value.items():
        if isinstance(member, list) and len(member) > 1:
            said = f"[{gap} " + f",{gap} ".join(map(_encode, member)) + f"{gap}]"
        else:
            said = _encode(member)
        members.append(f"{_encode(name)}: {said}")
    return "{" + gap + f",{gap}".join(members) + "\n}"


def parse_checked(data: bytes, path: object, what: str) -> tuple[dict[str, Any], bool]:
    """The object without its checksum, and whether there was one; FormatError if it does not fit or this is no object.

    Files of older versions have none. The caller knows by their version, and refuses others without.
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise FormatError(path, what, "something else") from None
    if not isinstance(value, dict):
        raise FormatError(path, what, "something else")
    end = _END.search(data)
    if (CHECKSUM in value) != (end is not None) or (end and _digest(data[: end.start()]) != end[1]):
        raise FormatError(path, "a matching checksum", "a damaged file")
    value.pop(CHECKSUM, None)
    return value, end is not None


def complete_lines(data: bytes, path: object, before: int = 0) -> bytes:
    """The complete lines at the beginning of this part of a log; `before` is the number of lines before the part.

    A crash leaves the beginning of a line, which is ignored. Behind a whole line only damage leaves another byte than
    its end: FormatError.
    """
    whole = data[: data.rfind(b"\n") + 1]
    if _LOST_END.search(data, len(whole)):
        lines = whole.count(b"\n")
        raise FormatError(path, f"the end of line {before + lines + 1}", "another byte")
    return whole


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=16).hexdigest().encode()


def write_checked(
    path: Path,
    value: Mapping[str, Any],
    *,
    durable: bool = True,
    secret: bool = False,
    overwrite: bool = True,
) -> None:
    """Write a file, whole or not at all; without `overwrite`, DataError if it exists."""
    with AtomicFile(path, durable=durable, secret=secret, overwrite=overwrite) as file:
        file.write(checked_json(value) + b"\n")


def read_checked(path: Path, what: str) -> tuple[dict[str, Any], bool]:
    """Read a file; see `parse_checked`."""
    if path.stat().st_size > _MOST:
        raise FormatError(path, what, "a file too large to be one")
    return parse_checked(read_regular(path), path, what)


def check_names(value: Mapping[str, Any], known: set[str], path: object, where: str) -> None:
    """FormatError if the object has a name that this version does not know."""
    for name in value:
        if name not in known:
            raise FormatError(path, f"names of {where} that this version knows", repr(name))
