"""The documents of a run, as a stream of batches: from a reader, or from objects in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from neardup.config.config import Config
from neardup.errors import ConfigError, DataError
from neardup.pipeline.batches import Batch, DocumentBatch, TextColumn
from neardup.pipeline.corpus import Corpus
from neardup.pipeline.drawn_seed import drawn_from, drawn_from_stream, sample_of_files
from neardup.readers.account import REASONS, Account, Reason, given_reason
from neardup.readers.ahead import Work
from neardup.readers.corpus_sample import sample_texts
from neardup.readers.document import Document
from neardup.readers.layout import UnclearColumns, is_html
from neardup.readers.limits import Limits
from neardup.readers.object_types import Objects
from neardup.readers.reader import Reader, read, text_columns
from neardup.readers.text_block import TextBlock

if TYPE_CHECKING:
    from neardup.readers.given import Given, GivenPart

__all__ = ["Documents", "Input", "Rejected", "incoming", "of_reader", "text_or_vectors"]

_BATCH = 1 << 16
Rows = NDArray[np.int64]

# What dedup takes: what `read` gives, the path of a file or folder, or objects in memory.
Documents: TypeAlias = Reader | PathLike[str] | Objects


@dataclass(frozen=True)
class Rejected:
    """A row that is no document: its position in what was given, its id and the reason.

    detail  more about the reason, or empty

    >>> import neardup as nd
    >>> [(one.row, one.reason) for one in nd.dedup(["some words", True]).rejected]
    [(1, 'wrong type')]
    """

    row: int
    id: str
    reason: str
    detail: str = ""


@dataclass
class Input:
    """What a run reads: a reader's documents, or those of objects in memory. Positions count the rows of what was
    given, those that are no documents too; of a reader, the documents it gives."""

    source: Reader | Given
    config: Config
    rejected: list[Rejected] = field(default_factory=list)
    total: int = 0
    _pages: list[tuple[int, list[tuple[str, int]], list[str]]] = field(default_factory=list)
    _stream: Iterator[Batch] | None = None

    def batches(self, work: Work | None = None) -> Iterator[Batch]:
        """The stream of what the config needs of the documents; blocks of files may be worked on while they are
        read."""
        self.total = 0
        self._pages.clear()
        if not isinstance(self.source, Reader):
            ids = self.source.ids
            self.rejected = [
                Rejected(row, ids[row], why.reason, why.detail) for row, why in self.source.rejected.items()
            ]
            for part in self.source.parts:
                yield from self._of_part(part)
            self.total = len(self.source)
            return
        stream, self._stream = self._stream, None
        for batch in of_reader(self.source, self.config, work) if stream is None else stream:
            if isinstance(batch, DocumentBatch) and (batch.html or self.config.vectors is not None):
                places = list(zip(batch.files, batch.rows, strict=True))
                self._pages.append((self.total, places, [document.id for document in batch.documents]))
            self.total += len(batch)
            yield batch

    def positions(self, failures: Sequence[tuple[str, int, str]]) -> Rows:
        """The position of each document, after all were read. `failures` are pages that gave no text, by file, row and
        reason; they are added to what was rejected."""
        reasons = {(file, row): reason for file, row, reason in failures}
        if not isinstance(self.source, Reader):
            ids = self.source.ids
            self.rejected += [
                Rejected(row, ids[row], given_reason(why), why) for (_, row), why in reasons.items()
            ]
        else:
            for start, pages, ids in self._pages if reasons else ():
                for row, (page, name) in enumerate(zip(pages, ids, strict=True), start):
                    if page in reasons:
                        why = reasons[page]
                        self.rejected.append(Rejected(row, name, given_reason(why), why))
        self.rejected.sort(key=lambda one: one.row)
        kept = np.ones(self.total, np.bool_)
        kept[[one.row for one in self.rejected]] = False
        return np.flatnonzero(kept)

    def ids(self, corpus: Corpus, positions: Rows) -> tuple[str, ...]:
        """The id at each position."""
        if not isinstance(self.source, Reader):
            return tuple(self.source.ids)
        read = corpus.ids(np.arange(len(corpus)))
        if not self.rejected:
            return tuple(read)
        ids = dict(zip(positions.tolist(), read, strict=True)) | {one.row: one.id for one in self.rejected}
        return tuple(ids[row] for row in range(self.total))

    def account(self, failures: Sequence[tuple[str, int, str]]) -> Account:
        """What became of everything that was read, after `positions`; `failures` are those of `positions`."""
        if not isinstance(self.source, Reader):
            account = Account(
                rows=self.total, documents=self.total - len(self.rejected), notes=self.source.notes
            )
            account.rejected.update(one.reason for one in self.rejected)
            account.reasons += [
                Reason("", one.row, one.reason, one.detail) for one in self.rejected[:REASONS]
            ]
        else:
            account = self.source.account
            for file, row, why in failures:
                account.reject_page(file, row, why)
        account.settle()
        return account

    def documents(self) -> Iterator[Document]:
        """All that was given, read again: one document for each position."""
        return self.source.documents()

    def _of_part(self, part: GivenPart) -> Iterator[Batch]:
        there = np.delete(np.arange(len(part)), list(part.rejected))
        pages = part.html and self.config.html != "none"
        if self.config.fields or pages:
            documents = list(part.documents())
            for start in range(0, len(there), _BATCH):
                rows = there[start : start + _BATCH].tolist()
                places = [part.start + row for row in rows]
                yield DocumentBatch([documents[row] for row in rows], [part.name] * len(rows), places, pages)
            return
        texts, ids = part.texts, part.ids
        if part.rejected:
            texts, ids = [texts[row] for row in there], [ids[row] for row in there]
        for start in range(0, len(there), _BATCH):
            stop = start + _BATCH
            yield TextColumn.of(texts[start:stop], ids[start:stop], part.start + there[start:stop], part.name)


def incoming(
    documents: Documents,
    config: Config,
    *,
    text: str | Sequence[str] | None = None,
    id: str | None = None,
    memory: int | None = None,
) -> Input:
    """What there is to read in anything that holds documents. Its config has the seed of the run. Documents of files
    are rejected if they are too large for `memory`."""
    if isinstance(documents, PathLike):
        limits = None if memory is None else Limits.within(memory)
        place = documents
        text = text_or_vectors(config, text, lambda: read(place, id=id, limits=limits))
        documents = read(documents, text=text, id=id, limits=limits)
    elif isinstance(documents, Reader) and (text is not None or id is not None):
        raise ConfigError("name the columns where they are read: nd.read(..., text=..., id=...)")
    if isinstance(documents, Reader):
        if config.vectors is not None:
            documents.show_vectors(config.vectors.column)
        if documents.files is None:  # it can be read once
            config, stream = drawn_from_stream(config, of_reader(documents, config))
            return Input(documents, config, _stream=stream)
        return Input(documents, drawn_from(config, sample_of_files(documents.files)))
    from neardup.readers.given import given  # not for files

    if config.vectors is not None and getattr(documents, "ndim", 1) == 2 and hasattr(documents, "tolist"):
        documents = [{config.vectors.column: row} for row in documents.tolist()]
    vectors = None if config.vectors is None else config.vectors.column
    try:
        found = given(documents, text_columns(text), id, vectors)
    except UnclearColumns:
        if vectors is None or text is not None:
            raise
        found = given(documents, vectors, id, vectors)
    try:
        "".join(found.ids).encode()
    except UnicodeEncodeError as error:
        raise DataError("an id is not well-formed Unicode") from error
    return Input(found, drawn_from(config, sample_texts(len(found), found.text_bytes)))


def text_or_vectors(
    config: Config, text: str | Sequence[str] | None, opened: Callable[[], Reader]
) -> str | Sequence[str] | None:
    """The column of texts. Documents that have a vector and nothing that looks like a text show the vector instead."""
    if config.vectors is None or text is not None:
        return text
    try:
        next(iter(opened()), None)
    except UnclearColumns:
        return config.vectors.column
    return None


def of_reader(
    reader: Reader, config: Config, work: Work | None = None
) -> Iterator[DocumentBatch | TextBlock]:
    """The stream of a reader's documents: with their fields where the config asks for one, else as bare columns, which
    may be worked on while they are read."""
    formats = {source.name: source.format for source in reader.files or ()}
    for batch in reader if config.fields else reader.blocks(work):
        if isinstance(batch, TextBlock):
            if batch.html and config.html != "none":
                files, rows = [batch.file] * len(batch), batch.rows.tolist()
                yield DocumentBatch(batch.documents(), files, rows, html=True)
            else:
                yield batch
            continue
        page = is_html(batch.layout) or formats.get(batch.files[0]) in ("html", "warc")
        yield DocumentBatch(batch.documents, batch.files, batch.rows, page)
