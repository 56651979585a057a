"""Small runs: workers read the documents, and the driver finds and decides with the local pipeline itself.

A run over the cluster makes some dozens of jobs, and each costs the driver about as much as a megabyte of text costs
the local pipeline. So up to SMALL bytes of text the driver receives columns and texts in one job.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from neardup.clusters.selection import Cut
from neardup.errors import DataError
from neardup.features.texts import as_texts
from neardup.findings.folder import Findings
from neardup.findings.scan_steps import write_run
from neardup.pipeline.fit import needs_corpus
from neardup.pipeline.pairs import FoundPairs, find
from neardup.pipeline.run import Run
from neardup.pipeline.shards import MemoryShard, ShardColumns
from neardup.progress import Progress
from neardup.spark.documents import RunDocuments
from neardup.spark.findings import origin_of
from neardup.spark.inputs import Files, FrameInput
from neardup.spark.storage import Facts

__all__ = ["DECISIONS", "SMALL", "SmallRun", "is_small"]

SMALL = 128 << 20  # bytes of text
_DOCUMENTS = 1 << 20  # documents, which take some 500 bytes of the driver's memory each
DECISIONS = "id string, kept boolean, cluster string, keeper string, similarity double"
Rows = NDArray[np.int64]


def is_small(facts: Facts, most: int) -> bool:
    """Whether the driver decides on a run by itself; `facts` are those of the documents."""
    return bool(facts["bytes"] <= most and facts["documents"] <= min(most, _DOCUMENTS) and facts["texts"])


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
        return find(run.corpus, run.prepared, run.rank, room=run.room, progress=self.progress)

    @cached_property
    def _cut(self) -> Cut:
        return self._run.cluster(self._run.describe(self._found))

    @cached_property
    def _run(self) -> Run:
        """The documents in the order of the run, with their fingerprints."""
        run = Run(self.documents.config, progress=self.progress)
        shard, place = self._shard()
        run.take([shard])
        run.reference = (
            int(np.searchsorted(place, self.documents.reference)) if self.documents.reference else 0
        )
        if needs_corpus(run.config):
            run.learn()
        if (method := run.config.method) is not None:
            shard.attach(run.prepared.prints(shard, method))
        return run

    def _shard(self) -> tuple[MemoryShard, Rows]:
        """All documents in the order of the run, and their places."""
        documents = self.documents
        rows = documents.folder.read("read").where("kind = 0").drop("kind", "reason", "detail", "sample")
        table = rows.drop("equal_key", "keys").toArrow().combine_chunks()
        pieces = list(zip(table.column("file").to_pylist(), table.column("start").to_pylist(), strict=True))
        begins = np.array([documents.begins[piece] for piece in pieces], np.int64)
        place = begins + _numbers(table, "line") - 1
        order = self._order(table, place)
        return self._made(table.take(pa.array(order)), place[order]), place[order]

    def _order(self, table: pa.Table, place: Rows) -> Rows:
        """Documents of files are in the order of their places, those of a DataFrame in the order of their ids."""
        if not isinstance(self.documents.source, FrameInput):
            return np.argsort(place)
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

    def _made(self, table: pa.Table, place: Rows) -> MemoryShard:
        source, file = self.documents.source, _numbers(table, "file")
        files, at = np.unique(file, return_inverse=True)
        firsts = self.documents.file_begins
        line = place - np.array([firsts[number] for number in files.tolist()], np.int64)[at] + 1
        names = [source.files[n].name if isinstance(source, Files) else "" for n in files.tolist()]
        shown = pa.array(names, pa.string()).take(pa.array(at))
        sources = pc.coalesce(table.column("source").combine_chunks(), shown).dictionary_encode()
        made = [f"{name}:{row}" for name, row in zip(shown.to_pylist(), line.tolist(), strict=True)]
        columns = ShardColumns(
            ids=[name or other for name, other in zip(table.column("id").to_pylist(), made, strict=True)],
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
        self._held = table.column("text").combine_chunks()
        return MemoryShard(columns, as_texts(self._held))


def _numbers(table: pa.Table, name: str) -> Rows:
    return np.asarray(table.column(name).to_numpy(), np.int64)
