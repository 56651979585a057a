"""An index in Redis or Valkey, on one server or a cluster, that any number of processes read and write at once."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from neardup.index.answers import Cluster, Health, Hit, Stored
from neardup.index.export import ExportedDocument
from neardup.index.inputs import check_ids
from neardup.index.interface import Access, Opening, Rows, unsupported
from neardup.index.match import Items, Matcher
from neardup.index.redis.address import Address
from neardup.index.redis.connection import Connection
from neardup.index.redis.documents import RedisDocuments
from neardup.index.redis.journal import Journal
from neardup.index.redis.layout import KeyLayout
from neardup.index.redis.queries import RedisReader
from neardup.index.redis.recipe import SharedIdentity, check_absent, load_recipe, store_recipe, usual_config
from neardup.index.redis.repair import repair
from neardup.index.redis.stats import SharedStats
from neardup.index.redis.tables import SharedTables
from neardup.index.redis.writes import RedisWriter
from neardup.search.interface import Hits, Mode

__all__ = ["RedisStore"]


class RedisStore:
    """The store of a shared index; it has the methods of Store.

    address   redis://, rediss:// (TLS), redis+cluster:// or rediss+cluster://, with the name of the index: ?name=pages.
              Further options: expected, timeout, patience, log, sync (neardup.index.redis.address.Address)

    Durability depends on the server; docs/how-to/shared-index.md says what can be lost.
    """

    def __init__(self, address: str, opening: Opening) -> None:
        where = Address.of(address)
        if opening.durability != "normal":
            raise unsupported(
                f"durability={opening.durability!r}",
                "the durability of a shared index is set in the server (appendonly, appendfsync, replicas); "
                "log=FILE&sync=1 in the address keeps a log of what was acknowledged",
            )
        self.path: Path | str = where.shown
        self._connection = Connection(where)
        self._journal: Journal | None = None
        try:
            found = load_recipe(self._connection)
            if found is None:
                check_absent(self._connection)
                made = opening.new_recipe(where.shown, usual_config)
                KeyLayout.of(where.name, made, where.expected)  # raises before anything is stored
                store_recipe(self._connection, made, where.expected)
                found = load_recipe(self._connection)
                assert found is not None
            self.recipe = found.recipe
            opening.check_recipe(where.shown, self.recipe)
            self._connection.identity = SharedIdentity(self._connection, found.stored)
            layout = KeyLayout.of(found.keys_of(where.name), self.recipe, found.expected)
            self._tables = SharedTables(self._connection, layout)
            self._documents = RedisDocuments(self._connection, layout, self.recipe)
            self.matcher = Matcher(self.recipe, self._tables, opening.threads)
            if where.log is not None and opening.writes:
                self._journal = Journal(where.log, self.recipe, where.sync)
            self.writer = RedisWriter(
                self._documents,
                self._tables,
                self.matcher,
                ttl=opening.ttl,
                writes=opening.writes,
                journal=self._journal,
            )
            self._reader = RedisReader(self._documents, self._tables, self.matcher)
        except BaseException:
            self.close()
            raise

    @property
    def rebuilt(self) -> tuple[str, ...]:
        """Nothing: a shared index has no cache."""
        return ()

    def search(self, items: Items, own: Sequence[str | None], mode: Mode) -> list[list[Hit]]:
        return self._reader.hits(items, own, mode, int(time.time() * 1000))

    def search_rows(self, items: Items, mode: Mode, threads: int | None) -> Hits:
        near = self._tables.search(items.keys, items.empty, followers=True, probes=self.matcher.probes(items))
        if mode == "first":
            order = np.lexsort((near.row, near.distance, near.query))
            query = near.query[order]
            fresh = np.ones(len(order), bool)
            fresh[1:] = query[1:] != query[:-1]
            near = type(near)(*(column[order[fresh]] for column in near))
        return Hits(near.query, near.row, near.distance.astype(np.uint8))

    def ids(self, rows: Iterable[int] | Rows) -> dict[int, str]:
        return {row: record.id for row, record in self._documents.read([int(row) for row in rows]).items()}

    def get_all(self, ids: Sequence[str], most: int | None = None) -> list[Stored | None]:
        check_ids(ids)
        return self._reader.stored(ids, most)

    def cluster(self, id: str, most: int | None = None) -> Cluster | None:
        check_ids([id])
        return self._reader.cluster(id, most)

    def documents(self) -> Iterator[Stored]:
        return self._reader.documents(self.writer.last_row())

    def lines(self) -> Iterator[Sequence[ExportedDocument]]:
        return self._reader.lines(self.writer.last_row())

    def contains(self, id: str) -> bool:
        return self.get_all([id])[0] is not None

    def count(self) -> int:
        """Documents in the index; those that have expired count until they are deleted."""
        return self._counts()["documents"]

    def stats(self) -> SharedStats:
        """Counts may be wrong after a worker or server died; `compact` counts again."""
        counts, layout = self._counts(), self._tables.layout
        return SharedStats(
            documents=counts["documents"],
            keepers=counts["documents"] - counts["followers"],
            rows=counts["rows"],
            watermark=counts["rows"],
            database_bytes=0,
            cache_bytes=0,
            segments=(),
            unlisted=counts["unlisted"],
            expected=layout.expected,
            tables=len(layout.tables),
            probes=layout.probe_count,
            memory_bytes=self._connection.memory(),
            store=self.recipe.contents,
            scheme=self.recipe.scheme_checked,
        )

    def _counts(self) -> dict[str, int]:
        names = ("documents", "followers", "rows", "unlisted")
        return self._connection.counts(self._tables.layout.meta, names)

    def refresh(self) -> bool:
        """A shared index is always up to date."""
        return False

    def compact(self) -> None:
        """Finish what dead workers left undone, restore entries that a failover lost, remove entries of documents
        that no longer exist, and count again. Other workers may continue meanwhile."""
        self.writer.check_writable()
        repair(self._documents, self._tables, self.writer, changes=True)

    def verify(self) -> Health:
        """Read everything and compare: records, ids, entries and clusters."""
        return repair(self._documents, self._tables, self.writer, changes=False)

    def backup(self, target: str | PathLike[str], access: Access) -> None:
        raise unsupported(
            f"backup of {self.path}",
            "export it to a file instead, and import that: neardup index export",
        )

    def close(self) -> None:
        self._connection.close()
        if self._journal is not None:
            self._journal.close()
