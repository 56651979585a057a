"""apply(): write the output that the findings ask for. The inputs must be unchanged; they are only read."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from neardup.clusters.keepers import Keep
from neardup.clusters.selection import Cut
from neardup.errors import ConfigError, DataError
from neardup.findings.decided import decided_cut
from neardup.findings.folder import Findings
from neardup.findings.removal_alarms import alarms
from neardup.findings.reread import ReadAgain, check_unchanged, input_change
from neardup.findings.warc_output import Captures, WarcOutput, check_warc_output, keeper_captures
from neardup.progress import Progress
from neardup.readers.copied_lines import chosen_lines, has_lines
from neardup.readers.document import Document
from neardup.readers.layout import Layout
from neardup.readers.warc_writer import is_warc_name
from neardup.readers.writers import Writer, format_for, open_writer
from neardup.readers.written_forms import LISTS
from neardup.storage.atomic_file import hidden_name, locked_folder, sweep, sync_folder
from neardup.storage.checked_json import read_checked, write_checked
from neardup.storage.output import Output, check_output_file, is_stream, open_output
from neardup.values.checks import check_fields, checked
from neardup.values.wording import counted, printable

__all__ = ["Applied", "Write", "apply", "apply_inputs", "check_output"]

Write = Literal["kept", "dropped", "annotated"]
_MARKER = ".neardup-output"
_IDS = 1 << 16  # that are compared at a time
NOTES = ("neardup_keep", "neardup_cluster", "neardup_keeper", "neardup_similarity")


@dataclass(frozen=True)
class Applied:
    """The result of `apply`: how many documents were written, and to which file or folder.

    written    documents written
    documents  documents of the scan
    out        the file or folder

    >>> import tempfile
    >>> import neardup as nd
    >>> from neardup import sample
    >>> folder = tempfile.mkdtemp()
    >>> findings = nd.scan(sample.path(), folder + "/found")
    >>> nd.apply(findings, folder + "/kept.jsonl").written
    196
    """

    written: int
    documents: int
    out: str

    def __post_init__(self) -> None:
        check_fields(self)


@checked
def apply(
    findings: Findings | str | PathLike[str],
    out: str | PathLike[str],
    *,
    threshold: float | None = None,
    keep: Keep | None = None,
    write: Write = "kept",
    format: str | None = None,
    encoding: str | None = None,
    overwrite: bool = True,
    cut: Cut | None = None,
    decisions: bool = True,
    allow_mass_removal: bool = False,
    progress: Progress | None = None,
) -> Applied:
    r"""Write the kept documents, or the dropped ones, or all of them with notes on their clusters.

    `out` is one file, whose name gives the format, or a folder (an existing empty one, or a name that ends in a slash),
    or "-" for standard output. A folder gets one file for each input, in the format of the input. A file or folder
    appears only when it is complete; standard output, fifos and devices are written to as the documents are read. If
    the output has the format of the input, the lines of JSONL, CSV and text inputs are written as they are; a CSV file
    has the delimiter, the quotes and the encoding of the first input, or `encoding`. A WARC file gets every record of
    the inputs, and revisit records in place of duplicates. Without `overwrite`, a file that
    exists is an error.
    The decisions of a review are applied, unless `decisions` is False or a `cut` is given. Raises DataError when an
    input has changed since the scan, and, unless `allow_mass_removal`, when very many documents would be dropped.

    findings   the findings of a scan, or the path of their folder
    threshold  at least the floor of the scan, at most 1; by default that of the scan
    keep       which document of a cluster is kept; by default as in the config of the scan
    write      "kept", "dropped" or "annotated" (all documents, with their cluster and decision)
    progress   a Progress that is informed of each stage; by default nothing is shown
    returns    an Applied: how many documents were written, and where
    raises     ConfigError for a wrong setting, DataError if the output cannot be written

    >>> import pathlib, tempfile
    >>> import neardup as nd
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "pages.csv").write_text("id,text\na,The ferry leaves at eight!\nb,the ferry leaves at eight\n")
    >>> _ = nd.scan(folder / "pages.csv", folder / "found")
    >>> nd.apply(folder / "found", folder / "kept.csv").written
    1
    """
    found = findings if isinstance(findings, Findings) else Findings(findings)
    if cut is None:
        cut = decided_cut(found, threshold, keep) if decisions else found.cut(threshold, keep)
    reasons = alarms(found, cut)
    if reasons and not allow_mass_removal:
        raise DataError("very many documents would be dropped:\n  " + "\n  ".join(reasons))
    check_output(out, format, overwrite=overwrite)
    if not _is_folder(out) and is_warc_name(out):
        check_warc_output(found, out, write)
    elif not _is_folder(out):
        format = format_for(out, format, stream_format=_stream_format(found))[0]
        if write == "annotated" and format in LISTS:
            raise ConfigError(
                f"{os.fspath(out)}: {format} have no room for notes; write kept or dropped there"
            )
        if write == "dropped" and format == "ids":
            _check_ids(found, cut, os.fspath(out))
    progress = progress or Progress()
    progress.stage("apply", sum(entry["bytes"] or 0 for entry in found.manifest["inputs"]), "bytes")
    found.check_inputs()
    check_unchanged(found)
    place = os.fspath(out)
    output = _Output(found, cut, write, Path(place), format, encoding, overwrite, progress)
    written = output.run(_is_folder(out))
    progress.finish()
    return Applied(written, len(found) - found.reference, place)


def apply_inputs(
    findings: Findings,
    out: str | PathLike[str],
    entries: list[dict[str, Any]],
    cut: Cut,
    *,
    write: Write = "kept",
    progress: Progress | None = None,
) -> Applied:
    """Write the documents of some inputs, each input to a file of its own in the folder `out`. A file appears when it
    is complete, and replaces an earlier one. The folder must be new or empty, or hold other outputs of these findings:
    ConfigError otherwise."""
    if write not in ("kept", "dropped"):
        raise ConfigError(f"write kept or dropped, not {write!r}")
    folder = Path(os.path.realpath(out))
    findings.check_target(folder)
    for entry in entries:
        if (change := input_change(entry)) is not None:
            raise DataError(f"{entry['path']}: {change}; nothing was written. Scan again.")
    _mark_folder(folder, {"findings": findings.scan_id, "write": write})
    progress = progress or Progress()
    progress.stage("filter", sum(entry["bytes"] or 0 for entry in entries), "bytes")
    output = _Output(findings, cut, write, folder, None, None, True, progress)
    written = sum(output.file_of(entry, folder) for entry in entries)
    progress.finish()
    documents = sum(len(output.again.rows(entry)) for entry in entries)
    return Applied(written, documents, os.fspath(out))


def _mark_folder(folder: Path, mark: dict[str, str]) -> None:
    """Mark a folder as that of one output, which several tasks write; ConfigError if it is something else."""
    folder.mkdir(parents=True, exist_ok=True)
    marker = folder / _MARKER
    if not marker.exists():
        if any(folder.iterdir()) and not marker.exists():  # another task may have marked it meanwhile
            raise ConfigError(f"{folder}: is not empty; name a new folder, so that nothing there is lost")
        with suppress(DataError):  # another task was faster
            write_checked(marker, mark, overwrite=False)
    if read_checked(marker, "the mark of an output folder")[0] != mark:
        raise ConfigError(f"{folder}: holds the output of other findings; name another folder")


def _check_ids(found: Findings, cut: Cut, out: str) -> None:
    """Raise DataError if an id is that of a dropped and of a kept document: who deletes by it would delete both."""
    own = cut.kept[found.reference :]
    dropped = set(found.ids(found.reference + np.flatnonzero(~own)))
    kept = found.reference + np.flatnonzero(own)
    both: set[str] = set()
    for start in range(0, len(kept), _IDS):
        both.update(dropped.intersection(found.ids(kept[start : start + _IDS])))
    if both:
        said = counted(len(both), "id is", "ids are")
        raise DataError(
            f"{out}: {said} that of dropped and of kept documents, such as {printable(min(both), 60)!r}: a list of ids "
            "does not say which to delete; write the documents themselves, to a name in .jsonl"
        )


def _is_folder(out: str | PathLike[str]) -> bool:
    return os.fspath(out).endswith(("/", os.sep)) or os.path.isdir(out)


def _stream_format(findings: Findings) -> str:
    """How documents are written where no name gives a format: as the inputs are, if all are lines of one format."""
    formats = {entry["format"] for entry in findings.manifest["inputs"]}
    return formats.pop() if len(formats) == 1 and formats <= {"csv", "tsv", "lines"} else "jsonl"


@checked
def check_output(out: str | PathLike[str], format: str | None = None, *, overwrite: bool = True) -> None:
    """Raise the errors that `apply` would raise about `out`, but before a long scan and not after it.

    format     of the file, where it does not follow from its name
    overwrite  whether a file may exist
    raises     ConfigError for an unknown format, DataError if the place cannot be written

    >>> import tempfile
    >>> import neardup as nd
    >>> nd.findings.check_output(tempfile.mkdtemp() + "/kept.jsonl")
    """
    place = os.fspath(out)
    if _is_folder(place):
        if format is not None:
            raise ConfigError(f"{place}: in a folder every input keeps its format; leave --out-format out")
        if os.path.isdir(place) and os.listdir(place):
            raise ConfigError(f"{place}: is not empty; name a new folder, so that nothing there is lost")
        return
    if not is_warc_name(place):
        format_for(place, format)
    elif format is not None:
        raise ConfigError(f"{place}: its name says WARC; leave --out-format out, or name another file")
    check_output_file(place, overwrite=overwrite)


class _Output:
    def __init__(
        self,
        findings: Findings,
        cut: Cut,
        write: Write,
        out: Path,
        format: str | None,
        encoding: str | None,
        overwrite: bool,
        progress: Progress,
    ) -> None:
        self.findings, self.cut, self.write, self.out = findings, cut, write, out
        self.format, self.encoding, self.overwrite, self.progress = format, encoding, overwrite, progress
        self.again = ReadAgain(findings, progress)
        self.captures: Captures | None = None

    def run(self, folder: bool) -> int:
        self.findings.check_target(self.out)
        if folder:
            return self._to_folder()
        if is_warc_name(self.out):
            with open_output(self.out, overwrite=self.overwrite) as file:
                return self._warc(self.findings.manifest["inputs"], file)
        return self._written(self.findings.manifest["inputs"], self.out, self.format, self.overwrite)

    def _written(
        self, entries: list[dict[str, Any]], target: Path, format: str | None, overwrite: bool
    ) -> int:
        """Write the documents of some inputs to one file; returns how many."""
        options: dict[str, Any] = {"overwrite": overwrite, "encoding": self.encoding}
        if self._copies_lines(entries, target, format):
            with open_writer(target, format, **options) as lines:
                for entry in entries:
                    self._copy_lines(entry, lines)
                return lines.rows
        with ExitStack() as stack:
            writer: Writer | None = None
            for entry in entries:
                for layout, document, row, line in self._chosen(entry):
                    if writer is None:
                        like = self._noted(layout) if self.write == "annotated" else layout
                        writer = stack.enter_context(open_writer(target, format, like=like, **options))
                    if self.write == "annotated":
                        writer.write(self._row(layout, document, row))
                    else:
                        writer.write_line(document, line, layout, entry["format"])
            if writer is None:
                writer = stack.enter_context(open_writer(target, format, **options))
            return writer.rows

    def _to_folder(self) -> int:
        out = Path(os.path.realpath(self.out))
        sweep(out)
        hidden = hidden_name(out)
        hidden.mkdir(parents=True)
        lock = locked_folder(hidden)
        try:
            written = sum(self.file_of(entry, hidden) for entry in self.findings.manifest["inputs"])
            if out.exists():
                out.rmdir()
            hidden.rename(out)
            sync_folder(out.parent)
        finally:
            shutil.rmtree(hidden, ignore_errors=True)
            os.close(lock)
        return written

    def file_of(self, entry: dict[str, Any], folder: Path) -> int:
        """Write the documents of one input in its format; a kept page or text file is copied unchanged."""
        target = folder / entry["name"].lstrip("/")
        # No name of a file has a zero byte; the system functions raise ValueError.
        if "\0" in entry["name"] or not target.resolve().is_relative_to(folder.resolve()):
            raise DataError(f"{entry['name']!r}: is not a valid name for a file in a folder")
        single = entry["format"] in ("text", "html")
        if entry["format"] == "warc":
            check_warc_output(self.findings, target, self.write)
            target.parent.mkdir(parents=True, exist_ok=True)
            with open_output(target) as file:
                return self._warc([entry], file)
        if single and self.write == "annotated":
            raise ConfigError(
                "pages have no room for notes: name one file such as notes.jsonl instead of a folder"
            )
        if single:
            chosen = list(self._chosen(entry))
            if chosen:
                target.parent.mkdir(parents=True, exist_ok=True)
                with open(entry["path"], "rb") as page, open_output(target) as copy:
                    shutil.copyfileobj(page, copy)
            return len(chosen)
        target.parent.mkdir(parents=True, exist_ok=True)
        return self._written([entry], target, entry["format"], overwrite=True)

    def _warc(self, entries: list[dict[str, Any]], file: Output) -> int:
        if self.captures is None:
            self.captures = keeper_captures(self.findings, self.cut)
        output = WarcOutput(self.findings, self.cut, self.captures, self.again)
        return sum(output.write(entry, file) for entry in entries)

    def _copies_lines(self, entries: list[dict[str, Any]], target: Path, format: str | None) -> bool:
        """Whether the rows of these inputs are lines of JSONL that can be copied as they are."""
        if self.write == "annotated" or self.encoding is not None or is_stream(target):
            return False
        if format_for(target, format) != ("jsonl", None):
            return False
        encoding = self.findings.manifest["columns"].get("encoding")
        return all(
            entry["format"] == "jsonl" and has_lines(self.again.reader(entry).source, encoding)
            for entry in entries
        )

    def _copy_lines(self, entry: dict[str, Any], writer: Writer) -> None:
        """Copy the lines of the documents of one input to write; DataError if the input has changed."""
        reader, mine = self.again.reader(entry), self.again.rows(entry)
        wanted = self.cut.kept[mine] == (self.write == "kept")
        rows = self.findings.places[mine[wanted]].astype(np.int64)
        before = writer.rows
        for parts, count in chosen_lines(reader.source, rows, reader):
            writer.write_lines(parts, count)
            self.again.reached(reader)
        self.again.finish(entry, reader, lost=len(rows) - (writer.rows - before))

    def _chosen(self, entry: dict[str, Any]) -> Iterator[tuple[Layout, Document, int, bytes | None]]:
        """The documents of one input to write, with their rows and lines; DataError if the input has changed."""
        for layout, document, row, line in self.again.documents(entry, keep_lines=True):
            if self.write == "annotated" or bool(self.cut.kept[row]) == (self.write == "kept"):
                yield layout, document, row, line

    def _row(self, layout: Layout, document: Document, row: int) -> Any:
        """A document with notes on its cluster."""
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
