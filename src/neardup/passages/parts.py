"""Repeated lines and paragraphs, counted in a corpus by a digest of their words."""

from __future__ import annotations

import heapq
from bisect import bisect
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.features.texts import as_texts
from neardup.passages.removal import Marks, RepeatSize, WantedSpan
from neardup.passages.repeat_search import Finding, FirstPass
from neardup.passages.settings import Clock, SearchTerms, first_pass
from neardup.readers import Reader
from neardup.storage.spill import Columns, Spill
from neardup.values.checks import checked_methods
from neardup.values.seeds import Seed

__all__ = ["Lines", "Paragraphs"]

Places = NDArray[np.int64]
_ROW = np.uint64(0x9E3779B97F4A7C15)  # odd, so that different rows give different numbers


@checked_methods
@dataclass(frozen=True)
class _Parts(Finding):
    """Lines and paragraphs differ only in where they end."""

    def first_pass(self, reader: Reader, terms: SearchTerms, folder: Path, clock: Clock) -> FirstPass:
        counted = _CountedParts(self, terms, folder)
        for texts in first_pass(reader):
            counted.add(texts)
        clock.lap("count")
        cuts = counted.decide()
        clock.lap("decide")
        return FirstPass(cuts, cuts.distinct, counted.spill.bytes_written)

    def columns(self, texts: _core.Texts, threads: int) -> tuple[Any, Places, Places, Places, Places]:
        """The parts of some texts: digests, begins, ends, words, and offsets by text."""
        part = _core.Part.line if self.unit == "line" else _core.Part.paragraph
        assert self.seed is not None
        seed = Seed.of(self.seed).value
        return _core.parts_of(texts, self.normalize.native(), part, self.min_length, seed, threads)


@checked_methods
@dataclass(frozen=True)
class Lines(_Parts):
    r"""Lines of at least `min_length` words that occur more than once in a corpus.

    Lines are equal when their normalised words are, by a 128-bit digest. A line that occurs `least` times or more is
    repeated, and its first occurrence is kept; if it occurs more than `most` times, the first is cut too.
    `within="document"` looks for repeats in each document separately.

    normalize  what is ignored in a text
    seed       of the digests; by default drawn from the corpus

    >>> import neardup as nd
    >>> reader = nd.read([{"text": "About us\nThe ferry leaves."}, {"text": "About us\nA cake."}])
    >>> nd.passages.Lines(min_length=2).find(reader).distinct
    1
    """

    min_length: int = 8
    unit: ClassVar[str] = "line"


@dataclass(frozen=True)
class Paragraphs(_Parts):
    r"""Paragraphs of at least `min_length` words that occur more than once in a corpus; otherwise like `Lines`.

    Paragraphs are separated by blank lines.

    most, within  as for `Lines`
    normalize     what is ignored in a text
    seed          of the digests; by default drawn from the corpus

    >>> import neardup as nd
    >>> reader = nd.read([{"text": "About us.\n\nThe ferry leaves."}, {"text": "About us.\n\nA cake."}])
    >>> nd.passages.Paragraphs(min_length=2).find(reader).distinct
    1
    """

    min_length: int = 20
    unit: ClassVar[str] = "paragraph"


