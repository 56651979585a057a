"""A run's findings: the driver writes them in the same form as a local scan.

The driver receives the columns of all documents, about 250 bytes each. It also receives the texts of documents with
duplicates, a few megabytes at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from neardup import _core
from neardup.compare.verify import Pairs
from neardup.errors import ConfigError, FormatError
from neardup.findings.folder import Findings
from neardup.findings.scan_steps import REJECTS
from neardup.findings.writer import Origin, write_findings
from neardup.pipeline.corpus import Corpus
from neardup.pipeline.fit import Prepared
from neardup.pipeline.pairs import FoundPairs
from neardup.pipeline.rules import features_with_digits
from neardup.pipeline.shards import MemoryShard, ShardColumns
from neardup.progress import Progress
from neardup.search.report import SearchReport
from neardup.spark.account import account_of, write_rejects
from neardup.spark.documents import RunDocuments
from neardup.spark.inputs import File, Files
from neardup.spark.worker import DIGESTS, TEXTS, digests_of, prepared_with, texts_of
from neardup.storage.checked_json import read_checked, write_checked

__all__ = ["Counts", "FindingsOfRun", "origin_of", "read_origin"]

_ORIGIN = "spark.json"  # the inputs as they are on the cluster, for `apply` there
_STEP = 1 << 20  # documents, or pairs, that the driver receives at a time
_TEXTS = 32 << 20  # bytes of text that the driver receives at a time
Rows = NDArray[np.int64]
Counts = Mapping[str, int]


def origin_of(
    documents: RunDocuments,
    prepared: Prepared,
    folder: Path,
    columns: Mapping[str, str | None],
    against: Sequence[str],
) -> Origin:
    """Where the findings in `folder` come from; also writes the rejects there, and what `apply` on Spark needs."""
    source = _files_of(documents)
    rejected = write_rejects(documents, folder / REJECTS)
    origin = {
        "identity": {**source.identity(), "config": documents.config.to_plain()},
        "split": int(documents.session.conf.get("spark.sql.files.maxPartitionBytes") or 0),
        "pieces": documents.facts["pieces"],
        "checksums": documents.facts["checksums"],
    }
    write_checked(folder / _ORIGIN, origin)
    theirs, own = source.files[: source.reference], source.files[source.reference :]
    return Origin(
        config=documents.config,
        scheme=prepared.scheme,
        seed=f"{prepared.features.seed}",
        inputs=[
            {"path": _local(f), "name": f.name, "format": f.format, "bytes": f.size, "sha256": None}
            for f in own
        ],
        columns=columns,
        limits=source.limits,
        against=against,
        references=[{"path": _local(file), "bytes": file.size} for file in theirs],
        rejected=rejected,
        passed_over=documents.facts.get("passed_over", {}),
        account=account_of(documents).to_json(),
    )


def _files_of(documents: RunDocuments) -> Files:
    if not isinstance(documents.source, Files):
        raise ConfigError("findings need files that can be read again later; for a DataFrame use dedup()")
    return documents.source


class FindingsOfRun:
    """The columns of a run's documents and pairs on the driver. Rows of findings have no gaps. On the cluster a
    document's row is its place, and rejected lines have places too."""

    def __init__(
        self,
        documents: RunDocuments,
        exact: DataFrame,
        pairs: DataFrame,
        counts: Counts,
        search: SearchReport | None,
    ) -> None:
        self.documents, self.source, self._search = documents, _files_of(documents), search
        self._exact, self._pairs, self._counts = exact, pairs, counts

    def write(
        self, folder: Path, columns: Mapping[str, str | None], against: Sequence[str], progress: Progress
    ) -> Findings:
        """Write all files of the findings folder. `columns` are the given names for text, id and format, `against`
        those of the reference corpora."""
        prepared = prepared_with(self.documents.config, self.documents.learnt)
        about = origin_of(self.documents, prepared, folder, columns, against)
        return write_findings(folder, self.corpus, self._found(), about, self._texts, progress)

    @cached_property
    def corpus(self) -> Corpus:
        """All documents in the form that the local writer takes, without their texts."""
        shards, places = [], []
        frame = self.documents.frame.select(
            "row", "id", "file", "line", "empty", "filtered", "tokens", "size", "source", "score"
        )
        for part in self._parts(frame, "row"):
            places.append(_numbers(part, "row"))
            shards.append(self._shard(part))
        self.places = np.concatenate([np.empty(0, np.int64), *places])
        return Corpus(shards, int(np.searchsorted(self.places, self.documents.reference)))

    def _shard(self, part: pa.Table) -> MemoryShard:
        files, file = np.unique(_numbers(part, "file"), return_inverse=True)
        sources = part.column("source").combine_chunks().dictionary_encode()
        return MemoryShard(
            ShardColumns(
                ids=part.column("id").to_pylist(),
                digests=np.zeros((part.num_rows, 2), np.uint64),
                empty=_numbers(part, "empty").astype(np.uint8),
                filtered=_numbers(part, "filtered").astype(np.uint8),
                tokens=_numbers(part, "tokens"),
                sizes=_numbers(part, "size"),
                files=file.astype(np.int32),
                places=_numbers(part, "line"),
                sources=np.asarray(sources.indices, np.int32),
                scores=part.column("score").fill_null(math.nan).to_numpy(),
                file_names=tuple(self.source.files[number].name for number in files.tolist()),
                source_names=tuple(sources.dictionary.to_pylist()),
            ),
            _core.Texts(),
        )

    def _parts(self, frame: DataFrame, name: str) -> Iterator[pa.Table]:
        """The rows of a DataFrame, a range of places at a time, to bound the driver's memory."""
        for start in range(0, self.documents.places, _STEP):
            part = _between(frame, name, start, start + _STEP)
            if part.num_rows:
                yield part

    def _stored_pairs(self) -> DataFrame:
        """All pairs. If they are fetched in several parts, they are stored sorted first, to compute them only once."""
        documents = self.documents
        if documents.places <= _STEP:
            return self._pairs

        def make() -> DataFrame:
            parted = self._pairs.repartitionByRange(documents.partitions, "left")
            return parted.sortWithinPartitions("left")

        documents.folder.stage("pairs", make)
        return documents.folder.read("pairs")

    def _rows(self, places: Rows) -> Rows:
        """The rows of documents at some places."""
        self.corpus  # noqa: B018  (sets self.places)
        return np.searchsorted(self.places, places)

    def _found(self) -> FoundPairs:
        first, same_text = np.arange(len(self.corpus)), np.arange(len(self.corpus))
        for exact in self._parts(self._exact.select("row", "first", "same"), "row"):
            rows = self._rows(_numbers(exact, "row"))
            first[rows] = self._rows(_numbers(exact, "first"))
            same_text[rows] = self._rows(_numbers(exact, "same"))
        lefts, rights, similarities = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
        for part in self._parts(self._stored_pairs(), "left"):
            lefts.append(self._rows(_numbers(part, "left")))
            rights.append(self._rows(_numbers(part, "right")))
            similarities.append(part.column("similarity").to_numpy())
        counts = self._counts
        return FoundPairs(
            first,
            Pairs.of(np.concatenate(lefts), np.concatenate(rights), np.concatenate(similarities)),
            counts["candidates"],
            counts["capped"],
            counts["skipped"],
            counts["implied"],
            figures=self._figures(first),
            same_text=same_text,
            search=self._search,
        )

    def _figures(self, first: Rows) -> int:
        """How many documents equal an earlier one only because digits are folded."""
        if features_with_digits(self.documents.config) is None:
            return 0
        later = np.flatnonzero(first != np.arange(len(first)))
        wanted = np.unique(np.concatenate([later, first[later]]))
        made = self.documents.texts(digests_of(self.documents.config), DIGESTS, self.places[wanted]).toArrow()
        known = np.empty((len(first), 2), np.int64)
        known[self._rows(_numbers(made, "place"))] = np.stack(
            [_numbers(made, "d0"), _numbers(made, "d1")], axis=1
        )
        return int((known[later] != known[first[later]]).any(axis=1).sum())

    def _texts(self, rows: Rows) -> Iterator[list[bytes]]:
        """The texts of some rows in their order. The cluster collects and sorts them once; then the driver fetches
        them."""
        if not len(rows):
            return
        documents = self.documents

        found = documents.texts(texts_of, TEXTS, self.places[rows])
        step = np.cumsum(self.corpus.sizes[rows]) // _TEXTS
        if not step[-1]:  # they are few
            yield found.toArrow().sort_by("place").column("text").to_pylist()
            return

        def make() -> DataFrame:
            return found.repartitionByRange(documents.partitions, "place").sortWithinPartitions("place")

        documents.folder.stage("texts", make)
        stored = documents.folder.read("texts")
        for some in np.split(self.places[rows], np.flatnonzero(np.diff(step)) + 1):
            part = _between(stored, "place", int(some[0]), int(some[-1]) + 1)
            if part.num_rows != len(some):
                raise FormatError(documents.folder.path, f"{len(some)} texts", f"{part.num_rows}")
            yield part.column("text").to_pylist()


def read_origin(findings: Findings) -> dict[str, Any]:
    """The inputs of a run on the cluster: identity, split, pieces and their checksums."""
    path = findings.path / _ORIGIN
    if not path.exists():
        raise ConfigError(f"{findings.path}: was not scanned on Spark; use: neardup apply {findings.path}")
    origin, checked = read_checked(path, "what a run on Spark was of")
    if findings.manifest["format"] > 1 and not checked:
        raise FormatError(path, "a matching checksum", "a damaged file")
    try:
        needed = {name: origin[name] for name in ("identity", "split", "pieces")}
        return {**needed, "checksums": origin.get("checksums", [])}
    except KeyError:
        raise FormatError(path, "the inputs of a run on Spark", "something else") from None


def _between(rows: DataFrame, name: str, start: int, stop: int) -> pa.Table:
    """The rows with numbers in this range, sorted, in the driver's memory."""
    return rows.where((F.col(name) >= start) & (F.col(name) < stop)).toArrow().sort_by(name)


def _numbers(table: pa.Table, name: str) -> Rows:
    return np.asarray(table.column(name).to_numpy(), np.int64)


def _local(file: File) -> str:
    """The path by which this machine's readers know a file."""
    return file.path.removeprefix("file://").removeprefix("file:")
