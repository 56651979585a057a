"""Out of an index and into another: exports that read like any table, reindexing, and what a damaged one still has."""

from __future__ import annotations

import base64
import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from neardup.config.config import Config
from neardup.errors import ConfigError, DataError, FormatError
from neardup.index.api import Index
from neardup.index.contents import pack_text, unpack_text
from neardup.index.inputs import is_address
from neardup.index.key import read_key, write_key
from neardup.index.local.index import LocalIndex
from neardup.index.local.recover import salvage
from neardup.index.local.session import DATABASE, create_database, new_folder, remove_all
from neardup.index.local.store import Store
from neardup.index.recipe import Contents, Recipe
from neardup.readers import Limits, Reader, open_writer, read
from neardup.readers.document import Document
from neardup.readers.layout import Layout
from neardup.readers.parquet import pyarrow

__all__ = ["Line", "export_index", "import_index", "read_export", "recover_index", "reindex", "write_export"]

AT_ONCE = 1000
COLUMNS = {
    "id": "string",
    "keeper": "string",
    "distance": "int64",
    "similarity": "double",
    "added": "int64",
    "expires": "int64",
    "fingerprint": "string",
    "meta": "string",
    "text": "large_string",
    "features": "large_string",
}


class Line(NamedTuple):
    """A document of an export. Times in milliseconds since 1970."""

    id: str
    keeper: str
    distance: int | None
    similarity: float | None
    added: int
    expires: int | None
    print: bytes | None
    meta: str | None
    content: bytes | None


def export_index(index: LocalIndex, path: str | PathLike[str], key: str | PathLike[str] | None = None) -> int:
    """Write all documents to a JSONL or Parquet file, by row, and the index's key to another (PATH.key); gives how many
    documents there were. Together the two make the same index again."""
    session = index._session
    store = Store(session.store.path, readonly=True)  # a snapshot of its own: nobody has to wait
    try:
        store.begin(snapshot=True)
        return write_export(path, session.recipe, _stored(store), key)
    finally:
        store.close()


def write_export(
    path: str | PathLike[str],
    recipe: Recipe,
    stored: Iterable[Sequence[Line]],
    key: str | PathLike[str] | None = None,
) -> int:
    """Write lines to a file, and the key to another; gives how many lines there were."""
    rows = 0
    with open_writer(path, like=_layout(path, recipe.contents)) as writer:
        for lines in stored:
            for line in lines:
                writer.write(_record(line, recipe.contents))
                rows += 1
    write_key(recipe, f"{path}.key" if key is None else key)
    return rows


def import_index(path: str | PathLike[str], source: str, key: str | PathLike[str] | None = None) -> int:
    """A new index, in a folder or on a server, from what `export_index` wrote; gives how many documents it has."""
    if is_address(path):
        from neardup.index.redis.replay import import_shared

        return import_shared(str(path), source, key)
    recipe = read_key(f"{source}.key" if key is None else key)
    return _fill(Path(path), recipe, read_export(source, recipe))


def reindex(
    source: Index,
    path: str | PathLike[str],
    config: Config | None = None,
    *,
    store: Contents | None = None,
    threads: int = 1,
) -> int:
    """A new index of the same documents with another config, or with the same, from their stored texts; document
    frequencies, if it asks for them, are fitted on these. Gives how many documents it has. Clusters are made anew, in
    the order of rows."""
    if is_address(path):
        raise ConfigError("reindex into a folder; export that, and import it to the server")
    if source.store != "text":
        raise DataError(
            'this index keeps no texts: make a new one from the original files, with "neardup index add"'
        )
    if (Path(path) / DATABASE).exists():
        raise DataError(f"{path}: a new index goes to a new folder")
    texts = (entry.text or "" for entry in source.documents())
    chosen = source.settings if config is None else config
    sample = texts if chosen.idf is not None else None
    count = 0
    with LocalIndex(path, chosen, store=store, sample=sample, threads=threads) as target:
        batch = []
        for entry in source.documents():
            batch.append(entry)
            if len(batch) == AT_ONCE:
                count += _copy(target, batch)
                batch = []
        return count + _copy(target, batch)