class _CountedParts:
    """The first pass: a digest for each part; parts are numbered in reading order."""

    def __init__(self, how: _Parts, terms: SearchTerms, folder: Path) -> None:
        self._how, self._terms = how, terms
        self._counts: list[Places] = []
        self._rows = self._parts = 0
        # Sorting a partition takes about six times its size.
        self.spill = Spill((np.uint64, np.uint64, np.int64), _by_digest, folder / "parts", terms.memory // 8)

    def add(self, texts: _core.Texts) -> None:
        digests, _, _, _, offsets = self._how.columns(texts, self._terms.threads)
        counts = np.diff(offsets)
        low = digests[:, 0]
        if self._how.within == "document":
            rows = np.arange(self._rows, self._rows + len(texts), dtype=np.uint64)
            low = low + np.repeat(rows * _ROW, counts)
        numbers = np.arange(self._parts, self._parts + len(low), dtype=np.int64)
        self.spill.add(np.ascontiguousarray(low), np.ascontiguousarray(digests[:, 1]), numbers)
        self._counts.append(counts)
        self._rows += len(texts)
        self._parts += len(low)

    def decide(self) -> _PartCuts:
        """Decide which parts are cut, and which are the most repeated."""
        how, most = self._how, self._how.most
        offsets = np.concatenate([[0], np.cumsum(np.concatenate([*self._counts, np.empty(0, np.int64)]))])
        dropped = np.zeros(self._parts, np.bool_)
        distinct = 0
        best: list[
            tuple[int, int, int, Places]
        ] = []  # count, minus the first number, documents, some numbers
        for low, high, numbers in self.spill:
            digests = np.stack([low, high], axis=1)
            places, firsts, counts = _core.group_parts(digests, numbers, how.least, self._terms.threads)
            dropped[places] = places != firsts if most is None else (places != firsts) | (counts > most)
            heads = np.flatnonzero(places == firsts)
            distinct += len(heads)
            for head in heads[np.lexsort((places[heads], -counts[heads]))][: self._terms.top]:
                group = places[head : head + counts[head]]
                if len(best) == self._terms.top and (counts[head], -group[0]) <= best[0][:2]:
                    break
                documents = len(np.unique(np.searchsorted(offsets, group, side="right")))
                some = group[: self._terms.examples].copy()
                push = heapq.heappush if len(best) < self._terms.top else heapq.heapreplace
                push(best, (int(counts[head]), -int(group[0]), documents, some))
        best.sort(key=lambda one: one[:2], reverse=True)
        return _PartCuts(self._how, self._terms.threads, dropped, distinct, best)


def _by_digest(columns: Columns) -> NDArray[np.uint64]:
    partitions: NDArray[np.uint64] = columns[0] >> np.uint64(56)
    return partitions


class _PartCuts:
    """The second pass: parts get the same numbers as in the first."""

    def __init__(
        self,
        how: _Parts,
        threads: int,
        dropped: NDArray[np.bool_],
        distinct: int,
        best: list[tuple[int, int, int, Places]],
    ) -> None:
        self._how, self._threads, self._dropped = how, threads, dropped
        self.distinct = distinct
        self._words = [0] * len(best)
        self._best = best
        self._wanted = sorted((place, number) for number, one in enumerate(best) for place in one[3].tolist())
        self._next = 0

    @property
    def shown(self) -> list[RepeatSize]:
        return [RepeatSize(words, one[0], one[2]) for words, one in zip(self._words, self._best, strict=True)]

    def marks(self, texts: list[str]) -> list[Marks]:
        _, begins, ends, words, offsets = self._how.columns(as_texts(texts), self._threads)
        first, self._next = self._next, self._next + len(begins)
        dropped = self._dropped[first : self._next]
        if len(dropped) < len(begins):
            return [Marks()] * len(texts)  # the documents changed: finish() reports it
        wanted: dict[int, list[WantedSpan]] = defaultdict(list)
        for place, number in self._wanted[
            bisect(self._wanted, (first, -1)) : bisect(self._wanted, (self._next, -1))
        ]:
            i = place - first
            self._words[number] = int(words[i])
            row = int(np.searchsorted(offsets, i, side="right")) - 1
            wanted[row].append(WantedSpan(number, int(begins[i]), int(ends[i])))
        marks = [Marks((), wanted[row]) if row in wanted else Marks() for row in range(len(texts))]
        for row in np.unique(np.searchsorted(offsets, np.flatnonzero(dropped), side="right") - 1).tolist():
            here = np.flatnonzero(dropped[offsets[row] : offsets[row + 1]]) + offsets[row]
            cuts = list(zip(begins[here].tolist(), ends[here].tolist(), strict=True))
            marks[row] = Marks(cuts, marks[row].wanted)
        return marks

    def finish(self) -> bool:
        return self._next == len(self._dropped)
