"""Documents that contain a passage: word for word after normalising, or most of it.

A document contains a part of the passage if its words have shingles of the passage close together: in a stretch at most
half as long again as the passage. The share of the passage's shingles in the best such stretch is its score.
"""

from __future__ import annotations

import heapq
import secrets
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError
from neardup.features.normalize import Normalize
from neardup.features.texts import as_texts
from neardup.readers.document import Document
from neardup.values.checks import checked
from neardup.values.threads import check_threads

__all__ = ["FoundPassage", "PassageHits", "find_passage"]

Words = NDArray[np.uint64]
Places = NDArray[np.int64]
_BATCH = 1000
_BATCH_CHARACTERS = 16 << 20
_STRETCH = 1.5  # of the passage's length, in which its shingles must be


@dataclass(frozen=True)
class FoundPassage:
    """A document that contains the passage or a large part of it.

    `exact` is how often it contains all words of the passage in order. `share` is the share of the passage's shingles
    in the best stretch, which is `document.text[begin:end]`, and `text`.

    id  of the document

    >>> import neardup as nd
    >>> documents = [nd.Document("a", "We know that the ferry leaves the north pier at eight.")]
    >>> hit = nd.passages.find_passage("the ferry leaves the north pier", documents).hits[0]
    >>> hit.exact, hit.share, hit.text
    (1, 1.0, 'the ferry leaves the north pier')
    """

    id: str
    exact: int
    share: float
    begin: int
    end: int
    text: str


