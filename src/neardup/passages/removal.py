"""The second pass: reads the documents again, cuts repeated parts out, and collects some of them to show."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from os import PathLike
from typing import Protocol

import numpy as np

from neardup import _core
from neardup.errors import DataError
from neardup.features.normalize import Normalize
from neardup.features.texts import as_texts
from neardup.passages.repeats import Occurrence, Repeat
from neardup.readers import Batch, Reader, Writer, open_writer
from neardup.readers.document import Document
from neardup.readers.writers import format_for
from neardup.storage.output import check_output_file, check_outputs

__all__ = ["Cuts", "Marks", "RepeatSize", "WantedSpan", "check_out", "cut_corpus", "trim", "without"]

_MARKS = 3  # punctuation marks cut together with a passage they touch

Span = tuple[int, int]


@dataclass(frozen=True)
class WantedSpan:
    """A repeated part to show: its number among the shown parts, and where it occurs in the document."""

    number: int
    begin: int
    end: int
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True)
class Marks:
    """The cuts in one document, as ascending stretches of characters, and its parts to show."""

    cuts: Sequence[Span] = ()
    wanted: Sequence[WantedSpan] = ()


@dataclass(frozen=True)
class RepeatSize:
    """A repeated part before its text is known."""

    words: int
    count: int
    documents: int


class Cuts(Protocol):
    """The result of the first pass. Batches must come in the same order as in the first pass."""

    @property
    def shown(self) -> Sequence[RepeatSize]:
        """The parts to show, by their numbers; complete after all documents were read."""
        ...

    def marks(self, texts: list[str]) -> list[Marks]: ...

    def finish(self) -> bool:
        """Whether the second pass read the same documents as the first."""
        ...


@dataclass
class CutCorpus:
    """Counts of the second pass."""

    documents: int = 0
    size: int = 0
    changed: int = 0
    emptied: int = 0
    cut: int = 0
    written: int = 0
    top: tuple[Repeat, ...] = ()


def cut_corpus(
    reader: Reader,
    cuts: Cuts,
    normalize: Normalize,
    out: str | PathLike[str] | None,
    drop_empty: bool,
) -> CutCorpus:
    """Read all documents again, apply the `cuts`, count them, and write the rest to `out` if it is given.

    Raises DataError and writes nothing if the documents changed since the first pass.
    """
    done = CutCorpus()
    texts = [""] * len(cuts.shown)
    occurrences: list[list[Occurrence]] = [[] for _ in texts]
    with ExitStack() as stack:
        writer: Writer | None = None
        for batch in reader:
            if out is not None and writer is None:
                writer = stack.enter_context(open_writer(out, like=batch.layout))
            marks = cuts.marks([document.text for document in batch])
            _show(batch, marks, texts, occurrences)
            left, emptied = _cut(batch, marks, normalize, done)
            if writer is not None:
                for row, document in enumerate(left):
                    if not (drop_empty and row in emptied):
                        writer.write(batch.layout.record(document))
        if not cuts.finish():
            raise DataError(
                "the second pass over the input read other documents than the first: the input changed, or it can be "
                "read only once; pass paths or a list"
            )
        if out is not None and writer is None:
            writer = stack.enter_context(open_writer(out))
        done.written = writer.rows if writer is not None else 0
    done.top = tuple(
        Repeat(text, one.words, one.count, one.documents, (one.count - 1) * _bytes(text), tuple(places))
        for text, one, places in zip(texts, cuts.shown, occurrences, strict=True)
    )
    return done


def check_out(reader: Reader, out: str | PathLike[str] | None) -> None:
    """Raise errors about `out` before the first pass: no such folder, unknown format, one of the inputs."""
    if out is None:
        return
    format_for(out)
    check_outputs({"the output": out}, (file.path for file in reader.files or () if "://" not in file.path))
    check_output_file(out)


def _show(batch: Batch, marks: list[Marks], texts: list[str], occurrences: list[list[Occurrence]]) -> None:
    for document, file, row, mark in zip(batch, batch.files, batch.rows, marks, strict=True):
        for one in mark.wanted:
            if not occurrences[one.number]:
                texts[one.number] = document.text[one.begin : one.end]
            occurrences[one.number].append(
                Occurrence(document.id, file, row, one.begin, one.end, one.first, one.last)
            )


def _cut(
    batch: Batch, marks: list[Marks], normalize: Normalize, done: CutCorpus
) -> tuple[list[Document], set[int]]:
    """The documents after the cuts, and which of them have no words left."""
    left = [
        replace(document, text=without(document.text, mark.cuts)) if mark.cuts else document
        for document, mark in zip(batch, marks, strict=True)
    ]
    changed = [row for row, mark in enumerate(marks) if mark.cuts]
    texts = as_texts([left[row].text for row in changed])
    _, offsets, _, _ = _core.token_stream(texts, normalize.native(), 0, False, 1)
    emptied = {changed[i] for i in np.flatnonzero(np.diff(offsets) == 0)}
    sizes = [_bytes(document.text) for document in batch]
    done.documents += len(left)
    done.size += sum(sizes)
    done.changed += len(changed)
    done.cut += sum(sizes[row] - _bytes(left[row].text) for row in changed)
    done.emptied += len(emptied)
    return left, emptied


def without(text: str, cuts: Sequence[Span]) -> str:
    """The text without some stretches; they are in ascending order and may overlap."""
    kept: list[str] = []
    place = 0
    for begin, end in cuts:
        kept.append(text[place:begin])
        place = max(place, begin, end)
    kept.append(text[place:])
    return "".join(kept)


def trim(text: str, begin: int, end: int, left: int, right: int) -> Span:
    """Extend a cut by the marks that touch it, up to three on each side, and by the white space on one side.

    `left` and `right` are the limits of the neighbouring words, which are kept. The side with more line ends keeps its
    white space, so that paragraphs remain separate. More than three marks, or marks that touch a kept word, may have a
    meaning of their own, so they are kept.
    """
    first = begin
    while first > left and not text[first - 1].isspace():
        first -= 1
    if begin - first <= _MARKS and (first > left or first == 0):
        begin = first
    last = end
    while last < right and not text[last].isspace():
        last += 1
    if last - end <= _MARKS and (last < right or last == len(text)):
        end = last
    before, behind = begin, end
    while before > left and text[before - 1].isspace():
        before -= 1
    while behind < right and text[behind].isspace():
        behind += 1
    if before == 0:
        return before, behind
    if behind == len(text) or text.count("\n", end, behind) > text.count("\n", before, begin):
        return before, end
    return (begin, end) if before == begin else (begin, behind)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
