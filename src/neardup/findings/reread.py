"""The inputs of a scan, read again; an input that changed since the scan is an error."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.keepers import Keep
from neardup.errors import ConfigError, DataError
from neardup.progress import Progress
from neardup.readers.document import Document
from neardup.readers.layout import Layout
from neardup.readers.limits import Limits
from neardup.readers.reader import Reader, read_again
from neardup.values.wording import counted

if TYPE_CHECKING:
    from neardup.findings.folder import Findings

__all__ = ["ReadAgain", "check_unchanged", "fields_again", "input_change", "input_reader"]

_CHANGED = "has changed since it was scanned"


def check_unchanged(findings: Findings) -> None:
    """Compare file sizes before anything is read; the digests are compared while the inputs are read."""
    for entry in findings.manifest["inputs"]:
        if (change := input_change(entry)) is not None:
            raise DataError(f"{entry['path']}: {change}; nothing was written. Scan again.")


def input_change(entry: Mapping[str, Any]) -> str | None:
    """How an input differs from the scanned one, by its size; None if it does not, or is not on this machine."""
    if "://" in entry["path"]:
        return None
    try:
        same = os.path.getsize(entry["path"]) == entry["bytes"]
    except OSError:
        return "no longer exists"
    return None if same else _CHANGED


def input_reader(findings: Findings, entry: Mapping[str, Any], before: Layout | None = None) -> Reader:
    """A reader of one input as the scan read it."""
    columns = findings.manifest["columns"]
    reader = read_again(
        entry["path"],
        entry["name"],
        entry["format"],
        text=columns["text"],
        id=columns["id"],
        encoding=columns.get("encoding"),
        delimiter=columns.get("delimiter"),
        limits=Limits(**findings.manifest["limits"]),
        before=before,
    )
    if findings.config.vectors is not None:
        reader.show_vectors(findings.config.vectors.column)
    return reader


class ReadAgain:
    """Reads the inputs of a scan again, in the order of the scan."""

    def __init__(self, findings: Findings, progress: Progress | None = None) -> None:
        self._findings, self._progress = findings, progress or Progress()
        self._place = {name: i for i, name in enumerate(findings.file_names)}
        self._before = 0
        self._layout: Layout | None = None

    def documents(
        self, entry: dict[str, Any], *, keep_lines: bool = False
    ) -> Iterator[tuple[Layout, Document, int, bytes | None]]:
        """The documents of one input, with their rows in the findings and, if asked, their lines."""
        reader, mine = self.reader(entry), self.rows(entry)
        reader.keep_lines = keep_lines
        places = self._findings.places[mine]
        seen = 0
        for batch in reader:
            self._layout = batch.layout
            at = np.searchsorted(places, batch.rows)
            lines = batch.lines or [None] * len(batch)
            for document, number, i, line in zip(batch, batch.rows, at.tolist(), lines, strict=True):
                # A row that was not stored gave no text in the scan; it is in the rejects file.
                if i < len(places) and places[i] == number:
                    seen += 1
                    yield batch.layout, document, int(mine[i]), line
            self.reached(reader)
        self.finish(entry, reader, lost=len(mine) - seen)

    def reader(self, entry: dict[str, Any]) -> Reader:
        """A reader of one input as the scan read it, which digests what it reads."""
        reader = input_reader(self._findings, entry, self._layout)
        # Findings of earlier versions have the SHA-256 alone.
        reader.digesting, reader.sha256 = True, entry.get("digest") is None and entry["sha256"] is not None
        return reader

    def rows(self, entry: dict[str, Any]) -> NDArray[np.int64]:
        """The rows of the findings that an input gave."""
        mine = np.flatnonzero(self._findings.files == self._place.get(entry["name"], -1))
        return mine[mine >= self._findings.reference]

    def reached(self, reader: Reader) -> None:
        """Report how far an input was read."""
        self._progress.reached(self._before + reader.bytes_read)

    def finish(self, entry: dict[str, Any], reader: Reader, *, lost: int) -> None:
        """After an input was read: DataError if it has changed, or if documents of it were not found again."""
        self._before += entry["bytes"] or 0
        found = next(iter(reader.digests.values()), None)
        if entry.get("digest") is not None:
            same = found is not None and found.fast == entry["digest"]
        else:
            same = entry["sha256"] is None or (found is not None and found.sha256 == entry["sha256"])
        if not same:
            raise DataError(f"{entry['path']}: {_CHANGED}; nothing was written. Scan again.")
        if lost:
            raise DataError(
                f"{entry['path']}: {counted(lost, 'document')} could not be read again; nothing was written"
            )


def fields_again(findings: Findings, keep: Keep) -> tuple[NDArray[np.float64], NDArray[np.int32], list[str]]:
    """What a keep policy reads of each document, from the inputs: the value it ranks by, and its source, as a place in
    the names. For policies with fields that the scan did not keep."""
    check_unchanged(findings)
    new_source = keep.source is not None and keep.source != findings.config.keep.source
    if new_source and findings.reference:
        raise ConfigError(
            "the documents of a reference have no such source; scan again with "
            f"--source {keep.source} and the same --against"
        )
    values = np.full(len(findings), np.nan)
    sources = findings.sources.copy()
    place = {} if new_source else {name: i for i, name in enumerate(findings.source_names)}
    again = ReadAgain(findings)
    for entry in findings.manifest["inputs"]:
        for _, document, row, _ in again.documents(entry):
            if keep.score is not None:
                values[row] = keep.value_of(document.meta)
            if new_source:
                sources[row] = place.setdefault(keep.source_of(document.meta), len(place))
    return values, sources, list(place)
