"""What is known of a corpus, and how an engine's clusters compare with it.

Similarity is the exact Jaccard of word 5-shingles, by two ideas of a word: runs of letters, digits and marks after NFKC
and case folding, each character of an unspaced script alone; and plainly what white space separates, as most split.
Where they disagree an engine is never blamed: what it puts together is right if either says so, and it is asked to find
what both call similar.
"""

from __future__ import annotations

import random
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from benchmarks.pipeline.corpus import Corpus

__all__ = ["Truth", "jaccard", "measured", "score", "tokens"]

THRESHOLD = 0.8
SAMPLE = 1000
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
)
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Truth:
    """Pairs of rows and their exact similarity, by words and by what white space separates."""

    NAMES: ClassVar[tuple[str, ...]] = ("left", "right", "words", "plain")
    left: Rows
    right: Rows
    words: NDArray[np.float64]
    plain: NDArray[np.float64]

    def columns(self) -> tuple[NDArray[Any], ...]:
        return self.left, self.right, self.words, self.plain

    def __len__(self) -> int:
        return len(self.left)


def tokens(text: str) -> list[str]:
    """Words: runs of letters, digits, marks and underscores; characters of unspaced scripts alone."""
    if text.isascii():
        return re.findall(r"\w+", text.lower())
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    spaced = UNSPACED.sub(lambda match: f" {match[0]} ", folded)
    return "".join(c if c == "_" or unicodedata.category(c)[0] in "LNM" else " " for c in spaced).split()


def jaccard(left: list[str], right: list[str]) -> float:
    """Exact Jaccard of the sets of word 5-shingles; of the words themselves where there are fewer than five."""
    a, b = shingles(left), shingles(right)
    return len(a & b) / len(a | b) if a or b else 0.0


def shingles(words: list[str]) -> set[tuple[str, ...]]:
    if len(words) < 5:
        return {tuple(words)} if words else set()
    return set(zip(*(words[i:] for i in range(5)), strict=False))


def measured(pairs: list[tuple[int, int]], texts: dict[int, str]) -> Truth:
    """Both similarities of each pair."""
    pairs = sorted({(min(pair), max(pair)) for pair in pairs})
    rows = np.array(pairs, np.int64).reshape(-1, 2)
    words = [jaccard(tokens(texts[left]), tokens(texts[right])) for left, right in pairs]
    plain = [jaccard(texts[left].split(), texts[right].split()) for left, right in pairs]
    return Truth(rows[:, 0], rows[:, 1], np.array(words, np.float64), np.array(plain, np.float64))


def score(
    corpus: Corpus,
    labels: Rows,
    keepers: Rows,
    pairs: tuple[Rows, Rows] | None = None,
    first: Rows | None = None,
) -> dict[str, Any]:
    """How clusters compare with the truth.

    `recall` is the share of the known pairs, similar by both measures, of which not both documents would be kept: a
    cohesive cluster may part two similar documents, and then both go for other keepers. `removal_precision` is the
    share of a sample of documents, each not its cluster's keeper, that are similar to that keeper; `pair_precision` of
    a sample of pairs that share a cluster. An engine that reports pairs has its recall and precision of those
    too; `first` is for each row the first one of the same words, whose pairs are its own.
    """
    rng = random.Random(11)
    truth = corpus.truth
    due = (truth.words >= THRESHOLD) & (truth.plain >= THRESHOLD)
    kept = keepers == np.arange(len(keepers))
    resolved = ~(kept[truth.left] & kept[truth.right])
    gone = np.flatnonzero(~kept)
    some = sorted(rng.sample(gone.tolist(), min(SAMPLE, len(gone))))
    removed = [(row, int(keepers[row])) for row in some]
    shared = same_cluster(labels, SAMPLE)
    reported: list[tuple[int, int]] = []
    if pairs is not None:
        places = rng.sample(range(len(pairs[0])), min(SAMPLE, len(pairs[0])))
        reported = [(int(pairs[0][place]), int(pairs[1][place])) for place in places]
    texts = corpus.texts(row for pair in removed + shared + reported for row in pair)
    _, sizes = np.unique(labels, return_counts=True)
    found = {
        "clusters": int((sizes > 1).sum()),
        "largest": int(sizes.max(initial=0)),
        "removed": len(gone),
        "known_pairs": int(due.sum()),
        "recall": mean(resolved[due]),
        "removal_precision": mean(right(removed, texts)),
        "pair_precision": mean(right(shared, texts)),
    }
    if pairs is not None:
        kept_for = np.arange(len(labels)) if first is None else first
        one, other = (kept_for[side] for side in (truth.left, truth.right))
        have = set(zip(np.minimum(*pairs).tolist(), np.maximum(*pairs).tolist(), strict=True))
        hit = [
            a == b or (min(a, b), max(a, b)) in have
            for a, b in zip(one.tolist(), other.tolist(), strict=True)
        ]
        found |= {
            "pairs": len(pairs[0]),
            "reported_recall": mean(np.array(hit)[due]),
            "reported_precision": mean(right(reported, texts)),
        }
    return found


def same_cluster(labels: Rows, most: int) -> list[tuple[int, int]]:
    """Pairs of rows in one cluster, each such pair equally likely."""
    order = np.argsort(labels, kind="stable")
    _, starts, sizes = np.unique(labels[order], return_index=True, return_counts=True)
    weights = sizes * (sizes - 1) / 2
    if not weights.sum():
        return []
    rng = np.random.default_rng(13)
    chosen = rng.choice(len(sizes), most, p=weights / weights.sum())
    pairs = set()
    for cluster in chosen:
        one, other = rng.choice(sizes[cluster], 2, replace=False)
        pairs.add((int(order[starts[cluster] + one]), int(order[starts[cluster] + other])))
    return sorted(pairs)


def right(pairs: list[tuple[int, int]], texts: dict[int, str]) -> NDArray[np.bool_]:
    """Which pairs are similar by either measure."""
    truth = measured(pairs, texts)
    return (truth.words >= THRESHOLD) | (truth.plain >= THRESHOLD)


def mean(values: NDArray[np.bool_]) -> float | None:
    return round(float(values.mean()), 4) if len(values) else None
