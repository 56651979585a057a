"""The documents of a run, as a stream of batches: from a reader, or from objects in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from neardup.config.config import Config
from neardup.errors import ConfigError, DataError
from neardup.pipeline.batches import Batch, Incoming, TextColumn
from neardup.pipeline.corpus import Corpus
from neardup.pipeline.drawn_seed import drawn_from, drawn_from_stream, sample_of_files
from neardup.readers.cells import NULL
from neardup.readers.corpus_sample import sample_texts
from neardup.readers.document import Document
from neardup.readers.given import Given, Part, given
from neardup.readers.jsonl_blocks import TextBlock
from neardup.readers.layout import is_html
from neardup.readers.object_types import Objects
from neardup.readers.reader import Reader, read, text_columns

__all__ = ["Documents", "Input", "Rejected", "incoming", "of_reader"]

_BATCH = 1 << 16
Rows = NDArray[np.int64]

# What dedup takes: what `read` gives, the path of a file or folder, or objects in memory.
Documents: TypeAlias = Reader | PathLike[str] | Objects


@dataclass(frozen=True)
class Rejected:
    """A row that is no document: its position in what was given, its id and the reason."""

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

    def batches(self) -> Iterator[Batch]:
        """The stream of what the config needs of the documents."""
        self.total = 0
        self._pages.clear()
        if isinstance(self.source, Given):
            ids = self.source.ids
            self.rejected = [
                Rejected(row, ids[row], why.reason, why.detail) for row, why in self.source.rejected.items()
            ]
            for part in self.source.parts:
                yield from self._of_part(part)
            self.total = len(self.source)
            return
        stream, self._stream = self._stream, None
        for batch in of_reader(self.source, self.config) if stream is None else stream:
            if isinstance(batch, Incoming) and batch.html:
                places = list(zip(batch.files, batch.rows, strict=True))
                self._pages.append((self.total, places, [document.id for document in batch.documents]))
            self.total += len(batch)
            yield batch

    def positions(self, failures: Sequence[tuple[str, int, str]]) -> Rows:
        """The position of each document, after all were read. `failures` are pages that gave no text, by file, row and
        reason; they are added to what was rejected."""
        reasons = {(file, row): reason for file, row, reason in failures}
        if isinstance(self.source, Given):
            ids = self.source.ids
            self.rejected += [Rejected(row, ids[row], "no text", why) for (_, row), why in reasons.items()]
        else:
            for start, pages, ids in self._pages if reasons else ():
                for row, (page, name) in enumerate(zip(pages, ids, strict=True), start):
                    if page in reasons:
                        self.rejected.append(Rejected(row, name, "no text", reasons[page]))
        self.rejected.sort(key=lambda one: one.row)
        kept = np.ones(self.total, np.bool_)
        kept[[one.row for one in self.rejected]] = False
        return np.flatnonzero(kept)

    def ids(self, corpus: Corpus, positions: Rows) -> tuple[str, ...]:
        """The id at each position."""
        if isinstance(self.source, Given):
            return tuple(self.source.ids)
        read = corpus.ids(np.arange(len(corpus)))
        if not self.rejected:
            return tuple(read)
        ids = dict(zip(positions.tolist(), read, strict=True)) | {one.row: one.id for one in self.rejected}
        return tuple(ids[row] for row in range(self.total))

    @property
    def notes(self) -> dict[str, int]:
        """How often values that are no texts were read as texts."""
        notes = self.source.notes if isinstance(self.source, Given) else self.source.account.notes
        return {note: many for note, many in notes.items() if note != NULL}  # those are counted as empty

    @property
    def unread(self) -> dict[str, int]:
        """The rows that a reader rejected, by reason."""
        return {} if isinstance(self.source, Given) else dict(self.source.account.rejected)

    def documents(self) -> Iterator[Document]:
        """All that was given once more, one document for each position."""
        return self.source.documents()

    def _of_part(self, part: Part) -> Iterator[Batch]:
        there = np.delete(np.arange(len(part)), list(part.rejected))
        pages = part.html and self.config.html != "none"
        if self.config.keep.fields or pages:
            documents = list(part.documents())
            for start in range(0, len(there), _BATCH):
                rows = there[start : start + _BATCH].tolist()
                places = [part.start + row for row in rows]
                yield Incoming([documents[row] for row in rows], [part.name] * len(rows), places, pages)
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
) -> Input:
    """What there is to read in anything that holds documents. Its config has the seed of the run."""
    if isinstance(documents, PathLike):
        documents = read(documents, text=text, id=id)
    elif isinstance(documents, Reader) and (text is not None or id is not None):
        raise ConfigError("name the columns where they are read: nd.read(..., text=..., id=...)")
    if isinstance(documents, Reader):
        if documents.files is None:  # it can be read once
            config, stream = drawn_from_stream(config, of_reader(documents, config))
            return Input(documents, config, _stream=stream)
        return Input(documents, drawn_from(config, sample_of_files(documents.files)))
    found = given(documents, text_columns(text), id)
    try:
        "".join(found.ids).encode()
    except UnicodeEncodeError as error:
        raise DataError("an id is not well-formed Unicode") from error
    return Input(found, drawn_from(config, sample_texts(len(found), found.text_bytes)))


def of_reader(reader: Reader, config: Config) -> Iterator[Incoming | TextBlock]:
    """The stream of a reader's documents: with their fields where the config asks for one, else as bare columns."""
    formats = {source.name: source.format for source in reader.files or ()}
    for batch in reader if config.keep.fields else reader.blocks():
        if isinstance(batch, TextBlock):
            if batch.html and config.html != "none":
                files, rows = [batch.file] * len(batch), batch.rows.tolist()
                yield Incoming(batch.documents(), files, rows, html=True)
            else:
                yield batch
            continue
        page = is_html(batch.layout) or formats.get(batch.files[0]) in ("html", "warc")
        yield Incoming(batch.documents, batch.files, batch.rows, page)
