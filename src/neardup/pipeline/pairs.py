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
from neardup.pipeline.template_shares import Recurring
from neardup.pipeline.vector_rows import same_vectors
from neardup.pipeline.within_radius import share_within
from neardup.progress import Progress
from neardup.search.candidates import Columns, Joined, implied_pairs
from neardup.search.interface import Method, Task
from neardup.search.pair_runs import PairRuns, unpack_pairs
from neardup.search.report import SearchReport
from neardup.values.distinct import distinct, places_of_parts
from neardup.values.memory import release_unused
from neardup.values.parts import WHOLE, Part
from neardup.values.threads import one_ahead

__all__ = ["NO_PAIRS", "FoundPairs", "PairSearch", "Room", "find"]

Rows = NDArray[np.int64]
NO_PAIRS = Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))


@dataclass(frozen=True)
class Room:
    """How much memory the stages may use beyond the corpus' own columns, in bytes, and the folder for the rest."""

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
        """Tokens to process together: more than a few megabytes of features only cost new memory."""
        return min(1 << 20, self.tokens)


@dataclass(frozen=True)
class FoundPairs:
    """What a search found; it does not depend on the threshold and policy that are applied later.

    `first[i]` is the first row with the words of row i; `pairs` are the verified ones between first rows, down to the
    floor. `capped` counts groups of similar documents too large to compare every pair, `skipped` the pairs not
    compared there (an upper bound), `implied` those between documents of equal fingerprints that were not spelled out.
    `pruned` counts the documents set aside because no other can be similar enough, `figures` those with the words of
    another that differ from it in figures alone, which the config folds. `changes` says what differs in each pair, if
    a guard asks; `template` what recurs in each source, if findings are written. `same_text[i]` is the first row with
    exactly the text of row i; None where texts were not compared.
    `search` is what a search of codes says about itself: chance hits, and its recall."""

    first: Rows
    pairs: Pairs
    candidates: int
    capped: int
    skipped: int
    implied: int
    pruned: int = 0
    figures: int = 0
    changes: Counts | None = None
    template: Recurring | None = None
    same_text: Rows | None = None
    search: SearchReport | None = None


def find(
    corpus: Corpus,
    prepared: Prepared,
    rank: Rows,
    *,
    room: Room | None = None,
    progress: Progress | None = None,
) -> FoundPairs:
    """Equal words by digest and then byte by byte; candidates by the config's method, short documents by an exact join;
    every candidate verified on its features. The same for any number of threads, room and shards.

    `rank` (0 the best) chooses the representative of many similar documents where not all pairs are compared.
    """
    return PairSearch(corpus, prepared, rank, room or Room(), progress or Progress()).run()


