"""Partial copies: pairs of documents that share passages, ranked by the share of the smaller document in passages.

Fingerprints are chosen by winnowing (Schleimer, Wilkerson, Aiken: Winnowing, 2003): the smallest hash of
every `window` successive shingles. Two texts that share `window + width - 1` successive words share a window of
shingles, and so a fingerprint: no such pair is missed, unless a fingerprint occurs in too many documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.compare.passages import Span, token_rows
from neardup.errors import ConfigError
from neardup.features.normalize import Normalize, tokens
from neardup.features.select import Winnow
from neardup.features.shingles import Shingles
from neardup.readers.corpus_sample import sample_texts
from neardup.readers.document import Document
from neardup.search.pair_runs import PairRuns, pack_pairs, unpack_pairs
from neardup.values.checks import check_fields, checked, checked_methods
from neardup.values.distinct import distinct
from neardup.values.order import stable_order
from neardup.values.threads import check_threads

__all__ = ["Copied", "Copies", "find_copies"]

Rows = NDArray[np.int64]
_PAIRS_AT_ONCE = 1 << 23  # pairs that share a fingerprint, listed at a time
_FEW = 4  # partners of a document among those before it, over all of its groups of more than `cap`
_MATCHED_AT_ONCE = 1 << 20  # candidates checked by one call
_MIXED = np.uint64(0x9E3779B97F4A7C15)
_SPANS_AT_ONCE = 256  # pairs whose passages are made together


@dataclass(frozen=True)
class Copied:
    """One pair: the passages of the smaller document `part` that occur in the other one, `whole`.

    `words` is the number of words in all passages, `longest` in the longest one, and `share` is `words` over the words
    of the part.

    spans  the passages, with their places in both documents

    >>> import neardup as nd
    >>> texts = ["we know the ferry leaves the north pier at eight", "the ferry leaves the north pier again"]
    >>> copied = nd.passages.find_copies(texts, words=5, width=3)[0]
    >>> copied.words, round(copied.share, 2)
    (6, 0.86)
    """

    part: str
    whole: str
    words: int
    longest: int
    share: float
    spans: tuple[Span, ...]

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class _Corpus:
    """The documents, from which passages are made when they are requested."""

    documents: Sequence[Document]
    tokens: NDArray[np.uint64]
    offsets: Rows
    width: int
    normalize: Normalize
    threads: int


@checked_methods
@dataclass(frozen=True, eq=False)
class Copies(Sequence[Copied]):
    """Pairs that share a passage of at least `words` words. They are ordered by the share of the part in passages or by
    the number of words in passages, then by the longest passage, then by the order of the documents. `part`, `whole`
    (rows), `shared` and `longest` (words) are columns of all pairs; a `Copied` with its passages is made when it is
    requested.

    `candidates` is the number of pairs that shared a fingerprint; all of them were checked. `capped` groups of
    documents that share a fingerprint have more than `cap` members. Each of these documents was paired with only a few
    of the others, so `skipped` pairs (an upper bound) were not checked.

    documents     documents read
    fingerprints  winnowed shingles of all documents
    corpus        the texts, from which passages are made

    >>> import neardup as nd
    >>> texts = ["we know the ferry leaves the north pier at eight", "the ferry leaves the north pier again"]
    >>> copies = nd.passages.find_copies(texts, words=5, width=3)
    >>> len(copies), copies.shared.tolist()
    (1, [6])
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

    def __post_init__(self) -> None:
        check_fields(self)

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


@checked
def find_copies(
    documents: Sequence[str | Document],
    *,
    words: int = 12,
    width: int = 5,
    normalize: Normalize | None = None,
    by: Literal["share", "words"] = "share",
    least: float = 0.0,
    cap: int = 100,
    threads: int = 1,
) -> Copies:
    """Find pairs of documents that share `words` successive words, ranked by the share of the smaller document that is
    in passages, or with `by="words"` by the number of words in them; pairs of less than the share `least` are left out.

    For texts that were rewritten take words=4, width=3 and least=0.2: see docs/how-to/containment.md.

    Passages are made of runs of `width` words. Every candidate is checked word by word. Documents are held in memory,
    with 8 bytes for each word, 40 for each candidate, and, while a document is checked, about 140 for each of its
    words. Documents with the same words are pairs too. Where more than `cap` documents share a passage, each is paired
    with a few of the others: so the number of pairs grows with the number of documents, not with its square.

    normalize  what is ignored; by default as in `dedup`
    threads    from 1 up; the result is the same for any number
    raises     ConfigError unless 1 <= `width` <= `words`

    >>> import neardup as nd
    >>> texts = ["we know the ferry leaves the north pier at eight", "the ferry leaves the north pier again"]
    >>> [(one.words, one.spans[0].text) for one in nd.passages.find_copies(texts, words=5, width=3)]
    [(6, 'the ferry leaves the north pier')]
    """
    check_threads(threads)
    if not 1 <= width <= words:
        raise ConfigError(
            f"a passage of {words} words cannot be made of runs of {width}: use 1 <= width <= words"
        )
    if cap < 2:
        raise ConfigError("cap must be at least 2")
    if by not in ("share", "words") or not 0 <= least <= 1:
        raise ConfigError(f'rank by "share" or "words", with a least share of 0 to 1, not {by!r} and {least}')
    how = normalize or Normalize()
    made = [
        document if isinstance(document, Document) else Document(str(row), document)
        for row, document in enumerate(documents)
    ]
    texts = [document.text for document in made]
    # Drawn from the texts: nobody who writes one of them can choose its fingerprints.
    drawn = sample_texts(len(texts), lambda row: texts[row].encode("utf-8", "surrogatepass"))
    seed = int.from_bytes(drawn[:8], "little")
    shingles = Shingles(width, normalize=how, select=Winnow(words - width + 1), seed=seed)
    chosen = shingles.extract(texts, threads=threads)
    left, right, capped, skipped = _candidates(
        chosen.hashes, np.repeat(np.arange(len(made)), chosen.sizes), cap
    )
    corpus = _Corpus(made, *token_rows(texts, how, threads=threads), width, how, threads)
    size = np.diff(corpus.offsets)
    part, whole = np.where(size[left] <= size[right], (left, right), (right, left))
    order = np.argsort(whole << 32 | part)  # a whole is prepared once for all of its parts
    part, whole = np.ascontiguousarray(part[order]), np.ascontiguousarray(whole[order])
    shared, longest = np.empty(len(part), np.int64), np.empty(len(part), np.int64)
    for start in range(0, len(part), _MATCHED_AT_ONCE):
        some = slice(start, start + _MATCHED_AT_ONCE)
        shared[some], longest[some], *_ = _core.shared_passages(
            corpus.tokens, corpus.offsets, part[some], whole[some], width, False, threads
        )
    share = shared / np.maximum(size[part], 1)
    found = np.flatnonzero((longest >= words) & (share >= least))
    first = -share[found] if by == "share" else -shared[found]
    pair = part[found] << 32 | whole[found]
    ranked = found[np.lexsort((pair, -longest[found], -shared[found], first))]
    part, whole, shared, longest = part[ranked], whole[ranked], shared[ranked], longest[ranked]
    counts = len(made), words, len(chosen.hashes), len(order), capped, skipped
    return Copies(*counts, part, whole, shared, longest, corpus)


