"""Rows of the database with their digests: every value is checked before it is used (docs/reference/format.md).

SQLite keeps no checksums of its pages, so a flipped bit gives another value, of another type perhaps. From version 2 on
a row has two digests: `head` of its small columns, `body` of meta and content, which are read less often. Rows of
version 1 have none; of them the types and the order are checked.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import FormatError

__all__ = [
    "BODY",
    "HEAD",
    "Head",
    "Whole",
    "body_digests",
    "change_digests",
    "checked_changes",
    "checked_heads",
    "checked_wholes",
    "damaged",
    "head_digests",
    "settings_digest",
]

HEAD = "row, id, keeper, distance, similarity, added, expires, print"
BODY = "meta, content"
_SEED = 0x6E64_726F_7773  # digests are against damage, not against people
_HEAD = struct.Struct("<BqqqdqqI")
_BODY = struct.Struct("<BqI")

_TYPES: tuple[frozenset[type], ...] = (
    frozenset({int}),
    frozenset({str}),
    frozenset({int}),
    frozenset({int, type(None)}),
    frozenset({float, type(None)}),
    frozenset({int}),
    frozenset({int, type(None)}),
    frozenset({bytes, type(None)}),
    frozenset({str, type(None)}),
    frozenset({bytes, type(None)}),
)
_NAMES = (*HEAD.split(", "), *BODY.split(", "))

Line = Sequence[Any]


class Head(NamedTuple):
    """The small columns of a document. Times are in milliseconds since 1970."""

    row: int
    id: str
    keeper: int
    distance: int | None
    similarity: float | None
    added: int
    expires: int | None
    fingerprint: bytes | None


class Whole(NamedTuple):
    """All columns of a document."""

    row: int
    id: str
    keeper: int
    distance: int | None
    similarity: float | None
    added: int
    expires: int | None
    fingerprint: bytes | None
    meta: str | None
    content: bytes | None

    @property
    def head(self) -> Head:
        return Head(*self[:8])


def damaged(path: object, why: object) -> FormatError:
    """The error for a damaged database: what is wrong, and what to do."""
    return FormatError(
        path,
        "a sound database",
        f"a damaged one ({why}). Way out: put a backup in its place (neardup index backup makes one), or "
        "save what can be read into a new index with: neardup index recover OLD NEW",
    )


def head_digests(heads: Iterable[Line]) -> list[int]:
    """A digest of each line of the columns in HEAD."""
    return _hashed(map(_head_bytes, heads))


def body_digests(lines: Iterable[tuple[int, str | None, bytes | None]]) -> list[int | None]:
    """A digest of each (row, meta, content); None if there is neither meta nor content."""
    given = list(lines)
    full = [line for line in given if line[1] is not None or line[2] is not None]
    made = iter(_hashed(map(_body_bytes, full)))
    return [None if line[1] is None and line[2] is None else next(made) for line in given]


def change_digests(lines: Sequence[tuple[int, int, int | None]]) -> list[int]:
    """A digest of each (sequence, row, keeper) of the log of changes."""
    numbers = np.array([(at, row, -1 if keeper is None else keeper) for at, row, keeper in lines], "<i8")
    ends = 24 * np.arange(1, len(lines) + 1)
    texts = _core.Texts()
    texts.add_spans(numbers.reshape(-1).view(np.uint8), ends - 24, ends)
    return _signed(texts)


def settings_digest(settings: dict[str, Any]) -> int:
    """One digest of all settings; the type of a value counts, too."""
    # A damaged name may be no text: it is sorted as one, and does not fit.
    lines = sorted(settings.items(), key=lambda line: str(line[0]))
    parts = (f"{name}\0{type(value).__name__}\0{value!r}\0" for name, value in lines)
    return _hashed(["".join(parts).encode()])[0]


def checked_heads(path: object, lines: Sequence[Line], digested: bool) -> list[Head]:
    """Lines of HEAD, followed by the digest if the database has them. FormatError if one is damaged."""
    if not lines:
        return []
    _check_types(path, lines, 8)
    heads = [Head(*line[:8]) for line in lines]
    if digested:
        _compare(path, lines, (line[8] for line in lines), lambda: head_digests(heads))
    return heads


def checked_wholes(path: object, lines: Sequence[Line], digested: bool) -> list[Whole]:
    """Lines of HEAD and BODY, followed by both digests if the database has them. FormatError if one is damaged."""
    if not lines:
        return []
    _check_types(path, lines, 10)
    wholes = [Whole(*line[:10]) for line in lines]
    if digested:
        _compare(path, lines, (line[10] for line in lines), lambda: head_digests(wholes))
        _compare(
            path,
            lines,
            (line[11] for line in lines),
            lambda: body_digests((line.row, line.meta, line.content) for line in wholes),
        )
    return wholes


def checked_changes(path: object, lines: Sequence[Line], digested: bool) -> list[tuple[int, int | None]]:
    """(row, keeper) of lines of the log: sequence, row, keeper and the digest if the database has them."""
    for line in lines:
        if not (type(line[0]) is int and type(line[1]) is int and type(line[2]) in (int, type(None))):
            raise damaged(path, "the log of changes holds a value of a wrong type")
        if line[1] < 0 or (line[2] is not None and line[2] < 0):
            raise damaged(path, "the log of changes holds an impossible row")
    if (
        digested
        and lines
        and [line[3] for line in lines] != change_digests([(line[0], line[1], line[2]) for line in lines])
    ):
        raise damaged(path, "the log of changes does not fit its digests")
    return [(line[1], line[2]) for line in lines]


def _check_types(path: object, lines: Sequence[Line], count: int) -> None:
    for at, column in enumerate(zip(*lines, strict=True)):
        if at < count and not set(map(type, column)) <= _TYPES[at]:
            wrong = next(line for line in lines if type(line[at]) not in _TYPES[at])
            raise damaged(path, f"row {wrong[0]!r}: its {_NAMES[at]} is of a wrong type")
    for line in lines:
        if not line[1] or line[0] < 0 or line[2] < 0:
            raise damaged(path, f"row {line[0]}: it has no id, or an impossible row or keeper")


def _compare(
    path: object, lines: Sequence[Line], stored: Iterable[Any], make: Callable[[], Sequence[int | None]]
) -> None:
    for line, kept, made in zip(lines, stored, make(), strict=True):
        if kept != made:
            raise damaged(path, f"row {line[0]} does not fit its digest")


def _head_bytes(line: Line) -> bytes:
    row, id, keeper, distance, similarity, added, expires, fingerprint = line[:8]
    known = (distance is not None) + 2 * (similarity is not None) + 4 * (expires is not None)
    known += 8 * (fingerprint is not None)
    name = id.encode("utf-8", "surrogatepass")
    numbers = _HEAD.pack(known, row, keeper, distance or 0, similarity or 0.0, added, expires or 0, len(name))
    return b"".join((numbers, name, fingerprint or b""))


def _body_bytes(line: tuple[int, str | None, bytes | None]) -> bytes:
    row, meta, content = line
    said = b"" if meta is None else meta.encode("utf-8", "surrogatepass")
    known = (meta is not None) + 2 * (content is not None)
    return b"".join((_BODY.pack(known, row, len(said)), said, content or b""))


def _hashed(lines: Iterable[bytes]) -> list[int]:
    texts = _core.Texts()
    texts.add(tuple(lines))
    return _signed(texts)


def _signed(texts: _core.Texts) -> list[int]:
    """64-bit hashes as the signed numbers that SQLite stores."""
    hashes: NDArray[np.uint64] = _core.hash_texts(texts, _SEED, _core.Hash.xxh3)
    signed: list[int] = hashes.view(np.int64).tolist()
    return signed
