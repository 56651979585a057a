"""Documents on their way to a shard: batches as they are read, and those that are gathered for the next shard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.features.texts import Texts, as_texts, raw_texts
from neardup.readers.document import Document
from neardup.readers.jsonl_blocks import TextBlock

__all__ = ["Batch", "Incoming", "Pending", "TextColumn"]

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Incoming:
    """Some documents as they were read: file and row of each, and whether their texts are HTML pages."""

    documents: list[Document]
    files: list[str]
    rows: list[int]
    html: bool = False

    def __len__(self) -> int:
        return len(self.documents)


@dataclass(frozen=True)
class TextColumn:
    """Texts of a list or an Arrow column, used where they are: well-formed, with their sizes in bytes of UTF-8."""

    ids: Sequence[str]
    rows: Rows
    texts: _core.Texts
    sizes: Rows
    file: str = ""

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def of(cls, column: Texts, ids: Sequence[str], rows: Rows, file: str = "") -> TextColumn:
        """Texts with their ids and rows. Only ill-formed texts are copied."""
        texts = as_texts(column)
        sizes, well_formed = texts.sizes()
        if not well_formed:
            texts = as_texts([_well_formed(text) for text in raw_texts(column)])
            sizes, _ = texts.sizes()
        return cls(ids, rows, texts, sizes, file)

    def block(self) -> TextBlock:
        """The same in one buffer of UTF-8."""
        data, ends = self.texts.utf8()
        offsets = np.concatenate([[0], ends]).astype(np.int64)
        return TextBlock(self.file, self.rows, list(self.ids), data, offsets)


Batch = Incoming | TextBlock | TextColumn


@dataclass
class Pending:
    """Documents gathered for the next shard: columns, their texts in one buffer that a later shard uses again, and the
    documents themselves where they are at hand."""

    buffer: NDArray[np.uint8]
    used: int = 0
    ids: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    places: list[Rows] = field(default_factory=list)
    lengths: list[Rows] = field(default_factory=list)
    sizes: list[Rows] = field(default_factory=list)
    documents: list[Document | None] = field(default_factory=list)
    failures: list[tuple[str, int, str]] = field(default_factory=list)
    whole: int = 0  # pages whose main content was too little

    def add(self, batch: Incoming | TextBlock, start: int, extractor: Any = None) -> None:
        """The documents of a batch from `start` on, their texts taken out of pages if there is an extractor."""
        if isinstance(batch, TextBlock):
            self._add_block(batch, start)
            return
        documents, files, rows = batch.documents[start:], batch.files[start:], batch.rows[start:]
        if extractor is None:
            self._add_documents(documents, [document.text for document in documents], files, rows)
            return
        found = extractor.extract([document.text for document in documents])
        self.whole += len(found.whole)
        reasons = {failure.row: failure.reason for failure in found.failures}
        good = [i for i, text in enumerate(found.texts) if text is not None]
        for i, text in enumerate(found.texts):
            if text is None:
                self.failures.append((files[i], rows[i], reasons.get(i, "no text")))
        self._add_documents(
            [documents[i] for i in good],
            [found.texts[i] for i in good],
            [files[i] for i in good],
            [rows[i] for i in good],
        )

    def _add_block(self, block: TextBlock, start: int) -> None:
        self.ids += block.ids[start:] if start else block.ids
        self.files += [block.file] * (len(block) - start)
        self.places.append(block.rows[start:])
        self.lengths.append(np.diff(block.offsets[start:]))
        self.sizes.append(self.lengths[-1])
        self.documents += [None] * (len(block) - start)
        self._add(block.data[block.offsets[start] : block.offsets[-1]])

    def _add_documents(
        self, documents: list[Document], texts: list[str], files: list[str], rows: list[int]
    ) -> None:
        encoded = [_utf8(text) for text in texts]
        self.ids += [document.id for document in documents]
        self.files += files
        self.places.append(np.array(rows, np.int64))
        self.lengths.append(np.fromiter(map(len, encoded), np.int64, len(encoded)))
        # Of a page the size is that of the page, not of the text in it.
        raw = (_bytes(document.text) for document in documents)
        self.sizes.append(np.fromiter(raw, np.int64, len(documents)))
        self.documents += documents
        self._add(np.frombuffer(b"".join(encoded), np.uint8))

    def _add(self, data: NDArray[np.uint8]) -> None:
        end = self.used + len(data)
        if end > len(self.buffer):
            grown = np.empty(max(end, 2 * len(self.buffer)), np.uint8)
            grown[: self.used] = self.buffer[: self.used]
            self.buffer = grown
        self.buffer[self.used : end] = data
        self.used = end

    @property
    def data(self) -> NDArray[np.uint8]:
        """All texts, one after another."""
        return self.buffer[: self.used]

    def ends(self) -> Rows:
        """Where each text ends."""
        return np.cumsum(np.concatenate([np.empty(0, np.int64), *self.lengths]))


def _well_formed(text: str | bytes) -> bytes:
    """A text as UTF-8 in which U+FFFD is in the place of what is ill-formed."""
    return _utf8(text) if isinstance(text, str) else text.decode("utf-8", "replace").encode()


def _utf8(text: str) -> bytes:
    """A text as UTF-8, its lone surrogates as U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(_utf8(text))
