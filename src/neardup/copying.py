"""Partial copies: pairs of documents that share a passage, ranked by how much of it there is.

Fingerprints are chosen by winnowing (Schleimer, Wilkerson, Aiken: Winnowing, 2003): of every `window` successive
shingles the smallest. Two texts with `window + width - 1` successive words in common have a window of shingles in
common, and so a fingerprint: no such pair is missed, unless a fingerprint is in too many documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from neardup import _core
from neardup.documents import Document
from neardup.errors import ConfigError
from neardup.features.extract import Shingles
from neardup.features.normalize import Normalize, tokens
from neardup.features.select import Winnow
from neardup.search.runs import unpack_pairs
from neardup.similarity import containment
from neardup.spans import Span, matched_spans
from neardup.threads import check_threads

__all__ = ["Copied", "Copies", "find_copies"]


@dataclass(frozen=True)
class Copied:
    """One pair: the passages of the smaller document `part` that stand in the other one, `whole`.

    `words` is how many words they have together, `longest` those of the longest, `share` that of the part's words.
    """

    part: str
    whole: str
    words: int
    longest: int
    share: float
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class Copies:
    """Pairs that share a passage of at least `words` words, most shared words first, and what the search met:
    `candidates` shared a fingerprint; `capped` fingerprints were in more than `cap` documents, which were then paired
    with a few of them only, so that `skipped` pairs (an upper bound) were not looked at. `left_out` candidates shared
    fewer runs of words than those looked into."""

    pairs: tuple[Copied, ...]
    documents: int
    words: int
    fingerprints: int
    candidates: int
    capped: int
    skipped: int
    left_out: int

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Copied]:
        return iter(self.pairs)

    def to_json(self) -> dict[str, Any]:
        """The same as plain JSON values."""
        return asdict(self)


def find_copies(
    documents: Sequence[str | Document],
    *,
    words: int = 12,
    width: int = 5,
    normalize: Normalize | None = None,
    cap: int = 1000,
    most: int = 1000,
    threads: int = 1,
) -> Copies:
    """The pairs of documents that have `words` successive words in common, ranked by all they have in common.

    Passages are made of runs of `width` words. Documents are held in memory. Exactly repeated documents are pairs
    too. Passages are looked up in the `most` candidates that share most runs of words.
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
    rows = np.repeat(np.arange(len(made)), chosen.sizes)
    met, capped, skipped = _core.key_pairs(chosen.hashes, None, None, cap, threads)
    left, right = (rows[side] for side in unpack_pairs(met))
    packed = np.unique(left.astype(np.uint64) << np.uint64(32) | right.astype(np.uint64))
    left, right = unpack_pairs(packed)
    every = Shingles(width, normalize=how).extract(texts, threads=threads)
    smaller = np.minimum(every.sizes[left], every.sizes[right])
    shared = np.rint(containment(every, left, right, of="smaller", threads=threads) * smaller)
    first = np.sort(np.argsort(-shared, kind="stable")[:most])
    pairs = []
    split: dict[int, list[str]] = {}
    for a, b in zip(left[first].tolist(), right[first].tolist(), strict=True):
        for row in {a, b} - split.keys():
            split[row] = tokens([texts[row]], how)[0]
        part, whole = (a, b) if len(split[a]) <= len(split[b]) else (b, a)
        spans = matched_spans(split[part], split[whole], width)
        longest = max((span.words for span in spans), default=0)
        if longest >= words:
            count = sum(span.words for span in spans)
            share = count / len(split[part])
            pairs.append(Copied(made[part].id, made[whole].id, count, longest, share, spans))
    pairs.sort(key=lambda pair: (-pair.words, -pair.longest, pair.part, pair.whole))
    return Copies(
        tuple(pairs),
        len(made),
        words,
        len(chosen.hashes),
        len(packed),
        capped,
        skipped,
        len(packed) - len(first),
    )