def recover_index(
    path: str | PathLike[str], target: str | PathLike[str], key: str | None = None
) -> tuple[int, int | None]:
    """A new index of all that can still be read of a damaged one; gives how many documents that is, and how many there
    were besides, None if that cannot be read either. The key file is needed if the settings are damaged, too.

    The documents are read page by page, not through SQLite, which loses all that is under a damaged page of the tree.
    """
    if is_address(path) or is_address(target):
        raise ConfigError(
            "recover is for an index in a folder; one on a server is put right by compact, or replay"
        )
    database = Path(path) / DATABASE
    if not database.is_file():
        raise FileNotFoundError(2, "there is no index here", str(path))
    with open(database, "rb"):  # raises what is in the way, if it cannot be read
        pass
    with contextlib.closing(
        sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)
    ) as connection:
        recipe = read_key(key) if key is not None else _settings(connection, database)
        documents = _counted(connection)
    lines = {line.id: line for line in _salvaged(database, recipe)}  # of one id the last
    names = lines.keys()
    whole = (line if line.keeper in names else line._replace(keeper=line.id) for line in lines.values())
    count = _fill(Path(target), recipe, whole)
    return count, None if documents is None else max(documents - count, 0)


def _copy(target: LocalIndex, batch: list[Any]) -> int:
    if not batch:
        return 0
    answers = target.seen([Document(entry.id, entry.text or "", entry.meta) for entry in batch])
    times = [
        (int(entry.added * 1000), None if entry.expires is None else int(entry.expires * 1000), row)
        for entry, row in zip(batch, answers.row.tolist(), strict=True)
    ]
    store = target._session.store
    with target._session.writer, store.transaction():
        store.run_all("UPDATE documents SET added = ?, expires = ? WHERE row = ?", times)
    return len(batch)


def _stored(store: Store) -> Iterator[list[Line]]:
    names: dict[int, str] = {}
    for part in store.chunks(
        "row, id, keeper, distance, similarity, added, expires, print, meta, content",
        0,
        store.counters()["rows"],
        AT_ONCE,
    ):
        own = {line[0]: line[1] for line in part}
        others = np.array([line[2] for line in part if line[2] not in own], np.int64)
        names = store.ids(others) if len(others) else {}
        yield [Line(line[1], own.get(line[2]) or names[line[2]], *line[3:]) for line in part]


def _layout(path: str | PathLike[str], contents: Contents) -> Layout:
    """The columns of an export; in Parquet with their types, which no first few documents could tell."""
    names = [name for name in COLUMNS if name not in ("text", "features") or name == contents]
    schema = None
    if str(path).lower().endswith(".parquet"):
        arrow = pyarrow("writing Parquet")
        schema = arrow.schema([(name, arrow.type_for_alias(COLUMNS[name])) for name in names])
    return Layout(_text_column(contents), "id", tuple(names), schema)


def _text_column(contents: Contents) -> str:
    return "keeper" if contents == "none" else contents


def _record(line: Line, contents: Contents) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": line.id,
        "keeper": line.keeper,
        "distance": line.distance,
        "similarity": line.similarity,
        "added": line.added,
        "expires": line.expires,
        "fingerprint": None if line.print is None else line.print.hex(),
        "meta": line.meta,
    }
    if contents == "text":
        record["text"] = "" if line.content is None else unpack_text(line.content)
    elif contents == "features":
        record["features"] = "" if line.content is None else base64.b64encode(line.content).decode()
    return record


def read_export(source: str, recipe: Recipe) -> Iterator[Line]:
    """The lines of an export."""
    reader = read(source, text=_text_column(recipe.contents), id="id", limits=Limits(document_bytes=1 << 30))
    for batch in reader:
        for record in batch.records():
            try:
                content: bytes | None = None
                if recipe.contents == "text":
                    content = pack_text(record["text"])
                elif recipe.contents == "features":
                    content = base64.b64decode(record["features"])
                print = None if record["fingerprint"] is None else bytes.fromhex(record["fingerprint"])
                if print is not None and len(print) != recipe.width:
                    raise ValueError(f"a fingerprint of {len(print)} bytes, not {recipe.width}")
                if record["meta"] is not None:
                    json.loads(record["meta"])
                yield Line(
                    record["id"], record["keeper"], record["distance"], record["similarity"], int(record["added"]),
                    record["expires"], print, record["meta"], content,
                )  # fmt: skip
            except (KeyError, TypeError, ValueError) as error:
                raise DataError(
                    f"{source}: document {record.get('id')!r} is not from an export: {error}"
                ) from None
    _checked(reader, source)


