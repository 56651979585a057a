"""WARC output: the records of the inputs, with revisit records in place of duplicates."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from os import PathLike, fspath
from typing import Any

import numpy as np

from neardup.clusters.selection import Cut
from neardup.errors import ConfigError, DataError
from neardup.findings.folder import Findings
from neardup.findings.reread import ReadAgain
from neardup.readers.compression import Stream
from neardup.readers.counted_file import counted_file
from neardup.readers.limits import Limits
from neardup.readers.warc_records import WARC_ERRORS, warc_records
from neardup.readers.warc_writer import Capture, WarcWriter
from neardup.readers.writers import split_compression
from neardup.storage.output import Output

__all__ = ["Captures", "WarcOutput", "check_warc_output", "keeper_captures"]

Captures = dict[int, Capture]  # of keepers and of the documents dropped for them, by row


def check_warc_output(findings: Findings, out: str | PathLike[str], write: str) -> None:
    """Refuse what a WARC file cannot hold."""
    if any(entry["format"] != "warc" for entry in findings.manifest["inputs"]):
        raise ConfigError(
            f"{fspath(out)}: only WARC inputs can be written as WARC; name a file such as kept.jsonl"
        )
    if write != "kept":
        raise ConfigError(
            f"{fspath(out)}: a WARC file holds kept documents, and revisit records of the dropped ones; "
            f"write {write} to a file such as {write}.jsonl"
        )


def keeper_captures(findings: Findings, cut: Cut) -> Captures:
    """What revisit records say of keepers and of dropped documents: read again from the inputs."""
    keeper = cut.clusters.keeper
    dropped = np.flatnonzero(~cut.kept & ~findings.filtered)
    dropped = dropped[dropped >= findings.reference]
    wanted = np.zeros(len(findings), np.bool_)
    wanted[dropped] = wanted[keeper[dropped]] = True
    known = np.flatnonzero(wanted)
    captures = {row: Capture(id) for row, id in zip(known.tolist(), findings.ids(known), strict=True)}
    again = ReadAgain(findings)
    for entry in findings.manifest["inputs"]:
        for _, document, row, _ in again.documents(entry):
            if wanted[row]:
                meta = document.meta
                captures[row] = Capture(
                    captures[row].id, meta.get("url"), meta.get("date"), meta.get("digest")
                )
    return captures


class WarcOutput:
    """Copies inputs record by record. Documents that a filter left out are left out here, too."""

    def __init__(self, findings: Findings, cut: Cut, captures: Captures, again: ReadAgain) -> None:
        self._findings, self._cut, self._captures, self._again = findings, cut, captures, again
        self._limits = Limits(**findings.manifest["limits"])

    def write(self, entry: dict[str, Any], file: Output) -> int:
        """Write one input to a file that may already have others; returns how many documents of it were kept."""
        reader, mine = self._again.reader(entry), self._again.rows(entry)
        places = dict(zip(self._findings.places[mine].tolist(), mine.tolist(), strict=True))
        source = replace(reader.source, open=partial(counted_file, reader.source, reader))
        writer = WarcWriter(file, split_compression(file.path)[1])
        kept = seen = 0
        with Stream(source.open(), self._limits) as stream:
            try:
                for found in warc_records(stream, every=True):
                    row = places.get(found.row) if found.row is not None else None
                    seen += row is not None
                    kept += row is not None and bool(self._cut.kept[row])
                    self._write(writer, found.record, row)
                    self._again.reached(reader)
            except WARC_ERRORS as error:
                raise _damaged(entry, str(error)) from error
            if stream.damage is not None:
                raise _damaged(entry, stream.damage)
        self._again.finish(entry, reader, lost=len(mine) - seen)
        return kept

    def _write(self, writer: WarcWriter, record: Any, row: int | None) -> None:
        if row is None or self._cut.kept[row]:
            writer.copy(record)
        elif not self._findings.filtered[row]:
            keeper = int(self._cut.clusters.keeper[row])
            writer.revisit(record, self._captures[keeper], self._captures[row].digest)


def _damaged(entry: dict[str, Any], why: str) -> DataError:
    return DataError(
        f"{entry['path']}: is damaged and cannot be copied as WARC ({why}); nothing was written. "
        "Name a file such as kept.jsonl, which gets what could be read"
    )
