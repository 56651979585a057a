"""The steps of a scan that the stages for schedulers and small runs on Spark share: how inputs are read and
identified, the corpus that is read, and the findings that are written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.config.config import Config
from neardup.findings.decision_log import DecisionLog
from neardup.findings.folder import Findings
from neardup.findings.rejected import REJECTS
from neardup.findings.writer import Origin, rows_with_texts, write_findings, write_texts
from neardup.pipeline.corpus import Corpus
from neardup.pipeline.inputs import of_reader
from neardup.pipeline.pairs import FoundPairs
from neardup.pipeline.run import Run
from neardup.pipeline.shards import Shard
from neardup.progress import Progress
from neardup.readers.options import given_options
from neardup.readers.reader import Reader
from neardup.readers.rejects import Rejects

__all__ = ["REJECTS", "WORK", "file_identity", "read_corpus", "reading_columns", "write_run"]

WORK = "work"
SECOND_OPINIONS = "pages were read by trafilatura: their main content holds under 30% of their words"
WHOLE_PAGES = "pages were read whole: their main content holds under 30% of their words"


def reading_columns(
    *, text: str | Sequence[str] | None, id: str | None, format: str | None, **others: Any
) -> dict[str, Any]:
    """The arguments of `read` that decide what the documents are, as plain values for a manifest."""
    return {
        "text": text if text is None or isinstance(text, str) else list(text),
        "id": id,
        "format": format,
        **given_options(**others),
    }


def file_identity(source: Any) -> list[Any]:
    """Name, size and time of last change: these show, without reading it, whether an input is still the same."""
    try:
        changed = os.stat(source.path).st_mtime_ns
    except OSError:  # remote
        changed = 0
    return [source.path, source.size, changed]


def read_corpus(
    run: Run, reader: Reader, rejects: Rejects, config: Config, progress: Progress
) -> tuple[list[Shard], list[dict[str, Any]]]:
    """Read all documents of a reader; returns their shards, and its files as a manifest lists them. Pages without text
    are rejected."""
    shards = run.read(
        partial(of_reader, reader, config), progress=lambda _: progress.reached(reader.bytes_read)
    )
    for shard in shards:
        for note, count in ((WHOLE_PAGES, shard.whole), (SECOND_OPINIONS, shard.second)):
            if count:
                reader.account.notes[note] += count
        for file, row, reason in shard.failures:
            rejects.add(file, row, reader.account.reject_page(file, row, reason), reason)
    inputs = [
        {
            "path": source.path,
            "name": source.name,
            "format": source.format,
            "bytes": source.size,
            "digest": digest.fast if (digest := reader.digests.get(source.name)) else None,
            "sha256": digest.sha256 if digest else None,
        }
        for source in reader.files or ()
    ]
    return shards, inputs


def write_run(folder: Path, run: Run, found: FoundPairs, origin: Origin) -> Findings:
    """Write the findings of a run whose pairs were found. Decisions about earlier findings in the folder are set
    aside."""
    rows = rows_with_texts(found)
    with ThreadPoolExecutor(1) as pool:  # texts are written while the pairs are described
        writing = pool.submit(write_texts, folder, rows, _texts(run.corpus, rows), run.threads)
        found = run.with_template(run.describe(found))
        writing.result()
    origin = replace(origin, scheme=run.prepared.scheme, seed=f"{run.prepared.features.seed}")
    findings = write_findings(folder, run.corpus, found, origin, None, run.progress)
    DecisionLog(findings).set_aside()
    return findings


def _texts(corpus: Corpus, rows: NDArray[np.int64]) -> Iterator[_core.Texts]:
    """The texts of some rows, a few megabytes at a time."""
    for part in corpus.batches(rows, 1 << 20):
        for shard, local in corpus.by_shard(part):
            yield shard.texts(local)
