"""Repeated passages: stretches of words that occur more than once in a corpus, found by a suffix array."""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.features.texts import as_texts
from neardup.passages.removal import Marks, RepeatSize, Span, WantedSpan, trim
from neardup.passages.repeat_search import Finding, FirstPass
from neardup.passages.settings import Clock, SearchTerms, first_pass
from neardup.passages.token_file import TokenFile
from neardup.passages.windows import Letters, repeated_windows
from neardup.readers import Reader
from neardup.values.checks import checked_methods
from neardup.values.seeds import Seed

__all__ = ["Passages"]

Places = NDArray[np.int64]


@checked_methods
@dataclass(frozen=True)
class Passages(Finding):
    """Stretches of at least `min_length` words that occur more than once in a corpus, in one document or several.

    Words are compared after normalisation. Only maximal repeats are listed: no longer passage has the same occurrences.
    Passages may overlap, and a part of a passage is listed separately if it occurs more often. A passage that occurs
    `least` times or more is repeated. `within="document"` looks for repeats in each document separately.

    most       what occurs more often loses its first occurrence too
    normalize  what is ignored in a text
    seed       of the hashes; by default drawn from the corpus

    >>> import neardup as nd
    >>> reader = nd.read([{"text": "today the ferry leaves the pier"}, {"text": "the ferry leaves the pier again"}])
    >>> nd.passages.Passages(min_length=4).find(reader).top[0].text
    'the ferry leaves the pier'
    """

    min_length: int = 50

    unit: ClassVar[str] = "passage"
    shortest: ClassVar[int] = 2

    def first_pass(self, reader: Reader, terms: SearchTerms, folder: Path, clock: Clock) -> FirstPass:
        assert self.seed is not None
        seed = Seed.of(self.seed)
        with TokenFile(folder / "words") as corpus:
            for texts in first_pass(reader):
                hashes, offsets, _, _ = _core.token_stream(
                    texts, self.normalize.native(), seed.value, False, terms.threads
                )
                corpus.add(hashes, offsets)
            documents = corpus.finish()
            clock.lap("words")
            apart = self.within == "document"
            how = self.min_length, self.least, self.most, apart, seed
            letters = repeated_windows(corpus, *how, terms.memory, terms.threads, folder)
            spilled = letters.spilled + 8 * corpus.words
            clock.lap("windows")
        passages = _Maximal.of(letters, self.min_length, self.least)
        clock.lap("passages")
        cuts = _PassageCuts(self, terms, documents, letters.cuts, passages)
        return FirstPass(cuts, len(passages.lengths), spilled)


@dataclass(frozen=True)
class _Maximal:
    """The maximal repeats: occurrences of passage i begin at places[lows[i]:highs[i]], and it has lengths[i] words."""

    places: Places
    lows: Places
    highs: Places
    lengths: Places

    @classmethod
    def of(cls, found: Letters, width: int, least: int) -> _Maximal:
        suffixes, shared = _core.suffix_array(found.letters)
        columns = _core.maximal_repeats(found.letters, suffixes, shared)
        enough = columns[1] - columns[0] >= least
        lows, highs, letters = (column[enough].astype(np.int64) for column in columns)
        head = suffixes[lows]
        last = head + letters - 1
        lengths = found.starts[last] + found.sizes[last] - found.starts[head] + width - 1
        return cls(found.starts[suffixes], lows, highs, lengths)

    def best(self, top: int) -> Places:
        """The passages that repeat most words, then the longest, then those whose first words occur first."""
        saved = (self.highs - self.lows - 1) * self.lengths
        some = np.arange(len(saved))
        if 0 < top < len(saved):
            some = np.flatnonzero(saved >= np.partition(saved, len(saved) - top)[len(saved) - top])
        # A letter is the place where it occurs first, and suffixes are sorted by letters.
        order = np.lexsort((self.lows[some], -self.lengths[some], -saved[some]))
        return some[order][:top]

    def occurrences(self, passage: int, most: int) -> tuple[int, Places]:
        """How often it occurs, and where it does first."""
        places = self.places[self.lows[passage] : self.highs[passage]]
        # A word that is repeated without end occurs everywhere, in every passage: only the first places are sorted.
        first = places if len(places) <= most else np.partition(places, most)[:most]
        return len(places), np.sort(first)


