"""Runs that the driver decides: workers read and fingerprint the documents, and the driver finds and decides with the
local pipeline itself.

A run over the cluster makes some dozens of jobs, and shuffles columns and features of all documents. Up to SMALL bytes
of text, the driver receives the columns and fingerprints of all documents and the texts of those that it has to
compare: a third of them, in an ordinary crawl.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.clusters.selection import Cut
from neardup.config.config import Config
from neardup.errors import DataError
from neardup.findings.folder import Findings
from neardup.findings.scan_steps import write_run
from neardup.pipeline.fit import needs_corpus
from neardup.pipeline.pairs import FoundPairs
from neardup.pipeline.run import Run
from neardup.pipeline.shards import ShardColumns
from neardup.progress import Progress
from neardup.readers.text_block import IdColumn
from neardup.spark.blocks import prints_of, prints_together, rows_of
from neardup.spark.documents import RunDocuments
from neardup.spark.fetched import FetchedShard, FetchingSearch
from neardup.spark.findings import origin_of
from neardup.spark.inputs import Files, FrameInput
from neardup.spark.places import places_of
from neardup.spark.storage import Facts
from neardup.spark.worker import TEXT_BLOCKS, text_blocks

__all__ = ["DECISIONS", "SMALL", "SmallRun", "is_small"]

SMALL = 8 << 30  # bytes of text
_DOCUMENTS = 1 << 22  # documents, which take some 400 bytes of the driver's memory each
_WHOLE = 128 << 20  # bytes of text, if the driver needs all texts
_AT_ONCE = 256 << 20  # bytes that one job sends to the driver
_DIRECT = 64 << 20  # bytes of text that workers send without writing them first
_THREADS = 4
DECISIONS = "id string, kept boolean, cluster string, keeper string, similarity double"
Rows = NDArray[np.int64]


def is_small(facts: Facts, most: int, config: Config) -> bool:
    """Whether the driver decides on a run by itself; `facts` are those of the documents."""
    fits = facts["bytes"] <= most and facts["documents"] <= min(most, _DOCUMENTS)
    return bool(fits and (facts["bytes"] <= _WHOLE or not _needs_all(config)))


def _needs_all(config: Config) -> bool:
    """Whether the texts of all documents are needed once they are read."""
    return needs_corpus(config) or config.filters.prune


class SmallRun:
    """A run of the local pipeline over documents that the workers have read."""

    def __init__(self, documents: RunDocuments, progress: Progress) -> None:
        self.documents, self.progress = documents, progress

    def decisions(self) -> pa.Table:
        """DECISIONS: every document except those of a reference."""
        cut, own = self._cut, np.arange(self._run.reference, len(self._run.corpus))
        ids = pa.array(self._run.corpus.ids(np.arange(len(self._run.corpus))))
        return pa.table(
            {
                "id": ids.take(pa.array(own)),
                "kept": cut.kept[own],
                "cluster": ids.take(pa.array(cut.clusters.labels[own])),
                "keeper": ids.take(pa.array(cut.clusters.keeper[own])),
                "similarity": cut.clusters.similarity[own].astype(np.float64),
            }
        )

    def write(self, folder: Path, columns: Mapping[str, str | None], against: Sequence[str]) -> Findings:
        """Write the findings, as FindingsOfRun does for large runs."""
        found = self._found
        origin = origin_of(self.documents, self._run.prepared, folder, columns, against)
        return write_run(folder, self._run, found, origin)

    @cached_property
    def _found(self) -> FoundPairs:
        run = self._run
        return FetchingSearch(run, self._shard, self.progress).run()

    @cached_property
    def _cut(self) -> Cut:
        return self._run.cluster(self._run.describe(self._found))

    @cached_property
    def _run(self) -> Run:
        """The documents in the order of the run, with their fingerprints."""
        threads = min(_THREADS, os.cpu_count() or 1)
        run = Run(self.documents.config, threads=threads, progress=self.progress)
        shard = self._shard
        run.take([shard])
        run.reference = (
            int(np.searchsorted(shard.row_places, self.documents.reference))
            if self.documents.reference
            else 0
        )
        if _needs_all(run.config):
            shard.fetch(np.arange(shard.count))
        if needs_corpus(run.config):
            run.learn()
            if (method := run.config.method) is not None:
                shard.attach(run.prepared.prints(shard, method))
        return run

    @cached_property
    def _shard(self) -> FetchedShard:
        """All documents in the order of the run."""
        documents, tables, prints = self.documents, [], []
        schema = documents.folder.read("read").schema
        parts = 1 + 300 * documents.facts["documents"] // _AT_ONCE
        for part in documents.folder.parts("read", ["kind", "columns", "prints"], schema, parts):
            for columns, kept in zip(part.column("columns"), part.column("prints"), strict=True):
                if columns.is_valid:
                    tables.append(rows_of(columns))
                if kept.is_valid:
                    prints.append(prints_of(kept))
        table = pa.concat_tables(tables).combine_chunks() if tables else _NONE
        place = places_of(table, documents.begins)
        order = self._order(table, place)
        columns = self._columns(table.take(pa.array(order)), place[order])
        kept = prints_together(prints, order) if prints else None
        return FetchedShard(columns, kept, place[order], self._texts)

    def _texts(self, places: Rows, size: int) -> Iterator[pa.Table]:
        """The texts at some places, of `size` bytes together: place, text."""
        documents = self.documents
        made = documents.texts(text_blocks, TEXT_BLOCKS, places)
        if size <= _DIRECT:
            blocks = iter([made.toArrow()])
        else:
            name, schema = "rounds/texts", made.schema
            writer = made.write.mode("overwrite").option("compression", "none")  # blocks are compressed
            writer.parquet(f"{documents.folder.path}/{name}")
            blocks = documents.folder.parts(name, ["block"], schema, 1 + size // _AT_ONCE)
        for part in blocks:
            for block in part.column("block"):
                yield rows_of(block)

    def _order(self, table: pa.Table, place: Rows) -> Rows:
        """Documents of files are in the order of their places, those of a DataFrame in the order of their ids."""
        if not isinstance(self.documents.source, FrameInput):
            return np.argsort(place, kind="stable")
        ids = table.column("id")
        if self.documents.source.numeric:
            ids = ids.cast(pa.int64())
        order = np.asarray(pc.sort_indices(ids), np.int64)
        names = ids.take(pa.array(order)).to_pylist()
        for before, name in pairwise(names):
            if before == name:
                raise DataError(
                    f"two documents have the id {str(name)!r}; name a column of ids that are all different"
                )
        return order

    def _columns(self, table: pa.Table, place: Rows) -> ShardColumns:
        source, file = self.documents.source, _numbers(table, "file")
        files, at = np.unique(file, return_inverse=True)
        firsts = self.documents.file_begins
        line = place - np.array([firsts[number] for number in files.tolist()], np.int64)[at] + 1
        names = [source.files[n].name if isinstance(source, Files) else "" for n in files.tolist()]
        shown = pa.array(names, pa.string()).take(pa.array(at))
        sources = pc.coalesce(table.column("source").combine_chunks(), shown).dictionary_encode()
        made = pc.binary_join_element_wise(shown, pa.array(line).cast(pa.string()), ":")
        ids = pc.coalesce(pc.if_else(pc.equal(table.column("id"), ""), None, table.column("id")), made)
        return ShardColumns(
            ids=_ids(ids),
            digests=np.stack([_numbers(table, "d0"), _numbers(table, "d1")], axis=1).view(np.uint64),
            empty=_numbers(table, "empty").astype(np.uint8),
            filtered=_numbers(table, "filtered").astype(np.uint8),
            tokens=_numbers(table, "tokens"),
            sizes=_numbers(table, "size"),
            files=at.astype(np.int32),
            places=line,
            sources=np.asarray(sources.indices, np.int32),
            scores=table.column("score").fill_null(math.nan).to_numpy(),
            file_names=tuple(names),
            source_names=tuple(sources.dictionary.to_pylist()),
        )


def _ids(column: Any) -> IdColumn:
    """A column of texts as ids."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    whole = whole.cast(pa.large_binary())
    _, ends, data = whole.buffers()
    offsets = np.frombuffer(ends, np.int64)[whole.offset : whole.offset + len(whole) + 1]
    every = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    return IdColumn(every[offsets[0] : offsets[-1]], offsets[1:] - offsets[0])


def _numbers(table: pa.Table, name: str) -> Rows:
    return np.asarray(table.column(name).to_numpy(), np.int64)


_NONE = pa.table(
    {
        **{name: pa.array([], pa.int64()) for name in ("start", "line", "d0", "d1", "tokens", "size")},
        **{name: pa.array([], pa.string()) for name in ("id", "source")},
        "file": pa.array([], pa.int32()),
        "empty": pa.array([], pa.bool_()),
        "filtered": pa.array([], pa.int8()),
        "score": pa.array([], pa.float64()),
    }
)
