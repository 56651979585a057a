"""The stages chained: documents in, verified pairs and clusters out. The only place where this is done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.corpus.corpus import Corpus
from neardup.cut import cut
from neardup.features.base import Features
from neardup.methods import Method, method_of
from neardup.preparing import Prepared
from neardup.progress import Progress
from neardup.search.joined import Columns, behind
from neardup.search.runs import PairRuns, unpack_pairs
from neardup.search.short import ShortJoin
from neardup.verify import Jaccard, Pairs

__all__ = ["Found", "Room", "find", "first_rows"]

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Room:
    """How much memory the stages may use beyond the corpus' own columns, in bytes, and where the rest may lie."""

    memory: int = 1 << 32
    folder: Path | None = None

    @property
    def pairs(self) -> int:
        """Candidate pairs held at a time: merging takes twice the eight bytes of each."""
        return max(1 << 16, self.memory // 64)

    @property
    def tokens(self) -> int:
        """Tokens whose features are held at a time: 12 bytes each, and as much again while they are put together."""
        return max(1 << 16, self.memory // 64)

    @property
    def step(self) -> int:
        """Tokens to look at together: more than a few megabytes of features only cost fresh memory."""
        return min(1 << 22, self.tokens)


@dataclass(frozen=True)
class Found:
    """What a search found, whatever threshold and policy come later.

    `first[i]` is the first row with the words of row i; `pairs` are the verified ones between first rows, down to the
    floor. `capped` counts buckets of alike documents too large to pair whole, `skipped` the pairs not looked at there
    (an upper bound), `implied` those between documents of equal fingerprints that were not spelled out.
    """

    first: Rows
    pairs: Pairs
    candidates: int
    capped: int
    skipped: int
    implied: int


def first_rows(digests: NDArray[np.uint64], out: NDArray[np.bool_]) -> Rows:
    """For each row the first one with the same digest; itself if it takes no part."""
    rows = np.arange(len(digests))
    order = np.lexsort((digests[:, 1], digests[:, 0]))  # stable, so rows ascend among equals
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (digests[order[1:]] != digests[order[:-1]]).any(axis=1)
    # Rows without words have digests that mean nothing, and must not stand for others.
    order, fresh = _without(order, fresh, out)
    first = rows.copy()
    first[order] = order[np.maximum.accumulate(np.where(fresh, np.arange(len(order)), 0))]
    return first


def _without(order: Rows, fresh: NDArray[np.bool_], out: NDArray[np.bool_]) -> tuple[Rows, NDArray[np.bool_]]:
    group = np.cumsum(fresh)
    stays = ~out[order]
    order, group = order[stays], group[stays]
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = group[1:] != group[:-1]
    return order, fresh


def find(
    corpus: Corpus,
    prepared: Prepared,
    rank: Rows,
    *,
    room: Room | None = None,
    progress: Progress | None = None,
) -> Found:
    """Equal words by digest; candidates by the config's method, short documents by an exact join; every candidate
    verified on its features. The same for any number of threads, room and shards.

    `rank` (0 the best) says who stands for many alike documents where not all pairs are looked at.
    """
    return _Search(corpus, prepared, rank, room or Room(), progress or Progress()).run()


class _Search:
    def __init__(
        self, corpus: Corpus, prepared: Prepared, rank: Rows, room: Room, progress: Progress
    ) -> None:
        self.corpus, self.prepared, self.rank = corpus, prepared, rank
        self.room, self.progress = room, progress
        self.config, self.threads = prepared.config, prepared.threads
        made, measured = self.config.features, self.config.compared
        # Then a document has at most as many features as tokens were counted, and their weights do not matter.
        self.plain = (
            isinstance(self.config.verify, Jaccard)
            and not prepared.templates
            and (made.unit, made.normalize) == (measured.unit, measured.normalize)
        )
        self.buffer: NDArray[np.uint64] = np.empty(0, np.uint64)
        self.candidates = self.capped = self.skipped = self.implied = 0

    def run(self) -> Found:
        corpus, config = self.corpus, self.config
        self.progress.stage("exact")
        first = first_rows(corpus.digests, corpus.out)
        apart = corpus.out | (first != np.arange(len(corpus)))
        # Documents of the same words are as good as the best of them.
        self.best = self.rank.copy()
        np.minimum.at(self.best, first, self.rank)
        pairs = Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        method = method_of(config)
        if method is not None and len(corpus):
            pairs = self._near(method, first, apart)
        return Found(first, pairs, self.candidates, self.capped, self.skipped, self.implied)

    def _near(self, method: Method, first: Rows, apart: NDArray[np.bool_]) -> Pairs:
        corpus, config = self.corpus, self.config
        short = self._short(apart)
        self.progress.stage("candidates", 1.0)
        joined = method.candidates(
            corpus,
            apart | short if short is not None else apart,
            self.best,
            folder=self.room.folder,
            most=self.room.pairs,
            threads=self.threads,
            told=self.progress.reached,
            sets=self._batches,
        )
        runs = None
        if short is not None and short.any():
            runs = self._join_short(apart)
        self.progress.stage("verify", 1.0)
        parts = [self._verified(left, right) for left, right in joined.chunks(self.room.pairs // 4)]
        self.implied = joined.implied
        self.capped += joined.capped
        self.skipped += joined.skipped
        if runs is not None:
            parts += [self._verified(*unpack_pairs(packed)) for packed in runs.chunks(self.room.pairs // 4)]
            runs.close()
        joined.runs.close()
        pairs = _together(parts)
        if joined.implied:
            # Of many alike fingerprints only the first one met the others: its keeper has a look at the rest of them.
            found = cut(
                pairs, first, self.rank, threshold=config.verify.threshold, reference=corpus.reference
            )
            keeper = first[found.clusters.keeper]
            pairs = _together([pairs, self._verified(*behind(joined.groups, keeper))])
        return pairs

    def _short(self, apart: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """Rows that take the path of short documents."""
        config, measured = self.config, self.config.compared
        # The join relies on a document having as many features as its tokens say, nearly.
        whole = measured.select is None and measured.common is None and config.templates is None
        if not config.short or not self.plain or not whole:
            return None
        return np.asarray((self.corpus.tokens < self.config.short) & ~apart)

    def _join_short(self, apart: NDArray[np.bool_]) -> PairRuns:
        corpus, width = self.corpus, self.prepared.compared.width
        # A document has at most as many features as tokens; shingles are fewer, but for the shortest texts.
        most = max(1, self.config.short - 1)
        join = ShortJoin(self.config.verify.least, most)
        rows = np.flatnonzero(~apart & (corpus.tokens < join.largest + max(width, 1)))

        def features() -> Iterator[Features]:
            for batch in corpus.batches(rows, self.room.tokens // 4):
                yield self._sets(batch)

        runs = PairRuns(self.room.folder, self.room.pairs)
        join.pairs(rows, features, self.best, runs=runs, memory=self.room.memory // 8, threads=self.threads)
        self.capped += join.capped
        self.skipped += join.skipped
        return runs

    def _batches(self, rows: Rows) -> Iterator[Features]:
        for batch in self.corpus.batches(rows, self.room.tokens // 4):
            yield self.corpus.features(batch, self.prepared.extract)

    def _verified(self, left: Rows, right: Rows) -> Pairs:
        """The candidates that are similar enough, in as many steps as the room for their features asks for."""
        reference = self.corpus.reference
        if reference:
            counts = right >= reference  # left < right: then both are reference documents
            left, right = left[counts], right[counts]
        self.candidates += len(left)
        parts = [self._measured(*step) for step in self._steps(left, right)]
        return _together(parts)

    def _steps(self, left: Rows, right: Rows) -> Iterator[Columns]:
        """Candidates in parts of few documents each. Documents that hang together stay together, so that none is made
        features of twice unless so many hang together that they do not fit."""
        met, places = np.unique(np.concatenate([left, right]), return_inverse=True)
        tokens = self.corpus.tokens[met]
        if int(tokens.sum()) <= self.room.step:
            if len(left):
                yield left, right
            return
        ends = places.reshape(2, -1).astype(np.int64)
        label = _core.labels_of_pairs(len(met), ends[0], ends[1])
        whole = np.bincount(label, tokens, len(met)).astype(np.int64)
        part = (np.cumsum(whole) // self.room.step)[label[ends[0]]]
        order = np.argsort(part, kind="stable")
        for some in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
            yield from self._halves(left[some], right[some])

    def _halves(self, left: Rows, right: Rows) -> Iterator[Columns]:
        met = np.unique(np.concatenate([left, right]))
        if len(left) == 1 or int(self.corpus.tokens[met].sum()) <= self.room.tokens:
            yield left, right
            return
        middle = len(left) // 2
        yield from self._halves(left[:middle], right[:middle])
        yield from self._halves(left[middle:], right[middle:])

    def _measured(self, left: Rows, right: Rows) -> Pairs:
        """Features are made for the documents that met a candidate, and for no others."""
        met = np.unique(np.concatenate([left, right]))
        features = self._sets(met) if self.plain else self.corpus.features(met, self.prepared.extract)
        local = _Local(np.searchsorted(met, left), np.searchsorted(met, right))
        pairs = self.config.verify.check(local, features, threads=self.threads)
        return Pairs(met[pairs.left], met[pairs.right], pairs.similarity)

    def _sets(self, met: Rows) -> Features:
        """The features of some rows without weights, in memory that the next step uses again."""
        room = self.corpus.tokens[met]
        if room.sum() > len(self.buffer):
            self.buffer = np.empty(int(room.sum()), np.uint64)
        compared, at, done = self.prepared.compared, 0, 0
        offsets = [np.zeros(1, np.int64)]
        for shard, local in self.corpus.by_shard(met):
            part = slice(done, done := done + len(local))
            ends = compared.extract_sets(
                shard.texts(local), room[part], self.buffer[at:], threads=self.threads
            )
            offsets.append(at + ends[1:])
            at += int(ends[-1])
        ones = np.broadcast_to(np.float32(1), at)
        return Features(self.buffer[:at], ones, np.concatenate(offsets), compared.scheme)


@dataclass(frozen=True)
class _Local:
    left: Rows
    right: Rows


def _together(parts: Iterable[Pairs]) -> Pairs:
    """Pairs of several steps, sorted, each once."""
    lists = [part for part in parts if len(part)]
    if len(lists) == 1:
        return lists[0]
    if not lists:
        return Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    return Pairs.of(
        np.concatenate([part.left for part in lists]),
        np.concatenate([part.right for part in lists]),
        np.concatenate([part.similarity for part in lists]),
    )
