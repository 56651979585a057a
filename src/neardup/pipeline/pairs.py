"""The search of a run: from a corpus with fingerprints to verified pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.clusters.selection import cut
from neardup.compare.changes import Counts
from neardup.compare.verify import Pairs
from neardup.config.filters import languages_of
from neardup.features.features import Features
from neardup.fingerprints.one_pass import read_texts
from neardup.pipeline.corpus import Corpus
from neardup.pipeline.equal_words import confirmed, first_rows
from neardup.pipeline.fit import Prepared
from neardup.pipeline.prefilter import never_duplicates
from neardup.pipeline.rules import ShortRule, check_prune, features_with_digits, plain_features
from neardup.progress import Progress
from neardup.search.candidates import Columns, implied_pairs
from neardup.search.interface import Method, Task
from neardup.search.pair_runs import PairRuns, unpack_pairs

__all__ = ["Found", "Room", "find"]

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
    (an upper bound), `implied` those between documents of equal fingerprints that were not spelled out. `pruned` counts
    the documents set aside because no other can be similar enough, `figures` those with the words of another that
    differ from it in figures alone, which the config folds. `changes` says what differs in each pair, if a guard asks.
    """

    first: Rows
    pairs: Pairs
    candidates: int
    capped: int
    skipped: int
    implied: int
    pruned: int = 0
    figures: int = 0
    changes: Counts | None = None


