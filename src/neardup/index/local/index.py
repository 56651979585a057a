"""An index in a folder: SQLite is its record, native tables in memory answer."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Literal

import numpy as np

from neardup.config.config import Config
from neardup.errors import ConfigError
from neardup.features.texts import Texts
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.index.answers import Cluster, Health, Hit, Stats, Stored
from neardup.index.api import Index, Rows, Takes
from neardup.index.inputs import check_opening, is_address
from neardup.index.local.documents import cluster_of, hits_of, stored_documents
from neardup.index.local.health import backup, verify
from neardup.index.local.session import DATABASE, Session, check_new_folder
from neardup.index.local.store import Durability
from neardup.index.local.writes import Turnover
from neardup.index.match import Items, Matcher
from neardup.index.recipe import Contents, Recipe, default_config
from neardup.search.interface import Hits, Mode, check_mode
from neardup.values.seeds import Seed

__all__ = ["LocalIndex"]


class LocalIndex(Index):
    """One process writes, any number read; the arguments are those of Index."""

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
        folder = Path(path)
        self.path: Path | str = folder
        check_opening(mode, ttl, threads)
        recipe = None
        if not (folder / DATABASE).exists():
            if mode == "read":
                raise FileNotFoundError(2, "there is no index here", str(self.path))
            check_new_folder(folder)
            contents: Contents = store or ("text" if scheme is None else "none")
            own = None if seed is None else Seed.of(seed)
            recipe = Recipe.make(config or default_config(contents), own, contents, scheme, sample, threads)
        self._session = Session(
            folder, recipe=recipe, writes=mode == "write", durability=durability, threads=threads
        )
        self._recipe = self._session.recipe
        try:
            self._recipe.check_given(self.path, config, store, scheme)
            self._turnover = Turnover(self._session, ttl)
        except BaseException:
            self._session.close()
            raise

    @property
    def _matcher(self) -> Matcher:
        return self._session.matcher

    @property
    def _takes(self) -> Takes:
        return self._turnover

    def close(self) -> None:
        self._session.close()

    def __len__(self) -> int:
        with self._session.reading() as store:
            return store.counters()["documents"]

    def __contains__(self, id: str) -> bool:
        with self._session.reading() as store:
            return bool(self._session.rows_of([id], store))

    @property
    def rebuilt(self) -> tuple[str, ...]:
        return self._session.rebuilt

    def search_rows(self, prints: Fingerprints, *, mode: Mode = "all", threads: int | None = None) -> Hits:
        """The bare search: rows within reach of each fingerprint, not verified, expired ones too; `ids` names them."""
        items = self._matcher.of_prints(prints)
        with self._session.reading():
            near = self._session.state.tables.search(
                items.keys,
                items.empty,
                followers=True,
                mode=check_mode(mode),
                threads=threads,
                probes=self._matcher.probes(items),
            )
        return Hits(near.query, near.row, near.distance.astype(np.uint8))

    def ids(self, rows: Iterable[int] | Rows) -> dict[int, str]:
        with self._session.reading() as store:
            return store.ids(np.asarray(list(rows), np.int64))

    def _search(self, items: Items, own: Sequence[str | None], mode: Mode) -> list[list[Hit]]:
        check_mode(mode)
        with self._session.reading() as store:
            mine = self._session.rows_of([id for id in own if id], store)
            # A document's own row, or one that has expired, must not take the one place that `first` has.
            wide: Mode = "all" if mine or time.time() * 1000 >= self._turnover.next_expiry else mode
            found = self._matcher.stored(items, store, followers=True, mode=wide)
            return hits_of(found, store, [mine.get(id or "", -1) for id in own], mode, time.time())

    def get_all(self, ids: Iterable[str]) -> list[Stored | None]:
        wanted = list(ids)
        with self._session.reading() as store:
            rows = self._session.rows_of(wanted, store)
            found = {entry.row: entry for entry in stored_documents(store, self._recipe, rows.values())}
        return [found.get(rows.get(id, -1)) for id in wanted]

    def cluster(self, id: str) -> Cluster | None:
        with self._session.reading() as store:
            row = self._session.rows_of([id], store).get(id)
            return None if row is None else cluster_of(store, row)

    def documents(self) -> Iterator[Stored]:
        last = -1
        while True:
            with self._session.reading() as store:
                lines = store.all("SELECT row FROM documents WHERE row > ? ORDER BY row LIMIT 1000", (last,))
                found = stored_documents(store, self._recipe, [line[0] for line in lines])
            if not lines:
                return
            yield from found
            last = lines[-1][0]

    def stats(self) -> Stats:
        session = self._session
        with session.reading() as store:
            counts = store.counters()
            memory, segments = session.state.tables.size()
            return Stats(
                documents=counts["documents"],
                keepers=counts["documents"] - counts["followers"],
                rows=session.state.rows,
                watermark=session.state.watermark,
                database_bytes=store.size(),
                cache_bytes=session.cache.size(),
                memory_bytes=memory,
                segments=segments,
                store=self._recipe.contents,
                scheme=self.scheme,
            )

    def refresh(self) -> bool:
        """For an index opened for reading: see what has been written since; says whether that was anything."""
        changed = self._session.refresh()
        self._turnover.look()
        return changed

    def compact(self) -> None:
        self._session.check_writable()
        with self._session.writer:
            self._session.compact()

    def verify(self) -> Health:
        with self._session.writer, self._session.reading() as store:
            return verify(self._session, store)

    def backup(self, target: str | PathLike[str]) -> None:
        if is_address(target):
            raise ConfigError("a backup goes to a folder; export the index, and import that to the server")
        backup(self._session, Path(target))

    def export(self, path: str | PathLike[str]) -> int:
        from neardup.index.export import export_index

        return export_index(self, path)
