"""A shared index made again: from an export, as it was, or from its workers' logs, document by document."""

from __future__ import annotations

import base64
import heapq
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.errors import ConfigError, DataError, FormatError
from neardup.index.contents import pack_text, unpack_text
from neardup.index.export import Line, read_export, write_export
from neardup.index.key import read_key
from neardup.index.match import Items
from neardup.index.recipe import Recipe
from neardup.index.redis.address import Address
from neardup.index.redis.connection import Connection
from neardup.index.redis.documents import Documents
from neardup.index.redis.journal import Change, is_journal, read_journal
from neardup.index.redis.layout import Layout
from neardup.index.redis.recipe import load_recipe, store_recipe
from neardup.index.redis.records import FOLLOWER, KEEPER, Record

if TYPE_CHECKING:
    from neardup.index.redis.index import SharedIndex

__all__ = ["export_shared", "import_shared", "replay"]

AT_ONCE = 1000


def export_shared(documents: Documents, last: int, path: Path) -> int:
    """Write all documents of a shared index to a JSONL or Parquet file, by row, and its key beside it."""

    def parts() -> Iterator[list[Line]]:
        for page in documents.pages(last):
            now = int(time.time() * 1000)
            settled = {
                row: record
                for row, record in page.items()
                if record.state in (KEEPER, FOLLOWER) and not record.expired(now)
            }
            yield _lines(documents, settled)

    return write_export(path, documents.recipe, parts())


def _lines(documents: Documents, settled: dict[int, Record]) -> list[Line]:
    others = {r.other for r in settled.values() if r.state == FOLLOWER} - settled.keys()
    heads = settled | documents.read(sorted(others))
    lines = []
    for row, (print, content) in documents.contents(settled).items():
        record = settled[row]
        head = heads.get(record.other) if record.state == FOLLOWER else record
        follows = head is not None and head is not record
        lines.append(
            Line(
                record.id,
                record.id if head is None else head.id,
                record.distance if follows else None,
                record.similarity if follows else None,
                record.added,
                record.expires,
                print,
                record.meta,
                content,
            )
        )
    return lines


def import_shared(address: str, source: str, key: str | PathLike[str] | None = None) -> int:
    """A new shared index from an export, with its clusters; gives how many documents it has."""
    return replay(address, [source], key)


def replay(address: str, sources: Sequence[str], key: str | PathLike[str] | None = None) -> int:
    """Put an index on a server again, from one export or from the logs of all workers; gives the number of changes.

    The key is FILE.key of the first file. An export goes into an index that is new or empty. Logs may go on top of an
    older state: what is there already is put again, and answers the same.
    """
    logs = [is_journal(source) for source in sources]
    if not sources or (not all(logs) and len(sources) > 1):
        raise ConfigError("replay takes one export, or any number of logs")
    recipe = read_key(f"{sources[0]}.key" if key is None else key)
    index = _opened(address, recipe)
    with index:
        if logs[0]:
            return _play(index, heapq.merge(*map(read_journal, sources), key=lambda change: change.order))
        if index._shared.last_row():
            raise DataError(f"{index.path}: an export goes into a new index; give another name")
        return _fill(index, read_export(sources[0], recipe))


def _opened(address: str, recipe: Recipe) -> SharedIndex:
    from neardup.index.redis.index import SharedIndex

    where = Address.of(address)
    connection = Connection(where)
    try:
        found = load_recipe(connection)
        if found is None:
            Layout.of(where.name, recipe, where.expected)
            store_recipe(connection, recipe, where.expected)
        elif found[0].to_settings() != recipe.to_settings():
            raise ConfigError(f"{where.shown}: another index has this name; give another")
    finally:
        connection.close()
    return SharedIndex(address)


def _play(index: SharedIndex, changes: Iterable[Change]) -> int:
    count, now = 0, int(time.time() * 1000)
    batch: list[dict[str, Any]] = []
    for change in changes:
        if change.put is None:
            _put(index, batch)
            batch = []
            index.remove(change.removed)
        elif change.put.get("expires") is None or change.put["expires"] > now:
            batch.append(change.put)
        count += 1
        if len(batch) == AT_ONCE:
            _put(index, batch)
            batch = []
    _put(index, batch)
    return count


def _put(index: SharedIndex, batch: Sequence[dict[str, Any]]) -> None:
    if not batch:
        return
    recipe = index._recipe
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
    index._shared.put_at(ids, items, metas, times)


def _items(recipe: Recipe, prints: Sequence[bytes | None], contents: Sequence[Any] | None) -> Items:
    if any(print is not None and len(print) != recipe.width for print in prints):
        raise ValueError(f"a fingerprint has {recipe.width} bytes")
    column = recipe.column(b"".join(print or bytes(recipe.width) for print in prints))
    empty = np.array([print is None for print in prints], bool)
    return Items(column, recipe.keys(column), empty, contents)


def _fill(index: SharedIndex, lines: Iterable[Line]) -> int:
    """Documents with the keepers they had. A keeper may come after its follower, so rows are given out beforehand."""
    whole = list(lines)
    rows = {line.id: row for row, line in enumerate(whole)}
    if len(rows) != len(whole):
        raise DataError("two documents have the same id")
    missing = [line.keeper for line in whole if line.keeper not in rows]
    if missing:
        raise DataError(f"the keeper {missing[0]!r} is not among the documents")
    takes, recipe = index._shared, index._recipe
    first = takes.take_rows(len(whole))
    if first:
        raise FormatError(index.path, "an empty index", "one that others write to")
    for start in range(0, len(whole), AT_ONCE):
        part = whole[start : start + AT_ONCE]
        records = [_record(line, rows, recipe) for line in part]
        contents: list[Any] | None = None
        if recipe.contents != "none":
            contents = [line.content or b"" for line in part]
            if recipe.contents == "text":
                contents = [unpack_text(content or pack_text("")) for content in contents]
        items = _items(recipe, [line.print for line in part], contents)
        takes.fill(np.arange(start, start + len(part)), records, items)
    return len(whole)


def _record(line: Line, rows: dict[str, int], recipe: Recipe) -> Record:
    if line.meta is not None:
        json.loads(line.meta)
    leads = line.keeper == line.id
    print = line.print if recipe.method.whole_keys else None
    return Record(
        KEEPER if leads else FOLLOWER,
        0 if leads else rows[line.keeper],
        line.added,
        line.expires,
        line.distance,
        line.similarity,
        line.id,
        print,
        line.meta,
        line.print is None,
    )
