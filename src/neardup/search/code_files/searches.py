"""Searches and joins of codes in files, and what they say about themselves. Hits come piece by piece."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ConfigError, DataError, FormatError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.code_files.columns import CHUNK, CodeColumns, CodeFile, holding_bytes, same_kind
from neardup.search.disk.batch import BatchBPHS, BatchPSM
from neardup.search.disk.segment_set import SegmentSet
from neardup.search.hamming.join import Join
from neardup.search.hamming.scan import Scan
from neardup.search.hamming.tables import BPHS, Compact, Covering
from neardup.search.interface import Mode, check_mode
from neardup.search.psm.psm import PSM
from neardup.search.psm.recall import Calibration
from neardup.search.psm.searcher import PsmSearcher
from neardup.search.report import SearchReport
from neardup.values.checks import checked
from neardup.values.sizes import parse_size, size_text

__all__ = ["CodeHits", "SearchName", "batch_files", "join_files", "search_files"]

SearchName = Literal["exact", "compact", "covering", "bphs", "scan", "psm"]
Piece = tuple[Sequence[Any], Sequence[Any], NDArray[np.uint8]]
_ASKED = 1 << 14  # queries asked at a time, which bounds the hits in memory
_WIDEST_TABLES = 8


@dataclass
class CodeHits:
    """The hits of a search: iterate once for pieces (query, stored, distance). A code is named by its id, or by its
    row if the file has no ids. `report` and `hits` are complete after the last piece."""

    pieces: Iterable[Piece]
    report: SearchReport
    queries: int
    stored: int
    hits: int = field(default=0)

    def __iter__(self) -> Iterator[Piece]:
        for piece in self.pieces:
            self.hits += len(piece[2])
            yield piece

    def to_plain(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "queries": self.queries,
            "stored": self.stored,
            "hits": self.hits,
            "search": self.report.to_plain(),
        }


def _named(columns: CodeColumns, rows: NDArray[np.int64]) -> Sequence[Any]:
    """Ids of places in columns, or the rows that the file gives them."""
    if columns.ids is not None:
        return [columns.ids[row] for row in rows.tolist()]
    return columns.rows[rows].tolist()  # type: ignore[no-any-return]


def _check_memory(files: Sequence[CodeFile], memory: int | str) -> None:
    needed = holding_bytes(files)
    if needed > parse_size(memory):
        raise ConfigError(
            f"this search holds all codes in memory, about {size_text(needed)}, more than the {memory} allowed: give "
            "more, or make a segment of the stored codes and use neardup codes batch"
        )


def _check_margins(search: SearchName, files: Sequence[CodeFile]) -> None:
    for file in files if search == "psm" else ():
        if not file.has_margins:
            raise ConfigError(
                f"{file.path}: psm flips the weakest bits first and needs margins, which this file has not: make it "
                "with neardup codes make as .parquet from documents, or search exactly"
            )


def _method(name: SearchName, radius: int, bits: int, recall: float) -> Any:
    if name == "psm":
        return PSM(radius, recall, bits=bits)
    if name == "scan" or (name == "exact" and radius > _WIDEST_TABLES):
        return Scan(radius, bits=bits)
    if name == "bphs":
        return BPHS(radius, bits=bits)
    return Covering(radius, bits=bits) if name == "covering" else Compact(radius, bits=bits)


@checked
def search_files(
    queries: CodeFile,
    stored: CodeFile,
    *,
    radius: int = 3,
    mode: Mode = "all",
    search: SearchName = "exact",
    recall: float = 0.95,
    memory: int | str = "2GB",
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
) -> CodeHits:
    """The stored codes within `radius` of each query, both held in memory. PSM needs margins in both files, and
    calibrates on the stored codes for the `recall`."""
    check_mode(mode)
    _check_margins(search, [queries, stored])
    scheme = same_kind([queries, stored])
    _check_memory([queries, stored], memory)
    held, held_columns = stored.load(scheme=scheme)
    asked, asked_columns = queries.load(scheme=scheme)
    index = _method(search, radius, stored.bits, recall).index(held, threads=threads)
    report = _report(search, index, held, radius, recall)

    def pieces() -> Iterator[Piece]:
        for start in range(0, len(asked), _ASKED):
            some = asked.take(slice(start, start + _ASKED))
            hits = index.search(some, mode=mode, threads=threads)
            yield (
                _named(asked_columns, hits.query + start),
                _named(held_columns, hits.row),
                hits.distance,
            )
            if progress is not None:
                progress(min(start + _ASKED, len(asked)))

    return CodeHits(pieces(), report, len(queries), len(stored))


def _report(search: str, index: Any, held: Codes, radius: int, recall: float) -> SearchReport:
    report = SearchReport.of(search, int((~held.empty).sum()), held.bits, radius)
    if not isinstance(index, PsmSearcher):
        return report
    return _with_recall(report, index.calibration, recall)


def _with_recall(report: SearchReport, measured: Calibration | None, recall: float) -> SearchReport:
    """Adds R' and its lower bound. If there were no pairs to calibrate on, all flips are made."""
    if measured is None or not measured.counted:
        why = "too few near pairs to calibrate on, so all flips are made"
        return replace(report, target=recall, relative=1.0, least=1.0, exact=why)
    return replace(
        report,
        flips=measured.flips,
        header_bits=measured.header_bits,
        target=recall,
        relative=measured.recall,
        least=measured.low,
        counted=measured.counted,
    )