class PairSearch:
    """The steps of one search, in order: `exact`, `begin`, `join` and `join_short`, `verified`, `completed`, `found`.
    `run` takes them all; tasks that run side by side take a part of each."""

    def __init__(
        self, corpus: Corpus, prepared: Prepared, rank: Rows, room: Room, progress: Progress
    ) -> None:
        self.corpus, self.prepared, self.rank = corpus, prepared, rank
        self.room, self.progress = room, progress
        self.config, self.threads = prepared.config, prepared.threads
        # Then a document has at most as many features as tokens were counted, and their weights do not matter.
        self.plain = plain_features(self.config, bool(prepared.templates))
        self.sampled = (method := self.config.method) is not None and method.misses_by_chance
        self.buffers: list[NDArray[np.uint64]] = [np.empty(0, np.uint64), np.empty(0, np.uint64)]
        self.place: NDArray[np.int32] = np.empty(len(corpus), np.int32)
        self.candidates = self.capped = self.skipped = self.implied = self.pruned = 0
        self.languages: dict[int, str] = {}
        self.report: SearchReport | None = None

    def run(self) -> FoundPairs:
        first, same_text = self.exact()
        release_unused()
        self.begin(first)
        pairs = NO_PAIRS
        if (method := self.config.method) is not None and len(self.corpus):
            check_prune(self.config, bool(self.prepared.templates))
            if self.config.filters.prune:
                self.apart |= self._never(self.apart)
            self.progress.stage("candidates", 1.0)
            joined = self.join(method)
            short = self.join_short()
            release_unused()
            self.progress.stage("verify", 1.0)
            pairs = self.completed(joined, self.verified(joined, short))
        return self.found(pairs, same_text)

    def exact(self, part: Part = WHOLE) -> tuple[Rows, Rows]:
        """For each row, the first row with its words and the first with its text; of another part, the row itself."""
        self.progress.stage("exact")
        corpus = self.corpus
        first = first_rows(corpus.digests, corpus.out)
        if part.count > 1:
            other = corpus.digests[:, 0] % np.uint64(part.count) != np.uint64(part.number)
            first[other] = np.flatnonzero(other)
        if self.config.vectors is not None:
            return same_vectors(first, corpus)
        return confirmed(first, corpus, self.config.features, self.room.step, self.threads)

    def begin(self, first: Rows) -> None:
        """Set what the later steps need, from the first row with the words of each."""
        corpus = self.corpus
        self.first = first
        self.apart: NDArray[np.bool_] = corpus.out | (first != np.arange(len(corpus)))
        # Documents of the same words are as good as the best of them.
        self.best = self.rank.copy()
        np.minimum.at(self.best, first, self.rank)
        short = ShortRule.of(self.config, bool(self.prepared.templates))
        if short is not None and not (corpus.tokens[~self.apart] < short.short).any():
            short = None
        self.short = short

    def found(self, pairs: Pairs, same_text: Rows) -> FoundPairs:
        """All that the search found."""
        return FoundPairs(
            self.first, pairs, self.candidates, self.capped, self.skipped, self.implied, self.pruned,
            self._figures(self.first), same_text=same_text, search=self.report,
        )  # fmt: skip

    def join(self, method: Method, part: Part = WHOLE) -> Joined:
        """The candidates of a method; of one that `splits`, those of a part of its tables."""
        task = Task(
            kept=self.corpus,
            fingerprint=self.prepared.printer,
            verify=self.config.verify,
            skip=self.apart,
            rank=self.best,
            folder=self.room.folder,
            most=self.room.pairs,
            threads=self.threads,
            progress=self.progress.reached,
            sets=self._batches,
            memory=max(1 << 20, self.room.memory // 4),
            part=part,
            verified=self._similar,
        )
        return method.joined(task)

    def _similar(self, left: Rows, right: Rows) -> tuple[Rows, Rows]:
        """Those of some pairs that are similar enough."""
        pairs = _together(self._measured(left, right))
        return pairs.left, pairs.right

    def verified(self, joined: Joined, short: PairRuns | None, *, inner: bool = True) -> Pairs:
        """The candidates that are similar enough; without `inner`, not those of equal fingerprints."""
        corpus, parts = self.corpus, []
        for left, right in joined.chunks(self.room.pairs // 4, inner=inner):
            if self.short is not None:
                fresh = ~self.short.covers(corpus.tokens[left], corpus.tokens[right])
                left, right = left[fresh], right[fresh]
            parts.append(self._verified(left, right))
        self.implied += joined.implied
        self.capped += joined.capped
        self.skipped += joined.skipped
        joined.runs.close()
        if short is not None:
            parts += [self._verified(*unpack_pairs(packed)) for packed in short.chunks(self.room.pairs // 4)]
            short.close()
        return _together(parts)

    def completed(self, joined: Joined, pairs: Pairs) -> Pairs:
        """The verified pairs with those that only show when the others are known, and the report of the search."""
        corpus, config = self.corpus, self.config
        self.report = joined.report
        if joined.report is not None and joined.report.relative is not None:
            self.report = share_within(
                joined.report,
                corpus.prints("codes"),
                joined.groups.first_rows,
                lambda left, right: _together(self._measured(left, right)),
                config.verify.threshold,
                self.threads,
            )
        if self.implied:
            # Of many equal fingerprints only the first was compared with others: its keeper is compared with the rest.
            found = cut(
                pairs, self.first, self.rank, threshold=config.verify.threshold, reference=corpus.reference
            )
            keeper = self.first[found.clusters.keeper]
            pairs = _together([pairs, self._verified(*implied_pairs(joined.groups, keeper))])
        return pairs

    def _figures(self, first: Rows) -> int:
        """How many rows have the words of an earlier one only because digits are folded."""
        plain = features_with_digits(self.config)
        if plain is None or self.config.vectors is not None:
            return 0
        later = np.flatnonzero(first != np.arange(len(first)))
        members = distinct(np.concatenate([later, first[later]]))
        digests = np.empty((len(members), 2), np.uint64)
        at = 0
        for batch in self.corpus.batches(members, self.room.tokens):
            for shard, local in self.corpus.by_shard(batch):
                found = read_texts(shard.texts(local), plain, None, threads=self.threads).digests
                digests[at : (at := at + len(local))] = found
        same = digests[np.searchsorted(members, later)] == digests[np.searchsorted(members, first[later])]
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

    def _may_be_pairs(self, left: Rows, right: Rows) -> NDArray[np.bool_]:
        """Whether the filters allow these documents to be compared."""
        filters, tokens = self.config.filters, self.corpus.tokens
        fits = filters.lengths_fit(tokens[left], tokens[right])
        if filters.same_language:
            # Languages are detected for documents that are in a candidate pair, once each.
            members = distinct(np.concatenate([left[fits], right[fits]]))
            fresh = np.array([row for row in members.tolist() if row not in self.languages], np.int64)
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

    def join_short(self) -> PairRuns | None:
        """Pairs of the exact join of short documents; None if there are none."""
        if self.short is None:
            return None
        join = replace(self.short.join)
        rows = np.flatnonzero(~self.apart & (self.corpus.tokens < self.short.joined))

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
            fits = self._may_be_pairs(left, right)
            left, right = left[fits], right[fits]
        self.candidates += len(left)
        return _together(self._measured(left, right))

    def _steps(self, left: Rows, right: Rows) -> Iterator[Columns]:
        """Candidates in parts of few documents each. Documents that are connected by pairs are in one part, so that
        features of a document are made once, unless a connected group is too large for a part."""
        members = self._members(left, right)
        tokens = self._sizes(members)
        if int(tokens.sum()) <= self.room.step:
            if len(left):
                yield left, right
            return
        first, second = self._places(members, left, right)
        label = _core.labels_of_pairs(len(members), first, second)
        whole = np.bincount(label, tokens, len(members)).astype(np.int64)
        part = (np.cumsum(whole) // self.room.step)[label[first]]
        for some in places_of_parts(part):
            yield from self._halves(left[some], right[some])

    def _sizes(self, rows: Rows) -> Rows:
        """About how many features of some rows are compared."""
        return self.corpus.tokens[rows] * self.prepared.compared.per_word

    def _members(self, left: Rows, right: Rows) -> Rows:
        """The rows that pairs name, ascending. Those of many pairs are marked, which is quicker than sorting them."""
        if len(left) < len(self.corpus) // 16:
            return distinct(np.concatenate([left, right]))
        marks = np.zeros(len(self.corpus), np.bool_)
        marks[left] = True
        marks[right] = True
        return np.flatnonzero(marks)

    def _places(self, members: Rows, left: Rows, right: Rows) -> Columns:
        """Where the rows of pairs are in `members`."""
        self.place[members] = np.arange(len(members), dtype=np.int32)
        return self.place[left].astype(np.int64), self.place[right].astype(np.int64)

    def _halves(self, left: Rows, right: Rows) -> Iterator[Columns]:
        members = self._members(left, right)
        if len(left) == 1 or int(self._sizes(members).sum()) <= self.room.tokens:
            yield left, right
            return
        middle = len(left) // 2
        yield from self._halves(left[:middle], right[:middle])
        yield from self._halves(left[middle:], right[middle:])

    def _measured(self, left: Rows, right: Rows) -> Iterator[Pairs]:
        """Step by step. Features are made only for the documents that are in a candidate pair, and for the next step
        while this one is compared."""
        steps = self._steps(left, right)
        for step, (members, features) in one_ahead(steps, lambda step: self._features(*step), self.threads):
            local = _Local(*self._places(members, *step))
            pairs = self.config.verify.check(local, features, threads=self.threads, sampled=self.sampled)
            yield Pairs(members[pairs.left], members[pairs.right], pairs.similarity)

    def _features(self, left: Rows, right: Rows) -> tuple[Rows, Features]:
        members = self._members(left, right)
        self.corpus.expect(members)
        return members, self._sets(members) if self.plain else self.corpus.features(
            members, self.prepared.extract
        )

    def _sets(self, members: Rows) -> Features:
        """The features of some rows without weights, in memory that is used again, with threads by the step after
        the next one."""
        room = self.corpus.tokens[members]
        if self.threads > 1:
            self.buffers.reverse()
        if room.sum() > len(self.buffers[0]):
            self.buffers[0] = np.empty(int(room.sum()), np.uint64)
        buffer = self.buffers[0]
        compared, at, done = self.prepared.compared, 0, 0
        offsets = [np.zeros(1, np.int64)]
        for shard, local in self.corpus.by_shard(members):
            part = slice(done, done := done + len(local))
            ends = compared.extract_sets(shard.texts(local), room[part], buffer[at:], threads=self.threads)
            offsets.append(at + ends[1:])
            at += int(ends[-1])
        ones = np.broadcast_to(np.float32(1), at)
        return Features(buffer[:at], ones, np.concatenate(offsets), compared.scheme)


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
        return NO_PAIRS
    return Pairs.of(
        np.concatenate([part.left for part in lists]),
        np.concatenate([part.right for part in lists]),
        np.concatenate([part.similarity for part in lists]),
    )