@dataclass(frozen=True)
class PassageHits:
    """The best hits, best first: exact ones, then by share, then in the order of the documents.

    `words` is the length of the passage; `exact` and `near` count all documents found, also those that are not among
    the `hits`.

    >>> import neardup as nd
    >>> documents = [nd.Document("a", "We know that the ferry leaves the north pier at eight.")]
    >>> found = nd.passages.find_passage("the ferry leaves the north pier", documents)
    >>> found.documents, found.exact, found.near
    (1, 1, 0)
    """

    words: int
    documents: int
    exact: int
    near: int
    hits: tuple[FoundPassage, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@checked
def find_passage(
    passage: str,
    documents: Iterable[Document],
    *,
    threshold: float = 0.8,
    width: int = 5,
    normalize: Normalize | None = None,
    top: int = 20,
    threads: int = 1,
) -> PassageHits:
    """Find the documents that contain a passage. Holds a batch of documents and `top` hits in memory.

    A document counts if it contains a share of at least `threshold` of the passage's shingles of `width` words (fewer
    in a short passage). At 1, every shingle must be there.

    normalize  what is ignored; by default as in `dedup`
    threads    from 1 up
    raises     ConfigError if the passage has no words, or unless `threshold` is above 0 and at most 1

    >>> import neardup as nd
    >>> documents = [nd.Document("a", "Now the ferry leaves the north pier at eight."), nd.Document("b", "A cake.")]
    >>> nd.passages.find_passage("the ferry leaves the north pier", documents).hits[0].id
    'a'
    """
    if not 0 < threshold <= 1:
        raise ConfigError(f"threshold {threshold:g}: a share is above 0 and at most 1")
    if width < 1 or top < 0:
        raise ConfigError("width must be at least 1, and top at least 0")
    search = _PassageSearch(passage, threshold, width, normalize or Normalize(), check_threads(threads))
    best: list[tuple[tuple[bool, float, int], FoundPassage]] = []
    count = exact = near = 0
    rest = iter(documents)
    while batch := list(_some(rest)):
        for row, hit in search.hits(batch):
            exact += hit.exact > 0
            near += hit.exact == 0
            order = (hit.exact > 0, hit.share, -(count + row))
            (heapq.heappush if len(best) < top else heapq.heappushpop)(best, (order, hit))
        count += len(batch)
    return PassageHits(
        search.words,
        count,
        exact,
        near,
        tuple(hit for _, hit in sorted(best, key=lambda one: one[0], reverse=True)),
    )


def _some(documents: Iterator[Document]) -> Iterator[Document]:
    size = 0
    for document in islice(documents, _BATCH):
        yield document
        size += len(document.text)
        if size > _BATCH_CHARACTERS:
            return


class _PassageSearch:
    def __init__(
        self, passage: str, threshold: float, width: int, normalize: Normalize, threads: int
    ) -> None:
        self._normalize, self._threads, self._threshold = normalize.native(), threads, threshold
        self._seed = secrets.randbits(64)  # words made to have the hash of others cannot know it
        self._passage = self._tokens([passage])[0]
        self.words = len(self._passage)
        if not self.words:
            raise ConfigError("the passage has no words")
        self._width = width if self.words >= 2 * width else max(1, self.words // 2)
        self._longest = max(self.words, int(_STRETCH * self.words))
        generator = np.random.default_rng(self._seed)
        self._factors = generator.integers(0, 1 << 64, self._width, np.uint64) | np.uint64(1)
        self._shingles = np.unique(self._windows(self._passage))

    def _tokens(self, texts: list[str]) -> tuple[Words, Places, Places, Places]:
        return _core.token_stream(as_texts(texts), self._normalize, self._seed, True, self._threads)

    def _windows(self, tokens: Words) -> Words:
        """The hash of each `width` successive words."""
        many = max(0, len(tokens) - self._width + 1)
        hashes = np.zeros(many, np.uint64)
        for place, factor in enumerate(self._factors):
            hashes += tokens[place : place + many] * factor
        return hashes

    def hits(self, batch: list[Document]) -> Iterator[tuple[int, FoundPassage]]:
        tokens, offsets, begins, ends = self._tokens([document.text for document in batch])
        windows = self._windows(tokens)
        at = np.minimum(np.searchsorted(self._shingles, windows), len(self._shingles) - 1)
        places = np.flatnonzero(self._shingles[at] == windows)
        rows = np.searchsorted(offsets, places, side="right") - 1
        inside = places + self._width <= offsets[rows + 1]  # a window of two documents is none
        places, rows = places[inside], rows[inside]
        starts = np.searchsorted(rows, np.arange(len(batch) + 1))
        for row in np.unique(rows).tolist():
            mine = places[starts[row] : starts[row + 1]]
            shingles = at[mine]
            if len(np.unique(shingles)) < self._threshold * len(self._shingles):
                continue
            exact = self._exact(tokens, mine, int(offsets[row + 1]))
            first, last, share = self._stretch(mine, shingles)
            if exact:
                first, last, share = exact[0], exact[0] + self.words - 1, 1.0
            if share >= self._threshold:
                begin, end = int(begins[first]), int(ends[last])
                document = batch[row]
                yield row, FoundPassage(document.id, len(exact), share, begin, end, document.text[begin:end])

    def _exact(self, tokens: Words, places: Places, end: int) -> list[int]:
        """Where all words of the passage are, in order; occurrences do not overlap."""
        found: list[int] = []
        for place in places[places + self.words <= end].tolist():
            free = not found or place >= found[-1] + self.words
            if free and np.array_equal(tokens[place : place + self.words], self._passage):
                found.append(place)
        return found

    def _stretch(self, places: Places, shingles: Places) -> tuple[int, int, float]:
        """The stretch with most of the passage's shingles: its first and last word, and the share."""
        held: deque[tuple[int, int]] = deque()
        counts: Counter[int] = Counter()
        best, first, last = 0, 0, 0
        for place, shingle in zip(places.tolist(), shingles.tolist(), strict=True):
            held.append((place, shingle))
            counts[shingle] += 1
            while place + self._width - held[0][0] > self._longest:
                _, gone = held.popleft()
                counts[gone] -= 1
                if not counts[gone]:
                    del counts[gone]
            if len(counts) > best:
                best, first, last = len(counts), held[0][0], place + self._width - 1
        return first, last, best / len(self._shingles)