class _PassageCuts:
    """The second pass: words of the corpus are traced back to characters of their documents."""

    def __init__(
        self, how: Passages, terms: SearchTerms, documents: Places, cuts: Places, passages: _Maximal
    ) -> None:
        self._how, self._threads, self._documents, self._cuts = how, terms.threads, documents, cuts
        self._row = 0
        self._same = True
        self.shown: list[RepeatSize] = []
        wanted: list[tuple[int, int, int]] = []
        best = passages.best(terms.top).tolist()
        rows = np.searchsorted(documents, passages.places, side="right") if best else documents[:0]
        for number, passage in enumerate(best):
            many, places = passages.occurrences(passage, max(1, terms.examples))
            length, inside = (
                int(passages.lengths[passage]),
                rows[passages.lows[passage] : passages.highs[passage]],
            )
            self.shown.append(RepeatSize(length, many, _distinct(inside, len(documents))))
            wanted += [(place, place + length, number) for place in places[: terms.examples].tolist()]
        self._wanted = sorted(wanted)

    def marks(self, texts: list[str]) -> list[Marks]:
        first, self._row = self._row, self._row + len(texts)
        marks = [Marks()] * len(texts)
        if self._row >= len(self._documents):
            self._same = False
            return marks
        begin, end = int(self._documents[first]), int(self._documents[self._row])
        cuts = self._cuts[np.searchsorted(self._cuts[:, 0], begin) : np.searchsorted(self._cuts[:, 0], end)]
        wanted = self._wanted[bisect(self._wanted, (begin,)) : bisect(self._wanted, (end,))]
        # Only documents in which something is cut or shown are split into words again.
        places = np.array([*cuts[:, 0].tolist(), *(one[0] for one in wanted)], np.int64)
        rows = np.unique(np.searchsorted(self._documents, places, side="right") - 1 - first).tolist()
        if not rows:
            return marks
        here = _Traced(self._how, [texts[row] for row in rows], self._threads)
        cuts_of, wanted_of = _by_document(cuts, wanted, self._documents, first)
        for place, row in enumerate(rows):
            base = int(self._documents[first + row])
            if here.words(place) != int(self._documents[first + row + 1]) - base:
                self._same = False
                return [Marks()] * len(texts)
            marks[row] = Marks(
                [here.trimmed(place, b - base, e - base) for b, e in cuts_of[row]],
                [
                    WantedSpan(number, *here.span(place, b - base, e - base), b - base, e - base)
                    for b, e, number in wanted_of[row]
                ],
            )
        return marks

    def finish(self) -> bool:
        return self._same and self._row == len(self._documents) - 1


def _distinct(rows: Places, most: int) -> int:
    """How many different rows there are, of those below `most`. Of a word repeated without end the first occurrences
    show all of them."""
    if len(rows) < most:
        return int(np.unique(rows).size)
    seen = np.zeros(most, np.bool_)
    seen[0] = True  # documents are counted from 1
    step = max(1 << 16, most)
    for start in range(0, len(rows), step):
        seen[rows[start : start + step]] = True
        if seen.all():
            break
    return int(np.count_nonzero(seen)) - 1


def _by_document(
    cuts: Places, wanted: list[tuple[int, int, int]], documents: Places, first: int
) -> tuple[dict[int, list[Span]], dict[int, list[tuple[int, int, int]]]]:
    cuts_of: dict[int, list[Span]] = defaultdict(list)
    wanted_of: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    rows = np.searchsorted(documents, cuts[:, 0], side="right") - 1 - first
    for row, (begin, end) in zip(rows.tolist(), cuts.tolist(), strict=True):
        cuts_of[row].append((begin, end))
    for one in wanted:
        wanted_of[int(np.searchsorted(documents, one[0], side="right")) - 1 - first].append(one)
    return cuts_of, wanted_of


class _Traced:
    """Some texts with the characters of each of their words."""

    def __init__(self, how: Passages, texts: list[str], threads: int) -> None:
        self._texts = texts
        _, self._offsets, self._begins, self._ends = _core.token_stream(
            as_texts(texts), how.normalize.native(), 0, True, threads
        )

    def words(self, text: int) -> int:
        return int(self._offsets[text + 1] - self._offsets[text])

    def span(self, text: int, first: int, last: int) -> Span:
        """The characters of words [first, last)."""
        base = int(self._offsets[text])
        return int(self._begins[base + first]), int(self._ends[base + last - 1])

    def trimmed(self, text: int, first: int, last: int) -> Span:
        """Like `span`, without characters of neighbouring words, and with the marks and white space to cut with it."""
        begin, end = self.span(text, first, last)
        base, until = int(self._offsets[text]), int(self._offsets[text + 1])
        whole = self._texts[text]
        left = int(self._ends[base + first - 1]) if first else 0
        right = int(self._begins[base + last]) if base + last < until else len(whole)
        begin, end = max(begin, left), min(end, right)
        # Characters that were normalised together with a neighbouring word are kept with that word.
        return trim(whole, begin, end, left, right) if begin < end else (left, left)
