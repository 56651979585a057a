"""The findings folder: its columns, opened for reading.

docs/format.md, "Findings folder", describes the files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.keepers import Keep
from neardup.clusters.protect import Guard
from neardup.clusters.selection import Cut, select
from neardup.compare.changes import Counts
from neardup.compare.verify import Pairs
from neardup.config.config import Config
from neardup.errors import ConfigError, DataError, FormatError
from neardup.findings.changes import describe_stored, read_changes
from neardup.storage.column_file import ColumnFile
from neardup.values.wording import counted

__all__ = ["DOCUMENTS", "MANIFEST", "PAIRS", "TEXTS", "VERSION", "Findings", "Place"]

VERSION = 1
MANIFEST, DOCUMENTS, PAIRS, TEXTS = "manifest.json", "documents.nd", "pairs.nd", "texts.nd"
MAGICS = {DOCUMENTS: b"NDDOCS\0\0", PAIRS: b"NDPAIRS\0", TEXTS: b"NDTEXTS\0"}
_MOST_MANIFEST = 256 << 20
_SHAPE = {
    **dict.fromkeys(("inputs", "references", "file_names", "source_names"), list),
    **dict.fromkeys(("columns", "limits", "config", "counts", "seconds"), dict),
}
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Place:
    """Where a document was read: file and row, from 1."""

    file: str
    row: int


class Findings:
    """The output of a scan. Opening it reads the manifest; columns are read and checked when they are first used."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        manifest = self.path / MANIFEST
        if not manifest.exists():
            if (self.path / "work").exists():
                raise DataError(f"{self.path}: the scan was not finished; run it again to resume it")
            raise DataError(f"{self.path}: contains no findings; create them with: neardup scan CORPUS")
        if manifest.stat().st_size > _MOST_MANIFEST:
            raise FormatError(manifest, "a manifest", "a file too large to be one")
        try:
            self.manifest: dict[str, Any] = json.loads(manifest.read_text("utf-8"))
            version = self.manifest["format"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise FormatError(manifest, "a manifest of findings", "something else") from None
        if version != VERSION:
            raise FormatError(
                manifest, f"findings of format {VERSION}", f"format {version}: scan again with this version"
            )
        missing = [name for name, kind in _SHAPE.items() if not isinstance(self.manifest.get(name), kind)]
        if missing:
            raise FormatError(manifest, f"its {missing[0]!r}", "none, or something else in its place")
        # Earlier versions had no guards: their findings are cut as they were.
        self.config = Config.from_plain({"protect": [], **self.manifest["config"]}, str(manifest))
        self._files: dict[str, ColumnFile] = {}

    def __repr__(self) -> str:
        pairs = counted(len(self.pairs), "pair")
        return f"<Findings {str(self.path)!r}: {counted(len(self), 'document')}, {pairs}>"

    def _file(self, file: str) -> ColumnFile:
        if file not in self._files:
            self._files[file] = ColumnFile(self.path / file, MAGICS[file])
        return self._files[file]

    def _column(self, file: str, name: str, dtype: Any) -> NDArray[Any]:
        opened = self._file(file)
        column: NDArray[Any] = opened.read(name, 0, opened.length(name)).view(dtype)
        return column

    def _documents(self, name: str, dtype: Any) -> NDArray[Any]:
        column = self._column(DOCUMENTS, name, dtype)
        if len(column) != len(self):
            raise self._files[DOCUMENTS].damage(f"{len(self)} of {name}", f"{len(column)}")
        return column

    def __len__(self) -> int:
        """The number of rows: scanned documents and reference documents."""
        return int(self.manifest["counts"]["documents"]) + self.reference

    @property
    def reference(self) -> int:
        """Rows below this number belong to a reference that the corpus was compared against."""
        return int(self.manifest["counts"]["reference"])

    @property
    def threshold(self) -> float:
        return self.config.verify.threshold

    @property
    def floor(self) -> float:
        """The smallest similarity of a stored pair, so also the smallest threshold that can be used."""
        return self.config.verify.least

    @cached_property
    def first(self) -> Rows:
        """For each row, the first row that has the same words."""
        return self._documents("first", "<i8")

    @cached_property
    def tokens(self) -> Rows:
        return self._documents("tokens", "<i8")

    @cached_property
    def sizes(self) -> Rows:
        """Bytes of each document as it was read."""
        return self._documents("sizes", "<i8")

    @cached_property
    def empty(self) -> NDArray[np.bool_]:
        return np.asarray(self._documents("empty", "u1") != 0)

    @cached_property
    def filtered(self) -> NDArray[np.uint8]:
        """Why a filter left each document out, as a place in `filters.REASONS`; 0: it was not left out."""
        return self._documents("filtered", "u1")

    @cached_property
    def sources(self) -> NDArray[np.int32]:
        """The source of each row, as a place in `source_names`."""
        return self._documents("sources", "<i4")

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        return self._documents("scores", "<f8")

    @cached_property
    def files(self) -> NDArray[np.int32]:
        """The file of each row, as a place in `file_names`."""
        return self._documents("files", "<i4")

    @cached_property
    def places(self) -> Rows:
        """The row of each document in its file, from 1."""
        return self._documents("places", "<i8")

    @property
    def file_names(self) -> list[str]:
        return list(self.manifest["file_names"])

    @property
    def source_names(self) -> list[str]:
        return list(self.manifest["source_names"])

    @cached_property
    def id_bytes(self) -> tuple[bytes, Rows]:
        """All ids joined, in UTF-8, and the offset where each begins and the last one ends."""
        ends = self._documents("idends", "<i8")
        return self._column(DOCUMENTS, "ids", "u1").tobytes(), np.concatenate([[0], ends]).astype(np.int64)

    def ids(self, rows: Rows) -> list[str]:
        """The ids of some rows."""
        data, offsets = self.id_bytes
        ends = zip(offsets[rows].tolist(), offsets[rows + 1].tolist(), strict=True)
        return [data[a:b].decode() for a, b in ends]

    def row_of(self, id: str) -> int:
        """The first row with this id; rows of the corpus come before rows of a reference."""
        data, offsets = self.id_bytes
        wanted = id.encode()
        lengths = np.flatnonzero(np.diff(offsets) == len(wanted))
        order = np.concatenate([lengths[lengths >= self.reference], lengths[lengths < self.reference]])
        for row in order.tolist():
            if data[offsets[row] : offsets[row + 1]] == wanted:
                return int(row)
        raise DataError(f"{self.path}: there is no document with the id {id!r}")

    def place(self, row: int) -> Place:
        """Where a document was read."""
        return Place(self.file_names[int(self.files[row])], int(self.places[row]))

    @cached_property
    def pairs(self) -> Pairs:
        """Verified pairs of first rows, down to the floor."""
        return Pairs(
            self._column(PAIRS, "left", "<i8"),
            self._column(PAIRS, "right", "<i8"),
            self._column(PAIRS, "score", "<f8"),
        )

    @cached_property
    def changes(self) -> Counts:
        """What differs in each of `pairs`: a row of `compare.changes.COLUMNS`."""
        stored = read_changes(self._file(PAIRS), len(self.pairs))
        return describe_stored(self._file(TEXTS), self.pairs) if stored is None else stored

    def check_target(self, path: str | PathLike[str]) -> None:
        """ConfigError if writing to this file would change an input or a reference."""
        target = os.path.realpath(path)
        for entry in (*self.manifest["inputs"], *self.manifest["references"]):
            if target == entry["path"]:
                raise ConfigError(f"{path}: is an input; inputs are never changed, name another file")

    def check_threshold(self, threshold: float) -> float:
        """Return the threshold; ConfigError if the scan stored no pairs of so small a similarity."""
        if not self.floor <= threshold <= 1:
            raise ConfigError(
                f"threshold {threshold:g}: the scan stored pairs from {self.floor:g} up; to use less, scan again "
                "with --floor"
            )
        return threshold

    def rank(self, keep: Keep | None = None) -> Rows:
        """The rank of each row by a keep policy, by default the scan's; reference rows come before all others."""
        keep = keep or self.config.keep
        if keep.source != self.config.keep.source:
            raise ConfigError("the scan fixed what a source is; to change it, scan again with --source")
        if keep.score is not None and keep.score != self.config.keep.score:
            raise ConfigError(
                f"the scan read no scores {keep.score!r}; scan again with --keep score:{keep.score}"
            )
        return keep.rank(self.sizes, self.sources, self.source_names, self.scores, self.reference)

    def cut(
        self,
        threshold: float | None = None,
        keep: Keep | None = None,
        *,
        rank: Rows | None = None,
        protect: tuple[Guard, ...] | None = None,
    ) -> Cut:
        """Clusters and kept documents at a threshold, from the stored pairs alone; `protect` are the guards, by default
        those of the scan."""
        keep = keep or self.config.keep
        guards = self.config.protect if protect is None else protect
        at = self.check_threshold(self.threshold if threshold is None else threshold)
        made = select(
            self.pairs,
            self.first,
            self.rank(keep) if rank is None else rank,
            keep,
            threshold=at,
            sources=self.sources,
            method=self.config.clusters,
            reference=self.reference,
            guards=guards,
            changes=self.changes if guards else None,
        )
        return replace(made, kept=made.kept & (self.filtered == 0))

    def text(self, row: int) -> str:
        """The text of a document that is in a pair or has the words of another; other texts were not stored."""
        return next(iter(self.texts(np.array([row]))))

    def texts(self, rows: Rows) -> Iterator[str]:
        """The texts of some documents as they were compared; of equal ones, the text of the first."""
        stored, ends = self._stored
        file = self._files[TEXTS]
        wanted = self.first[rows]
        at = np.searchsorted(stored, wanted)
        for row, place, name in zip(rows.tolist(), at.tolist(), wanted.tolist(), strict=True):
            if place == len(stored) or stored[place] != name:
                raise DataError(
                    f"{self.path}: the text of row {row} was not stored, because it has no duplicate"
                )
            yield (
                file.read("texts", int(ends[place]), int(ends[place + 1]))
                .tobytes()
                .decode("utf-8", "replace")
            )

    @property
    def stored_rows(self) -> Rows:
        """The first rows whose texts were stored, ascending."""
        return self._stored[0]

    def stored_texts(self, start: int, stop: int) -> list[str]:
        """The texts of `stored_rows[start:stop]`, with one read."""
        _, ends = self._stored
        ends = ends[start : stop + 1]
        data = self._files[TEXTS].read("texts", int(ends[0]), int(ends[-1])).tobytes()
        cuts = (ends - ends[0]).tolist()
        return [data[a:b].decode("utf-8", "replace") for a, b in pairwise(cuts)]

    def has_text(self, row: int) -> bool:
        """Whether the text of this document was stored."""
        stored, _ = self._stored
        at = int(np.searchsorted(stored, self.first[row]))
        return at < len(stored) and stored[at] == self.first[row]

    @cached_property
    def _stored(self) -> tuple[Rows, Rows]:
        rows = self._column(TEXTS, "rows", "<i8")
        ends = self._column(TEXTS, "ends", "<i8")
        return rows, np.concatenate([[0], ends]).astype(np.int64)
