"""Restores a shared index: from an export, exactly as it was, or from the logs of its workers, document by
document."""

from __future__ import annotations

import base64
import contextlib
import heapq
import json
import time
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np

from neardup.errors import ConfigError, DataError, FormatError
from neardup.index.contents import pack_text, unpack_text
from neardup.index.export import ExportedDocument, read_export
from neardup.index.interface import Opening
from neardup.index.key import exported_documents, read_key
from neardup.index.match import Items
from neardup.index.recipe import Recipe
from neardup.index.redis.address import Address
from neardup.index.redis.connection import Connection
from neardup.index.redis.journal import JournalEntry, is_journal, read_journal
from neardup.index.redis.layout import KeyLayout
from neardup.index.redis.recipe import load_recipe, store_recipe
from neardup.index.redis.records import FOLLOWER, KEEPER, Record
from neardup.index.redis.store import RedisStore

__all__ = ["replay"]

AT_ONCE = 1000


def replay(address: str, sources: Sequence[str], key: str | PathLike[str] | None = None) -> int:
    """Restore an index on a server, from one export or from the logs of all workers. Returns the number of changes.

    The key is FILE.key of the first file. An export needs an index that is new or empty. Logs can be replayed into an
    index that already has some of the documents: these are added again, with the same answers.
    """
    logs = [is_journal(source) for source in sources]
    if not sources or (not all(logs) and len(sources) > 1):
        raise ConfigError("replay takes one export, or any number of logs")
    used = f"{sources[0]}.key" if key is None else key
    recipe, documents = read_key(used), exported_documents(used)
    with contextlib.closing(_opened(address, recipe)) as store:
        if logs[0]:
            return _play(store, heapq.merge(*map(read_journal, sources), key=lambda change: change.order))
        if store.writer.last_row():
            raise DataError(f"{store.path}: an export needs a new index; give another name")
        return _fill(store, read_export(sources[0], recipe, documents))


def _opened(address: str, recipe: Recipe) -> RedisStore:
    where = Address.of(address)
    connection = Connection(where)
    try:
        found = load_recipe(connection)
        if found is None:
            KeyLayout.of(where.name, recipe, where.expected)
            store_recipe(connection, recipe, where.expected)
        elif found.recipe.to_settings() != recipe.to_settings():
            raise ConfigError(f"{where.shown}: another index has this name; give another")
    finally:
        connection.close()
    return RedisStore(address, Opening())


def _play(store: RedisStore, changes: Iterable[JournalEntry]) -> int:
    count, now = 0, int(time.time() * 1000)
    batch: list[dict[str, Any]] = []
    for change in changes:
        if change.put is None:
            _put(store, batch)
            batch = []
            store.writer.remove(change.removed)
        elif change.put.get("expires") is None or change.put["expires"] > now:
            batch.append(change.put)
        count += 1
        if len(batch) == AT_ONCE:
            _put(store, batch)
            batch = []
    _put(store, batch)
    return count


def _put(store: RedisStore, batch: Sequence[dict[str, Any]]) -> None:
    if not batch:
        return
    recipe = store.recipe
    try:
        prints = [bytes.fromhex(line["fingerprint"]) if "fingerprint" in line else None for line in batch]
        contents: list[Any] | None = None
        if recipe.contents == "text":
            contents = [line["text"] for line in batch]
        elif recipe.contents == "features":
            contents = [base64.b64decode(line["features"]) for line in batch]
        items = _items(recipe, prints, contents)
        times = [(int(line["added"]), line.get("expires")) for line in batch]
        ids, metas = [line["id"] for line in batch], [line.get("meta") for line in batch]
    except (KeyError, ValueError, TypeError) as error:
        raise DataError(f"a line of the log does not fit this index: {error}") from None
    store.writer.put_at(ids, items, metas, times)


def _items(recipe: Recipe, prints: Sequence[bytes | None], contents: Sequence[Any] | None) -> Items:
    if any(fingerprint is not None and len(fingerprint) != recipe.width for fingerprint in prints):
        raise ValueError(f"a fingerprint has {recipe.width} bytes")
    column = recipe.column(b"".join(fingerprint or bytes(recipe.width) for fingerprint in prints))
    empty = np.array([fingerprint is None for fingerprint in prints], bool)
    return Items(column, recipe.keys(column), empty, contents)


def _fill(store: RedisStore, lines: Iterable[ExportedDocument]) -> int:
    """Add documents with their keepers. A keeper may come after its follower, so all rows are assigned first."""
    whole = list(lines)
    rows = {line.id: row for row, line in enumerate(whole)}
    if len(rows) != len(whole):
        raise DataError("two documents have the same id")
    missing = [line.keeper for line in whole if line.keeper not in rows]
    if missing:
        raise DataError(f"the keeper {missing[0]!r} is not among the documents")
    writer, recipe = store.writer, store.recipe
    first = writer.take_rows(len(whole))
    if first:
        raise FormatError(store.path, "an empty index", "one that others write to")
    for start in range(0, len(whole), AT_ONCE):
        part = whole[start : start + AT_ONCE]
        records = [_record(line, rows, recipe) for line in part]
        contents: list[Any] | None = None
        if recipe.contents != "none":
            contents = [line.content or b"" for line in part]
            if recipe.contents == "text":
                contents = [unpack_text(content or pack_text("")) for content in contents]
        items = _items(recipe, [line.fingerprint for line in part], contents)
        writer.fill(np.arange(start, start + len(part)), records, items)
    return len(whole)


def _record(line: ExportedDocument, rows: dict[str, int], recipe: Recipe) -> Record:
    if line.meta is not None:
        json.loads(line.meta)
    leads = line.keeper == line.id
    fingerprint = line.fingerprint if recipe.method.whole_keys else None
    return Record(
        KEEPER if leads else FOLLOWER,
        0 if leads else rows[line.keeper],
        line.added,
        line.expires,
        line.distance,
        line.similarity,
        line.id,
        fingerprint,
        line.meta,
        line.fingerprint is None,
    )
