"""An index in a folder: SQLite stores it, and native tables in memory search it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from neardup.index.answers import Cluster, Health, Hit, Stats, Stored
from neardup.index.export import ExportedDocument
from neardup.index.hits import hits_of
from neardup.index.interface import Access, Opening, Rows, check_folder
from neardup.index.local.database import Database
from neardup.index.local.documents import Everything, as_stored, cluster_of, names_alive, stored_documents
from neardup.index.local.files import DATABASE, check_new_folder
from neardup.index.local.health import backup, verify
from neardup.index.local.row_checks import damaged
from neardup.index.local.session import Session
from neardup.index.local.writes import LocalWriter
from neardup.index.match import Items, Matcher
from neardup.index.recipe import default_config
from neardup.search.interface import Hits, Mode

__all__ = ["LocalStore"]

AT_ONCE = 1000


class LocalStore:
    """One process writes, any number read. It has the methods of Store."""

    def __init__(self, path: str | PathLike[str], opening: Opening) -> None:
        folder = Path(path)
        self.path: Path | str = folder
        made = None
        if not (folder / DATABASE).exists():
            if opening.writes:
                check_new_folder(folder)
            made = opening.new_recipe(folder, default_config)
        self.session = Session(
            folder,
            recipe=made,
            writes=opening.writes,
            durability=opening.durability,
            threads=opening.threads,
            access=opening.access,
        )
        self.recipe = self.session.recipe
        try:
            opening.check_recipe(folder, self.recipe)
            self.writer = LocalWriter(self.session, opening.ttl)
        except BaseException:
            self.session.close()
            raise

    @property
    def matcher(self) -> Matcher:
        return self.session.matcher

    @property
    def rebuilt(self) -> tuple[str, ...]:
        return self.session.rebuilt

    def set_times(self, times: Sequence[tuple[int, int | None, int]]) -> None:
        """Set when documents were added and when they expire, with their rows."""
        database = self.session.database
        with self.session.writer, database.transaction():
            new = {row: (added, expires) for added, expires, row in times}
            heads = database.heads(new)
            database.change_heads(
                [head._replace(added=new[head.row][0], expires=new[head.row][1]) for head in heads]
            )

    def search(self, items: Items, own: Sequence[str | None], mode: Mode) -> list[list[Hit]]:
        with self.session.reading() as database:
            mine = self.session.rows_of([id for id in own if id], database)
            # The document's own row, or an expired row, must not be the only hit that `first` returns.
            wide: Mode = "all" if mine or time.time() * 1000 >= self.writer.next_expiry else mode
            found = self.matcher.stored(items, Everything(database), followers=True, mode=wide)
            return hits_of(found, names_alive(database, found.right, time.time()), own, mode)

    def search_rows(self, items: Items, mode: Mode, threads: int | None) -> Hits:
        with self.session.reading():
            near = self.session.state.tables.search(
                items.keys,
                items.empty,
                followers=True,
                mode=mode,
                threads=threads,
                probes=self.matcher.probes(items),
            )
        return Hits(near.query, near.row, near.distance.astype(np.uint8))

    def ids(self, rows: Iterable[int] | Rows) -> dict[int, str]:
        with self.session.reading() as database:
            return database.ids(np.asarray(list(rows), np.int64))

    def get_all(self, ids: Sequence[str], most: int | None = None) -> list[Stored | None]:
        with self.session.reading() as database:
            rows = self.session.rows_of(ids, database)
            entries = stored_documents(database, self.recipe, rows.values(), most)
        found = {entry.row: entry for entry in entries}
        return [found.get(rows.get(id, -1)) for id in ids]

    def cluster(self, id: str, most: int | None = None) -> Cluster | None:
        with self.session.reading() as database:
            row = self.session.rows_of([id], database).get(id)
            return None if row is None else cluster_of(database, row, most)

    def documents(self) -> Iterator[Stored]:
        following = 0
        while True:
            with self.session.reading() as database:
                lines = database.wholes_from(following, AT_ONCE)
                state = self.session.state
                last = lines[-1].row + 1 if len(lines) == AT_ONCE else state.rows
                missing = int((~state.flags.deleted[following:last]).sum()) - len(lines)
                if missing:
                    raise damaged(database.path, f"rows are missing between {following} and {last}")
                found = as_stored(database, self.recipe, lines)
            if not lines:
                return
            yield from found
            following = lines[-1].row + 1

    def lines(self) -> Iterator[Sequence[ExportedDocument]]:
        """All documents of one moment, by row; uses its own connection, so that nobody has to wait."""
        with contextlib.closing(Database(self.session.database.path, readonly=True)) as database:
            database.begin(snapshot=True)
            counts, seen = database.counters(), 0
            for part in database.wholes_between(0, counts["rows"], AT_ONCE):
                own = {line.row: line.id for line in part}
                others = np.array([line.keeper for line in part if line.keeper not in own], np.int64)
                names = own | (database.ids(others) if len(others) else {})
                if not all(line.keeper in names for line in part):
                    raise damaged(database.path, "a document follows a row that does not exist")
                yield [ExportedDocument(line.id, names[line.keeper], *line[3:]) for line in part]
                seen += len(part)
            if seen != counts["documents"]:
                raise damaged(database.path, f"{counts['documents'] - seen} documents are missing")

    def contains(self, id: str) -> bool:
        with self.session.reading() as database:
            return bool(self.session.rows_of([id], database))

    def count(self) -> int:
        with self.session.reading() as database:
            return database.counters()["documents"]

    def stats(self) -> Stats:
        session = self.session
        with session.reading() as database:
            counts = database.counters()
            memory, segments = session.state.tables.size()
            return Stats(
                documents=counts["documents"],
                keepers=counts["documents"] - counts["followers"],
                rows=session.state.rows,
                watermark=session.state.watermark,
                database_bytes=database.size(),
                cache_bytes=session.cache.size(),
                memory_bytes=memory,
                segments=segments,
                store=self.recipe.contents,
                scheme=self.recipe.scheme_checked,
            )

    def refresh(self) -> bool:
        changed = self.session.refresh()
        self.writer.look()
        return changed

    def compact(self) -> None:
        self.session.check_writable()
        with self.session.writer:
            self.session.compact()

    def verify(self) -> Health:
        with self.session.writer, self.session.reading() as database:
            return verify(self.session, database)

    def backup(self, target: str | PathLike[str], access: Access) -> None:
        check_folder(target, "a backup to a server", "export the index, and import that to the server")
        backup(self.session, Path(target), access)

    def close(self) -> None:
        self.session.close()
