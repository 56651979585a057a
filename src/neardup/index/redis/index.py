"""nd.Index("redis://..."): one index for a fleet of workers, in Redis or Valkey, on one server or a cluster."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from neardup.config.config import Config
from neardup.errors import ConfigError
from neardup.features.texts import Texts
from neardup.index.answers import Answers, Cluster, Health, Hit, Stored
from neardup.index.api import Index, Rows, Takes
from neardup.index.inputs import check_ids, check_opening
from neardup.index.local.store import Durability
from neardup.index.match import Items, Matcher
from neardup.index.recipe import Contents, Recipe
from neardup.index.redis.address import Address
from neardup.index.redis.connection import Connection
from neardup.index.redis.documents import Documents
from neardup.index.redis.journal import Journal
from neardup.index.redis.layout import Layout
from neardup.index.redis.queries import Reading
from neardup.index.redis.recipe import contents_of, load_recipe, store_recipe, usual_config
from neardup.index.redis.stats import SharedStats
from neardup.index.redis.tables import SharedTables
from neardup.index.redis.writes import SharedTurnover
from neardup.search.interface import Hits, Mode, check_mode
from neardup.values.seeds import Seed

__all__ = ["SharedIndex"]


class SharedIndex(Index):
    """The same interface as a local Index; any number of processes write at once.

    path   redis://, rediss:// (TLS), redis+cluster:// or rediss+cluster://, with the name of the index: ?name=pages.
           Further options: expected, timeout, patience, log, sync (neardup.index.redis.address.Address)

    The other arguments are those of Index. Durability is the server's; docs/shared-index.md says what can be lost.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        config: Config | None = None,
        *,
        mode: Literal["write", "read"] = "write",
        store: Contents | None = None,
        durability: Durability = "normal",
        seed: int | Seed | None = None,
        sample: Texts | None = None,
        scheme: str | None = None,
        ttl: float | None = None,
        threads: int = 1,
    ) -> None:
        address = Address.of(str(path))
        check_opening(mode, ttl, threads)
        if durability != "normal":
            raise ConfigError(
                "how durable a shared index is, is set in the server (appendonly, appendfsync, replicas); "
                "log=FILE&sync=1 in the address keeps a log of what was acknowledged"
            )
        self.path = address.shown
        self._connection = Connection(address)
        self._journal: Journal | None = None
        try:
            found = load_recipe(self._connection)
            if found is None:
                if mode == "read":
                    raise FileNotFoundError(2, "there is no index here", address.shown)
                own = None if seed is None else Seed.of(seed)
                contents = contents_of(store, scheme)
                made = Recipe.make(config or usual_config(), own, contents, scheme, sample, threads)
                Layout.of(address.name, made, address.expected)  # raises before anything is stored
                store_recipe(self._connection, made, address.expected)
                found = load_recipe(self._connection)
                assert found is not None
            self._recipe, expected = found
            self._recipe.check_given(address.shown, config, store, scheme)
            layout = Layout.of(address.name, self._recipe, expected)
            self._tables = SharedTables(self._connection, layout)
            self._documents = Documents(self._connection, layout, self._recipe)
            self._match = Matcher(self._recipe, self._tables, threads)
            if address.log is not None and mode == "write":
                self._journal = Journal(address.log, self._recipe, address.sync)
            self._shared = SharedTurnover(
                self._documents,
                self._tables,
                self._match,
                ttl=ttl,
                writes=mode == "write",
                journal=self._journal,
            )
            self._reading = Reading(self._documents, self._tables, self._match)
        except BaseException:
            self.close()
            raise

    @property
    def _matcher(self) -> Matcher:
        return self._match

    @property
    def _takes(self) -> Takes:
        return self._shared

    def _put_all(
        self, ids: Sequence[str], items: Items, metas: Sequence[str | None], ttl: float | None
    ) -> Answers:
        return self._shared.put(
            ids, items, metas, ttl
        )  # which makes its own batches, two under way at a time

    def close(self) -> None:
        """Let go of the connections; a second call does nothing."""
        self._connection.close()
        if self._journal is not None:
            self._journal.close()

    def __len__(self) -> int:
        """Documents in the index; those that have expired count until they are swept out."""
        return self._counts()["documents"]

    def __contains__(self, id: str) -> bool:
        return self.get_all([id])[0] is not None

    @property
    def rebuilt(self) -> tuple[str, ...]:
        """Nothing: a shared index has no cache."""
        return ()

    def search_rows(self, prints: Any, *, mode: Mode = "all", threads: int | None = None) -> Hits:
        """The bare search: rows within reach of each fingerprint, not verified, whatever state they are in."""
        items = self._match.of_prints(prints)
        check_mode(mode)
        near = self._tables.search(items.keys, items.empty, followers=True, probes=self._match.probes(items))
        if mode == "first":
            order = np.lexsort((near.row, near.distance, near.query))
            query = near.query[order]
            fresh = np.ones(len(order), bool)
            fresh[1:] = query[1:] != query[:-1]
            near = type(near)(*(column[order[fresh]] for column in near))
        return Hits(near.query, near.row, near.distance.astype(np.uint8))

    def ids(self, rows: Iterable[int] | Rows) -> dict[int, str]:
        """The ids of rows, for those that are there."""
        return {row: record.id for row, record in self._documents.read([int(row) for row in rows]).items()}

    def _search(self, items: Items, own: Sequence[str | None], mode: Mode) -> list[list[Hit]]:
        return self._reading.hits(items, own, check_mode(mode), int(time.time() * 1000))

    def get_all(self, ids: Iterable[str]) -> list[Stored | None]:
        """What is stored of each of several documents, or None."""
        wanted = list(ids)
        check_ids(wanted)
        return self._reading.stored(wanted)

    def cluster(self, id: str) -> Cluster | None:
        """The cluster of a document: its keeper and all that follow it. None if there is no such document."""
        check_ids([id])
        return self._reading.cluster(id)

    def documents(self) -> Iterator[Stored]:
        """All documents by row; what is added or removed meanwhile may be missed or not."""
        return self._reading.documents(self._shared.last_row())

    def stats(self) -> SharedStats:
        """Sizes at this moment. Counts may be off after a worker or server died; `compact` counts again."""
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
            store=self._recipe.contents,
            scheme=self.scheme,
        )

    def _counts(self) -> dict[str, int]:
        names = ("documents", "followers", "rows", "unlisted")
        meta = self._tables.layout.meta
        return {
            name: int(value or 0)
            for name, value in zip(names, self._connection.one(meta, "HMGET", meta, *names), strict=True)
        }

    def refresh(self) -> bool:
        """A shared index is always up to date."""
        return False

    def compact(self) -> None:
        """Finish what workers that died left undone, put back entries that a failover lost, take out those of documents
        that are gone, and count again. Others may work on meanwhile."""
        self._shared.check_writable()
        self._repair(changes=True)

    def verify(self) -> Health:
        """Read everything and compare: records, ids, entries and clusters. Takes a while; changes nothing."""
        return self._repair(changes=False)

    def _repair(self, changes: bool) -> Health:
        from neardup.index.redis.repair import repair

        return repair(self._documents, self._tables, self._shared, changes)

    def backup(self, target: str | PathLike[str]) -> None:
        """A shared index is backed up by `export`, or by the server."""
        raise ConfigError(f"{self.path}: export it to a file instead, and import that: neardup index export")

    def export(self, path: str | PathLike[str]) -> int:
        """Write all documents to a JSONL or Parquet file, and the key to PATH.key; they make an index again,
        a shared or a local one. Gives how many there were."""
        from neardup.index.redis.replay import export_shared

        return export_shared(self._documents, self._shared.last_row(), Path(path))
