"""nd.Index: have I seen this document? Durable, batch-first, safe to use from many threads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, overload

from neardup import _core
from neardup.compare.explain import Explanation, explain
from neardup.config.config import Config
from neardup.errors import ConfigError, DataError
from neardup.features.texts import Texts
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.index.answers import Answers, Cluster, Health, Hit, Seen, Stats, Stored
from neardup.index.export import write_export
from neardup.index.inputs import is_address, meta_text, one_by_one
from neardup.index.interface import Access, Durability, Opening, Rows, Store, file_mode
from neardup.index.key import write_key
from neardup.index.match import Items
from neardup.index.recipe import Contents
from neardup.readers.batch import Batch
from neardup.readers.document import Document
from neardup.search.interface import Hits, Mode, check_mode
from neardup.values.checks import check_whole, checked, checked_methods
from neardup.values.seeds import Seed

__all__ = ["Index"]

MOST_SECONDS = 2**53 // 1000  # a time in milliseconds is a whole number of a database
AT_ONCE = 1024  # documents that are prepared and passed to the store together
_STORED = {"text": "texts", "features": "features", "none": "fingerprints"}


@checked_methods
class Index:
    """Documents stored in a folder. When they or their near-duplicates come again, the index finds them.

    path         the folder; it is created if it does not exist and mode is "write"
    config       how fingerprints are made and searched, for a new index; by default 1-bit MinHash codes
    mode         "write" (one process at a time) or "read" (any number; sees the state of opening or `refresh`)
    store        what is stored of a document in a new index: "text" or "features", to verify hits, or "none"
    durability   "normal": acknowledged documents survive the death of the process; "full": of the machine, too
    seed         the seed of a new index; by default secret and random
    sample       texts on which a new index fits the document frequencies of its config; they never change afterwards
    scheme       for a new index that accepts only fingerprints of this scheme, made elsewhere, and no texts
    ttl          seconds after which documents expire, unless a call gives another ttl
    access       who may read the files of a new index, which hold its secret seed: "owner", "group" or "all"

    A document with an id that is already stored replaces the older version and never matches it. Every document
    follows the best keeper that it matches, or is a keeper itself. All methods may be called from any thread.

    An address such as redis://host:6379/0?name=pages instead of a path opens a shared index, to which any number of
    processes write at the same time. docs/how-to/shared-index.md describes the differences.

    >>> import tempfile
    >>> import neardup as nd
    >>> with tempfile.TemporaryDirectory() as folder, nd.Index(folder + "/pages.nd") as index:
    ...     first = index.seen("the ferry leaves the north pier at eight", id="a")
    ...     again = index.seen("The ferry leaves the north pier, at eight!", id="b")
    >>> first.new, again.duplicate_of
    (True, 'a')
    """

    @checked
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
        access: Access = "owner",
    ) -> None:
        opening = Opening(config, mode, store, durability, seed, sample, scheme, ttl, threads, access)
        self._store: Store = _opened(path, opening)
        self._recipe = self._store.recipe

    def __repr__(self) -> str:
        return f"<Index {str(self.path)!r}: {self._recipe.config.outline}, stores {_STORED[self.store]}>"

    @property
    def path(self) -> Path | str:
        """The folder, or the address without its password."""
        return self._store.path

    def close(self) -> None:
        """Close files or connections; a second call does nothing."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        """Documents in the index; in a shared index, expired documents count until they are deleted."""
        return self._store.count()

    def __contains__(self, id: str) -> bool:
        """Whether a document with this id is stored."""
        return self._store.contains(id)

    @property
    def config(self) -> Config:
        """How fingerprints are made, including the secret seed of the index."""
        return self._recipe.config

    @property
    def settings(self) -> Config:
        """The config without seed and document frequencies, to create another index with."""
        return self._recipe.settings

    @property
    def scheme(self) -> str:
        """The scheme of the stored fingerprints."""
        return self._recipe.scheme_checked

    @property
    def store(self) -> Contents:
        """What is stored of each document."""
        return self._recipe.contents

    @property
    def rebuilt(self) -> tuple[str, ...]:
        """Problems of the cache when the index was opened; these parts were rebuilt from the database."""
        return self._store.rebuilt

    def fingerprint(self, texts: Sequence[str], *, threads: int = 1) -> Fingerprints:
        """Fingerprints with the scheme of this index, for `seen_prints`, `add_prints` and `search_prints`."""
        return self._recipe.prints(texts, threads)

    @overload
    def seen(
        self, documents: str, *, id: str, meta: Mapping[str, Any] | None = None, ttl: float | None = None
    ) -> Seen: ...
    @overload
    def seen(self, documents: Document, *, ttl: float | None = None) -> Seen: ...
    @overload
    def seen(
        self, documents: Iterable[Document] | Iterable[Batch], *, ttl: float | None = None
    ) -> Answers: ...
    def seen(
        self,
        documents: str | Document | Iterable[Document] | Iterable[Batch],
        *,
        id: str | None = None,
        meta: Mapping[str, Any] | None = None,
        ttl: float | None = None,
    ) -> Seen | Answers:
        """Look documents up and store them, in one step: if the same page is given twice, at the same time or in one
        batch, exactly one of the two is new. Documents are committed, 1,024 in a transaction, before this returns.
        What `nd.read` gives can be passed as it is."""
        if isinstance(documents, str):
            if id is None:
                raise ConfigError("a text needs an id under which it is stored: seen(text, id=...)")
            documents = Document(id, documents, meta or {})
        if isinstance(documents, Document):
            return self.seen([documents], ttl=ttl)[0]
        parts, waiting = [], one_by_one(documents)
        while batch := list(islice(waiting, AT_ONCE)):
            items = self.prepare([document.text for document in batch])
            metas = [meta_text(document.meta) for document in batch]
            parts.append(self._store.writer.put([document.id for document in batch], items, metas, ttl))
        return Answers.joined(parts)

    def prepare(self, texts: Sequence[str] | _core.Texts, *, threads: int | None = None) -> Items:
        """The part of `seen` that depends only on the texts; it can run while other documents are written."""
        return self._store.matcher.of_texts(texts, threads, pack=True)

    def seen_prepared(
        self,
        ids: Sequence[str],
        items: Items,
        *,
        metas: Sequence[Mapping[str, Any] | None] | None = None,
        ttl: float | None = None,
    ) -> Answers:
        """The second part of `seen`: look up and store what `prepare` made, 1,024 in a transaction."""
        if len(ids) != len(items) or (metas is not None and len(metas) != len(ids)):
            raise DataError(f"{len(ids)} ids for {len(items)} documents")
        texts = [None] * len(ids) if metas is None else [meta_text(meta or {}) for meta in metas]
        return self._store.writer.put(ids, items, texts, ttl)

    def seen_prints(
        self,
        ids: Sequence[str],
        prints: Fingerprints,
        *,
        metas: Sequence[Mapping[str, Any] | None] | None = None,
        ttl: float | None = None,
    ) -> Answers:
        """`seen` for fingerprints. An index that verifies its hits needs texts."""
        if self._recipe.contents != "none":
            raise DataError(
                'this index uses texts to verify hits: use `seen`, or create it with store="none"'
            )
        return self.seen_prepared(ids, self._store.matcher.of_prints(prints), metas=metas, ttl=ttl)

    def add(
        self, documents: Document | Iterable[Document] | Iterable[Batch], *, ttl: float | None = None
    ) -> int:
        """Store documents. Returns how many of them were new. Each gets its keeper, as in `seen`."""
        given = [documents] if isinstance(documents, Document) else documents
        new, waiting = 0, one_by_one(given)
        while batch := list(islice(waiting, AT_ONCE)):
            new += int(self.seen(batch, ttl=ttl).new.sum())
        return new

    def add_prints(self, ids: Sequence[str], prints: Fingerprints, *, ttl: float | None = None) -> int:
        """`add` for fingerprints."""
        return int(self.seen_prints(ids, prints, ttl=ttl).new.sum())

    def remove(self, ids: str | Iterable[str]) -> int:
        """Delete documents. Returns how many of them existed. A cluster that loses its keeper gets a new one."""
        return self._store.writer.remove([ids] if isinstance(ids, str) else list(dict.fromkeys(ids)))

    def forget(self, before: float) -> int:
        """Delete all documents added before a time, in seconds since 1970. Returns how many there were."""
        if abs(before) > MOST_SECONDS:
            raise ConfigError(f"before is a time in seconds since 1970, not {before:g}")
        return self._store.writer.forget(int(before * 1000))

    def expire(self) -> int:
        """Delete the expired documents; adding documents does this too. Returns how many there were."""
        return self._store.writer.expire()

    @overload
    def search(self, queries: str | Document, *, mode: Mode = "all") -> list[Hit]: ...  # type: ignore[overload-overlap]
    @overload
    def search(self, queries: Iterable[str | Document], *, mode: Mode = "all") -> list[list[Hit]]: ...
    def search(
        self, queries: str | Document | Iterable[str | Document], *, mode: Mode = "all"
    ) -> list[Hit] | list[list[Hit]]:
        """The stored documents near a text: a list of Hit, best first; for several texts, a list of such lists.

        A Document does not find itself: hits with its own id are left out. `first` returns at most one hit.
        """
        if isinstance(queries, str | Document):
            return self.search([queries], mode=mode)[0]
        asked = list(queries)
        items = self._store.matcher.of_texts([q.text if isinstance(q, Document) else q for q in asked])
        own = [q.id if isinstance(q, Document) else None for q in asked]
        return self._store.search(items, own, check_mode(mode))

    def search_prints(self, prints: Fingerprints, *, mode: Mode = "all") -> list[list[Hit]]:
        """`search` for fingerprints."""
        if self._recipe.verifies:
            raise DataError(
                'this index uses texts to verify hits: use `search`, or create it with store="none"'
            )
        items = self._store.matcher.of_prints(prints)
        return self._store.search(items, [None] * len(prints), check_mode(mode))

    def search_rows(self, prints: Fingerprints, *, mode: Mode = "all", threads: int | None = None) -> Hits:
        """Search only, without verification: rows near each fingerprint, including expired ones; `ids` gives their
        ids."""
        return self._store.search_rows(self._store.matcher.of_prints(prints), check_mode(mode), threads)

    def ids(self, rows: Iterable[int] | Rows) -> dict[int, str]:
        """The ids of those rows that exist."""
        if isinstance(rows, str):
            raise ConfigError(f"rows must be whole numbers, not {rows!r:.80}")
        rows = list(rows)
        for row in rows:
            check_whole(row, "rows", 0, 2**62)
        return self._store.ids(rows)

    def get(self, id: str) -> Stored | None:
        """What is stored of a document, or None."""
        return self.get_all([id])[0]

    def get_all(self, ids: Iterable[str], *, most: int | None = None) -> list[Stored | None]:
        """What is stored of each of several documents, or None. DataError, before it is loaded, if that is more than
        `most` bytes."""
        return self._store.get_all(list(ids), most)

    def cluster(self, id: str, *, most: int | None = None) -> Cluster | None:
        """The cluster of a document: its keeper and all followers, each with its distance and similarity to the
        keeper. None if there is no such document. DataError, before they are loaded, if there are more than `most`."""
        return self._store.cluster(id, most)

    def documents(self) -> Iterator[Stored]:
        """All documents by row. Documents that are added or removed meanwhile may be missing."""
        return self._store.documents()

    def explain(self, id: str, other: str) -> Explanation:
        """Why two stored documents are, or are not, duplicates; the index must store texts."""
        one, two = self.get_all([id, other])
        for name, entry in ((id, one), (other, two)):
            if entry is None:
                raise DataError(f"there is no document {name!r}")
            if entry.text is None:
                raise DataError('this index stores no texts; create it with store="text"')
        assert one is not None and two is not None
        config, texts = self._recipe.config, (one.text or "", two.text or "")
        how, verify = config.shown, config.verify
        found = explain(*texts, threshold=verify.threshold, width=how.width, normalize=how.normalize)
        return found.by_measure(verify.of_texts(how, *texts))

    def stats(self) -> Stats:
        """Current sizes."""
        return self._store.stats()

    def refresh(self) -> bool:
        """Load what was written since an index was opened for reading. Returns whether there was anything. A shared
        index is always up to date."""
        return self._store.refresh()

    def compact(self) -> None:
        """Make the tables and the cache as small and fast as possible, without deleted documents. In a shared index:
        finish what dead workers left undone."""
        self._store.compact()

    def verify(self) -> Health:
        """Read and compare everything: database, cache files, tables and clusters. Takes a while and changes
        nothing."""
        return self._store.verify()

    def backup(self, target: str | PathLike[str], *, access: Access = "owner") -> None:
        """Copy the committed state to a new folder while the index is in use; the copy is an ordinary index. `access`
        says who may read it, as for a new index."""
        file_mode(access)
        self._store.backup(target, access)

    def export(self, path: str | PathLike[str], *, access: Access = "owner") -> int:
        """Write all documents to a JSONL or Parquet file, and the key, which `import` needs, to PATH.key. Returns how
        many documents there were. `access` says who may read the documents; only the owner may read the key."""
        file_mode(access)
        return write_export(path, self._recipe, self._store.lines(), access=access)

    def write_key(self, path: str | PathLike[str]) -> None:
        """Write the recipe and the seed to a file, for a client that makes fingerprints for this index."""
        write_key(self._recipe, path)


def _opened(path: str | PathLike[str], opening: Opening) -> Store:
    """Import a store only when it is opened, because each has its own dependencies."""
    if isinstance(path, str) and is_address(path):
        from neardup.index.redis.store import RedisStore

        return RedisStore(path, opening)
    from neardup.index.local.store import LocalStore

    return LocalStore(path, opening)
