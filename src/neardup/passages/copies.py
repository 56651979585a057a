"""Partial copies: pairs of documents that share passages, ranked by the number of shared words.

Fingerprints are chosen by winnowing (Schleimer, Wilkerson, Aiken: Winnowing, 2003): the smallest hash of
every `window` successive shingles. Two texts that share `window + width - 1` successive words share a window of
shingles, and so a fingerprint: no such pair is missed, unless a fingerprint occurs in too many documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.compare.passages import Span, token_rows
from neardup.errors import ConfigError
from neardup.features.normalize import Normalize, tokens
from neardup.features.select import Winnow
from neardup.features.shingles import Shingles
from neardup.readers.document import Document
from neardup.search.pair_runs import PairRuns, pack_pairs, unpack_pairs
from neardup.values.threads import check_threads

__all__ = ["Copied", "Copies", "find_copies"]

Rows = NDArray[np.int64]
_PAIRS_AT_ONCE = 1 << 23  # pairs that share a fingerprint, listed at a time
_MATCHED_AT_ONCE = 1 << 20  # candidates checked by one call
_SPANS_AT_ONCE = 256  # pairs whose passages are made together


@dataclass(frozen=True)
class Copied:
    """One pair: the passages of the smaller document `part` that occur in the other one, `whole`.

    `words` is the number of words in all passages, `longest` in the longest one, and `share` is `words` over the words
    of the part.
    """

    part: str
    whole: str
    words: int
    longest: int
    share: float
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class _Corpus:
    """The documents, from which passages are made when they are requested."""

    documents: Sequence[Document]
    tokens: NDArray[np.uint64]
    offsets: Rows
    width: int
    normalize: Normalize
    threads: int


@dataclass(frozen=True, eq=False)
class Copies(Sequence[Copied]):
    """Pairs that share a passage of at least `words` words. They are ordered by the number of words in passages, then
    by the longest passage, then by the order of the documents. `part`, `whole` (rows), `shared` and `longest` (words)
    are columns of all pairs; a `Copied` with its passages is made when it is requested.

    `candidates` is the number of pairs that shared a fingerprint; all of them were checked. `capped` fingerprints were
    in more than `cap` documents. Each of these documents was paired with only a few of the others, so `skipped` pairs
    (an upper bound) were not checked.
    """

    documents: int
    words: int
    fingerprints: int
    candidates: int
    capped: int
    skipped: int
    part: Rows
    whole: Rows
    shared: Rows
    longest: Rows
    corpus: _Corpus = field(repr=False)

    def __len__(self) -> int:
        return len(self.part)

    @overload
    def __getitem__(self, at: int) -> Copied: ...
    @overload
    def __getitem__(self, at: slice) -> list[Copied]: ...
    def __getitem__(self, at: int | slice) -> Copied | list[Copied]:
        chosen = np.arange(len(self))[at]
        made = list(self._copied(np.atleast_1d(chosen)))
        return made if isinstance(at, slice) else made[0]

    def __iter__(self) -> Iterator[Copied]:
        for start in range(0, len(self), _SPANS_AT_ONCE):
            yield from self[start : start + _SPANS_AT_ONCE]

    def _copied(self, chosen: Rows) -> Iterator[Copied]:
        corpus, part, whole = self.corpus, self.part[chosen], self.whole[chosen]
        _, _, ends, *columns = _core.shared_passages(
            corpus.tokens, corpus.offsets, part, whole, corpus.width, True, corpus.threads
        )
        for i, (a, b) in enumerate(zip(part.tolist(), whole.tolist(), strict=True)):
            split = tokens([corpus.documents[a].text], corpus.normalize)[0]
            places = (column[ends[i] : ends[i + 1]].tolist() for column in columns)
            spans = tuple(
                Span(begin, place, count, " ".join(split[begin : begin + count]))
                for begin, place, count in zip(*places, strict=True)
            )
            words, longest = int(self.shared[chosen[i]]), int(self.longest[chosen[i]])
            names = corpus.documents[a].id, corpus.documents[b].id
            yield Copied(*names, words, longest, words / len(split), spans)

    def to_json(self, top: int | None = None) -> dict[str, Any]:
        """All values as plain JSON, with only the first `top` pairs."""
        counts = ("documents", "words", "fingerprints", "candidates", "capped", "skipped")
        pairs = [asdict(pair) for pair in self[:top]]
        return {name: getattr(self, name) for name in counts} | {"found": len(self), "pairs": pairs}


def find_copies(
    documents: Sequence[str | Document],
    *,
    words: int = 12,
    width: int = 5,
    normalize: Normalize | None = None,
    cap: int = 1000,
    threads: int = 1,
) -> Copies:
    """Find pairs of documents that share `words` successive words, ranked by the number of words in all passages.

    Passages are made of runs of `width` words. Every candidate is checked word by word. Documents are held in memory,
    with 8 bytes for each word, 40 for each candidate, and, while a document is checked, about 140 for each of its
    words. Documents with the same words are pairs too.
    """
    check_threads(threads)
    if not 1 <= width <= words:
        raise ConfigError(
            f"a passage of {words} words cannot be made of runs of {width}: use 1 <= width <= words"
        )
    if cap < 2:
        raise ConfigError("cap must be at least 2")
    how = normalize or Normalize()
    made = [
        document if isinstance(document, Document) else Document(str(row), document)
        for row, document in enumerate(documents)
    ]
    texts = [document.text for document in made]
    chosen = Shingles(width, normalize=how, select=Winnow(words - width + 1)).extract(texts, threads=threads)
    left, right, capped, skipped = _candidates(
        chosen.hashes, np.repeat(np.arange(len(made)), chosen.sizes), cap, threads
    )
    corpus = _Corpus(made, *token_rows(texts, how, threads=threads), width, how, threads)
    size = np.diff(corpus.offsets)
    part, whole = np.where(size[left] <= size[right], (left, right), (right, left))
    order = np.lexsort((part, whole))  # a whole is prepared once for all of its parts
    part, whole = np.ascontiguousarray(part[order]), np.ascontiguousarray(whole[order])
    shared, longest = np.empty(len(part), np.int64), np.empty(len(part), np.int64)
    for start in range(0, len(part), _MATCHED_AT_ONCE):
        some = slice(start, start + _MATCHED_AT_ONCE)
        shared[some], longest[some], *_ = _core.shared_passages(
            corpus.tokens, corpus.offsets, part[some], whole[some], width, False, threads
        )
    found = np.flatnonzero(longest >= words)
    ranked = found[np.lexsort((whole[found], part[found], -longest[found], -shared[found]))]
    part, whole, shared, longest = part[ranked], whole[ranked], shared[ranked], longest[ranked]
    counts = len(made), words, len(chosen.hashes), len(order), capped, skipped
    return Copies(*counts, part, whole, shared, longest, corpus)


def _candidates(keys: NDArray[np.uint64], rows: Rows, cap: int, threads: int) -> tuple[Rows, Rows, int, int]:
    """The pairs of rows that share a key. Keys are taken in parts that give a bounded number of pairs each."""
    order = np.argsort(keys, kind="stable")
    keys, rows = keys[order], rows[order]
    begins = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else order
    many = np.minimum(np.diff(np.append(begins, len(keys))), cap)
    part = np.cumsum(many * (many - 1) // 2) // _PAIRS_AT_ONCE
    cuts = [0, *begins[np.flatnonzero(np.diff(part)) + 1].tolist(), len(keys)]
    runs = PairRuns()
    capped = skipped = 0
    for begin, end in pairwise(cuts):
        packed, over, lost = _core.key_pairs(keys[begin:end], None, None, cap, threads)
        left, right = unpack_pairs(packed)
        runs.add(pack_pairs(rows[begin:end][left], rows[begin:end][right]))
        capped, skipped = capped + over, skipped + lost
    left, right = unpack_pairs(np.concatenate([np.empty(0, np.uint64), *runs.chunks()]))
    return left, right, capped, skipped
