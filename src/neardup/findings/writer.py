"""Writes findings: columns first, the manifest last, so that a folder with a manifest is complete."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.clusters.described import describe_guarded
from neardup.compare.changes import Counts
from neardup.compare.verify import Pairs
from neardup.config.config import Config
from neardup.errors import NeardupError
from neardup.features.texts import as_texts
from neardup.findings.balance import balance_of
from neardup.findings.changes import COLUMN, template_columns
from neardup.findings.columns import DOCUMENTS, MAGICS, PAIRS, TEXTS
from neardup.findings.folder import Findings, scan_id
from neardup.findings.manifest import VERSION, write_manifest
from neardup.findings.rejected import seal_rejects
from neardup.findings.stored_texts import StoredTexts
from neardup.pipeline.corpus import Corpus
from neardup.pipeline.pairs import FoundPairs
from neardup.pipeline.template_shares import Recurring
from neardup.progress import Progress
from neardup.readers.limits import Limits
from neardup.storage.atomic_file import sync_folder
from neardup.storage.column_file import BLOCK, ColumnFile
from neardup.storage.column_writer import ColumnFileWriter
from neardup.values.distinct import distinct
from neardup.version import __version__

__all__ = ["Origin", "rows_with_texts", "write_findings", "write_texts"]

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


def write_documents(folder: Path, corpus: Corpus, first: Rows, same_text: Rows | None = None) -> list[str]:
    """Write the columns about every document; returns the names of the files they came from."""
    names = sorted({name for shard in corpus.shards for name in shard.file_names})
    place = {name: i for i, name in enumerate(names)}
    files = [
        np.array([place[name] for name in shard.file_names], np.int32)[shard.column("files")]
        for shard in corpus.shards
        if shard.count
    ]
    columns: dict[str, NDArray[Any]] = {
        "first": first.astype("<i8", copy=False),
        "tokens": corpus.tokens.astype("<i8", copy=False),
        "sizes": corpus.sizes.astype("<i8", copy=False),
        "empty": corpus.column("empty").astype("u1", copy=False),
        "filtered": corpus.column("filtered").astype("u1", copy=False),
        "sources": corpus.sources.astype("<i4", copy=False),
        "scores": corpus.scores.astype("<f8", copy=False),
        "files": np.concatenate([np.empty(0, np.int32), *files]).astype("<i4", copy=False),
        "places": corpus.column("places").astype("<i8", copy=False),
    }
    if same_text is not None:
        columns["sametext"] = same_text.astype("<i8", copy=False)
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


def write_pairs(
    folder: Path, pairs: Pairs, changes: Counts | None = None, template: Recurring | None = None
) -> None:
    """Write the verified pairs, down to the floor; what differs in each and what recurs in sources, if it is known."""
    columns = {"left": pairs.left, "right": pairs.right, "score": pairs.similarity}
    if changes is not None:
        columns[COLUMN] = changes.astype("<u2").ravel()
    if template:
        columns |= template_columns(template)
    _columns(folder / PAIRS, len(pairs), columns)


def rows_with_texts(found: FoundPairs) -> Rows:
    """The first rows that are in a pair or share their words with others: people will want to see these texts."""
    repeated = found.first[found.first != np.arange(len(found.first))]
    return distinct(np.concatenate([found.pairs.left, found.pairs.right, repeated]))


def write_texts(
    folder: Path, rows: Rows, texts: Iterable[list[bytes] | _core.Texts], threads: int = 1
) -> None:
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
            data, stops = as_texts(part).utf8()
            writer.append("texts", data, threads)
            ends.append(before + stops)
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
    found: FoundPairs,
    origin: Origin,
    texts: Callable[[Rows], Iterable[list[bytes] | _core.Texts]] | None,
    progress: Progress,
) -> Findings:
    """Write all files of a findings folder, and open it; `texts` returns the texts of some rows, one part at a time. It
    is None if their file is there already."""
    progress.stage("write")
    if texts is not None:
        rows = rows_with_texts(found)
        write_texts(folder, rows, texts(rows), origin.threads)
    changes = found.changes
    if changes is None and origin.config.protect:  # without guards they are computed when they are asked for
        changes = _described(folder, corpus, found, origin)
    write_pairs(folder, found.pairs, changes, found.template)
    names = write_documents(folder, corpus, found.first, found.same_text)
    progress.finish()
    seals = {name: ColumnFile(folder / name, MAGICS[name]).seal for name in (DOCUMENTS, PAIRS, TEXTS)}
    seals |= seal_rejects(folder)
    made = Findings(folder, _manifest(corpus, found, origin, names, progress.seconds) | {"files": seals})
    with suppress(
        NeardupError
    ):  # a policy that does not fit the documents: the command that applies it says so
        made.manifest["account"] = balance_of(made, made.cut()).to_json()
    sync_folder(folder.resolve().parent)  # the folder may be new
    write_manifest(folder, made.manifest)
    made.scan_id = scan_id(folder)
    return made


def _described(folder: Path, corpus: Corpus, found: FoundPairs, origin: Origin) -> Counts:
    """What differs in the pairs, by the texts that were written."""
    config = origin.config
    rank = config.keep.rank(
        corpus.sizes, corpus.sources, corpus.source_names, corpus.scores, corpus.reference
    )
    file = ColumnFile(folder / TEXTS, MAGICS[TEXTS])
    texts = StoredTexts.of(file)
    changes = describe_guarded(
        found.pairs,
        found.first,
        rank,
        config.protect,
        texts.sizes,
        texts.fetch,
        threshold=config.verify.threshold,
        method=config.clusters,
        threads=origin.threads,
    )
    file.close()
    return changes


def _manifest(
    corpus: Corpus, found: FoundPairs, origin: Origin, names: list[str], seconds: Mapping[str, float]
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
            "system": f"{platform.system()}-{platform.release()}-{platform.machine()}",
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
        "search": {} if found.search is None else found.search.to_plain(),
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
        "file_names": names,
        "source_names": corpus.source_names,
    }
