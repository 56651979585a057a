"""Writes findings: columns first, the manifest last, so that a folder with a manifest is complete."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.compare.changes import Counts
from neardup.compare.verify import Pairs
from neardup.config.config import Config
from neardup.findings.changes import COLUMN, describe_stored
from neardup.findings.folder import DOCUMENTS, MAGICS, PAIRS, TEXTS
from neardup.findings.manifest import VERSION, write_manifest
from neardup.pipeline.corpus import Corpus
from neardup.pipeline.pairs import Found
from neardup.progress import Progress
from neardup.readers.limits import Limits
from neardup.storage.atomic_file import sync_folder
from neardup.storage.column_file import BLOCK, ColumnFile
from neardup.storage.column_writer import ColumnFileWriter
from neardup.version import __version__

__all__ = ["Origin", "rows_with_texts", "write_findings"]

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
    """Write the columns about every document; returns the names of the files they came from."""
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


def write_pairs(folder: Path, pairs: Pairs, changes: Counts) -> None:
    """Write the verified pairs, down to the floor, and what differs in each."""
    columns = {"left": pairs.left, "right": pairs.right, "score": pairs.similarity}
    columns[COLUMN] = changes.astype("<u2").ravel()
    _columns(folder / PAIRS, len(pairs), columns)


def rows_with_texts(found: Found) -> Rows:
    """The first rows that are in a pair or share their words with others: people will want to see these texts."""
    repeated = found.first[found.first != np.arange(len(found.first))]
    return np.unique(np.concatenate([found.pairs.left, found.pairs.right, repeated]))


def write_texts(folder: Path, rows: Rows, texts: Iterable[list[bytes]]) -> None:
    """Write the texts of these rows in order, one part at a time."""
    ends: list[NDArray[np.int64]] = []
    layout: list[tuple[str, int, Any]] = [
        ("rows", BLOCK, rows.nbytes),
        ("texts", BLOCK, None),
        ("ends", BLOCK, None),
    ]
    with _writer(folder / TEXTS, layout) as writer:
        writer.append("rows", rows)
        before = 0
        for part in texts:
            data = np.frombuffer(b"".join(part), np.uint8)
            writer.append("texts", data)
            ends.append(before + np.cumsum(np.fromiter(map(len, part), np.int64, len(part))))
            before += len(data)
        writer.append("ends", np.concatenate([np.empty(0, np.int64), *ends]).astype("<i8"))
        writer.finish(len(rows))


@dataclass(frozen=True)
class Origin:
    """Where findings come from: the inputs as they were read, and the settings."""

    config: Config
    scheme: str
    seed: str
    inputs: list[dict[str, Any]]
    columns: Mapping[str, str | None]
    limits: Limits
    against: Sequence[str] = ()
    references: Sequence[Mapping[str, Any]] = ()
    rejected: Mapping[str, int] = field(default_factory=dict)
    passed_over: Mapping[str, int] = field(default_factory=dict)
    account: Mapping[str, Any] = field(default_factory=dict)
    threads: int = 1
    memory: int = 0
    shards: int = 0


def write_findings(
    folder: Path,
    corpus: Corpus,
    found: Found,
    origin: Origin,
    texts: Callable[[Rows], Iterable[list[bytes]]],
    progress: Progress,
) -> None:
    """Write all files of a findings folder; `texts` returns the texts of some rows, one part at a time."""
    progress.stage("write")
    rows = rows_with_texts(found)
    write_texts(folder, rows, texts(rows))
    changes = found.changes
    if changes is None:
        file = ColumnFile(folder / TEXTS, MAGICS[TEXTS])
        changes = describe_stored(file, found.pairs, origin.threads)
        file.close()
    write_pairs(folder, found.pairs, changes)
    names = write_documents(folder, corpus, found.first)
    progress.finish()
    seals = {name: ColumnFile(folder / name, MAGICS[name]).seal for name in (DOCUMENTS, PAIRS, TEXTS)}
    write_manifest(folder, _manifest(corpus, found, origin, names, progress.seconds) | {"files": seals})
    sync_folder(folder.resolve().parent)  # the folder may be new


def _manifest(
    corpus: Corpus, found: Found, origin: Origin, names: list[str], seconds: Mapping[str, float]
) -> dict[str, Any]:
    filtered = corpus.column("filtered")[corpus.reference :]
    return {
        "format": VERSION,
        "neardup": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "inputs": origin.inputs,
        "columns": origin.columns,
        "limits": asdict(origin.limits),
        "against": list(origin.against),
        "references": list(origin.references),
        "config": origin.config.to_plain(),
        "scheme": origin.scheme,
        "seed": origin.seed,
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "system": platform.platform(),
        },
        "threads": origin.threads,
        "memory": origin.memory,
        "counts": {
            "documents": len(corpus) - corpus.reference,
            "reference": corpus.reference,
            "shards": origin.shards,
            "empty": int((corpus.column("empty")[corpus.reference :] != 0).sum()),
            "filtered": {
                str(k): int(v) for k, v in sorted(Counter(filtered[filtered != 0].tolist()).items())
            },
            "pairs": len(found.pairs),
            "candidates": found.candidates,
            "capped": found.capped,
            "skipped": found.skipped,
            "implied": found.implied,
            "pruned": found.pruned,
            "figures": found.figures,
            "rejected": dict(origin.rejected),
            "passed_over": dict(origin.passed_over),
        },
        "account": dict(origin.account),
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
        "file_names": names,
        "source_names": corpus.source_names,
    }
