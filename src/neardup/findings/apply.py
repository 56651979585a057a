"""apply(): write the output that the findings ask for. The inputs must be unchanged; they are only read."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.keepers import Keep
from neardup.clusters.selection import Cut
from neardup.errors import ConfigError, DataError
from neardup.findings.decided import decided_cut
from neardup.findings.folder import Findings
from neardup.findings.summary import alarms
from neardup.progress import Progress
from neardup.readers.copied_lines import chosen_lines, has_lines
from neardup.readers.document import Document
from neardup.readers.layout import Layout
from neardup.readers.limits import Limits
from neardup.readers.reader import Reader, read_again
from neardup.readers.writers import Writer, format_for, open_writer
from neardup.storage.atomic_file import hidden_name

__all__ = ["Applied", "Write", "apply", "check_output"]

Write = Literal["kept", "dropped", "annotated"]
NOTES = ("neardup_keep", "neardup_cluster", "neardup_keeper", "neardup_similarity")


@dataclass(frozen=True)
class Applied:
    """The result of `apply`: how many documents were written, and to which file or folder."""

    written: int
    documents: int
    out: str


def apply(
    findings: Findings | str | PathLike[str],
    out: str | PathLike[str],
    *,
    threshold: float | None = None,
    keep: Keep | None = None,
    write: Write = "kept",
    format: str | None = None,
    cut: Cut | None = None,
    decisions: bool = True,
    allow_mass_removal: bool = False,
    progress: Progress | None = None,
) -> Applied:
    """Write the kept documents, or the dropped ones, or all of them with notes on their clusters.

    `out` is one file, whose name gives the format, or a folder (an existing empty one, or a name that ends in a slash).
    A folder gets one file for each input, in the format of the input. The output appears only when it is complete.
    The decisions of a review are applied, unless `decisions` is False or a `cut` is given. Raises DataError when an
    input has changed since the scan, and, unless `allow_mass_removal`, when so many documents would be dropped that it
    looks like an accident.
    """
    found = findings if isinstance(findings, Findings) else Findings(findings)
    if write not in get_args(Write):
        raise ConfigError(f"write one of {', '.join(get_args(Write))}, not {write!r}")
    if cut is None:
        cut = decided_cut(found, threshold, keep) if decisions else found.cut(threshold, keep)
    reasons = alarms(found, cut)
    if reasons and not allow_mass_removal:
        raise DataError("this looks like an accident:\n  " + "\n  ".join(reasons))
    check_output(out, format)
    if write == "annotated" and not _is_folder(out) and format_for(out, format)[0] == "ids":
        raise ConfigError(
            f"{os.fspath(out)}: a list of ids has no room for notes; write kept or dropped there"
        )
    progress = progress or Progress()
    progress.stage("apply", sum(entry["bytes"] or 0 for entry in found.manifest["inputs"]), "bytes")
    _unchanged(found)
    place = os.fspath(out)
    written = _Output(found, cut, write, Path(place), format, progress).run(_is_folder(out))
    progress.finish()
    return Applied(written, len(found) - found.reference, place)


def _is_folder(out: str | PathLike[str]) -> bool:
    return os.fspath(out).endswith(("/", os.sep)) or os.path.isdir(out)


def check_output(out: str | PathLike[str], format: str | None = None) -> None:
    """Raise the errors that `apply` would raise about `out`, but before a long scan and not after it."""
    place = os.fspath(out)
    if _is_folder(place):
        if format is not None:
            raise ConfigError(f"{place}: in a folder every input keeps its format; leave --format out")
        if os.path.isdir(place) and os.listdir(place):
            raise ConfigError(f"{place}: is not empty; name a new folder, so that nothing there is lost")
        return
    format_for(place, format)
    parent = Path(place).parent
    if not parent.is_dir():
        raise DataError(f"{place}: the folder {parent} does not exist; make it first")


def _unchanged(findings: Findings) -> None:
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


def _lost(path: str, count: int) -> DataError:
    return DataError(
        f"{path}: {count:,} documents that were scanned could not be read again; nothing was written"
    )


class _Output:
    def __init__(
        self,
        findings: Findings,
        cut: Cut,
        write: Write,
        out: Path,
        format: str | None,
        progress: Progress,
    ) -> None:
        self.findings, self.cut, self.write, self.out = findings, cut, write, out
        self.format, self.progress = format, progress
        self.place = {name: i for i, name in enumerate(findings.file_names)}
        self.before = 0
        self.layout: Layout | None = None

    def run(self, folder: bool) -> int:
        return self._to_folder() if folder else self._to_file()

    def _to_file(self) -> int:
        self.findings.check_target(self.out)
        inputs = self.findings.manifest["inputs"]
        if format_for(self.out, self.format) == ("jsonl", None) and all(map(self._has_lines, inputs)):
            with open_writer(self.out, self.format) as lines:
                for entry in inputs:
                    self._copy_lines(entry, lines)
                return lines.rows
        with ExitStack() as stack:
            writer: Writer | None = None
            for entry in inputs:
                for layout, document, row in self._chosen(entry):
                    if writer is None:
                        like = self._noted(layout) if self.write == "annotated" else layout
                        writer = stack.enter_context(open_writer(self.out, self.format, like=like))
                    writer.write(self._row(layout, document, row))
            if writer is None:
                writer = stack.enter_context(open_writer(self.out, self.format))
            return writer.rows

    def _to_folder(self) -> int:
        out = Path(os.path.realpath(self.out))
        hidden = hidden_name(out)
        hidden.mkdir(parents=True)
        try:
            written = sum(self._file_of(entry, hidden) for entry in self.findings.manifest["inputs"])
            if out.exists():
                out.rmdir()
            hidden.rename(out)
        finally:
            shutil.rmtree(hidden, ignore_errors=True)
        return written

    def _file_of(self, entry: dict[str, Any], folder: Path) -> int:
        """Write the documents of one input in its format; a kept page or text file is copied unchanged."""
        target = folder / entry["name"].lstrip("/")
        if not target.resolve().is_relative_to(folder.resolve()):
            raise DataError(f"{entry['name']}: is not a valid name for a file in a folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        single = entry["format"] in ("text", "html")
        if entry["format"] == "warc":
            raise ConfigError(
                "WARC can be read but not written: name one file such as kept.jsonl instead of a folder"
            )
        if single and self.write == "annotated":
            raise ConfigError(
                "pages have no room for notes: name one file such as notes.jsonl instead of a folder"
            )
        if single:
            chosen = list(self._chosen(entry))
            if chosen:
                shutil.copyfile(entry["path"], target)
            return len(chosen)
        if entry["format"] == "jsonl" and format_for(target, "jsonl")[1] is None and self._has_lines(entry):
            with open_writer(target, "jsonl") as lines:
                self._copy_lines(entry, lines)
                return lines.rows
        with ExitStack() as stack:
            writer: Writer | None = None
            for layout, document, row in self._chosen(entry):
                if writer is None:
                    like = self._noted(layout) if self.write == "annotated" else layout
                    writer = stack.enter_context(open_writer(target, entry["format"], like=like))
                writer.write(self._row(layout, document, row))
            if writer is None:
                writer = stack.enter_context(open_writer(target, entry["format"]))
            return writer.rows

    def _has_lines(self, entry: dict[str, Any]) -> bool:
        """Whether the rows of an input are lines that can be copied as they are."""
        if self.write == "annotated" or entry["format"] != "jsonl":
            return False
        return has_lines(self._again(entry).source, self.findings.manifest["columns"].get("encoding"))

    def _copy_lines(self, entry: dict[str, Any], writer: Writer) -> None:
        """Copy the lines of the documents of one input to write; raises DataError if the input has changed."""
        reader, mine = self._again(entry), self._mine(entry)
        wanted = self.cut.kept[mine] == (self.write == "kept")
        rows = self.findings.places[mine[wanted]].astype(np.int64)
        before = writer.rows
        for parts, count in chosen_lines(reader.source, rows, reader):
            writer.write_lines(parts, count)
            self.progress.reached(self.before + reader.bytes_read)
        self.before += entry["bytes"] or 0
        self._check_digest(entry, reader)
        if writer.rows - before != len(rows):
            raise _lost(entry["path"], len(rows) - (writer.rows - before))

    def _mine(self, entry: dict[str, Any]) -> NDArray[np.int64]:
        """The rows of the findings that an input gave."""
        mine = np.flatnonzero(self.findings.files == self.place.get(entry["name"], -1))
        return mine[mine >= self.findings.reference]

    def _chosen(self, entry: dict[str, Any]) -> Iterator[tuple[Layout, Document, int]]:
        """The documents of one input to write, with their rows; raises DataError if the input has changed."""
        findings, reader, mine = self.findings, self._again(entry), self._mine(entry)
        places = findings.places[mine]
        seen = 0
        for batch in reader:
            self.layout = batch.layout
            at = np.searchsorted(places, batch.rows)
            for document, number, i in zip(batch, batch.rows, at.tolist(), strict=True):
                # A row that was not stored gave no text in the scan; it is in the rejects file.
                if i == len(places) or places[i] != number:
                    continue
                seen += 1
                row = int(mine[i])
                kept = bool(self.cut.kept[row])
                if self.write == "annotated" or kept == (self.write == "kept"):
                    yield batch.layout, document, row
            self.progress.reached(self.before + reader.bytes_read)
        self.before += entry["bytes"] or 0
        self._check_digest(entry, reader)
        if seen != len(mine):
            raise _lost(entry["path"], len(mine) - seen)

    def _again(self, entry: dict[str, Any]) -> Reader:
        """A reader of one input as the scan read it, which digests what it reads."""
        columns = self.findings.manifest["columns"]
        reader = read_again(
            entry["path"],
            entry["name"],
            entry["format"],
            text=columns["text"],
            id=columns["id"],
            encoding=columns.get("encoding"),
            delimiter=columns.get("delimiter"),
            limits=Limits(**self.findings.manifest["limits"]),
            before=self.layout,
        )
        reader.digesting, reader.sha256 = True, entry.get("digest") is None and entry["sha256"] is not None
        return reader

    def _check_digest(self, entry: dict[str, Any], reader: Reader) -> None:
        """Findings of earlier versions have the SHA-256 alone."""
        found = next(iter(reader.digests.values()), None)
        if entry.get("digest") is not None:
            same = found is not None and found.fast == entry["digest"]
        else:
            same = entry["sha256"] is None or (found is not None and found.sha256 == entry["sha256"])
        if not same:
            raise _changed(entry["path"])

    def _row(self, layout: Layout, document: Document, row: int) -> Any:
        if self.write != "annotated":
            return document
        clusters = self.cut.clusters
        notes: tuple[Any, ...] = (False, None, None, None)  # a filter left it out, so it is in no cluster
        if not self.findings.filtered[row]:
            label, keeper = self.findings.ids(np.array([clusters.labels[row], clusters.keeper[row]]))
            similarity = float(clusters.similarity[row])
            known = None if np.isnan(similarity) else similarity
            notes = (bool(self.cut.kept[row]), label, keeper, known)
        return layout.record(document) | dict(zip(NOTES, notes, strict=True))

    def _noted(self, layout: Layout) -> Layout:
        schema = layout.schema
        if schema is not None:
            import pyarrow as pa

            for name, kind in zip(NOTES, (pa.bool_(), pa.string(), pa.string(), pa.float64()), strict=True):
                if name in schema.names:  # written by an earlier run
                    schema = schema.remove(schema.get_field_index(name))
                schema = schema.append(pa.field(name, kind))
        columns = layout.columns if layout.text in layout.columns else (*layout.columns, layout.text)
        columns = tuple(name for name in columns if name not in NOTES)
        return replace(layout, columns=(*columns, *NOTES), schema=schema)
