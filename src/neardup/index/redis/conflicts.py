"""Who is new? Decided without a lock, by workers that see each other's documents before any of them answers.

A document is written first, as pending under its batch's ticket, record and entries; only then are the tables read. So
of two alike documents at least one worker sees the other's. What it does then:

- a keeper: it follows it.
- pending, with a later ticket: it is told to look again (its record is switched from pending to void), and cannot be
  settled before its worker has done so, when it will see this one.
- pending, with an earlier ticket: this worker waits until that document is settled. If nothing happens for `patience`
  seconds its worker is taken for dead, and the document is told to look again all the same.

A document is settled by one atomic step, the switch of its record from pending to keeper or follower, which fails if
somebody has told it to look again. Earlier tickets never wait for later ones, so there is always one that goes on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SharedIndexError
from neardup.index.clusters import Keepers, settle
from neardup.index.match import NO_MATCHES, Items, Matcher, Matches
from neardup.index.redis.connection import Command, Connection
from neardup.index.redis.documents import RedisDocuments
from neardup.index.redis.records import FOLLOWER, GONE, KEEPER, PENDING, VOID, Record
from neardup.index.redis.tables import FOLLOWERS, KEEPERS, SharedTables
from neardup.index.tables import Near

__all__ = ["Case", "Settled", "Settling"]

Rows = NDArray[np.int64]
FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.02


@dataclass
class Case:
    """Documents of one batch on their way in, all pending under one ticket. `without` are rows not to be matched:
    older versions of the same documents, and what is being removed. `stale` are further such that were met, `taken`
    the places of documents that another worker replaced or removed before they were committed.
    `before` are the rows that had the ids, place by place; `bare` the places without entries among the keepers'.
    `near` is what the tables said when the documents had been written; None asks them again. `counted` are documents
    and followers that have been counted, in good faith, with the commit."""

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
    near: Near | None = None
    counted: list[int] = field(default_factory=lambda: [0, 0])


@dataclass(frozen=True)
class Settled:
    """What became of a batch: keepers by row, the ids of the keepers that are not of the batch, how many entries of
    followers found no place, and the documents that somebody took out before they were committed."""

    keepers: Keepers
    names: dict[int, str]
    unlisted: int
    taken: NDArray[np.bool_]


class Settling:
    """Settles batches."""

    def __init__(
        self, documents: RedisDocuments, tables: SharedTables, matcher: Matcher, patience: float
    ) -> None:
        self._documents, self._tables, self._matcher = documents, tables, matcher
        self._patience = patience
        self._connection: Connection = documents.connection
        self._sleeping: Callable[[float], None] = time.sleep
        # Tickets of this process's own batches that are written, but settled only when the one before them is: nobody
        # has to tell them on the server to look again, as it is noted here whether they have to.
        self.later: dict[int, bool] = {}
        # Between a look at these notes and a change of them nobody else may take one away: then both would stay.
        self._noting = threading.Lock()

    def settle(self, case: Case, listed: bool = False) -> Settled:
        """Settle a batch whose records and entries have been written. Followers end up in the tables of followers,
        keepers in those of keepers, and all are committed when it returns. `listed`: they were followers already."""
        count = len(case.rows)
        with self._noting:
            again = self.later.pop(case.ticket, False)
        if again:
            case.near = None
        keeper, distance = case.rows.copy(), np.full(count, -1)
        similarity, names = np.full(count, np.nan), dict[int, str]()
        todo, unlisted = np.arange(count), 0
        known = set(range(count)) if listed else set[int]()
        while len(todo):
            items = case.items if len(todo) == count else case.items.take(todo)
            bare = np.array([at for at in todo.tolist() if at in case.bare], np.int64)
            if len(bare):
                self._connection.run(self._entries(self._tables.added, KEEPERS, case, bare))
            case.bare.clear()
            found, records = self._matched(case, todo, items)
            rows = case.rows[todo]
            # One document has nobody beside it.
            alike = self._matcher.together(items) if len(todo) > 1 else (np.zeros(1, np.int64), NO_MATCHES)
            chosen = settle(rows, found, *alike, self._matcher.same)
            keeper[todo], distance[todo] = chosen.row, chosen.distance
            similarity[todo] = chosen.similarity
            names |= {row: records[row].id for row in chosen.row.tolist() if row in records}
            failed, full = self._commit(case, todo, chosen, known)
            unlisted += full
            todo = np.array(failed, np.int64)
        if not known and not case.taken:
            return Settled(Keepers(keeper, distance, similarity), names, unlisted, np.zeros(count, bool))
        leads = np.array([at for at in known if keeper[at] == case.rows[at]], np.int64)
        commands = self._entries(self._tables.dropped, FOLLOWERS, case, leads)
        # Whoever took them out may have done so before the last of their entries was written.
        taken = np.array(sorted(case.taken), np.int64)
        for kind in (KEEPERS, FOLLOWERS):
            commands += self._entries(self._tables.dropped, kind, case, taken)
        self._connection.run(commands)
        gone = np.zeros(count, bool)
        gone[taken] = True
        return Settled(Keepers(keeper, distance, similarity), names, unlisted, gone)

    def _entries(
        self, done: Callable[..., list[Command]], kind: bytes, case: Case, places: Rows
    ) -> list[Command]:
        if not len(places):
            return []
        items = case.items
        return done(kind, items.keys[places], items.empty[places], case.rows[places])

    def _matched(self, case: Case, todo: Rows, items: Items) -> tuple[Matches, dict[int, Record]]:
        """The keepers that each document matches, when no other worker's pending document stands in between."""
        near, case.near = case.near, None
        if near is None:
            near = self._tables.find(items.keys, items.empty, (KEEPERS,), self._matcher.most(False))
        left_out = set(case.rows[todo].tolist()) | case.without
        ours, ids = set(case.rows.tolist()), {record.id for record in case.records}
        since: dict[tuple[int, int], float] = {}
        pause = FIRST_PAUSE
        while True:
            fetched = self._documents.fetched(sorted(set(near.row.tolist()) - left_out))
            records = {
                row: record
                for row, record in fetched.records.items()
                if record.state in (KEEPER, PENDING) and not record.expired(case.now)
                if record.state == KEEPER or not self._postponed(record.other)
            }
            if not records:
                return NO_MATCHES, records
            # Another version of a document of ours, left behind by a worker that died, or just coming in elsewhere.
            older = {row for row, record in records.items() if record.id in ids and row not in ours}
            case.stale |= older
            # One that has the id now counts for others of the batch, though not for the document it is a version of.
            current = self._current(older, records)
            near = _only(near, records.keys() - (older - current))
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
        """Whether a ticket is that of a later batch of this process, which then looks at the tables again."""
        with self._noting:
            if ticket not in self.later:
                return False
            self.later[ticket] = True
            return True

    def _current(self, rows: set[int], records: dict[int, Record]) -> set[int]:
        """Those rows that have their ids."""
        asked = sorted(rows)
        owners = self._documents.rows_of([records[row].id for row in asked])
        return {row for row, owner in zip(asked, owners, strict=True) if row == owner}

    def _cleared(self, case: Case, pending: dict[int, Record], since: dict[tuple[int, int], float]) -> bool:
        """Tell pending documents to look again, but for those of earlier tickets: says whether there were none."""
        now, waits = time.monotonic(), False
        told = []
        for row, record in pending.items():
            first = since.setdefault((row, record.other), now)
            if record.other < case.ticket and now - first < self._patience:
                waits = True
            else:
                told.append((row, record.head, VOID))
        self._documents.switch(told)
        return not waits

    def _commit(self, case: Case, todo: Rows, chosen: Keepers, listed: set[int]) -> tuple[list[int], int]:
        """Switch records to what was decided: keepers, then those that follow them. Gives the places of documents that
        have to be looked at again."""
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
        """Commands that count documents with their commit, as if none could fail; what did is put right later."""
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
        """Commit keepers; gives the places where somebody came between, their records pending again."""
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
        """Commit followers; gives the places of those that have to be looked at again."""
        new = np.array([at for at in places if at not in listed], np.int64)
        # In the list of followers before it is one: whoever removes the keeper finds it, or is found out below.
        added = self._entries(self._tables.added, FOLLOWERS, case, new)
        # Out of those of keepers before it is one, too: later it may be an orphan, and others put it there again.
        dropped = self._entries(self._tables.dropped, KEEPERS, case, np.array(places, np.int64))
        changes = [
            (int(case.rows[at]), case.records[at].head, case.records[at].following(*keeper_of[at]).to_bytes())
            for at in places
        ]
        switched = self._documents.switches(changes)
        keepers = self._documents.reads(sorted({keeper_of[at][0] for at in places}))
        counting = self._counting(case, len(first) + len(places), len(places))
        replies = self._connection.in_order(added + dropped, switched.commands, keepers.commands, counting)
        case.bare.update(places)
        listed.update(places)
        answered = list(zip(places, switched.read(replies[1]), strict=True))
        failed = self._answered(case, answered)
        done = [at for at in places if at not in set(failed)]
        failed += self._orphaned(case, done, keeper_of, keepers.read(replies[2]))
        return failed, self._tables.refused(replies[0][: len(added)])

    def _answered(self, case: Case, answered: Sequence[tuple[int, Record | bool]]) -> list[int]:
        """Places and replies of commits; gives those where somebody came between, their records pending again."""
        # A record of another state is being removed, or replaced, by another worker: what was decided is its answer.
        failed = [at for at, reply in answered if isinstance(reply, Record) and reply.state == VOID]
        gone = [at for at, reply in answered if reply is False]
        if gone:
            self._check_lost(case, gone)
        case.taken |= {
            at
            for at, reply in answered
            if reply is False or (isinstance(reply, Record) and reply.state == GONE)
        }
        if failed:
            self._again(case, failed, VOID)
        return failed

    def _check_lost(self, case: Case, places: Sequence[int]) -> None:
        """Records that are no more: replaced or removed meanwhile, unless their ids are still theirs."""
        owners = self._documents.rows_of([case.records[place].id for place in places])
        if any(owner == case.rows[place] for place, owner in zip(places, owners, strict=True)):
            raise SharedIndexError(
                f"{self._connection.address.shown}: the server has lost what was just written (a failover, or memory "
                "given up under a maxmemory-policy); send the batch again"
            )

    def _orphaned(
        self,
        case: Case,
        places: Sequence[int],
        keeper_of: dict[int, tuple[int, int, float]],
        keepers: dict[int, Record],
    ) -> list[int]:
        """Followers whose keeper went in the moment they were settled; their records are pending again."""
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
        # Where it fails, whoever removed the keeper has taken the follower over.
        return [place for place, reply in zip(lost, replies, strict=True) if reply is True]

    def _again(self, case: Case, places: Sequence[int], state: bytes) -> None:
        """Own records, told to look again, are pending once more."""
        changes = []
        for place in places:
            record = case.records[place]
            changes.append((int(case.rows[place]), state + record.head[1:], record.to_bytes()))
        self._documents.switch(changes)

    def give_up(self, case: Case) -> list[int]:
        """After an error: what is still pending is told to look again, and nobody waits for it. Gives its places."""
        changes = [(int(row), record.head, VOID) for row, record in zip(case.rows, case.records, strict=True)]
        replies = self._documents.switch(changes)
        return [
            at
            for at, reply in enumerate(replies)
            if reply is True or (isinstance(reply, Record) and reply.state == VOID)
        ]


def _only(near: Near, rows: Set[int]) -> Near:
    kept = [at for at, row in enumerate(near.row.tolist()) if row in rows]
    return near if len(kept) == len(near.row) else Near(*(column[kept] for column in near))
