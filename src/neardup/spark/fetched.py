"""The local search over documents whose texts are on the cluster: those that it compares are fetched."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import DataError
from neardup.pipeline.equal_words import first_rows
from neardup.pipeline.pairs import PairSearch
from neardup.pipeline.run import Run
from neardup.pipeline.shards import MemoryShard, Prints, ShardColumns
from neardup.pipeline.template_shares import template_samples
from neardup.progress import Progress
from neardup.search.candidates import Joined
from neardup.search.interface import Method
from neardup.values.parts import WHOLE, Part

__all__ = ["FetchedShard", "FetchingSearch"]

Rows = NDArray[np.int64]


class FetchedShard(MemoryShard):
    """A shard whose texts are on the cluster. Those that were fetched are in a temporary file of the driver's machine;
    if others are asked for, they are fetched then."""

    def __init__(
        self,
        columns: ShardColumns,
        prints: Prints | None,
        row_places: Rows,
        texts: Callable[[Rows, int], Iterator[pa.Table]],
    ) -> None:
        super().__init__(columns, _core.Texts(), prints)
        self.row_places, self._fetched = row_places, texts
        self._by_place = np.argsort(row_places)
        self._begin, self._end = np.full(self.count, -1, np.int64), np.zeros(self.count, np.int64)
        self._file = tempfile.TemporaryFile(prefix="neardup-texts-")  # noqa: SIM115  (held as long as the shard)
        weakref.finalize(self, self._file.close)
        self._data = np.empty(0, np.uint8)

    def fetch(self, rows: Rows) -> None:
        """Fetch the texts of ascending rows, unless they are there."""
        rows = rows[self._begin[rows] < 0]
        if not len(rows):
            return
        at = self._file.seek(0, os.SEEK_END)
        places = self.row_places[self._by_place]
        for part in self._fetched(np.sort(self.row_places[rows]), int(self.column("sizes")[rows].sum())):
            here = self._by_place[np.searchsorted(places, part.column("place").to_numpy())]
            texts = part.column("text").combine_chunks()
            _, ends, data = texts.buffers()
            offsets = np.frombuffer(ends, np.int64)[texts.offset : texts.offset + len(texts) + 1]
            self._begin[here], self._end[here] = at + offsets[:-1], at + offsets[1:]
            if data is not None:
                self._file.write(data)
                at += len(data)
        self._file.flush()
        if (self._begin[rows] < 0).any():
            raise DataError("a document that was read before is not there now: the inputs have changed")
        if at:
            self._data = np.asarray(np.memmap(self._file, np.uint8, "r", shape=(at,)))

    def texts(self, rows: Rows) -> _core.Texts:
        self.fetch(rows)
        texts = _core.Texts()
        texts.add_spans(self._data, self._begin[rows], self._end[rows])
        return texts


class FetchingSearch(PairSearch):
    """The search of the local pipeline. All texts that it and the findings will ask for are fetched at once: which
    these are follows from digests and fingerprints alone."""

    def __init__(self, run: Run, shard: FetchedShard, progress: Progress) -> None:
        super().__init__(run.corpus, run.prepared, run.rank, run.room, progress)
        self._shard = shard
        self._joined: tuple[Rows, Joined] | None = None

    def exact(self, part: Part = WHOLE) -> tuple[Rows, Rows]:
        self._shard.fetch(np.flatnonzero(self._compared()))
        return super().exact(part)

    def _compared(self) -> NDArray[np.bool_]:
        """The rows whose texts will be asked for, if documents with one digest have the same words."""
        corpus = self.corpus
        first = first_rows(corpus.digests, corpus.out)
        self.begin(first)
        wanted = np.zeros(len(corpus), np.bool_)
        later = np.flatnonzero(first != np.arange(len(first)))
        wanted[later] = wanted[first[later]] = True
        method = self.config.method
        if method is None or not len(corpus):
            return wanted
        if self.short is not None:
            wanted |= ~self.apart & (corpus.tokens < self.short.joined)
        if not self.config.filters.prune:
            joined = super().join(method)
            self._joined = first, joined
            for left, right in joined.chunks(self.room.pairs // 4):
                wanted[left] = wanted[right] = True
        for _, rows in template_samples(corpus):
            wanted[rows] = True
        return wanted

    def join(self, method: Method, part: Part = WHOLE) -> Joined:
        if self._joined is not None and np.array_equal(self._joined[0], self.first):
            return self._joined[1]
        return super().join(method, part)
