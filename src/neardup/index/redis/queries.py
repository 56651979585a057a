"""Read-only queries of a shared index."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from neardup.errors import FormatError
from neardup.index.answers import Cluster, Hit, Stored
from neardup.index.contents import LARGEST_TEXT, TextTooLarge, unpack_text
from neardup.index.export import ExportedDocument
from neardup.index.hits import hits_of
from neardup.index.match import Items, Matcher
from neardup.index.redis.documents import RedisDocuments
from neardup.index.redis.records import FOLLOWER, KEEPER, Record
from neardup.index.redis.tables import FOLLOWERS, SharedTables
from neardup.index.tables import Near
from neardup.search.interface import Mode

__all__ = ["RedisReader"]

READ_AT_ONCE = 256  # members of a cluster: their records are as large as their meta


class RedisReader:
    """Hits, documents and clusters. Only documents that are committed and have not expired are visible."""

    def __init__(self, documents: RedisDocuments, tables: SharedTables, matcher: Matcher) -> None:
        self._documents, self._tables, self._matcher = documents, tables, matcher

    def hits(self, items: Items, own: Sequence[str | None], mode: Mode, now: int) -> list[list[Hit]]:
        """The hits of each query, best first, without the query's own id."""
        near = self._matcher.near(items, followers=True)
        fetched = self._documents.fetched(np.unique(near.row).tolist())
        records = {row: record for row, record in fetched.records.items() if _counts(record, now)}
        kept = np.isin(near.row, np.array(list(records), np.int64))
        near = Near(near.query[kept], near.row[kept], near.distance[kept])
        found = self._matcher.compared(items, near, fetched.only(records))
        return hits_of(found, {row: record.id for row, record in records.items()}, own, mode)

    def stored(self, ids: Sequence[str], most: int | None = None) -> list[Stored | None]:
        """What is stored under ids; TextTooLarge if that is more than `most` bytes, before it is loaded."""
        rows = self._documents.rows_of(ids)
        there = [row for row in rows if row is not None]
        if most is not None and self._documents.stored_bytes(there) > most:
            raise TextTooLarge(f"what is stored has more than {most:,} bytes")
        records = self._committed(there, int(time.time() * 1000))
        found = {entry.row: entry for entry in self._entries(records, most)}
        return [
            entry if row is not None and (entry := found.get(row)) is not None and entry.id == id else None
            for id, row in zip(ids, rows, strict=True)
        ]

    def documents(self, last: int) -> Iterator[Stored]:
        """All documents below a row number."""
        for page in self._documents.pages(last):
            now = int(time.time() * 1000)
            yield from self._entries({row: record for row, record in page.items() if _counts(record, now)})

    def lines(self, last: int) -> Iterator[Sequence[ExportedDocument]]:
        """All documents below a row number, as export lines."""
        for page in self._documents.pages(last):
            now = int(time.time() * 1000)
            yield self._exported({row: record for row, record in page.items() if _counts(record, now)})

    def cluster(self, id: str, most: int | None = None) -> Cluster | None:
        """The cluster of a document. Followers are near their keeper, so a search for the keeper finds them.
        TextTooLarge if it has more than `most` members."""
        now = int(time.time() * 1000)
        row = self._documents.rows_of([id])[0]
        if row is None or (record := self._committed([row], now).get(row)) is None or record.id != id:
            return None
        lead = row if record.state == KEEPER else record.other
        head = self._committed([lead], now).get(lead)
        if head is None:  # it was just removed, or a worker died while removing it
            return Cluster(id, [Hit(id, row, None, None)])
        held = self._documents.contents({lead: head})
        near: list[int] = []
        if not head.empty and held:
            items = self._matcher.of_contents(np.array([lead]), held)
            probes = self._matcher.probes(items)
            near = self._tables.find(items.keys, items.empty, (FOLLOWERS,), probes=probes).row.tolist()
        members = [Hit(head.id, lead, None, None)]
        rows = sorted({*near, row} - {lead})
        for start in range(0, len(rows), READ_AT_ONCE):
            found = self._committed(rows[start : start + READ_AT_ONCE], now)
            members += [
                Hit(r.id, at, r.distance, r.similarity)
                for at, r in sorted(found.items())
                if r.state == FOLLOWER and r.other == lead
            ]
            if most is not None and len(members) > most:
                raise TextTooLarge(f"the cluster has more than {most:,} members")
        return Cluster(head.id, members)

    def _committed(self, rows: Iterable[int], now: int) -> dict[int, Record]:
        return {row: r for row, r in self._documents.read(rows).items() if _counts(r, now)}

    def _heads(self, records: dict[int, Record]) -> dict[int, Record]:
        """The records, together with the records of their keepers."""
        others = {r.other for r in records.values() if r.state == FOLLOWER} - records.keys()
        return records | self._documents.read(sorted(others))

    def _exported(self, records: dict[int, Record]) -> list[ExportedDocument]:
        heads, lines = self._heads(records), []
        for row, (fingerprint, content) in self._documents.contents(records).items():
            record = records[row]
            head = heads.get(record.other) if record.state == FOLLOWER else record
            follows = head is not None and head is not record
            lines.append(
                ExportedDocument(
                    record.id,
                    record.id if head is None else head.id,
                    record.distance if follows else None,
                    record.similarity if follows else None,
                    record.added,
                    record.expires,
                    fingerprint,
                    record.meta,
                    content,
                )
            )
        return lines

    def _entries(self, records: dict[int, Record], most: int | None = None) -> list[Stored]:
        """Records as documents; TextTooLarge as soon as their texts have more than `most` bytes."""
        heads = self._heads(records)
        held = self._documents.contents(records)
        left = LARGEST_TEXT if most is None else most
        entries = []
        for row, record in sorted(records.items()):
            fingerprint, content = held.get(row, (None, None))
            text = None
            if content is not None and self._documents.texts:
                text = unpack_text(content, left)
                left -= len(text) if most is not None else 0
            follows = record.state == FOLLOWER and record.other in heads
            entries.append(
                Stored(
                    id=record.id,
                    row=row,
                    keeper=heads[record.other].id if follows else record.id,
                    added=record.added / 1000,
                    expires=None if record.expires is None else record.expires / 1000,
                    meta=self._meta(record),
                    text=text,
                    fingerprint=fingerprint,
                )
            )
        return entries

    def _meta(self, record: Record) -> dict[str, Any]:
        try:
            meta = {} if record.meta is None else json.loads(record.meta)
        except (ValueError, RecursionError):
            meta = None
        if not isinstance(meta, dict):
            where = self._documents.connection.address.shown
            raise FormatError(
                where, f"a JSON object as the meta of {record.id!r:.100}", repr(record.meta)[:50]
            )
        return meta


def _counts(record: Record, now: int) -> bool:
    return record.state in (KEEPER, FOLLOWER) and not record.expired(now)
