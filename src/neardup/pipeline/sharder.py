"""Documents to shards: texts taken out of pages, filtered, digested and fingerprinted, many at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.config.config import Config
from neardup.errors import DataError, NeardupError
from neardup.features.texts import utf8_list
from neardup.fingerprints.one_pass import read_texts
from neardup.fingerprints.printer import Reading
from neardup.pipeline.batches import Batch, DocumentBatch, Pending, PendingBlocks, TextColumn, Worked
from neardup.pipeline.document_fields import fields_of, numbered, score_of
from neardup.pipeline.extra_texts import ExtraSource, ExtraTexts
from neardup.pipeline.fit import FrequencyCount, Prepared, needs_corpus
from neardup.pipeline.shard_writer import write_prints, write_shard
from neardup.pipeline.shards import (
    FileShard,
    MemoryShard,
    Prints,
    Shard,
    ShardColumns,
)
from neardup.pipeline.text_places import TextPlaces
from neardup.pipeline.vector_rows import COLUMN as VECTORS
from neardup.pipeline.vector_rows import Dimensions, VectorRows, read_vectors
from neardup.readers.ahead import Work
from neardup.readers.document import Document
from neardup.readers.text_block import IdColumn, TextBlock
from neardup.search.interface import Method
from neardup.values.memory import release_unused

__all__ = ["SHARD_SCHEME", "Sharder"]

_MOST_DOCUMENTS = 1 << 17
_RELEASE = 4  # shards after which freed memory is given back: memory that is used again at once is faster
SHARD_SCHEME = "shard/v1"


class Sharder:
    """Makes shards of a stream of documents, one while the next is read: at most two are held.

    With a `folder` they are written there and are files; those already there, whole, are taken as they are, so that
    a run that was killed continues where it stopped. `size` is the characters of a shard; it changes no answer. With
    `places`, texts that can be read again from plain local files are left there. `dimensions` are those of a run's
    vectors, if another sharder may have found them.
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
        places: bool = False,
        dimensions: Dimensions | None = None,
        count: FrequencyCount | None = None,
    ) -> None:
        self.config, self.prepared, self.threads = config, prepared, threads
        self.places = places and folder is not None
        self.folder, self.prefix, self.size = folder, prefix, size
        self.method = None if needs_corpus(config) else config.method
        self.resumed = 0
        self._count = count
        self._dimensions = dimensions or Dimensions()
        self._extras = ExtraSource.of(config)
        self._skipping = False
        self._buffers: deque[NDArray[np.uint8]] = deque()

    def _pending(self) -> Pending:
        """A new one, with a buffer that a finished shard has left if there is one."""
        buffer = self._buffers.pop() if self._buffers else np.empty(self.size + (1 << 22), np.uint8)
        vectors = self.config.vectors
        return Pending(
            buffer,
            vectors=None if vectors is None else VectorRows(vectors, self._dimensions),
            extras=None if self._extras is None else ExtraTexts(self._extras),
        )

    @property
    def _scheme(self) -> str:
        """What decides the columns of a shard beside its documents."""
        return SHARD_SCHEME if self._extras is None else f"{SHARD_SCHEME} {self._extras.identifier}"

    @property
    def work(self) -> Work:
        """What a reader may do with blocks while it reads them."""
        return Work(self._work, self.threads, pages=self.config.html == "none")

    def _work(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Worked | None:
        """Fingerprints a block of a reader, in one of its threads; None while shards that exist are skipped."""
        return None if self._skipping else self._made_of(data, offsets, 1)

    def _made_of(self, data: NDArray[np.uint8], offsets: NDArray[np.int64], threads: int) -> Worked:
        texts = _core.Texts()
        texts.add_spans(data, offsets[:-1], offsets[1:])
        reading = self._reading(texts, threads)
        prints = self.method.kept(reading.prints, threads) if self.method is not None else None
        return Worked(
            reading.digests,
            reading.empty.astype(np.uint8),
            reading.tokens,
            self._filtered(texts, reading.tokens, np.diff(offsets)),
            prints,
        )

    def shards(self, batches: Iterable[Batch], progress: Callable[[int], None] | None = None) -> list[Shard]:
        """The shards of all documents; `progress` is called with the number of documents read."""
        return list(self.stream(batches, progress))

    def stream(
        self, batches: Iterable[Batch], progress: Callable[[int], None] | None = None
    ) -> Iterator[Shard]:
        """The same one by one, for callers that do not keep them."""
        with ExitStack() as stack:
            pool = stack.enter_context(ThreadPoolExecutor(1))
            waiting: Future[Shard] | None = None
            for number, pending in enumerate(self._gathered(batches, stack, progress)):
                if waiting is not None:
                    yield waiting.result()
                    if number % _RELEASE == 0:
                        release_unused()
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
        if self._extras is not None:
            scheme = f"{scheme} {self._extras.identifier}"
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
        progress: Callable[[int], None] | None,
    ) -> Iterator[Pending | PendingBlocks | TextColumn | FileShard]:
        """Documents for one shard after another; for a shard that is there already, only the shard. A column of texts
        is a shard of its own, unless it has to be written."""
        extract = None
        number = 0
        there = self._there(number)
        self._skipping = there is not None
        skip = there.count + len(there.failures) if there is not None else 0
        pending: Pending | PendingBlocks | None = None
        seen = 0
        for batch in batches:
            if progress is not None:
                progress(len(batch))
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
                        self._skipping = there is not None
                        skip = there.count + len(there.failures) if there is not None else 0
                    continue
                if isinstance(batch, DocumentBatch) and isinstance(pending, PendingBlocks):
                    yield pending
                    pending, number = None, number + 1
                if isinstance(batch, TextBlock) and isinstance(pending, Pending):
                    # Texts among pages: a shard for each of them would be many.
                    files, rows = [batch.file] * len(batch), batch.rows.tolist()
                    batch = DocumentBatch(batch.documents(), files, rows)
                if isinstance(batch, TextBlock):
                    pending = pending or PendingBlocks(hold=not self.places)
                    assert isinstance(pending, PendingBlocks)
                    pending.add(self._worked(batch.behind(start)))
                else:
                    pending = pending or self._pending()
                    assert isinstance(pending, Pending)
                    page = batch.html and self.config.html != "none"
                    if page and extract is None:
                        from neardup.web import HtmlExtractor

                        extract = stack.enter_context(
                            HtmlExtractor(self.config.html, self.threads, highlights=self._extras is not None)
                        )
                    pending.add(batch, start, extract if page else None)
                start = len(batch)
                if pending.bytes >= self.size or pending.count >= _MOST_DOCUMENTS:
                    yield pending
                    pending, number = None, number + 1
                    # Beyond the first one missing nothing is taken over: shards are made in order.
        if there is not None and seen:
            raise DataError(
                f"{there.path}: holds more documents than there are; start again in another folder"
            )
        if pending is not None:
            yield pending

    def _worked(self, block: TextBlock) -> TextBlock:
        if block.worked is not None:
            return block
        return replace(block, worked=self._made_of(block.data, block.offsets, self.threads))

    def _there(self, number: int) -> FileShard | None:
        if self.folder is None:
            return None
        path = self._path(number, "shard")
        if not path.exists():
            return None
        try:
            shard = FileShard(path, self._scheme)
            shard.threads = self.threads
            shard.verify(self.threads)
        except NeardupError:  # damaged, as after a power cut: made again
            return None
        if shard.count and self.config.vectors is not None:
            self._dimensions.count = int(shard.column("tokens")[0])
        return shard

    @staticmethod
    def _check(shard: FileShard, batch: DocumentBatch | TextBlock, end: int) -> None:
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
                f"{here[1]} of {here[0]}: the input has changed; start again in another folder"
            )

    def _path(self, number: int, kind: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{self.prefix}{number:05}.{kind}"

    def _make(self, number: int, pending: Pending | PendingBlocks | TextColumn | FileShard) -> Shard:
        if isinstance(pending, FileShard):
            if self.method is not None:
                self._attach(number, pending, self.prepared, self.method)
            return pending
        if isinstance(pending, TextColumn):
            columns, prints = self._read(pending.texts, pending)
            return MemoryShard(columns, pending.texts, prints)
        if isinstance(pending, PendingBlocks):
            return self._of_blocks(number, pending)
        ends = pending.ends()
        data = pending.data if self.folder is not None else pending.data.copy()
        texts = _core.Texts()
        texts.add_spans(data, np.concatenate([[0], ends])[: len(ends)].astype(np.int64), ends)
        columns, prints = self._read(texts, pending)
        shard: Shard
        if self.folder is None:
            shard = MemoryShard(columns, texts, prints)
        else:
            shard = self._written(number, columns, [data], ends, prints)
        self._buffers.append(pending.buffer)
        return shard

    def _of_blocks(self, number: int, pending: PendingBlocks) -> Shard:
        """A shard of what was made of blocks while they were read."""
        blocks, sizes, prints = pending.blocks, pending.sizes, pending.prints()
        file_names = tuple(dict.fromkeys(block.file for block in blocks))
        lengths = [len(block) for block in blocks]
        files = np.repeat(np.array([file_names.index(block.file) for block in blocks], np.int32), lengths)
        columns = ShardColumns(
            ids=IdColumn.together([block.ids for block in blocks]),
            digests=pending.worked("digests"),
            empty=pending.worked("empty"),
            filtered=pending.worked("filtered"),
            tokens=pending.worked("tokens"),
            sizes=sizes,
            files=files,
            places=np.concatenate([block.rows for block in blocks]),
            sources=files,
            scores=np.full(len(sizes), np.nan),
            file_names=file_names,
            source_names=file_names,
        )
        if self.folder is None:
            return MemoryShard(columns, pending.column(), prints)
        places = None
        if not pending.hold and any(block.place is not None for block in blocks):
            places = TextPlaces.of(blocks)
        ends = np.cumsum(np.concatenate(pending.kept))
        return self._written(number, columns, pending.texts, ends, prints, places)

    def _read(self, texts: _core.Texts, given: Pending | TextColumn) -> tuple[ShardColumns, Prints | None]:
        """The columns of a shard, and its fingerprints unless the config has to learn from the corpus first."""
        if self.config.vectors is not None:
            return self._read_vectors(texts, given)
        reading = self._reading(texts, self.threads)
        columns = self._columns(given, reading, texts)
        if self.method is None:
            return columns, None
        assert reading.prints is not None
        return columns, self.method.kept(reading.prints, self.threads)

    def _reading(self, texts: _core.Texts, threads: int) -> Reading:
        """What is known of texts before the whole corpus was read."""
        if self.method is None and self._count is not None:
            return self._count.read(texts, threads)
        fingerprint = self.prepared.printer if self.method is not None else None
        return read_texts(texts, self.prepared.features, fingerprint, threads=threads)

    def _read_vectors(
        self, texts: _core.Texts, given: Pending | TextColumn
    ) -> tuple[ShardColumns, Prints | None]:
        """The same of documents that are compared by their vectors, which are kept beside the fingerprints."""
        assert isinstance(given, Pending) and given.vectors is not None and self.method is not None
        assert self.config.vectors is not None
        matrix = given.vectors.matrix()
        reading = read_vectors(matrix, self.config.vectors, self.prepared.printer, self.threads)
        columns = self._columns(given, reading, texts)
        return columns, {**self.method.kept(reading.prints, self.threads), VECTORS: matrix}

    def _written(
        self,
        number: int,
        columns: ShardColumns,
        texts: Sequence[NDArray[np.uint8]],
        ends: NDArray[np.int64],
        prints: Prints | None,
        places: TextPlaces | None = None,
    ) -> FileShard:
        if prints is not None:
            assert self.method is not None
            scheme = self.prepared.kept_scheme(self.method)
            write_prints(self._path(number, "prints"), prints, len(ends), scheme, self.threads)
        path = self._path(number, "shard")
        write_shard(path, columns, texts, ends, self._scheme, self.threads, places)
        shard = FileShard(path, self._scheme)
        shard.threads = self.threads
        if prints is not None:
            shard.attach(self._path(number, "prints"), scheme)
        return shard

    def _filtered(
        self,
        texts: _core.Texts,
        tokens: NDArray[np.int64],
        sizes: NDArray[np.int64],
        documents: Sequence[Document | None] = (),
    ) -> NDArray[np.uint8]:
        """The reason why a filter leaves each document out, 0 where none does."""
        filters = self.config.filters
        if not filters.active:
            return np.zeros(len(texts), np.uint8)
        if self.config.vectors is not None:  # then `tokens` are dimensions
            tokens = read_texts(texts, self.prepared.features, None, threads=self.threads).tokens
        taken = [text.decode("utf-8", "replace") for text in utf8_list(texts)]
        raw = taken
        if documents:
            raw = [t if d is None else d.text for d, t in zip(documents, taken, strict=True)]
        return filters.check(raw, taken, tokens, sizes)

    def _columns(self, given: Pending | TextColumn, reading: Reading, texts: _core.Texts) -> ShardColumns:
        keep, count = self.config.keep, len(texts)
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
            file_names, files = numbered(given.files)
        filtered = self._filtered(texts, reading.tokens, sizes, documents)
        source_names, source = file_names, files
        if keep.source is not None:
            source_names, source = numbered([keep.source_of(fields_of(document)) for document in documents])
        scores = np.full(count, np.nan)
        if keep.score is not None:
            scores[:] = [score_of(document, keep) for document in documents]
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
            second=given.second if isinstance(given, Pending) else 0,
            extras=given.extras.parts if isinstance(given, Pending) and given.extras is not None else None,
        )
