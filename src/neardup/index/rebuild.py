"""Creates an index from another one: from its export, from its stored texts, or from what a damaged one still has."""

from __future__ import annotations

import contextlib
from itertools import islice
from os import PathLike
from pathlib import Path

from neardup.config.config import Config
from neardup.errors import DataError
from neardup.index.answers import Stored
from neardup.index.api import Index
from neardup.index.export import read_export
from neardup.index.inputs import is_address, meta_text
from neardup.index.interface import Opening, check_folder
from neardup.index.key import exported_documents, read_key
from neardup.index.local.files import built_beside, check_new_folder
from neardup.index.local.fill import fill_folder
from neardup.index.local.recover import recovered
from neardup.index.local.store import LocalStore
from neardup.index.recipe import Contents

__all__ = ["import_index", "recover_index", "reindex"]

AT_ONCE = 1000


def import_index(path: str | PathLike[str], source: str, key: str | PathLike[str] | None = None) -> int:
    """Create an index, in a folder or on a server, from a file of `Index.export`. Returns its number of documents."""
    if is_address(path):
        from neardup.index.redis.replay import replay

        return replay(str(path), [source], key)
    used = f"{source}.key" if key is None else key
    recipe, documents = read_key(used), exported_documents(used)
    return fill_folder(Path(path), recipe, read_export(source, recipe, documents))


def reindex(
    source: Index,
    path: str | PathLike[str],
    config: Config | None = None,
    *,
    store: Contents | None = None,
    threads: int = 1,
) -> int:
    """Create an index of the same documents, with another config or the same, from their stored texts. Document
    frequencies, if the config needs them, are fitted on these texts. Returns the number of documents. Clusters are
    computed again, in the order of rows. The new index gets its name when it is complete."""
    check_folder(
        path, "reindex into a server", "reindex into a folder, export that, and import it to the server"
    )
    if source.store != "text":
        raise DataError(
            'this index stores no texts: create a new one from the original files, with "neardup index add"'
        )
    check_new_folder(Path(path), "a new index needs a new folder")
    texts = (entry.text or "" for entry in source.documents())
    chosen = source.settings if config is None else config
    opening = Opening(chosen, store=store, sample=texts if chosen.idf is not None else None, threads=threads)
    with built_beside(path) as folder, contextlib.closing(LocalStore(folder, opening)) as target:
        count, waiting = 0, source.documents()
        while batch := list(islice(waiting, AT_ONCE)):
            _copy(target, batch)
            count += len(batch)
    return count


def _copy(target: LocalStore, batch: list[Stored]) -> None:
    """Add documents with their original times."""
    items = target.matcher.of_texts([entry.text or "" for entry in batch], pack=True)
    metas = [meta_text(entry.meta) for entry in batch]
    answers = target.writer.put([entry.id for entry in batch], items, metas, None)
    target.set_times(
        [
            (int(entry.added * 1000), None if entry.expires is None else int(entry.expires * 1000), row)
            for entry, row in zip(batch, answers.row.tolist(), strict=True)
        ]
    )


def recover_index(
    path: str | PathLike[str], target: str | PathLike[str], key: str | None = None
) -> tuple[int, int | None]:
    """Create an index of everything that can be read from a damaged one. Returns the number of documents, and the
    original number, None if that cannot be read. The key file is needed if the settings are damaged too."""
    for place in (path, target):
        check_folder(place, "recover", "an index on a server is repaired by compact, or restored by replay")
    recipe, documents, lines = recovered(Path(path), None if key is None else read_key(key))
    count = fill_folder(Path(target), recipe, lines)
    return count, None if documents is None else max(documents - count, 0)
