"""Documents to shards: texts taken out of pages, filtered, digested and fingerprinted, many at a time."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.clusters.keepers import field_value
from neardup.config.config import Config
from neardup.errors import DataError, NeardupError
from neardup.features.texts import utf8_list
from neardup.fingerprints.one_pass import read_texts
from neardup.fingerprints.printer import Reading
from neardup.pipeline.batches import Batch, Incoming, Pending, TextColumn
from neardup.pipeline.fit import Prepared, needs_corpus
from neardup.pipeline.shards import (
    FileShard,
    MemoryShard,
    Prints,
    Shard,
    ShardColumns,
    write_prints,
    write_shard,
)
from neardup.readers.document import Document
from neardup.readers.jsonl_blocks import TextBlock
from neardup.search.interface import Method

__all__ = ["SHARD_SCHEME", "Sharder"]

_MOST_DOCUMENTS = 1 << 17
SHARD_SCHEME = "shard/v1"


class Sharder:
    """Makes shards of a stream of documents, one while the next is read: at most two are held.

    With a `folder` they are written there and are files; those already there, whole, are taken as they are, so that
    a run that was killed goes on where it stopped. `size` is the characters of a shard; it changes no answer.
    """

    def __init__(
        self,
        config: Config,
        prepared: Prepared,
        *,
        folder: Path | None = None,
        prefix: str = "",
        size: int = 1 << 26,
        threads: int = 1,
    ) -> None:
        self.config, self.prepared, self.threads = config, prepared, threads
        self.folder, self.prefix, self.size = folder, prefix, size
        self.method = None if needs_corpus(config) else config.method
        self.resumed = 0
        self._buffers: deque[NDArray[np.uint8]] = deque()

    def _pending(self) -> Pending:
        """A new one, with a buffer that a finished shard has left if there is one."""
        return Pending(self._buffers.pop() if self._buffers else np.empty(self.size + (1 << 22), np.uint8))

    def shards(self, batches: Iterable[Batch], told: Callable[[int], None] | None = None) -> list[Shard]:
        """The shards of all documents; `told` hears how many documents were read."""
        return list(self.stream(batches, told))

    def stream(self, batches: Iterable[Batch], told: Callable[[int], None] | None = None) -> Iterator[Shard]:
        """The same one by one, for whoever does not keep them."""
        with ExitStack() as stack:
            pool = stack.enter_context(ThreadPoolExecutor(1))
            waiting: Future[Shard] | None = None
            for number, pending in enumerate(self._gathered(batches, stack, told)):
                if waiting is not None:
                    yield waiting.result()
                waiting = pool.submit(self._make, number, pending)
            if waiting is not None:
                yield waiting.result()

    def fingerprint(self, shards: Iterable[Shard], prepared: Prepared) -> Iterator[int]:
        """Give shards their fingerprints now that the config is prepared; yields the documents done."""
        method = self.config.method
        if method is None:
            return
        for number, shard in enumerate(shards):
            if isinstance(shard, FileShard):
                self._attach(number, shard, prepared, method)
            else:
                assert isinstance(shard, MemoryShard)
                shard.attach(prepared.prints(shard, method))
            yield shard.count

    def _attach(self, number: int, shard: FileShard, prepared: Prepared, method: Method) -> None:
        """Open a shard's fingerprints, made now unless they are there."""
        scheme, path = prepared.kept_scheme(method), self._path(number, "prints")
        try:
            shard.attach(path, scheme)
            shard.verify(self.threads)
        except (NeardupError, FileNotFoundError):
            write_prints(path, prepared.prints(shard, method), shard.count, scheme, self.threads)
            shard.attach(path, scheme)

    def _gathered(
        self,
        batches: Iterable[Batch],
        stack: ExitStack,
        told: Callable[[int], None] | None,
    ) -> Iterator[Pending | TextColumn | FileShard]:
        """Documents for one shard after another; for a shard that is there already, only the shard. A column of texts
        is a shard of its own, unless it has to be written."""
        extract = None
        number = 0
        there = self._there(number)
        skip = there.count + len(there.failures) if there is not None else 0
        pending = self._pending()
        seen = 0
        for batch in batches:
            if told is not None:
                told(len(batch))
            if isinstance(batch, TextColumn):
                if self.folder is None:
                    yield batch
                    continue
                batch = batch.block()
            start = 0
            while start < len(batch):
                if there is not None:
                    take = min(skip - seen, len(batch) - start)
                    start, seen = start + take, seen + take
                    if seen == skip:
                        self._check(there, batch, start)
                        self.resumed += 1
                        yield there
                        number, seen = number + 1, 0
                        there = self._there(number)
                        skip = there.count + len(there.failures) if there is not None else 0
                    continue
                page = batch.html and isinstance(batch, Incoming) and self.config.html != "none"
                if page and extract is None:
                    from neardup.web import HtmlExtractor

                    extract = stack.enter_context(HtmlExtractor(self.config.html, workers=self.threads))
                pending.add(batch, start, extract if page else None)
                start = len(batch)
                if pending.used >= self.size or len(pending.ids) >= _MOST_DOCUMENTS:
                    yield pending
                    pending, number = self._pending(), number + 1
                    # Beyond the first one missing nothing is taken over: shards are made in order.
        if there is not None and seen:
            raise DataError(
                f"{there.path}: holds more documents than there are; start anew in another folder"
            )
        if pending.ids or pending.failures:
            yield pending

    def _there(self, number: int) -> FileShard | None:
        if self.folder is None:
            return None
        path = self._path(number, "shard")
        if not path.exists():
            return None
        try:
            shard = FileShard(path, SHARD_SCHEME)
            shard.verify(self.threads)
        except NeardupError:  # damaged, as after a power cut: made again
            return None
        return shard

    @staticmethod
    def _check(shard: FileShard, batch: Incoming | TextBlock, end: int) -> None:
        """The last document taken over must be the one that was there."""
        if not shard.count:
            return
        last = np.array([shard.count - 1])
        file = batch.file if isinstance(batch, TextBlock) else batch.files[end - 1]
        here = (file, int(batch.rows[end - 1]))
        was = (shard.file_names[int(shard.column("files")[-1])], int(shard.column("places")[-1]))
        failed = {(file, row) for file, row, _ in shard.failures}
        if here != was and here not in failed:
            raise DataError(
                f"{shard.path}: ends with row {was[1]} of {was[0]} ({shard.ids(last)[0]}), the input there with row "
                f"{here[1]} of {here[0]}: the input has changed; start anew in another folder"
            )

    def _path(self, number: int, kind: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{self.prefix}{number:05}.{kind}"

    def _make(self, number: int, pending: Pending | TextColumn | FileShard) -> Shard:
        if isinstance(pending, FileShard):
            if self.method is not None:
                self._attach(number, pending, self.prepared, self.method)
            return pending
        if isinstance(pending, TextColumn):
            columns, prints = self._read(pending.texts, pending)
            return MemoryShard(columns, pending.texts, prints)
        ends = pending.ends()
        data = pending.data if self.folder is not None else pending.data.copy()
        texts = _core.Texts()
        texts.add_spans(data, np.concatenate([[0], ends])[: len(ends)].astype(np.int64), ends)
        columns, prints = self._read(texts, pending)
        shard: Shard
        if self.folder is None:
            shard = MemoryShard(columns, texts, prints)
        else:
            shard = self._written(number, columns, data, ends, prints)
        self._buffers.append(pending.buffer)
        return shard

    def _read(self, texts: _core.Texts, given: Pending | TextColumn) -> tuple[ShardColumns, Prints | None]:
        """The columns of a shard, and its fingerprints unless the config has to learn from the corpus first."""
        fingerprint = self.prepared.printer if self.method is not None else None
        reading = read_texts(texts, self.prepared.features, fingerprint, threads=self.threads)
        columns = self._columns(given, reading, texts)
        if self.method is None:
            return columns, None
        assert reading.prints is not None
        return columns, self.method.kept(reading.prints, self.threads)

    def _written(
        self,
        number: int,
        columns: ShardColumns,
        data: NDArray[np.uint8],
        ends: NDArray[np.int64],
        prints: Prints | None,
    ) -> FileShard:
        if prints is not None:
            assert self.method is not None
            scheme = self.prepared.kept_scheme(self.method)
            write_prints(self._path(number, "prints"), prints, len(ends), scheme, self.threads)
        path = self._path(number, "shard")
        write_shard(path, columns, data, ends, SHARD_SCHEME, self.threads)
        shard = FileShard(path, SHARD_SCHEME)
        if prints is not None:
            shard.attach(self._path(number, "prints"), scheme)
        return shard

    def _columns(self, given: Pending | TextColumn, reading: Reading, texts: _core.Texts) -> ShardColumns:
        keep, filters, count = self.config.keep, self.config.filters, len(texts)
        documents: list[Document | None] = []
        failures: tuple[tuple[str, int, str], ...] = ()
        file_names: tuple[str, ...]
        if isinstance(given, TextColumn):
            sizes, places, file_names, files = (
                given.sizes,
                given.rows,
                (given.file,),
                np.zeros(count, np.int32),
            )
        else:
            sizes = np.concatenate([np.empty(0, np.int64), *given.sizes])
            places = np.concatenate([np.empty(0, np.int64), *given.places])
            documents, failures = given.documents, tuple(given.failures)
            file_names, files = _numbered(given.files)
        filtered = np.zeros(count, np.uint8)
        if filters.active:
            taken = [text.decode("utf-8", "replace") for text in utf8_list(texts)]
            raw = (
                [t if d is None else d.text for d, t in zip(documents, taken, strict=True)]
                if documents
                else taken
            )
            filtered = filters.check(raw, taken, reading.tokens, sizes)
        source_names, source = file_names, files
        if keep.source is not None:
            source_names, source = _numbered([keep.source_of(_fields(document)) for document in documents])
        scores = np.full(count, np.nan)
        if keep.score is not None:
            scores[:] = [_score(document, keep.score, keep.by == "score") for document in documents]
        return ShardColumns(
            ids=given.ids,
            digests=reading.digests,
            empty=reading.empty.astype(np.uint8),
            filtered=filtered,
            tokens=reading.tokens,
            sizes=sizes,
            files=files,
            places=places,
            sources=source,
            scores=scores,
            file_names=file_names,
            source_names=source_names,
            failures=failures,
            whole=given.whole if isinstance(given, Pending) else 0,
        )


def _numbered(names: list[str]) -> tuple[tuple[str, ...], Any]:
    place = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return tuple(place), np.fromiter((place[name] for name in names), np.int32, len(names))


def _fields(document: Document | None) -> Mapping[str, Any]:
    assert document is not None, "documents whose fields are asked for come with them"
    return document.meta


def _score(document: Document | None, field_: str, strict: bool) -> float:
    value = _fields(document).get(field_)
    found = field_value(value)
    if strict and math.isnan(found) and value not in (None, "", True, False) and value == value:
        name = document.id if document is not None else ""
        raise DataError(f"{name}: {field_!r} is {value!r}, not a number or a date to keep by")
    return found
