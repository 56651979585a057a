"""Inserts and deletes: batches in transactions, removals in small ones, and expired documents are deleted."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neardup.index.answers import Answers
from neardup.index.inputs import batches, check_ids, lasting
from neardup.index.local.row_checks import damaged
from neardup.index.local.session import Session
from neardup.index.local.transaction import Incoming
from neardup.index.match import Items

__all__ = ["LocalWriter"]

AT_ONCE, REMOVED_AT_ONCE = 1024, 10_000
NEVER = 2**62
Rows = NDArray[np.int64]


class LocalWriter:
    """Inserts and deletes documents; each method holds the session's `writer` while it works.

    `ttl` is the number of seconds after which documents expire, unless a call gives another; `next_expiry` is the
    time, in milliseconds since 1970, at which the next document expires.
    """

    def __init__(self, session: Session, ttl: float | None) -> None:
        self._session, self._ttl = session, lasting(ttl)
        self.next_expiry = NEVER
        self.look()

    def look(self) -> None:
        """Find when the next document expires."""
        lines = self._session.database.all("SELECT min(expires) FROM documents WHERE expires IS NOT NULL")
        found = lines[0][0]
        if not isinstance(found, int | None):
            raise damaged(self._session.database.path, "the time at which a document expires is no number")
        self.next_expiry = NEVER if found is None else found

    def put(
        self, ids: Sequence[str], items: Items, metas: Sequence[str | None], ttl: float | None
    ) -> Answers:
        """Store documents in transactions of 1,024. A transaction ends before an id that it already contains."""
        self._session.check_writable()
        check_ids(ids)
        life, seed, parts = self._ttl if ttl is None else lasting(ttl), self._session.recipe.seed.value, []
        for part in batches(ids, AT_ONCE):
            with self._session.writer:
                now = int(time.time() * 1000)
                self._sweep(now)
                expires = None if life is None else now + life
                if expires is not None:
                    self.next_expiry = min(self.next_expiry, expires)
                some = items if part.stop - part.start == len(ids) else items.cut(part)
                parts.append(self._together(Incoming.of(ids[part], some, metas[part], now, expires, seed)))
        return Answers.joined(parts)

    def _together(self, incoming: Incoming) -> Answers:
        old = self._session.rows_of(incoming.ids, self._session.database, incoming.hashes)
        written = self._session.change(incoming, np.array(sorted(old.values()), np.int64))
        keepers = written.keepers
        return Answers(
            incoming.ids, written.rows, keepers.row, keepers.distance, keepers.similarity, written.names
        )

    def remove(self, ids: Sequence[str]) -> int:
        """Delete documents. Returns how many of them existed."""
        self._session.check_writable()
        with self._session.writer:
            rows = self._session.rows_of(ids, self._session.database)
            return self._drop(np.array(sorted(rows.values()), np.int64))

    def forget(self, before: int) -> int:
        """Delete documents added before a time, in milliseconds since 1970."""
        self._session.check_writable()
        with self._session.writer:
            return self._drop_where("added < ?", before)

    def expire(self) -> int:
        """Delete the expired documents."""
        self._session.check_writable()
        with self._session.writer:
            return self._sweep(int(time.time() * 1000))

    def _sweep(self, now: int) -> int:
        if now < self.next_expiry:
            return 0
        count = self._drop_where("expires IS NOT NULL AND expires <= ?", now)
        self.look()
        return count

    def _drop_where(self, condition: str, value: int) -> int:
        lines = self._session.database.all(
            f"SELECT row FROM documents WHERE {condition} ORDER BY row", (value,)
        )
        return self._drop(np.array([line[0] for line in lines], np.int64))

    def _drop(self, rows: Rows) -> int:
        """Delete rows in several small transactions."""
        parts = (rows[start : start + REMOVED_AT_ONCE] for start in range(0, len(rows), REMOVED_AT_ONCE))
        return sum(self._session.change(None, part).removed for part in parts)