@checked
def join_files(
    left: CodeFile,
    right: CodeFile | None = None,
    *,
    radius: int = 3,
    search: Literal["exact", "psm"] = "exact",
    recall: float = 0.95,
    memory: int | str = "2GB",
    threads: int = 1,
) -> CodeHits:
    """All pairs of one file within `radius`, each once, or all pairs of a code of `left` and one of `right`. By PSM a
    part of the pairs of one file, as many as the `recall` says; its codes need margins."""
    files = [left] if right is None else [left, right]
    scheme = same_kind(files)
    _check_memory(files, memory)
    one, one_columns = left.load(scheme=scheme)
    report = SearchReport.of(search, len(left), left.bits, radius)
    if search == "psm":
        if right is not None:
            raise ConfigError(
                "a join of two files is exact; with PSM search one in the other: neardup codes search"
            )
        _check_margins(search, files)
        found, report = PSM(radius, recall, bits=left.bits).found(one, threads)
        piece = (_named(one_columns, found.left), _named(one_columns, found.right), found.distance)
        return CodeHits([piece], report, len(left), len(left))
    if right is None:
        pairs = Join(radius, left.bits).within(one, threads=threads).expand()
        pieces = ((_named(one_columns, a), _named(one_columns, b), d) for a, b, d in pairs)
        return CodeHits(pieces, report, len(left), len(left))
    other, other_columns = right.load(scheme=scheme)
    report = SearchReport.of(search, len(right), left.bits, radius)
    between = Join(radius, left.bits).between(one, other, threads=threads).expand()
    pieces = ((_named(one_columns, a), _named(other_columns, b), d) for a, b, d in between)
    return CodeHits(pieces, report, len(left), len(right))


@checked
def batch_files(
    queries: CodeFile,
    stored: Sequence[str | os.PathLike[str]],
    *,
    radius: int = 3,
    mode: Mode = "all",
    search: Literal["exact", "psm"] = "exact",
    recall: float = 0.95,
    memory: int | str = "1GB",
    threads: int = 1,
    append: bool = False,
    progress: Callable[[int], None] | None = None,
) -> CodeHits:
    """Queries, held in memory, against segment files or a folder of them, which are read once and may be far larger
    than memory. With `append` the queries become one more segment of the folder, after the last hit, under the rows
    that follow those of the folder."""
    places = [Path(path) for path in stored]
    folder = len(places) == 1 and places[0].is_dir()
    if append and not folder:
        raise ConfigError("only a folder of segments can grow: name one folder, which may be empty")
    try:
        segments = SegmentSet(places[0] if folder else places)
    except FormatError as error:
        if not error.got.startswith("magic"):
            raise
        made = f"neardup codes compress {error.path} --out {Path(error.path).with_suffix('.seg')}"
        raise DataError(
            f"{error.path}: is not a segment file; of a file of codes, make one: {made}"
        ) from None
    _check_margins(search, [queries])
    scheme = segments.segments[0].scheme if segments.segments else same_kind([queries])
    asked, columns = queries.renamed(scheme).load(memory=memory)
    method: BatchBPHS | BatchPSM
    if search == "psm":
        method = BatchPSM(queries.bits, radius, memory=memory, recall=recall)
    else:
        method = BatchBPHS(queries.bits, radius, memory=memory)
    report = SearchReport.of(search, len(segments), queries.bits, radius)

    def pieces() -> Iterator[Piece]:
        found = 0
        with segments:
            for hits in fitted().search(asked, segments, mode=mode, threads=threads):
                yield _named(columns, hits.query), hits.row.tolist(), hits.distance
                found += len(hits)
                if progress is not None:
                    progress(found)
            if append:
                last = max((int(chunk.rows.max()) for chunk in segments.chunks(CHUNK)), default=-1)
                segments.append(asked, last + 1 + np.arange(len(asked)), threads=threads)

    def fitted() -> BatchBPHS | BatchPSM:
        if isinstance(method, BatchBPHS):
            return method
        chosen, measured = method.calibrated(asked, segments, threads=threads)
        whole.report = _with_recall(report, measured, recall)
        return chosen

    whole = CodeHits(pieces(), report, len(queries), len(segments))
    return whole