def find(
    corpus: Corpus,
    prepared: Prepared,
    rank: Rows,
    *,
    room: Room | None = None,
    progress: Progress | None = None,
) -> Found:
    """Equal words by digest and then byte by byte; candidates by the config's method, short documents by an exact join;
    every candidate verified on its features. The same for any number of threads, room and shards.

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
        # Then a document has at most as many features as tokens were counted, and their weights do not matter.
        self.plain = plain_features(self.config, bool(prepared.templates))
        self.short = ShortRule.of(self.config, bool(prepared.templates))
        self.buffer: NDArray[np.uint64] = np.empty(0, np.uint64)
        self.candidates = self.capped = self.skipped = self.implied = self.pruned = 0
        self.languages: dict[int, str] = {}

    def run(self) -> Found:
        corpus, config = self.corpus, self.config
        self.progress.stage("exact")
        first = confirmed(
            first_rows(corpus.digests, corpus.out), corpus, config.features, self.room.step, self.threads
        )
        apart = corpus.out | (first != np.arange(len(corpus)))
        figures = self._figures(first)
        # Documents of the same words are as good as the best of them.
        self.best = self.rank.copy()
        np.minimum.at(self.best, first, self.rank)
        pairs = Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
        method = config.method
        if method is not None and len(corpus):
            pairs = self._near(method, first, apart)
        return Found(
            first, pairs, self.candidates, self.capped, self.skipped, self.implied, self.pruned, figures
        )

    def _near(self, method: Method, first: Rows, apart: NDArray[np.bool_]) -> Pairs:
        corpus, config = self.corpus, self.config
        check_prune(config, bool(self.prepared.templates))
        if config.filters.prune:
            apart = apart | self._never(apart)
        short = self.short
        if short is not None and not (corpus.tokens[~apart] < short.short).any():
            short = None
        self.progress.stage("candidates", 1.0)
        task = Task(
            kept=corpus,
            fingerprint=self.prepared.printer,
            verify=config.verify,
            skip=apart,
            rank=self.best,
            folder=self.room.folder,
            most=self.room.pairs,
            threads=self.threads,
            progress=self.progress.reached,
            sets=self._batches,
            memory=max(1 << 20, self.room.memory // 4),
        )
        joined = method.joined(task)
        runs = None if short is None else self._join_short(short, apart)
        self.progress.stage("verify", 1.0)
        parts = []
        for left, right in joined.chunks(self.room.pairs // 4):
            if short is not None:
                fresh = ~short.covers(corpus.tokens[left], corpus.tokens[right])
                left, right = left[fresh], right[fresh]
            parts.append(self._verified(left, right))
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
            pairs = _together([pairs, self._verified(*implied_pairs(joined.groups, keeper))])
        return pairs

    def _figures(self, first: Rows) -> int:
        """How many rows have the words of an earlier one only because digits are folded."""
        plain = features_with_digits(self.config)
        if plain is None:
            return 0
        later = np.flatnonzero(first != np.arange(len(first)))
        met = np.unique(np.concatenate([later, first[later]]))
        digests = np.empty((len(met), 2), np.uint64)
        at = 0
        for batch in self.corpus.batches(met, self.room.tokens):
            for shard, local in self.corpus.by_shard(batch):
                found = read_texts(shard.texts(local), plain, None, threads=self.threads).digests
                digests[at : (at := at + len(local))] = found
        same = digests[np.searchsorted(met, later)] == digests[np.searchsorted(met, first[later])]
        return int((~same.all(axis=1)).sum())

    def _never(self, apart: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Rows of which too few features occur in any other."""
        rows = np.flatnonzero(~apart)

        def features() -> Iterator[Features]:
            for batch in self.corpus.batches(rows, self.room.tokens // 4):
                yield self._sets(batch)

        memory = min(1 << 28, self.room.memory // 8, 64 * int(self.corpus.tokens[rows].sum()))
        found = never_duplicates(features, len(rows), self.config.verify.least, memory=memory)
        self.pruned = int(found.sum())
        never = np.zeros(len(apart), np.bool_)
        never[rows[found]] = True
        return never

    def _may_meet(self, left: Rows, right: Rows) -> NDArray[np.bool_]:
        """Whether the filters let these documents meet at all."""
        filters, tokens = self.config.filters, self.corpus.tokens
        fits = filters.lengths_fit(tokens[left], tokens[right])
        if filters.same_language:
            # Languages are told of documents that met a candidate, each once.
            met = np.unique(np.concatenate([left[fits], right[fits]]))
            fresh = np.array([row for row in met.tolist() if row not in self.languages], np.int64)
            for batch in self.corpus.batches(fresh, self.room.tokens):
                names = [
                    n
                    for shard, local in self.corpus.by_shard(batch)
                    for n in languages_of(shard.text_bytes(local))
                ]
                self.languages.update(zip(batch.tolist(), names, strict=True))
            place = np.flatnonzero(fits)
            ends = zip(left[place].tolist(), right[place].tolist(), strict=True)
            fits[place] = [self.languages[a] == self.languages[b] for a, b in ends]
        return fits

    def _join_short(self, short: ShortRule, apart: NDArray[np.bool_]) -> PairRuns:
        """Pairs of the exact join of short documents."""
        join = replace(short.join)
        rows = np.flatnonzero(~apart & (self.corpus.tokens < short.joined))

        def features() -> Iterator[Features]:
            for batch in self.corpus.batches(rows, self.room.tokens // 4):
                yield self._sets(batch)

        runs = PairRuns(self.room.folder, self.room.pairs)
        join.pairs(
            rows,
            features,
            self.best,
            runs=runs,
            memory=max(1 << 20, self.room.memory // 8),
            threads=self.threads,
        )
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
        if self.config.filters.length or self.config.filters.same_language:
            fits = self._may_meet(left, right)
            left, right = left[fits], right[fits]
        self.candidates += len(left)
        parts = [self._measured(*step) for step in self._steps(left, right)]
        return _together(parts)

    def _steps(self, left: Rows, right: Rows) -> Iterator[Columns]:
        """Candidates in parts of few documents each. Documents that hang together stay together, so that none is made
        features of twice unless so many hang together that they do not fit."""
        met = self._met(left, right)
        tokens = self.corpus.tokens[met]
        if int(tokens.sum()) <= self.room.step:
            if len(left):
                yield left, right
            return
        place = np.empty(len(self.corpus), np.int64)
        place[met] = np.arange(len(met))
        label = _core.labels_of_pairs(len(met), place[left], place[right])
        whole = np.bincount(label, tokens, len(met)).astype(np.int64)
        part = (np.cumsum(whole) // self.room.step)[label[place[left]]]
        order = np.argsort(part, kind="stable")
        for some in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
            yield from self._halves(left[some], right[some])

    def _met(self, left: Rows, right: Rows) -> Rows:
        """The rows that many pairs name, ascending: marked, which is quicker than sorting them."""
        marks = np.zeros(len(self.corpus), np.bool_)
        marks[left] = True
        marks[right] = True
        return np.flatnonzero(marks)

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
