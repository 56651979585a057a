"""The inputs of a scan, read once more; an input that changed since the scan is an error."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.keepers import Keep, field_value
from neardup.errors import ConfigError, DataError
from neardup.findings.folder import Findings
from neardup.progress import Progress
from neardup.readers.document import Document
from neardup.readers.layout import Layout
from neardup.readers.limits import Limits
from neardup.readers.reader import read_again

__all__ = ["ReadAgain", "check_unchanged", "fields_again"]


def check_unchanged(findings: Findings) -> None:
    """Compare file sizes before anything is read; the digests are compared while the inputs are read."""
    for entry in findings.manifest["inputs"]:
        path = entry["path"]
        if "://" in path:
            continue
        if not os.path.exists(path):
            raise DataError(f"{path}: was scanned, but no longer exists; nothing was written")
        if os.path.getsize(path) != entry["bytes"]:
            raise _changed(path)


def _changed(path: str) -> DataError:
    return DataError(f"{path}: has changed since it was scanned; nothing was written. Scan again.")


class ReadAgain:
    """Reads the inputs of a scan once more, in the order of the scan."""

    def __init__(self, findings: Findings, progress: Progress | None = None) -> None:
        self._findings, self._progress = findings, progress or Progress()
        self._place = {name: i for i, name in enumerate(findings.file_names)}
        self._before = 0
        self._layout: Layout | None = None

    def documents(
        self, entry: dict[str, Any], *, keep_lines: bool = False
    ) -> Iterator[tuple[Layout, Document, int, bytes | None]]:
        """The documents of one input, with their rows in the findings and, if asked, their lines."""
        findings, columns = self._findings, self._findings.manifest["columns"]
        reader = read_again(
            entry["path"],
            entry["name"],
            entry["format"],
            text=columns["text"],
            id=columns["id"],
            encoding=columns.get("encoding"),
            delimiter=columns.get("delimiter"),
            limits=Limits(**findings.manifest["limits"]),
            before=self._layout,
        )
        reader.digesting, reader.keep_lines = True, keep_lines
        mine = np.flatnonzero(findings.files == self._place.get(entry["name"], -1))
        mine = mine[mine >= findings.reference]
        places = findings.places[mine]
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
            self._progress.reached(self._before + reader.bytes_read)
        self._before += entry["bytes"] or 0
        if entry["sha256"] is not None and next(iter(reader.digests.values()), None) != entry["sha256"]:
            raise _changed(entry["path"])
        if seen != len(mine):
            raise DataError(
                f"{entry['path']}: {len(mine) - seen:,} documents that were scanned could not be read again; "
                "nothing was written"
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
                values[row] = field_value(document.meta.get(keep.score))
            if new_source:
                sources[row] = place.setdefault(keep.source_of(document.meta), len(place))
    return values, sources, list(place)
