"""The findings folder, opened for reading.

docs/reference/format.md, "Findings folder", describes the files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.keepers import Keep
from neardup.clusters.protect import BRIEF, Guard
from neardup.clusters.selection import Cut, select
from neardup.compare.changes import COLUMNS, Counts, describe, is_brief
from neardup.compare.verify import Pairs
from neardup.config.config import Config
from neardup.config.filters import languages_of
from neardup.errors import ConfigError, DataError, FormatError
from neardup.findings.changes import read_changes, read_template
from neardup.findings.columns import DOCUMENTS, PAIRS, TEXTS, FindingsColumns
from neardup.findings.manifest import MANIFEST, read_manifest
from neardup.findings.reread import fields_again
from neardup.findings.stored_texts import StoredTexts
from neardup.pipeline.template_shares import Recurring, template_features, template_shares
from neardup.storage.output import check_outputs, is_stream
from neardup.values.checks import check_whole, checked, checked_methods
from neardup.values.distinct import distinct
from neardup.values.wording import counted

__all__ = ["MANIFEST", "Findings", "Place"]

_TEXTS_AT_ONCE = 1000
Rows = NDArray[np.int64]
_Fields = tuple[NDArray[np.float64], NDArray[np.int32], list[str]]


@dataclass(frozen=True)
class Place:
    """Where a document was read: file and row, from 1."""

    file: str
    row: int


def scan_id(path: Path) -> str:
    """Names the scan whose findings are in a folder: another scan into the same folder has another id. Empty while
    there are none."""
    try:
        found = os.stat(path / MANIFEST)
    except OSError:
        return ""
    return f"{found.st_ino:x}-{found.st_mtime_ns:x}-{found.st_size:x}"


@checked_methods
class Findings:
    r"""The output of a scan. Opening it reads the manifest, unless that is given because it is still to be written;
    columns are read and checked when they are first used.

    >>> import pathlib, tempfile
    >>> import neardup as nd
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "pages.csv").write_text("id,text\na,The ferry leaves at eight!\nb,the ferry leaves at eight\n")
    >>> _ = nd.scan(folder / "pages.csv", folder / "found")
    >>> len(nd.Findings(folder / "found"))
    2
    """

    @checked
    def __init__(self, path: str | PathLike[str], manifest: dict[str, Any] | None = None) -> None:
        self.path = Path(path)
        if manifest is None:
            if not (self.path / MANIFEST).exists():
                if (self.path / "work").exists():
                    raise DataError(f"{self.path}: the scan was not finished; run it again to resume it")
                raise DataError(f"{self.path}: contains no findings; create them with: neardup scan CORPUS")
            manifest = read_manifest(self.path / MANIFEST)
        self.scan_id = scan_id(self.path)
        self.manifest = manifest
        # Earlier versions had no guards: their findings are cut as they were.
        self.config = Config.from_plain({"protect": [], **self.manifest["config"]}, str(self.path / MANIFEST))
        self._columns = FindingsColumns(self.path, self.manifest, len(self))
        self._fields: dict[tuple[str | None, str | None, bool], _Fields] = {}
        self._cut: tuple[tuple[float, Keep, tuple[Guard, ...]], Cut] | None = None  # the last one

    def __repr__(self) -> str:
        pairs = counted(len(self.pairs), "pair")
        return f"<Findings {str(self.path)!r}: {counted(len(self), 'document')}, {pairs}>"

    def replaced(self) -> bool:
        """Whether another scan has written into the folder since it was opened."""
        return scan_id(self.path) != self.scan_id

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
        first: Rows = self._columns.documents("first", "<i8", len(self))
        if (first > np.arange(len(first))).any() or (first[first] != first).any():
            raise self._columns.open(DOCUMENTS).damage("first rows that come first", "others")
        return first

    @cached_property
    def same_text(self) -> Rows | None:
        """For each row, the first row that has the very same text, byte by byte; None in findings of Spark and of
        earlier versions, where that is not known."""
        if not self._columns.open(DOCUMENTS).has("sametext"):
            return None
        same: Rows = self._columns.documents("sametext", "<i8", len(self))
        if (same > np.arange(len(same))).any() or (self.first[same] != self.first).any():
            raise self._columns.open(DOCUMENTS).damage("first rows of a text that come first", "others")
        return same

    @cached_property
    def tokens(self) -> Rows:
        return self._columns.documents("tokens", "<i8")

    @cached_property
    def sizes(self) -> Rows:
        """Bytes of each document as it was read."""
        return self._columns.documents("sizes", "<i8")

    @cached_property
    def empty(self) -> NDArray[np.bool_]:
        return np.asarray(self._columns.documents("empty", "u1") != 0)

    @cached_property
    def filtered(self) -> NDArray[np.uint8]:
        """Why a filter left each document out, as a place in `filters.REASONS`; 0: it was not left out."""
        return self._columns.documents("filtered", "u1")

    @cached_property
    def sources(self) -> NDArray[np.int32]:
        """The source of each row, as a place in `source_names`."""
        return self._columns.documents("sources", "<i4", len(self.manifest["source_names"]))

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        return self._columns.documents("scores", "<f8")

    @cached_property
    def files(self) -> NDArray[np.int32]:
        """The file of each row, as a place in `file_names`."""
        return self._columns.documents("files", "<i4", len(self.manifest["file_names"]))

    @cached_property
    def places(self) -> Rows:
        """The row of each document in its file, from 1."""
        return self._columns.documents("places", "<i8")

    @property
    def file_names(self) -> list[str]:
        return list(self.manifest["file_names"])

    @property
    def source_names(self) -> list[str]:
        return list(self.manifest["source_names"])

    @cached_property
    def id_bytes(self) -> tuple[bytes, Rows]:
        """All ids joined, in UTF-8, and the offset where each begins and the last one ends."""
        ends = self._columns.documents("idends", "<i8")
        data = self._columns.column(DOCUMENTS, "ids", "u1").tobytes()
        return data, self._columns.offsets(DOCUMENTS, "ids", ends, len(data))

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
        self._check_row(row)
        return Place(self.file_names[int(self.files[row])], int(self.places[row]))

    @cached_property
    def pairs(self) -> Pairs:
        """Verified pairs of first rows, down to the floor."""
        kinds = (("left", "<i8"), ("right", "<i8"), ("score", "<f8"))
        left, right, score = (self._columns.column(PAIRS, name, kind) for name, kind in kinds)
        if not len(left) == len(right) == len(score) == self._columns.open(PAIRS).header.count:
            raise self._columns.open(PAIRS).damage("columns of one length", "others")
        self._columns.check_range(PAIRS, "left", left, len(self))
        self._columns.check_range(PAIRS, "right", right, len(self))
        return Pairs(left, right, score)

    @cached_property
    def _changes(self) -> Counts | None:
        """What the scan stored of `changes`; some pairs may be compared by title and language alone."""
        return read_changes(self._columns.open(PAIRS), len(self.pairs))

    @cached_property
    def changes(self) -> Counts:
        """What differs in each of `pairs`: a row of `compare.changes.COLUMNS`."""
        return self.changes_at(np.arange(len(self.pairs)))

    def changes_at(self, places: Rows) -> Counts:
        """The same for some of the pairs. What the scan did not compare is computed from the stored texts."""
        if self._changes is None:
            found, missing = np.zeros((len(places), len(COLUMNS)), np.uint16), np.arange(len(places))
        else:
            found = self._changes[places]
            missing = np.flatnonzero(is_brief(found))
        if len(missing):
            at, pairs = places[missing], self.pairs
            some = Pairs(pairs.left[at], pairs.right[at], pairs.similarity[at])
            found[missing] = describe(some, self.stored.sizes, self.stored.fetch)
        return found

    def changes_for(self, guards: tuple[Guard, ...]) -> Counts | None:
        """What these guards look at in each of `pairs`; None if there are no guards."""
        if not guards:
            return None
        enough = self._changes is not None and BRIEF.issuperset(guards)
        return self._changes if enough else self.changes

    def template_at(self, places: Rows) -> NDArray[np.float64]:
        """For some of `pairs` the share of template in what their documents have in common; NaN where it is not known:
        a source of fewer than 100 documents, a run on Spark, findings of an earlier version."""
        recurring = self._template
        if not recurring or not len(places):
            return np.full(len(places), np.nan)
        texts, features = self.stored, template_features(self.config.shown)
        return template_shares(
            self.pairs.left[places],
            self.pairs.right[places],
            self.sources,
            recurring,
            texts.sizes,
            lambda rows: features.extract(texts.fetch(rows)),
        )

    @cached_property
    def _template(self) -> Recurring:
        return read_template(self._columns.open(PAIRS))

    def check_target(self, path: str | PathLike[str]) -> None:
        """ConfigError if writing to this file would change an input, a reference or these findings."""
        if is_stream(path):
            return
        folder = self.path.resolve()
        if Path(path).resolve().is_relative_to(folder):
            raise ConfigError(f"{path}: is in the findings folder {self.path}; name a file outside of it")
        entries = (*self.manifest["inputs"], *self.manifest["references"])
        check_outputs(
            {"the output": path}, (entry["path"] for entry in entries if "://" not in entry["path"])
        )

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
        scores, sources, names = self.fields_of(keep)
        return keep.rank(self.sizes, sources, names, scores, self.reference)

    def fields_of(self, keep: Keep) -> _Fields:
        """The value of each row that a policy ranks by, and its source, as a place in the names. What the scan did not
        keep is read from the inputs, once."""
        own = self.config.keep
        same = keep.score is None or (keep.score, keep.dates) == (own.score, own.dates)
        if keep.source in (own.source, None) and same:
            if keep.source is None and own.source is not None:
                return self.scores, self.files, self.file_names
            return self.scores, self.sources, self.source_names
        wanted = (keep.source, keep.score, keep.dates)
        if wanted not in self._fields:
            self._fields[wanted] = fields_again(self, keep)
        return self._fields[wanted]

    def languages(self, rows: Rows) -> list[str]:
        """The languages of documents that are in clusters, by their stored texts."""
        firsts, back = np.unique(self.first[rows], return_inverse=True)
        found: list[str] = []
        for start in range(0, len(firsts), _TEXTS_AT_ONCE):
            part = firsts[start : start + _TEXTS_AT_ONCE]
            found += languages_of([text.encode() for text in self.texts(part)])
        return [found[i] for i in back.tolist()]

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
        if rank is None and self._cut is not None and self._cut[0] == (at, keep, guards):
            return self._cut[1]
        made = select(
            self.pairs,
            self.first,
            self.rank(keep) if rank is None else rank,
            keep,
            threshold=at,
            sources=self.fields_of(keep)[1],
            method=self.config.clusters,
            reference=self.reference,
            languages=self.languages,
            guards=guards,
            changes=self.changes_for(guards),
        )
        made = replace(made, kept=made.kept & (self.filtered == 0))
        if rank is None:
            self._cut = (at, keep, guards), made
        return made

    def text(self, row: int) -> str:
        """The text of a document that is in a pair or has the words of another; other texts were not stored."""
        self._check_row(row)
        return next(iter(self.texts(np.array([row]))))

    def _check_row(self, row: int) -> None:
        check_whole(row, "row", 0, len(self) - 1)

    def texts(self, rows: Rows) -> Iterator[str]:
        """The texts of some documents as they were compared; of equal ones, the text of the first."""
        for row, first in zip(rows.tolist(), self.first[rows].tolist(), strict=True):
            at = self.stored.place(first)
            if at is None:
                raise DataError(
                    f"{self.path}: the text of row {row} was not stored, because it has no duplicate"
                )
            yield from self.stored.between(at, at + 1)

    def has_text(self, row: int) -> bool:
        """Whether the text of this document was stored."""
        self._check_row(row)
        return self.stored.place(int(self.first[row])) is not None

    @cached_property
    def stored(self) -> StoredTexts:
        """All texts that were stored."""
        file = self._columns.open(TEXTS)
        rows, ends = (self._columns.column(TEXTS, name, "<i8") for name in ("rows", "ends"))
        if len(rows) != len(ends) or (np.diff(rows) <= 0).any():
            raise file.damage("rows that ascend, each with its text", "others")
        self._columns.check_range(TEXTS, "rows", rows, len(self))
        return StoredTexts(file, rows, self._columns.offsets(TEXTS, "ends", ends, file.length("texts")))

    def check_inputs(self) -> None:
        """FormatError unless every scanned document has its input; one that has none would be left out of an output."""
        names, known = self.file_names, {entry["name"] for entry in self.manifest["inputs"]}
        for place in distinct(self.files[self.reference :]).tolist():
            if names[place] not in known:
                raise FormatError(self.path / MANIFEST, f"an input named {names[place]}", "none")
