"""Reads a whole shared index, and repairs what dead workers and failovers left behind."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from neardup.index.answers import Health
from neardup.index.redis.connection import Command
from neardup.index.redis.documents import RedisDocuments
from neardup.index.redis.records import FOLLOWER, GONE, KEEPER, PENDING, VOID, Record
from neardup.index.redis.scripts import DROP
from neardup.index.redis.tables import FOLLOWERS, KEEPERS, SharedTables
from neardup.index.redis.writes import RedisWriter

__all__ = ["repair"]

Rows = NDArray[np.int64]
BUCKETS_AT_ONCE = 1000


@dataclass
class _Found:
    """Problems: rows half added or half removed, older versions, rows whose id was lost, followers without a keeper,
    rows without contents, and entries without a document, by bucket."""

    half: dict[int, Record] = field(default_factory=dict)
    older: list[int] = field(default_factory=list)
    nameless: dict[str, list[int]] = field(default_factory=dict)
    lost: dict[int, Record] = field(default_factory=dict)
    hollow: list[int] = field(default_factory=list)
    absent: int = 0
    documents: int = 0
    followers: int = 0
    strays: dict[bytes, set[int]] = field(default_factory=dict)


def repair(documents: RedisDocuments, tables: SharedTables, writer: RedisWriter, changes: bool) -> Health:
    """Compare everything, and repair it if `changes`. A problem that a live worker may be causing is checked twice,
    `patience` seconds apart."""
    found = _Found()
    for page in documents.pages(writer.last_row()):
        _read_page(documents, tables, writer, page, found, changes)
    _read_buckets(documents, tables, found)
    if found.half or found.strays or found.lost or found.older:
        time.sleep(documents.connection.address.patience)
        _look_again(documents, found)
    problems = [
        (len(found.half), "documents were left half added or half removed"),
        (len(found.older), "older versions of documents were left behind"),
        (sum(map(len, found.nameless.values())), "documents cannot be found by their ids"),
        (len(found.lost), "documents follow a keeper that does not exist"),
        (len(found.hollow), "documents have lost their contents"),
        (found.absent, "entries are missing from the tables"),
        (sum(map(len, found.strays.values())), "entries belong to no document"),
    ]
    if changes:
        _put_right(documents, tables, writer, found)
    said = tuple(f"{count:,} {what}" for count, what in problems if count)
    return Health(found.documents, said)


def _read_page(
    documents: RedisDocuments,
    tables: SharedTables,
    writer: RedisWriter,
    page: dict[int, Record],
    found: _Found,
    changes: bool,
) -> None:
    committed = {row: record for row, record in page.items() if record.state in (KEEPER, FOLLOWER)}
    found.half |= {row: record for row, record in page.items() if row not in committed}
    found.documents += len(committed)
    found.followers += sum(record.state == FOLLOWER for record in committed.values())
    current = documents.rows_of([record.id for record in committed.values()])
    # Only a later version makes this one an older one. A lost id, or one that leads nowhere, does not.
    later = documents.read(sorted({now for now in current if now is not None} - committed.keys())) | committed
    for (row, record), now in zip(committed.items(), current, strict=True):
        if now is not None and now != row and now in later and later[now].id == record.id:
            found.older.append(row)
        elif now != row:
            found.nameless.setdefault(record.id, []).append(row)
    heads = {record.other for record in committed.values() if record.state == FOLLOWER}
    leads = {row for row, record in documents.read(sorted(heads)).items() if record.state == KEEPER}
    found.lost |= {
        row: record
        for row, record in committed.items()
        if record.state == FOLLOWER and record.other not in leads
    }
    rows, items = writer.items_of(committed)
    found.hollow += sorted(committed.keys() - set(rows.tolist()))
    for kind, state in ((KEEPERS, KEEPER), (FOLLOWERS, FOLLOWER)):
        of_kind = np.array([committed[row].state == state for row in rows.tolist()], bool)
        of_kind &= ~items.empty
        part = items.take(np.flatnonzero(of_kind))
        missing = tables.missing(kind, part.keys, rows[of_kind])
        found.absent += int(missing.sum())
        without = missing > 0
        if changes and without.any():
            some = part.take(np.flatnonzero(without))
            again = tables.added(kind, some.keys, some.empty, rows[of_kind][without])
            documents.connection.run(again)


def _read_buckets(documents: RedisDocuments, tables: SharedTables, found: _Found) -> None:
    """Entries whose row has no record, or whose record has another state than the bucket."""
    layout = tables.layout
    waiting: list[bytes] = []
    for key in documents.connection.scan(f"{{{layout.name}:*}}[{(KEEPERS + FOLLOWERS).decode()}]:*"):
        waiting.append(key)
        if len(waiting) == BUCKETS_AT_ONCE:
            _read_entries(documents, tables, waiting, found)
            waiting = []
    _read_entries(documents, tables, waiting, found)


def _read_entries(
    documents: RedisDocuments, tables: SharedTables, keys: Sequence[bytes], found: _Found
) -> None:
    held = tables.rows_in(keys)
    wanted = np.unique(np.concatenate([np.empty(0, np.int64), *held]))
    records = documents.read(wanted.tolist())
    for key, rows in zip(keys, held, strict=True):
        strays = {row for row in rows.tolist() if not _belongs(records.get(row), key)}
        if strays:
            found.strays[key] = strays


def _belongs(record: Record | None, key: bytes) -> bool:
    if record is None:
        return False
    kind = key[key.index(b"}") + 1 :][:1]
    if record.state in (PENDING, VOID, GONE):
        return True  # the worker that adds or removes it is responsible
    return record.state == (KEEPER if kind == KEEPERS else FOLLOWER)


def _look_again(documents: RedisDocuments, found: _Found) -> None:
    """Leave out rows that have changed meanwhile."""
    now = documents.read(sorted({*found.half, *found.lost, *found.older}))
    found.half = {row: r for row, r in found.half.items() if row in now and now[row].head == r.head}
    found.lost = {row: r for row, r in found.lost.items() if row in now and now[row].head == r.head}
    there = [row for row in found.older if row in now]
    current = documents.rows_of([now[row].id for row in there])
    found.older = [row for row, owner in zip(there, current, strict=True) if owner not in (row, None)]
    rows = sorted({row for strays in found.strays.values() for row in strays})
    records = documents.read(rows)
    again = {
        key: {row for row in strays if not _belongs(records.get(row), key)}
        for key, strays in found.strays.items()
    }
    found.strays = {key: strays for key, strays in again.items() if strays}


def _put_right(documents: RedisDocuments, tables: SharedTables, writer: RedisWriter, found: _Found) -> None:
    found.older += _name_again(documents, found.nameless)
    names = list(found.half)
    owners = documents.rows_of([found.half[row].id for row in names])
    dead = {
        row for row, owner in zip(names, owners, strict=True) if found.half[row].state == GONE or owner != row
    }
    writer.drop(sorted({*dead, *found.older, *found.hollow}))
    # Half-added documents are added now: no client has received an answer for them, but their ids are stored.
    left = {row: record for row, record in found.half.items() if row not in dead}
    # Read again, because removing documents has voided other records, perhaps some of these.
    now = documents.read(sorted(left))
    half = {row: record for row, record in now.items() if record.state in (PENDING, VOID)}
    writer.reassign(found.lost | half)
    # As they are stored: a damaged row may be negative.
    strays = {key: np.array(sorted(rows), "<i8").tobytes() for key, rows in found.strays.items()}
    if strays:
        words = [(rows,) for rows in strays.values()]
        commands = documents.connection.total(DROP, list(strays), words, tables.layout.width)
        documents.connection.run(commands)
    _count(documents, writer)


def _name_again(documents: RedisDocuments, nameless: dict[str, list[int]]) -> list[int]:
    """Give rows whose ids were lost their ids again, unless they have got another row meanwhile. Of several rows of an
    id the last gets it. Returns the others, which are older versions now."""
    ids = list(nameless)
    last = {id: max(rows) for id, rows in nameless.items()}
    there = documents.read(last.values())
    for id, owner in zip(ids, documents.rows_of(ids), strict=True):
        row = last[id]
        if row not in there or owner == row:
            continue
        if owner is None:
            documents.claim([id], np.array([row], np.int64))
        elif owner not in documents.read([owner]):
            documents.hand_back([id], [owner], [row])
    # Only the version that has the id now makes the others older ones.
    owners = dict(zip(ids, documents.rows_of(ids), strict=True))
    named = documents.read([owner for owner in owners.values() if owner is not None])
    return [
        row
        for id, rows in nameless.items()
        for row in rows
        if (owner := owners[id]) is not None and owner != row and owner in named and named[owner].id == id
    ]


def _count(documents: RedisDocuments, writer: RedisWriter) -> None:
    """Set the counters to the numbers that were found."""
    counts = {"documents": 0, "followers": 0}
    for page in documents.pages(writer.last_row()):
        states = [record.state for record in page.values()]
        counts["documents"] += states.count(KEEPER) + states.count(FOLLOWER)
        counts["followers"] += states.count(FOLLOWER)
    meta = documents.layout.meta
    words = [word for name, count in counts.items() for word in (name, count)]
    documents.connection.run([Command(meta, ("HSET", meta, *words))])
