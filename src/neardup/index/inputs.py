"""Checks of input from outside: ids, metas, times."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from neardup.errors import ConfigError, DataError
from neardup.readers.batch import Batch
from neardup.readers.document import Document
from neardup.values.plain import json_value
from neardup.values.threads import check_threads

__all__ = [
    "LONGEST_ID",
    "batches",
    "check_ids",
    "check_opening",
    "is_address",
    "lasting",
    "meta_text",
    "one_by_one",
]

LONGEST_ID = 8192  # bytes
LONGEST_TTL = 1e10  # seconds: the expiry time must be a number that SQLite can store
SERVERS = re.compile(r"(redis|valkey)s?(\+cluster|\+unix)?://", re.IGNORECASE)


def is_address(path: object) -> bool:
    """Whether this is the address of a server. "redis:x" and "./redis://x" are folders."""
    return isinstance(path, str) and SERVERS.match(path) is not None


def check_opening(mode: str, ttl: float | None, threads: int) -> None:
    """Check the arguments with which every index is opened, before anything is created."""
    if mode not in ("write", "read"):
        raise ConfigError(f'mode is "write" or "read", not {mode!r}')
    lasting(ttl)
    check_threads(threads)


def lasting(ttl: float | None) -> int | None:
    """A time to live in milliseconds."""
    if ttl is None:
        return None
    if not 0 < ttl <= LONGEST_TTL:
        raise ConfigError(f"a time to live is a number of seconds above 0 and up to 1e10, not {ttl!r}")
    return int(ttl * 1000)


def meta_text(meta: Mapping[str, Any]) -> str | None:
    if not meta:
        return None
    try:
        return json.dumps(meta, ensure_ascii=False, allow_nan=False, default=json_value)
    except (TypeError, ValueError) as error:
        raise DataError(f"this meta cannot be stored as JSON: {error}") from None


def one_by_one(documents: Iterable[Document] | Iterable[Batch]) -> Iterator[Document]:
    """The documents of a list, or of the batches of a reader."""
    for given in documents:
        if isinstance(given, Document):
            yield given
        elif isinstance(given, Batch):
            yield from given
        else:
            raise DataError(f"expected Documents, got {type(given).__name__}")


def check_ids(ids: Sequence[str]) -> None:
    for id in ids:
        if not isinstance(id, str) or not id:
            raise DataError(f"an id is a text of one character or more, not {id!r:.100}")
        if len(id) > LONGEST_ID // 4 and len(id.encode("utf-8", "replace")) > LONGEST_ID:
            raise DataError(f"an id has at most {LONGEST_ID:,} bytes; {id[:50]!r}... has more")
    try:
        "".join(ids).encode()
    except UnicodeEncodeError as error:
        raise DataError(f"an id is not well-formed Unicode: {error.reason}") from None


def batches(ids: Sequence[str], most: int) -> Iterator[slice]:
    """Parts that are written together: at most `most` documents, and none twice with the same id."""
    for start in range(0, len(ids), most):
        part, first = ids[start : start + most], 0
        while first < len(part):
            last = _distinct_until(part, first)
            yield slice(start + first, start + last)
            first = last


def _distinct_until(ids: Sequence[str], start: int) -> int:
    """The end of the longest part from `start` in which no id occurs twice."""
    if len(set(ids[start:])) == len(ids) - start:
        return len(ids)
    known: set[str] = set()
    for stop in range(start, len(ids)):
        if ids[stop] in known:
            return stop
        known.add(ids[stop])
    return len(ids)
