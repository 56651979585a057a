"""Conflict resolution: workers decide without a lock which documents are new.

Each worker first writes its documents as pending, with the ticket of the batch: records and table entries. Only then
does it read the tables. So of two workers with similar documents, at least one sees the document of the other. What
it does depends on the state of that document:

- a keeper: the new document follows it.
- pending, with a later ticket: this worker voids it (switches its record from pending to void). The other worker cannot
  commit it before it has searched again, and then it finds the document of this worker.
- pending, with an earlier ticket: this worker waits until that document is committed. If nothing happens for `patience`
  seconds, the other worker is considered dead, and this worker voids its document.

A document is committed in one atomic step: its record is switched from pending to keeper or follower. The switch
fails if another worker has voided the record. Earlier tickets never wait for later ones, so one worker can always
continue.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SharedIndexError
from neardup.index.clusters import Keepers, choose_keepers
from neardup.index.match import Items, Matcher
from neardup.index.matches import NO_MATCHES, Matches
from neardup.index.redis.connection import Command, Connection
from neardup.index.redis.documents import Fetched, RedisDocuments
from neardup.index.redis.records import FOLLOWER, GONE, KEEPER, PENDING, VOID, Record
from neardup.index.redis.tables import FOLLOWERS, KEEPERS, BucketEntries, SharedTables
from neardup.index.tables import Near

__all__ = ["Case", "ConflictResolver", "Resolved"]

Rows = NDArray[np.int64]
FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.02


@dataclass
class Case:
    """The documents of one batch that is being added, all pending under one ticket. `without` are rows that must not
    match: older versions of the same documents, and rows that are being removed. `stale` are more such rows, found
    during the search. `taken` are the positions of documents that another worker replaced or removed before they were
    committed. `before` are the rows that had the ids, by position. `bare` are the positions without entries in the
    keeper tables. `found` is the reply of the tables after the documents were written; None means that they must be
    searched again. `counted` are the numbers of documents and followers that were counted with the commit, before it
    was known to succeed. `fetched` are rows whose records came with `found`."""

    rows: Rows
    items: Items
    records: list[Record]
    ticket: int
    now: int
    without: set[int] = field(default_factory=set)
    stale: set[int] = field(default_factory=set)
    taken: set[int] = field(default_factory=set)
    before: list[int | None] = field(default_factory=list)
    bare: set[int] = field(default_factory=set)
    found: BucketEntries | None = None
    counted: list[int] = field(default_factory=lambda: [0, 0])
    fetched: tuple[frozenset[int], Fetched] | None = None


@dataclass(frozen=True)
class Resolved:
    """The result of a batch: keepers by row, the ids of keepers outside the batch, the number of follower entries
    that found their bucket full, and the documents that another worker removed before they were committed."""

    keepers: Keepers
    names: dict[int, str]
    unlisted: int
    taken: NDArray[np.bool_]


class ConflictResolver:
    """Decides for each document of a batch whether it is a keeper or follows one, and commits it."""

    def __init__(
        self, documents: RedisDocuments, tables: SharedTables, matcher: Matcher, patience: float
    ) -> None:
        self._documents, self._tables, self._matcher = documents, tables, matcher
        self._patience = patience
        self._connection: Connection = documents.connection
        self._sleeping: Callable[[float], None] = time.sleep
        # Tickets of batches of this process that are written but wait for the batch before them. These batches need
        # no void record on the server: the value notes here whether they must search again.
        self.later: dict[int, bool] = {}
        # A reader of `later` may change it, so both steps need the lock; otherwise two similar documents would both
        # be kept.
        self._noting = threading.Lock()

    def resolve(self, case: Case, listed: bool = False) -> Resolved:
        """Resolve a batch whose records and entries have been written. When this returns, all documents are
        committed: followers are in the follower tables, keepers in the keeper tables. `listed`: the documents were
        followers before."""
        count = len(case.rows)
        with self._noting:
            again = self.later.pop(case.ticket, False)
        if again:
            case.found = None
        keeper, distance = case.rows.copy(), np.full(count, -1)
        similarity, names = np.full(count, np.nan), dict[int, str]()
        todo, unlisted = np.arange(count), 0
        known = set(range(count)) if listed else set[int]()
        while len(todo):
            items = case.items if len(todo) == count else case.items.take(todo)
            bare = np.array([at for at in todo.tolist() if at in case.bare], np.int64)
            if len(bare):
                self._connection.run(self._added(KEEPERS, case, bare))
            case.bare.clear()
            found, records = self._matched(case, todo, items)
            rows = case.rows[todo]
            # A single document has no others in its batch to be compared with.
            inner = np.zeros(1, np.int64), NO_MATCHES
            if len(todo) > 1:
                inner = self._matcher.together(items, found.left)
            chosen = choose_keepers(rows, found, *inner, self._matcher.same)
            keeper[todo], distance[todo] = chosen.row, chosen.distance
            similarity[todo] = chosen.similarity
            names |= {row: records[row].id for row in chosen.row.tolist() if row in records}
            failed, full = self._commit(case, todo, chosen, known)
            unlisted += full
            todo = np.array(failed, np.int64)
        if not known and not case.taken:
            return Resolved(Keepers(keeper, distance, similarity), names, unlisted, np.zeros(count, bool))
        leads = np.array([at for at in known if keeper[at] == case.rows[at]], np.int64)
        # Another worker may have removed these documents before the last of their entries was written.
        taken = np.array(sorted(case.taken), np.int64)
        for places in (leads, taken):
            if len(places):
                self._tables.cut_followers(
                    case.items.keys[places], case.items.empty[places], case.rows[places]
                )
        self._connection.run(self._dropped(case, taken))
        removed = np.zeros(count, bool)
        removed[taken] = True
        return Resolved(Keepers(keeper, distance, similarity), names, unlisted, removed)

    def _added(self, kind: bytes, case: Case, places: Rows) -> list[Command]:
        items = case.items
        if not len(places):
            return []
        return self._tables.added(kind, items.keys[places], items.empty[places], case.rows[places])

    def _dropped(self, case: Case, places: Rows) -> list[Command]:
        items = case.items
        if not len(places):
            return []
        return self._tables.dropped(items.keys[places], items.empty[places], case.rows[places])

    def _matched(self, case: Case, todo: Rows, items: Items) -> tuple[Matches, dict[int, Record]]:
        """The keepers that each document matches. Waits while a pending document of another worker matches."""
        asked, case.found = case.found, None
        came, case.fetched = case.fetched, None
        if asked is None:
            probes = self._matcher.probes(items)
            asked = self._tables.fetch(items.keys, items.empty, (KEEPERS,), probes)
        left_out = set(case.rows[todo].tolist()) | case.without
        asked = asked.without(np.array(sorted(left_out), np.int64)).at_most(self._matcher.most(False))
        ours, ids = set(case.rows.tolist()), {record.id for record in case.records}
        since: dict[tuple[int, int], float] = {}
        # Most of the rows near a batch may be followers by now, such as those of the batch before it. So the records
        # are read before pairs of queries and rows are made, which would be a million.
        rows, pause = self._tables.rows(asked), FIRST_PAUSE
        while True:
            if came is not None and came[0].issuperset(rows.tolist()):
                fetched, came = came[1], None  # what is read again is read from the server
            else:
                fetched = self._documents.fetched(rows.tolist())
            records = {
                row: record
                for row, record in fetched.records.items()
                if record.state in (KEEPER, PENDING) and not record.expired(case.now)
                if record.state == KEEPER or not self._postponed(record.other)
            }
            if not records:
                return NO_MATCHES, records
            # Another version of one of our documents: a dead worker left it, or another worker is adding it now.
            older = {row for row, record in records.items() if record.id in ids and row not in ours}
            case.stale |= older
            # The version that owns the id counts as a match for the rest of the batch, but not for its own new
            # version.
            current = self._current(older, records)
            rows = np.array(sorted(records.keys() - (older - current)), np.int64)
            near = self._tables.near(asked := asked.only(rows))
            if current:
                own = [
                    row not in current or records[row].id != case.records[todo[query]].id
                    for query, row in zip(near.query.tolist(), near.row.tolist(), strict=True)
                ]
                near = Near(*(column[np.array(own, bool)] for column in near))
            found = self._matcher.compared(items, near, fetched.only(records))
            under_way = {row for row in np.unique(found.right).tolist() if records[row].state == PENDING}
            if not under_way:
                return found, records
            if not self._cleared(case, {row: records[row] for row in under_way}, since):
                self._sleeping(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    def _postponed(self, ticket: int) -> bool:
        """Whether a ticket belongs to a later batch of this process; that batch then searches the tables again."""
        with self._noting:
            if ticket not in self.later:
                return False
            self.later[ticket] = True
            return True

    def _current(self, rows: set[int], records: dict[int, Record]) -> set[int]:
        """The rows that own their ids."""
        asked = sorted(rows)
        owners = self._documents.rows_of([records[row].id for row in asked])
        return {row for row, owner in zip(asked, owners, strict=True) if row == owner}

    def _cleared(self, case: Case, pending: dict[int, Record], since: dict[tuple[int, int], float]) -> bool:
        """Void pending documents, except those with an earlier ticket. Returns whether there was none to wait for."""
        now, waits = time.monotonic(), False
        voided = []
        for row, record in pending.items():
            first = since.setdefault((row, record.other), now)
            if record.other < case.ticket and now - first < self._patience:
                waits = True
            else:
                voided.append((row, record.head, VOID))
        self._documents.switch(voided)
        return not waits

    def _commit(self, case: Case, todo: Rows, chosen: Keepers, listed: set[int]) -> tuple[list[int], int]:
        """Switch records to the decided state: first keepers, then their followers. Returns the positions of
        documents that must be searched again."""
        leads = chosen.row == case.rows[todo]
        first, follow = todo[leads].tolist(), todo[~leads].tolist()
        failed: list[int] = []
        if first:
            failed = self._led(case, first, () if follow else self._counting(case, len(first), 0))
        lost = {int(case.rows[at]) for at in failed}
        columns = (chosen.row, chosen.distance, chosen.similarity)
        keeper_of = dict(
            zip(todo.tolist(), zip(*(column.tolist() for column in columns), strict=True), strict=True)
        )
        again = [at for at in follow if keeper_of[at][0] in lost]
        follow = [at for at in follow if keeper_of[at][0] not in lost]
        full = 0
        if follow:
            late, full = self._followed(case, first, follow, keeper_of, listed)
            failed += late
        return sorted(failed + again), full

    def _counting(self, case: Case, documents: int, followers: int) -> list[Command]:
        """Commands that count documents together with their commit, as if no commit could fail; corrected later if
        one does."""
        meta = self._documents.layout.meta
        case.counted[0] += documents
        case.counted[1] += followers
        by = {"documents": documents, "followers": followers}
        return [
            Command(meta, ("HINCRBY", meta, name, value))
            for name, value in by.items()
            if value and case.before
        ]

    def _led(self, case: Case, places: Sequence[int], counting: Sequence[Command]) -> list[int]:
        """Commit keepers. Returns the positions that another worker voided; their records are pending again."""
        rows = case.rows[places].tolist()
        asked = self._documents.leads(rows, case.records[0].head)
        replies, _ = self._connection.in_order(asked.commands, counting)
        others = asked.read(replies)
        return self._answered(
            case, [(at, others[row]) for at, row in zip(places, rows, strict=True) if row in others]
        )

    def _followed(
        self,
        case: Case,
        first: Sequence[int],
        places: Sequence[int],
        keeper_of: dict[int, tuple[int, int, float]],
        listed: set[int],
    ) -> tuple[list[int], int]:
        """Commit followers. Returns the positions that must be searched again."""
        new = np.array([at for at in places if at not in listed], np.int64)
        # Add it to the follower tables before the commit: a worker that removes the keeper then finds it, or we
        # notice below.
        added = self._added(FOLLOWERS, case, new)
        # Remove it from the keeper tables before the commit too: later it may lose its keeper, and others add it
        # there again.
        dropped = self._dropped(case, np.array(places, np.int64))
        changes = [
            (int(case.rows[at]), case.records[at].head, case.records[at].following(*keeper_of[at]).to_bytes())
            for at in places
        ]
        switched = self._documents.switches(changes)
        keepers = self._documents.reads(sorted({keeper_of[at][0] for at in places}))
        counting = self._counting(case, len(first) + len(places), len(places))
        _, refused, commits, read, _ = self._connection.in_order(
            dropped,
            added,
            switched.commands,
            keepers.commands,
            counting,
            again=lambda: self._dropped(case, self._undecided(case, places)),
        )
        case.bare.update(places)
        listed.update(places)
        failed = self._answered(case, list(zip(places, switched.read(commits), strict=True)))
        done = [at for at in places if at not in set(failed)]
        failed += self._orphaned(case, done, keeper_of, keepers.read(read))
        return failed, self._tables.refused(refused)

    def _undecided(self, case: Case, places: Sequence[int]) -> Rows:
        """The positions of documents that are still pending here. The others were committed by a call whose reply was
        lost. Another worker may have removed their keepers since: they are in the keeper tables again, and are
        kept there."""
        rows = case.rows[places].tolist()
        now = self._documents.read(rows)
        left = [
            at
            for at, row in zip(places, rows, strict=True)
            if row in now and now[row].head == case.records[at].head
        ]
        return np.array(left, np.int64)

    def _answered(self, case: Case, answered: Sequence[tuple[int, Record | bool]]) -> list[int]:
        """Read the replies of commits. Returns the positions that another worker voided; their records are pending
        again."""
        # If a record is in another state, another worker is removing or replacing it. Our decision is still its
        # answer.
        failed = [at for at, reply in answered if isinstance(reply, Record) and reply.state == VOID]
        removed = [at for at, reply in answered if reply is False]
        if removed:
            self._check_lost(case, removed)
        case.taken |= {
            at
            for at, reply in answered
            if reply is False or (isinstance(reply, Record) and reply.state == GONE)
        }
        if failed:
            self._again(case, failed, VOID)
        return failed

    def _check_lost(self, case: Case, places: Sequence[int]) -> None:
        """Check that missing records were replaced or removed. If their ids still point to them, the server lost
        data."""
        owners = self._documents.rows_of([case.records[place].id for place in places])
        if any(owner == case.rows[place] for place, owner in zip(places, owners, strict=True)):
            raise SharedIndexError(
                f"{self._connection.address.shown}: the server has lost what was just written (a failover, or memory "
                "evicted under a maxmemory-policy); send the batch again"
            )

    def _orphaned(
        self,
        case: Case,
        places: Sequence[int],
        keeper_of: dict[int, tuple[int, int, float]],
        keepers: dict[int, Record],
    ) -> list[int]:
        """Followers whose keeper was removed while they were committed; their records are pending again."""
        lost = [
            place
            for place in places
            if (record := keepers.get(keeper_of[place][0])) is None or record.state != KEEPER
        ]
        if not lost:
            return []
        changes = []
        for place in lost:
            row, keeper = int(case.rows[place]), keeper_of[place][0]
            before = FOLLOWER + keeper.to_bytes(6, "little")
            changes.append((row, before, case.records[place].to_bytes()))
        replies = self._documents.switch(changes)
        # If a switch fails, the worker that removed the keeper has already reassigned the follower.
        return [place for place, reply in zip(lost, replies, strict=True) if reply is True]

    def _again(self, case: Case, places: Sequence[int], state: bytes) -> None:
        """Set voided records of this batch to pending again."""
        changes = []
        for place in places:
            record = case.records[place]
            changes.append((int(case.rows[place]), state + record.head[1:], record.to_bytes()))
        self._documents.switch(changes)

    def give_up(self, case: Case) -> list[int]:
        """After an error: void what is still pending, so that no worker waits for it. Returns its positions."""
        changes = [(int(row), record.head, VOID) for row, record in zip(case.rows, case.records, strict=True)]
        replies = self._documents.switch(changes)
        return [
            at
            for at, reply in enumerate(replies)
            if reply is True or (isinstance(reply, Record) and reply.state == VOID)
        ]
