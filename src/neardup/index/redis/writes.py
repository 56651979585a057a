"""Inserts and deletes in a shared index: batches, removals, and expired documents."""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from neardup.errors import FormatError, NeardupError
from neardup.index.answers import Answers
from neardup.index.inputs import batches, check_ids, lasting
from neardup.index.interface import read_only
from neardup.index.match import Items, Matcher
from neardup.index.redis.conflicts import Case, ConflictResolver
from neardup.index.redis.connection import Command
from neardup.index.redis.documents import Fetched, RedisDocuments
from neardup.index.redis.journal import Journal
from neardup.index.redis.records import FOLLOWER, GONE, KEEPER, PENDING, Record
from neardup.index.redis.scripts import FORGET
from neardup.index.redis.single import SingleWriter
from neardup.index.redis.tables import FOLLOWERS, KEEPERS, SharedTables

__all__ = ["RedisWriter"]

AT_ONCE = 1024  # documents in a batch
REMOVED_AT_ONCE, ORPHANS_AT_ONCE = 10_000, 1024
SECONDS_AT_ONCE = 100  # whose expired documents are removed together
Rows = NDArray[np.int64]
Times = tuple[int, int | None]  # added, expires


class RedisWriter:
    """Inserts and deletes documents. One thread of this process at a time; others work at the same time."""

    def __init__(
        self,
        documents: RedisDocuments,
        tables: SharedTables,
        matcher: Matcher,
        *,
        ttl: float | None,
        writes: bool,
        journal: Journal | None,
    ) -> None:
        self._documents, self._tables, self._matcher = documents, tables, matcher
        self._connection, self._layout = documents.connection, documents.layout
        self._resolver = ConflictResolver(documents, tables, matcher, self._connection.address.patience)
        self._ttl, self._writes, self._journal = lasting(ttl), writes, journal
        self._single = SingleWriter(documents, tables, matcher, self._give_up)
        self._lock = threading.RLock()

    def put(
        self, ids: Sequence[str], items: Items, metas: Sequence[str | None], ttl: float | None
    ) -> Answers:
        """Add documents in batches. A batch ends before an id that it already contains."""
        now, life = int(time.time() * 1000), self._ttl if ttl is None else lasting(ttl)
        return self.put_at(ids, items, metas, [(now, None if life is None else now + life)] * len(ids))

    def put_at(
        self, ids: Sequence[str], items: Items, metas: Sequence[str | None], times: Sequence[Times]
    ) -> Answers:
        """The same for documents with their own times."""
        self.check_writable()
        check_ids(ids)
        parts: list[Answers] = []
        with self._lock, ThreadPoolExecutor(1, "resolve") as other:
            under_way: Future[Answers] | None = None
            for part in batches(ids, AT_ONCE):
                whole = part.stop - part.start == len(ids)
                case, old = self._begun(
                    ids[part], items if whole else items.cut(part), metas[part], times[part]
                )
                if whole:
                    return self._resolved(case, old)
                # While one batch is resolved, the next is written and searches the tables. It is resolved after the
                # batches before it, and searches again if these added similar documents meanwhile.
                try:
                    parts += [] if under_way is None else [under_way.result()]
                except BaseException:
                    self._give_up(case)
                    raise
                under_way = other.submit(self._resolved, case, old)
            parts += [] if under_way is None else [under_way.result()]
        return Answers.joined(parts)

    def _begun(
        self, ids: Sequence[str], items: Items, metas: Sequence[str | None], times: Sequence[Times]
    ) -> tuple[Case, set[int]]:
        """Write documents as pending. Also returns the rows of their older versions."""
        case: Case | None = None
        taken, skipped = 0, len(ids)
        if skipped == 1:
            case = self._single.begun(ids[0], items, metas[0], *times[0], int(time.time() * 1000))
        if case is None:
            case, taken = self._written(ids, items, metas, times)
        while taken:
            # A failover or restart has set the row counter back, and these rows already hold other documents: use
            # free rows.
            self._undo(case)
            self.take_rows(skipped)
            skipped *= 2
            case, taken = self._written(ids, items, metas, times)
        old = {row for row in case.before if row is not None}
        case.without |= old
        return case, old

    def _written(
        self, ids: Sequence[str], items: Items, metas: Sequence[str | None], times: Sequence[Times]
    ) -> tuple[Case, int]:
        """Write documents under new rows. Also counts the rows that already hold other documents, which is an
        error."""
        now = int(time.time() * 1000)
        rows, ticket = self._numbers(len(ids), now)
        prints = [None] * len(ids) if self._documents.apart else items.blobs()
        columns = zip(ids, prints, metas, items.empty.tolist(), times, strict=True)
        records = [
            Record(PENDING, ticket, *moment, None, None, id, fingerprint, meta, empty)
            for id, fingerprint, meta, empty, moment in columns
        ]
        case = Case(rows, items, records, ticket, now)
        self._resolver.later[ticket] = False
        numbers = rows.tolist()
        claims = self._documents.claims(ids, rows)
        question = self._tables.question(items.keys, items.empty, (KEEPERS,), self._matcher.probes(items))
        written = self._documents.written(numbers, records)
        writing = written + self._documents.filled(numbers, items)
        writing += self._tables.added(KEEPERS, items.keys, items.empty, rows) + self._expiring(rows, records)
        try:
            done, claimed, found = self._connection.in_order(writing, claims.commands, question.commands)
            case.before = self._documents.claimed(claims, claimed)
            case.found = self._tables.read(question, found)
        except NeardupError:
            self._give_up(case)
            raise
        return case, sum(done[: len(written)])

    def _undo(self, case: Case) -> None:
        """Undo what was written under rows that already hold other documents. Their overwritten contents are deleted
        too, and so are their entries in shared buckets. Such a document is incomplete, like others that this server
        lost, but not wrong."""
        self._resolver.later.pop(case.ticket, None)
        ids, rows = [record.id for record in case.records], case.rows.tolist()
        self._connection.run(self._tables.dropped(case.items.keys, case.items.empty, case.rows))
        back = [(ids[at], rows[at], old) for at, old in enumerate(case.before) if old is not None]
        self._documents.hand_back([b[0] for b in back], [b[1] for b in back], [b[2] for b in back])
        self._connection.run(self._documents.released(ids, rows))
        ours = [(row, record.to_bytes(), b"") for row, record in zip(rows, case.records, strict=True)]
        replies = self._documents.switch(ours)
        free = [row for row, reply in zip(rows, replies, strict=True) if reply is True]
        self._connection.run(self._documents.erased(free, sorted(set(rows) - set(free))))

    def _resolved(self, case: Case, old: set[int]) -> Answers:
        """The answers for documents that were written; older versions are removed."""
        try:
            resolved = self._resolver.resolve(case)
        except NeardupError:
            self._give_up(case)
            raise
        rows, keepers = case.rows, resolved.keepers
        there = ~resolved.taken
        follows = there & (keepers.row != rows)
        documents, followers = int(there.sum()) - case.counted[0], int(follows.sum()) - case.counted[1]
        self._count(documents=documents, followers=followers, unlisted=resolved.unlisted)
        # Use the ticket of this batch: the ticket of the next batch, which waits for this one, already exists.
        if old or case.stale:
            self.drop(sorted(old | self._left_behind(case.stale)), case.ticket)
        ids = [record.id for record in case.records]
        names = resolved.names | dict(zip(rows.tolist(), ids, strict=True))
        if self._journal is not None:
            self._journal.put(rows, case.records, case.items)
        return Answers(ids, rows, keepers.row, keepers.distance, keepers.similarity, names)

    def _give_up(self, case: Case) -> None:
        """After an error: give ids back to the older versions of uncommitted documents, and remove those of committed
        ones."""
        self._resolver.later.pop(case.ticket, None)
        with contextlib.suppress(NeardupError):
            undone = set(self._resolver.give_up(case))
            places = [at for at, before in enumerate(case.before) if before is not None]
            back = [at for at in places if at in undone]
            self._documents.hand_back(
                [case.records[at].id for at in back],
                case.rows[back].tolist(),
                [case.before[at] or 0 for at in back],
            )
            self.drop(sorted({case.before[at] or 0 for at in places if at not in undone}))

    def _left_behind(self, rows: Iterable[int]) -> set[int]:
        """The rows that no longer own their id, and that no live worker will finish."""
        records = self._documents.read(rows)
        stale = [row for row, record in records.items() if record.state in (KEEPER, FOLLOWER)]
        now = self._documents.rows_of([records[row].id for row in stale])
        return {row for row, current in zip(stale, now, strict=True) if current != row}

    def _numbers(self, count: int, now: int) -> tuple[Rows, int]:
        """New row numbers and a ticket; expired documents are removed first."""
        meta, layout = self._layout.meta, self._layout
        rows, ticket, due = self._connection.run(
            [
                Command(meta, ("HINCRBY", meta, "rows", count)),
                Command(meta, ("HINCRBY", meta, "tickets", 1)),
                Command(meta, ("ZRANGEBYSCORE", layout.expiring, "-inf", now // 1000, "LIMIT", 0, 1)),
            ]
        )
        if not (count <= rows < 1 << 48 and 0 < ticket < 1 << 48):  # both are stored in six bytes
            where = f"{self._connection.address.shown} {meta.decode()}"
            raise FormatError(where, "how many rows and tickets were given out", f"{rows} and {ticket}")
        if due:
            self._sweep(now)
        return np.arange(rows - count, rows), int(ticket)

    def remove(self, ids: Sequence[str]) -> int:
        """Remove documents. Returns how many of them existed."""
        self.check_writable()
        check_ids(ids)
        with self._lock:
            rows = [row for row in self._documents.rows_of(ids) if row is not None]
            count = sum(self.drop(part) for part in _parts(sorted(rows), REMOVED_AT_ONCE))
            if self._journal is not None:
                self._journal.remove(ids, self.last_row())
            return count

    def forget(self, before: int) -> int:
        """Remove documents added before a time, in milliseconds since 1970."""
        self.check_writable()
        with self._lock:
            found = [
                (row, record.id)
                for page in self._documents.pages(self.last_row())
                for row, record in page.items()
                if record.added < before and record.state in (KEEPER, FOLLOWER)
            ]
            count = sum(self.drop(part) for part in _parts([row for row, _ in found], REMOVED_AT_ONCE))
            if self._journal is not None and found:
                self._journal.remove([id for _, id in found], self.last_row())
            return count

    def expire(self) -> int:
        """Remove the expired documents."""
        self.check_writable()
        with self._lock:
            return self._sweep(int(time.time() * 1000))

    def last_row(self) -> int:
        """The first row number that has not been used."""
        return self._connection.counts(self._layout.meta, ["rows"])["rows"]

    def check_writable(self) -> None:
        if not self._writes:
            raise read_only(self._connection.address.shown)

    def _expiring(self, rows: Rows, records: Sequence[Record]) -> list[Command]:
        seconds: dict[int, list[int]] = {}
        for row, record in zip(rows.tolist(), records, strict=True):
            if record.expires is not None:
                seconds.setdefault(record.expires // 1000, []).append(row)
        commands, index = [], self._layout.expiring
        for second, part in seconds.items():
            key = self._layout.expiry(second)
            commands.append(Command(key, ("APPEND", key, np.array(part, "<u8").tobytes())))
            commands.append(Command(index, ("ZADD", index, second, second)))
        return commands

    def fill(self, rows: Rows, records: Sequence[Record], items: Items) -> None:
        """Write committed documents into an empty index, unchanged."""
        self.check_writable()
        follows = np.array([record.state == FOLLOWER for record in records], bool)
        numbers = rows.tolist()
        commands = self._documents.written(numbers, records)
        commands += self._documents.filled(numbers, items) + self._expiring(rows, records)
        for kind, of_kind in ((KEEPERS, ~follows), (FOLLOWERS, follows)):
            part = items.take(np.flatnonzero(of_kind))
            commands += self._tables.added(kind, part.keys, part.empty, rows[of_kind])
        self._connection.run(commands)
        self._documents.claim([record.id for record in records], rows)
        self._count(documents=len(records), followers=int(follows.sum()))

    def take_rows(self, count: int) -> int:
        """Reserve `count` row numbers; returns the first."""
        meta = self._layout.meta
        return int(self._connection.one(meta, "HINCRBY", meta, "rows", count)) - count

    def _sweep(self, now: int) -> int:
        """Remove expired documents, some seconds at a time; the current second is read again until it is over."""
        index, count = self._layout.expiring, 0
        due = self._connection.one(index, "ZRANGEBYSCORE", index, "-inf", now // 1000)
        for value in due:
            if not value.isdigit():
                where = f"{self._connection.address.shown} {index.decode()}"
                raise FormatError(where, "seconds in which documents expire", repr(value)[:50])
        for part in _parts([int(value) for value in due], SECONDS_AT_ONCE):
            count += self._sweep_seconds(part, now)
        return count

    def _sweep_seconds(self, seconds: Sequence[int], now: int) -> int:
        keys = [self._layout.expiry(second) for second in seconds]
        listed = [data or b"" for data in self._connection.values(keys)]
        for key, data in zip(keys, listed, strict=True):
            if len(data) % 8:
                raise FormatError(
                    f"{self._connection.address.shown} {key.decode()}",
                    "rows of 8 bytes",
                    f"{len(data)} bytes",
                )
        rows = sorted(set(np.frombuffer(b"".join(listed), "<u8").tolist()))
        count = 0
        for part in _parts(rows, REMOVED_AT_ONCE):
            records = self._documents.read(part)
            count += self.drop([row for row in part if row in records and records[row].expired(now)])
        over = [at for at, second in enumerate(seconds) if second < now // 1000]
        self._forget_seconds([(seconds[at], keys[at], listed[at]) for at in over])
        return count

    def _forget_seconds(self, swept: Sequence[tuple[int, bytes, bytes]]) -> None:
        """Delete the lists of seconds that are over. Another worker may be adding a document to one of them just now:
        it appends to the list, and then notes the second. So a list that has changed is kept, and the second of a list
        that still exists is noted again."""
        if not swept:
            return
        index = self._layout.expiring
        keys = [key for _, key, _ in swept]
        gone = self._connection.each(FORGET, keys, [(len(data), data[-8:]) for _, _, data in swept])
        noted = [entry for entry, deleted in zip(swept, gone, strict=True) if deleted]
        if not noted:
            return
        removed = Command(index, ("ZREM", index, *(second for second, _, _ in noted)))
        lengths = [Command(key, ("STRLEN", key)) for _, key, _ in noted]
        _, found = self._connection.in_order([removed], lengths)
        again = [second for (second, _, _), size in zip(noted, found, strict=True) if size]
        self._connection.run([Command(index, ("ZADD", index, second, second)) for second in again])

    def drop(self, rows: Sequence[int], ticket: int | None = None) -> int:
        """Remove rows, and choose new keepers for their followers, under a new ticket or one whose documents are all
        committed. Returns how many rows existed."""
        if not rows:
            return 0
        before = self._documents.read(rows)
        going: dict[int, Record] = {}
        left = dict(before)
        mark = GONE + secrets.token_bytes(6)  # unique, so that only one of several workers counts a removal
        while left:
            replies = self._documents.switch([(row, record.head, mark) for row, record in left.items()])
            going |= {row: r for (row, r), done in zip(left.items(), replies, strict=True) if done is True}
            left = {row: now for row, now in zip(left, replies, strict=True) if isinstance(now, Record)}
        numbers, items = self.items_of(going)
        led = np.array([going[row].state == KEEPER for row in numbers.tolist()], bool)
        orphans = self._orphans(numbers[led], items.take(np.flatnonzero(led)))
        self.reassign(orphans, set(rows), ticket)
        there = [record for record in going.values() if record.state in (KEEPER, FOLLOWER)]
        followers = sum(record.state == FOLLOWER for record in there)
        self._clean(going, numbers, items, self._counting(documents=-len(there), followers=-followers))
        return len(there)

    def _clean(self, going: dict[int, Record], rows: Rows, items: Items, counting: Sequence[Command]) -> None:
        """Delete entries, then ids, and records last, so that an interrupted removal can be repeated."""
        self._tables.cut_followers(items.keys, items.empty, rows)
        commands = self._tables.dropped(items.keys, items.empty, rows)
        released = self._documents.released([record.id for record in going.values()], list(going))
        self._connection.in_order(commands, released, self._documents.erased(list(going)), counting)

    def items_of(self, records: dict[int, Record]) -> tuple[Rows, Items]:
        """Items of stored rows; rows whose contents are lost are left out."""
        rows = np.array(list(records), np.int64)
        whole = Fetched(self._documents, records).contents(rows)
        rows = rows[np.isin(rows, np.array(list(whole), np.int64))]
        return rows, self._matcher.of_contents(rows, whole)

    def _orphans(self, keepers: Rows, items: Items) -> dict[int, Record]:
        """The documents that follow one of these rows. All are near it, so a search in the tables finds them."""
        if not len(keepers):
            return {}
        near = self._tables.find(items.keys, items.empty, (FOLLOWERS,), probes=self._matcher.probes(items))
        found = self._documents.read(np.unique(near.row).tolist())
        removed = set(keepers.tolist())
        return {row: r for row, r in sorted(found.items()) if r.state == FOLLOWER and r.other in removed}

    def reassign(
        self, orphans: dict[int, Record], without: set[int] | None = None, ticket: int | None = None
    ) -> None:
        """Choose new keepers for documents that lost theirs, as if they were new, in the order of their rows."""
        excluded = without or set()
        rows = [row for row in sorted(orphans) if row not in excluded]
        for part in _parts(rows, ORPHANS_AT_ONCE):
            meta = self._layout.meta
            if ticket is None:
                ticket = int(self._connection.one(meta, "HINCRBY", meta, "tickets", 1))
            now = int(time.time() * 1000)
            pending = {row: orphans[row].pending(ticket) for row in part}
            changes = [(row, orphans[row].head, record.to_bytes()) for row, record in pending.items()]
            replies = self._documents.switch(changes)
            mine = [row for row, done in zip(part, replies, strict=True) if done is True]
            numbers, items = self.items_of({row: pending[row] for row in mine})
            if not len(numbers):
                continue
            commands = self._tables.added(KEEPERS, items.keys, items.empty, numbers)
            # A half-added document may be missing in the follower tables, where orphans are.
            half = np.array([orphans[row].state != FOLLOWER for row in numbers.tolist()], bool)
            some = items.take(np.flatnonzero(half))
            commands += self._tables.added(FOLLOWERS, some.keys, some.empty, numbers[half])
            self._connection.run(commands)
            case = Case(
                numbers, items, [pending[row] for row in numbers.tolist()], ticket, now, set(excluded)
            )
            resolved = self._resolver.resolve(case, listed=True)
            taken = int(resolved.taken.sum())
            leads = (resolved.keepers.row == numbers) & ~resolved.taken
            self._count(documents=-taken, followers=-taken - int(leads.sum()))

    def _count(self, **by: int) -> None:
        self._connection.run(self._counting(**by))

    def _counting(self, **by: int) -> list[Command]:
        meta = self._layout.meta
        return [Command(meta, ("HINCRBY", meta, name, value)) for name, value in by.items() if value]


def _parts(rows: Sequence[int], size: int) -> list[Sequence[int]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]
