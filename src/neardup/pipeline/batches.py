"""Documents on their way to a shard: batches as they are read, and those that are gathered for the next shard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.features.texts import Texts, as_texts, raw_texts
from neardup.pipeline.extra_texts import ExtraTexts
from neardup.pipeline.vector_rows import VectorRows
from neardup.readers.account import NO_VECTOR
from neardup.readers.document import Document
from neardup.readers.text_block import TextBlock

__all__ = ["Batch", "DocumentBatch", "Pending", "PendingBlocks", "TextColumn", "Worked"]

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class DocumentBatch:
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


Batch = DocumentBatch | TextBlock | TextColumn


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
    vectors: VectorRows | None = None
    extras: ExtraTexts | None = None
    whole: int = 0  # pages whose main content was too little
    second: int = 0  # such pages that trafilatura read

    def add(self, batch: DocumentBatch, start: int, extractor: Any = None) -> None:
        """The documents of a batch from `start` on, their texts taken out of pages if there is an extractor."""
        documents, files, rows = batch.documents[start:], batch.files[start:], batch.rows[start:]
        if extractor is None:
            self._add_extras(documents, [""] * len(documents), [""] * len(documents))
            self._add_documents(documents, [document.text for document in documents], files, rows)
            return
        found = extractor.extract([document.text for document in documents])
        self.whole += len(found.whole)
        self.second += len(found.second)
        reasons = {failure.row: failure.reason for failure in found.failures}
        good = [i for i, text in enumerate(found.texts) if text is not None]
        for i, text in enumerate(found.texts):
            if text is None:
                self.failures.append((files[i], rows[i], reasons.get(i, "no text")))
        titles = [found.titles[i] or "" for i in good]
        self._add_extras([documents[i] for i in good], titles, [found.highlights[i] for i in good])
        self._add_documents(
            [documents[i] for i in good],
            [found.texts[i] for i in good],
            [files[i] for i in good],
            [rows[i] for i in good],
        )

    def _add_extras(self, documents: list[Document], titles: list[str], marks: list[str]) -> None:
        if self.extras is not None:
            self.extras.add(documents, titles, marks)

    def _add_documents(
        self, documents: list[Document], texts: list[str], files: list[str], rows: list[int]
    ) -> None:
        if self.vectors is not None:
            for at, why in self.vectors.add([document.meta for document in documents]).items():
                self.failures.append((files[at], rows[at], f"{NO_VECTOR}: {why}"))
                texts[at] = None  # type: ignore[call-overload]
            good = [at for at, text in enumerate(texts) if text is not None]
            documents, files, rows = ([given[at] for at in good] for given in (documents, files, rows))  # type: ignore[assignment]
            texts = [texts[at] for at in good]
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
    def count(self) -> int:
        """How many documents there are."""
        return len(self.ids)

    @property
    def data(self) -> NDArray[np.uint8]:
        """All texts, one after another."""
        return self.buffer[: self.used]

    @property
    def bytes(self) -> int:
        """The size of texts and vectors."""
        return self.used + (0 if self.vectors is None else self.vectors.bytes)

    def ends(self) -> Rows:
        """Where each text ends."""
        return np.cumsum(np.concatenate([np.empty(0, np.int64), *self.lengths]))


@dataclass(frozen=True)
class Worked:
    """What is made of the texts of a block while it is read: columns of a shard, and its fingerprints unless the config
    has to learn from the corpus first."""

    digests: NDArray[np.uint64]
    empty: NDArray[np.uint8]
    tokens: Rows
    filtered: NDArray[np.uint8]
    prints: Mapping[str, NDArray[Any]] | None


@dataclass
class PendingBlocks:
    """Blocks gathered for the next shard, each with what was made of it. Texts that can be read again from their place
    are not held, unless `hold`: `texts` are the others, and `kept` their sizes, 0 for those in their place."""

    hold: bool
    blocks: list[TextBlock] = field(default_factory=list)
    texts: list[NDArray[np.uint8]] = field(default_factory=list)
    kept: list[Rows] = field(default_factory=list)
    used: int = 0
    count: int = 0

    def add(self, block: TextBlock) -> None:
        self.used += int(block.offsets[-1])
        self.count += len(block)
        texts, kept = replace(block, place=None if self.hold else block.place).without_place()
        self.texts.append(texts)
        self.kept.append(kept)
        self.blocks.append(replace(block, data=texts))

    @property
    def bytes(self) -> int:
        """The size of texts."""
        return self.used

    @property
    def sizes(self) -> Rows:
        """The bytes of each text."""
        return np.concatenate([np.diff(block.offsets) for block in self.blocks])

    def column(self) -> _core.Texts:
        """All texts, if they are held."""
        texts = _core.Texts()
        for block in self.blocks:
            texts.add_spans(block.data, block.offsets[:-1], block.offsets[1:])
        return texts

    def worked(self, name: str) -> NDArray[Any]:
        """One column of what was made of the texts."""
        return np.concatenate([getattr(block.worked, name) for block in self.blocks])

    def prints(self) -> Mapping[str, NDArray[Any]] | None:
        """The fingerprints of all of them."""
        parts = [block.worked.prints for block in self.blocks]
        if parts[0] is None:
            return None
        if len(parts) == 1:
            return dict(parts[0])
        return {
            name: np.concatenate([part[name] for part in parts], axis=1 if name == "keys" else 0)
            for name in parts[0]
        }


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