def _checked(reader: Reader, source: str) -> None:
    if reader.rejects.counts:
        raise DataError(f"{source}: some documents cannot be read: {dict(reader.rejects.counts)}")


def _fill(folder: Path, recipe: Recipe, lines: Iterable[Line]) -> int:
    """A new index with these documents, under its name when it is whole."""
    if folder.exists() and any(folder.iterdir()):
        raise DataError(f"{folder}: a new index goes to a new folder")
    half = folder / f"{DATABASE}.filling"
    with new_folder(folder):
        try:
            create_database(half, recipe)
            with contextlib.closing(Store(half, durability="normal")) as store:
                count = _insert(store, lines)
                store.run("PRAGMA journal_mode = DELETE")
            half.rename(folder / DATABASE)
        finally:
            remove_all(half)
    return count


def _insert(store: Store, lines: Iterable[Line]) -> int:
    rows: dict[str, int] = {}
    follows: list[tuple[int, str]] = []
    with store.transaction():
        for line in lines:
            row = len(rows)
            if rows.setdefault(line.id, row) != row:
                raise DataError(f"two documents have the id {line.id!r}")
            if line.keeper != line.id:
                follows.append((row, line.keeper))
            values = (row, line.id, row, *line[2:])
            store.run(
                "INSERT INTO documents (row, id, keeper, distance, similarity, added, expires, print, meta, content) "
                "VALUES (?,?,?,?,?,?,?,?,?,?)",
                values,
            )
        missing = [keeper for _, keeper in follows if keeper not in rows]
        if missing:
            raise DataError(f"the keeper {missing[0]!r} is not among the documents")
        store.run_all(
            "UPDATE documents SET keeper = ? WHERE row = ?", [(rows[keeper], row) for row, keeper in follows]
        )
        store.count(rows=len(rows), documents=len(rows), followers=len(follows))
    return len(rows)


def _settings(connection: sqlite3.Connection, database: Path) -> Recipe:
    try:
        return Recipe.from_settings(dict(connection.execute("SELECT name, value FROM settings")))
    except (sqlite3.Error, KeyError, TypeError) as error:
        raise FormatError(
            database,
            "readable settings",
            f"{error}; give the key file that `neardup index export` wrote (--key)",
        ) from None


def _counted(connection: sqlite3.Connection) -> int | None:
    try:
        found = connection.execute("SELECT value FROM counters WHERE name = 'documents'").fetchone()
        return int(found[0])
    except (sqlite3.Error, TypeError, ValueError):
        return None


def _salvaged(database: Path, recipe: Recipe) -> Iterator[Line]:
    """Every document that can be read, by row."""
    found: dict[int, tuple[Any, ...]] = {}
    for line in salvage(database):
        if _plausible(line, recipe):
            found[line[0]] = line
    names = {row: line[1] for row, line in found.items()}
    for row in sorted(found):
        line = found[row]
        yield Line(line[1], names.get(line[2], line[1]), *line[3:])


def _plausible(line: tuple[Any, ...], recipe: Recipe) -> bool:
    _, id, keeper, distance, similarity, added, expires, print, meta, content = line
    kinds = ((distance, int), (similarity, float), (expires, int), (meta, str))
    if not (isinstance(id, str) and id and isinstance(keeper, int) and isinstance(added, int)):
        return False
    if any(value is not None and not isinstance(value, kind) for value, kind in kinds):
        return False
    if print is not None and not (isinstance(print, bytes) and len(print) == recipe.width):
        return False
    if recipe.contents == "none":
        return True
    if not isinstance(content, bytes):
        return False
    if recipe.contents == "text":
        try:
            unpack_text(content)
        except (DataError, UnicodeDecodeError):
            return False
    return True
