"""Writing findings: columns first, the manifest last, so that a folder with a manifest is whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.compare.verify import Pairs
from neardup.findings.folder import DOCUMENTS, MAGICS, MANIFEST, PAIRS, TEXTS
from neardup.pipeline.corpus import Corpus
from neardup.pipeline.run import Found
from neardup.storage.atomic_file import AtomicFile
from neardup.storage.column_file import BLOCK
from neardup.storage.column_writer import ColumnFileWriter

__all__ = ["write_documents", "write_manifest", "write_pairs", "write_texts"]

Rows = NDArray[np.int64]
_SCHEME = "findings/v1"


def _columns(path: Path, count: int, columns: Mapping[str, NDArray[Any]]) -> None:
    layout = [(name, BLOCK, column.nbytes) for name, column in columns.items()]
    with _writer(path, layout) as writer:
        for name, column in columns.items():
            writer.append(name, column)
        writer.finish(count)


def _writer(path: Path, layout: list[tuple[str, int, Any]]) -> ColumnFileWriter:
    magic = MAGICS[path.name]
    return ColumnFileWriter(path, magic=magic, flags=0, bits=64, scheme=_SCHEME, parameter=0, columns=layout)


def write_documents(folder: Path, corpus: Corpus, first: Rows) -> list[str]:
    """What is known of every document; returns the names of the files they came from."""
    names = sorted({name for shard in corpus.shards for name in shard.file_names})
    place = {name: i for i, name in enumerate(names)}
    files = [
        np.array([place[name] for name in shard.file_names], np.int32)[shard.column("files")]
        for shard in corpus.shards
        if shard.count
    ]
    columns: dict[str, NDArray[Any]] = {
        "first": first.astype("<i8"),
        "tokens": corpus.tokens.astype("<i8"),
        "sizes": corpus.sizes.astype("<i8"),
        "empty": corpus.column("empty").astype("u1"),
        "filtered": corpus.column("filtered").astype("u1"),
        "sources": corpus.sources.astype("<i4"),
        "scores": corpus.scores.astype("<f8"),
        "files": np.concatenate([np.empty(0, np.int32), *files]).astype("<i4"),
        "places": corpus.column("places").astype("<i8"),
    }
    layout: list[tuple[str, int, Any]] = [(name, BLOCK, column.nbytes) for name, column in columns.items()]
    layout += [("idends", BLOCK, 8 * len(corpus)), ("ids", BLOCK, None)]
    with _writer(folder / DOCUMENTS, layout) as writer:
        for name, column in columns.items():
            writer.append(name, column)
        before = 0
        for shard in corpus.shards:
            data, ends = shard.id_bytes()
            writer.append("ids", data)
            writer.append("idends", (ends + before).astype("<i8"))
            before += len(data)
        writer.finish(len(corpus))
    return names


def write_pairs(folder: Path, pairs: Pairs) -> None:
    """Verified pairs, down to the floor."""
    columns = {"left": pairs.left, "right": pairs.right, "score": pairs.similarity}
    _columns(folder / PAIRS, len(pairs), columns)


def write_texts(folder: Path, corpus: Corpus, found: Found) -> None:
    """The texts of first rows that are in a pair or have others of the same words: what people will want to see."""
    repeated = found.first[found.first != np.arange(len(found.first))]
    rows = np.unique(np.concatenate([found.pairs.left, found.pairs.right, repeated]))
    ends: list[NDArray[np.int64]] = []
    layout: list[tuple[str, int, Any]] = [
        ("rows", BLOCK, rows.nbytes),
        ("texts", BLOCK, None),
        ("ends", BLOCK, None),
    ]
    with _writer(folder / TEXTS, layout) as writer:
        writer.append("rows", rows)
        before = 0
        for data, lengths in _texts(corpus, rows):
            writer.append("texts", data)
            ends.append(before + np.cumsum(lengths))
            before += len(data)
        writer.append("ends", np.concatenate([np.empty(0, np.int64), *ends]).astype("<i8"))
        writer.finish(len(rows))


def _texts(corpus: Corpus, rows: Rows) -> Iterator[tuple[NDArray[np.uint8], Rows]]:
    for shard, local in corpus.by_shard(rows):
        texts = shard.text_bytes(local)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        yield np.frombuffer(b"".join(texts), np.uint8), lengths


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """The last file: with it the findings are whole."""
    with AtomicFile(folder / MANIFEST) as file:
        # A name that is not Unicode holds lone surrogates; replaced by backslashes they are escapes that JSON knows.
        told = json.dumps(manifest, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace")
        file.write(told + b"\n")
        file.commit()