def _candidates(keys: NDArray[np.uint64], rows: Rows, cap: int) -> tuple[Rows, Rows, int, int]:
    """The pairs of rows that share a key; for keys of more than `cap` rows, a few pairs of each row."""
    order = np.argsort(keys, kind="stable")
    keys, rows = _distinct_groups(keys[order], rows[order])
    begins = _begins(keys)
    sizes = np.diff(np.append(begins, len(keys)))
    runs = PairRuns()
    for size in distinct(sizes[sizes <= cap]).tolist():
        one, two = np.triu_indices(size, 1)
        groups, step = begins[sizes == size], max(1, _PAIRS_AT_ONCE // len(one))
        for start in range(0, len(groups), step):
            members = rows[groups[start : start + step, None] + np.arange(size)].astype(np.uint64)
            runs.add(distinct((members[:, one] << np.uint64(32) | members[:, two]).ravel()))
    over = sizes > cap
    few, skipped = _few_pairs(rows[np.repeat(over, sizes)], sizes[over])
    runs.add(few)
    left, right = unpack_pairs(np.concatenate([np.empty(0, np.uint64), *runs.chunks()]))
    return left, right, int(over.sum()), skipped


def _few_pairs(rows: Rows, sizes: Rows) -> tuple[NDArray[np.uint64], int]:
    """Packed pairs of the rows of large groups, and how many were not listed (an upper bound). In each group a row can
    be paired with the first one and with the one before it; of all these it gets the few that occur in most groups."""
    begins = np.cumsum(sizes) - sizes
    place = np.arange(len(rows)) - np.repeat(begins, sizes)
    first, before = np.repeat(rows[begins], sizes), np.roll(rows, 1)
    later = np.concatenate([rows[place > 0], rows[place > 1]])
    earlier = np.concatenate([first[place > 0], before[place > 1]])
    pairs = np.sort(later << 32 | earlier)
    begins = _begins(pairs)
    counts = np.diff(np.append(begins, len(pairs)))
    later, earlier = pairs[begins] >> 32, pairs[begins] & 0xFFFFFFFF
    order = stable_order(later << 20 | (1 << 20) - np.minimum(counts, 1 << 20))
    begins = _begins(later)
    among = np.arange(len(later)) - np.repeat(begins, np.diff(np.append(begins, len(later))))
    chosen = order[among < _FEW]
    skipped = int((sizes * (sizes - 1) // 2).sum() - counts[chosen].sum())
    return pack_pairs(earlier[chosen], later[chosen]), skipped


def _begins(keys: NDArray[Any]) -> Rows:
    """Where each of the sorted numbers begins."""
    return (
        np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        if len(keys)
        else np.empty(0, np.int64)
    )


def _distinct_groups(keys: NDArray[np.uint64], rows: Rows) -> tuple[NDArray[np.uint64], Rows]:
    """The same without keys that only one row has, and without keys that have the very rows of another: copies of a
    page share all of its keys, and one of them gives the same pairs."""
    begins = _begins(keys)
    sizes = np.diff(np.append(begins, len(keys)))
    shared = np.repeat(sizes > 1, sizes)
    keys, rows, sizes = keys[shared], rows[shared], sizes[sizes > 1]
    if not len(sizes):
        return keys, rows
    begins = np.cumsum(sizes) - sizes
    sums = np.add.reduceat(rows.astype(np.uint64) * _MIXED + (rows.astype(np.uint64) ** 3 ^ _MIXED), begins)
    order = np.lexsort((sums, sizes))
    fresh = np.append(True, (np.diff(sums[order]) != 0) | (np.diff(sizes[order]) != 0))
    first = np.empty(len(order), np.int64)
    first[order] = order[np.flatnonzero(fresh)][np.cumsum(fresh) - 1]
    # Groups of equal sums are compared row by row with the first of them.
    there = np.arange(len(rows)) + np.repeat(begins[first] - begins, sizes)
    equal = np.logical_and.reduceat(rows[there] == rows, begins)
    kept = np.repeat(~equal | (first == np.arange(len(first))), sizes)
    return keys[kept], rows[kept]
