"""One document is written and searched for in a single round trip, by a script. Only on one server: on a cluster, its
keys are on several nodes."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable

import numpy as np

from neardup.errors import NeardupError
from neardup.index.match import Items, Matcher
from neardup.index.redis.conflicts import Case
from neardup.index.redis.documents import SMALL, RedisDocuments
from neardup.index.redis.records import PENDING, Record
from neardup.index.redis.scripts import ADD_ONE
from neardup.index.redis.tables import SharedTables

__all__ = ["SingleWriter"]

TOGETHER = 256 << 10  # bytes of contents that one script returns: the server is blocked meanwhile


class SingleWriter:
    """Begins to add single documents: one thread of this process at a time."""

    def __init__(
        self,
        documents: RedisDocuments,
        tables: SharedTables,
        matcher: Matcher,
        give_up: Callable[[Case], None],
    ) -> None:
        self._documents, self._tables, self._matcher = documents, tables, matcher
        self._give_up = give_up
        self._connection, self._layout = documents.connection, documents.layout
        self.possible = not (self._connection.address.cluster or self._layout.sparse)
        # Rows with the same key are near if that is what the search asks for; otherwise only the client can compare.
        self._fetches = self._layout.radius == 0 and not any(flips for _, _, flips in self._layout.tables)
        self._last_call = b"%sw:%s" % (self._layout.meta, secrets.token_hex(8).encode())
        # A call may be sent again until its time is over.
        self._remembered = int(2 * self._connection.address.timeout) + 60

    def begun(
        self, id: str, items: Items, meta: str | None, added: int, expires: int | None, now: int
    ) -> Case | None:
        """The document, pending under a ticket, with what the tables have near it; None if it must be written step by
        step, because a step has to be repeated or the script cannot do it."""
        identity = self._connection.identity
        if not self.possible or identity is None or self._matcher.probes(items) is not None:
            return None
        documents, layout = self._documents, self._layout
        empty = bool(items.empty[0])
        fingerprint = None if documents.apart else items.blobs()[0]
        record = Record(PENDING, 0, added, expires, None, None, id, fingerprint, meta, empty)
        contents = documents.values(items)
        (ids,), (digest,) = documents.asked([id])
        second = None if expires is None else expires // 1000
        question, names, entries, searched = self._tables.one(items.keys)
        if empty:
            question = self._tables.question(items.keys, items.empty, (), None)
            names, entries, searched = [], [], []
        keys = [layout.meta, self._last_call, ids, layout.expiring]
        keys += [layout.meta if second is None else layout.expiry(second)]
        keys += [identity.key, *names, *searched]
        most = -1 if not self._fetches else TOGETHER if documents.compares_contents else 0
        number = secrets.token_bytes(16)
        case = None
        try:
            reply = self._connection.one(
                layout.meta, "EVAL", ADD_ONE, len(keys), *keys,
                layout.name, number, record.to_bytes()[7:], digest,
                b"" if contents is None else b"1" + contents[0], "" if second is None else second,
                layout.words, len(names), SMALL, most, now // 1000, self._remembered, identity.digest, *entries,
            )  # fmt: skip
            if reply == 0:
                return None
            row, ticket, before, found, near, records, held = reply
            case = self._case(row, ticket, before, items, record, now)
            case.found = self._tables.read(question, [[found]])
            if near:
                case.fetched = frozenset(near), documents.came_with(near, records, held)
        except NeardupError:
            with contextlib.suppress(NeardupError):
                if case is None:
                    case = self._unanswered(number, items, record, now)
                if case is not None:
                    self._give_up(case)
            raise
        return case

    def _case(self, row: int, ticket: int, before: bytes, items: Items, record: Record, now: int) -> Case:
        case = Case(np.array([row]), items, [record._replace(other=ticket)], ticket, now)
        case.before = [self._documents.row(before, self._layout.meta) if before else None]
        return case

    def _unanswered(self, number: bytes, items: Items, record: Record, now: int) -> Case | None:
        """What a call wrote whose reply was lost; None if it wrote nothing."""
        last = self._connection.one(self._last_call, "GET", self._last_call)
        if last is None or last[:16] != number:
            return None
        row, ticket = (int.from_bytes(last[at : at + 6], "little") for at in (16, 22))
        return self._case(row, ticket, last[28:], items, record, now)
