"""Draws pairs from a corpus so that rare near-duplicates are included and every total can be estimated without bias.

There are two steps. First some documents, the queries, are drawn at random; a pair counts with each of its ends, so
that a pair is included with probability queries / documents and not its square. Then the pairs of a query with another
document are searched cheaply (a loose radius of simhash codes, or a loose band of MinHash values). The near ones are
put into strata by how near they are, and some pairs of each stratum are drawn, all of small ones. All other pairs are
the last stratum. Within a stratum every pair has the same probability, so its weight is size / drawn (Horvitz and
Thompson). The quality of the cheap search changes the variance of an estimate and never its mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.compare import similarity as measure
from neardup.errors import ConfigError, DataError
from neardup.evaluate.metrics import Measure
from neardup.features import Shingles
from neardup.features.shingles import TextFeatures
from neardup.fingerprints import Codes, MinHash, Simhash, Sketches
from neardup.fingerprints.one_pass import fingerprint
from neardup.search.hamming.scan import Scan, count_distances
from neardup.search.lsh import LSH
from neardup.values.intervals import wilson

__all__ = [
    "DrawnPairs",
    "PairSample",
    "draw_documents",
    "draw_pairs",
    "draw_queries",
    "exact_similarity",
    "near_pairs",
    "sample_pairs",
]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

WIDEST = 20
MOST_NEAR = 4_000_000
LOOSE = LSH.for_threshold(0.4, 0.95, values=256)
DISTANCES = (0, 1, 4, 7, 9, 11, 13, 17, 21)
ESTIMATES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
REST_SHARE = 0.2
DOCUMENTS_AT_ONCE = 2048


@dataclass(frozen=True)
class PairSample:
    """Pairs (left: a query, right: another document) with the weight of each among all pairs of a query and another.

    `queries` of `documents` documents were drawn; `stratum[i]` is the stratum of pair i, `sizes[s]` the number of
    pairs in stratum s and `drawn[s]` how many of them are here. The last stratum holds the pairs that the cheap search
    did not find.
    """

    left: Rows
    right: Rows
    weight: Floats
    stratum: Rows
    sizes: Rows
    drawn: Rows
    queries: Rows
    documents: int

    def __len__(self) -> int:
        return len(self.left)

    @cached_property
    def place(self) -> Rows:
        """The position of each pair's query among the queries."""
        return np.searchsorted(self.queries, self.left)

    @property
    def census(self) -> bool:
        """Whether every pair of the corpus is here."""
        return len(self.queries) == self.documents and bool((self.sizes == self.drawn).all())

    def total(self, y: NDArray[np.bool_] | Floats) -> float:
        """The estimated sum of y over all pairs of different documents of the corpus, each pair once."""
        scale = self.documents / max(1, len(self.queries)) / 2
        return float((self.weight * y).sum() * scale)

    def share(self, part: NDArray[np.generic], whole: NDArray[np.generic]) -> Measure:
        """The estimated sum of `part` divided by that of `whole`, with a 95% interval for the corpus; NaN if there is
        none.

        The variance is that of a linearised ratio: between queries, and within strata that were not drawn completely.
        """
        y, x = np.asarray(part, np.float64), np.asarray(whole, np.float64)
        base = float((self.weight * x).sum())
        if base <= 0:
            return Measure(np.nan, np.nan, np.nan, 0)
        value = float((self.weight * y).sum() / base)
        of = self.total(x)
        if self.census:
            return Measure(value, value, value, of)
        if value in (0.0, 1.0):
            by_query = np.bincount(self.place, self.weight * x, len(self.queries))
            effective = base * base / (by_query * by_query).sum()
            return Measure(value, *wilson(value, float(effective)), of)
        variance = self._variance(y - value * x) / (base * base)
        if variance <= 0:
            return Measure(value, value, value, of)
        low, high = wilson(value, value * (1 - value) / variance)
        return Measure(value, min(low, value), max(high, value), of)

    def _variance(self, residual: Floats) -> float:
        n, of = len(self.queries), self.documents
        by_query = np.bincount(self.place, self.weight * residual, n)
        between = (1 - n / of) * n / max(1, n - 1) * ((by_query - by_query.mean()) ** 2).sum()
        count = np.maximum(self.drawn, 1)
        mean = np.bincount(self.stratum, residual, len(count)) / count
        square = np.bincount(self.stratum, residual * residual, len(count)) / count
        spread = np.maximum(square - mean * mean, 0) * count / np.maximum(count - 1, 1)
        within = (self.sizes * (self.sizes - self.drawn) / count * spread).sum()
        return float(between + within)


def sample_pairs(
    queries: Rows, documents: int, near: tuple[Rows, Rows], strata: Rows, budget: int, seed: int
) -> PairSample:
    """Draw about `budget` pairs: all if there are not more, otherwise some of each stratum.

    `near` are pairs (position among the queries, row), sorted and distinct, none with itself; `strata` numbers them.
    """
    if budget < 1000:
        raise ConfigError(f"draw at least 1,000 pairs, not {budget}")
    n = len(queries)
    draw = np.random.default_rng([seed, 1])
    keys = near[0] * documents + near[1]
    everything = n * (documents - 1)
    own = np.arange(n) * documents + queries
    if everything <= budget:
        keys = np.setdiff1d(np.arange(n * documents), own)
        ones = np.array([everything])
        zeros = np.zeros(len(keys), np.int64)
        return PairSample(
            queries[keys // documents],
            keys % documents,
            np.ones(len(keys)),
            zeros,
            ones,
            ones,
            queries,
            documents,
        )
    _, strata, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    rest = everything - len(keys)
    quota = _fill(sizes, budget - min(rest, int(REST_SHARE * budget)))
    order = np.lexsort((draw.random(len(keys)), strata))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    picked = np.concatenate(
        [order[start : start + many] for start, many in zip(starts[:-1], quota, strict=True)]
        or [np.zeros(0, np.int64)]
    )
    others = _draw_rest(draw, n * documents, np.union1d(keys, own), min(rest, budget - int(quota.sum())))
    chosen = np.concatenate([keys[picked], others])
    sizes = np.append(sizes, rest).astype(np.int64)
    drawn = np.append(quota, len(others)).astype(np.int64)
    stratum = np.concatenate([strata[picked], np.full(len(others), len(sizes) - 1)]).astype(np.int64)
    weight = (sizes / np.maximum(drawn, 1))[stratum]
    return PairSample(
        queries[chosen // documents], chosen % documents, weight, stratum, sizes, drawn, queries, documents
    )


def _fill(sizes: Rows, budget: int) -> Rows:
    """An equal number from each stratum, all of small ones; the rest is shared among the others; at least one each."""
    quota = np.zeros(len(sizes), np.int64)
    left = budget
    for many, place in enumerate(np.argsort(sizes, kind="stable")):
        quota[place] = min(int(sizes[place]), max(1, left // (len(sizes) - many)))
        left -= int(quota[place])
    return quota


def _draw_rest(draw: np.random.Generator, universe: int, taken: Rows, many: int) -> Rows:
    """`many` distinct random numbers below `universe` that are not in `taken`, every set with the same
    probability."""
    if universe <= 4 * (len(taken) + many):
        return draw.choice(np.setdiff1d(np.arange(universe), taken), many, replace=False)
    found = np.zeros(0, np.int64)
    while len(found) < many:
        more = draw.integers(0, universe, 2 * (many - len(found)) + 16)
        place = np.minimum(np.searchsorted(taken, more), max(0, len(taken) - 1))
        more = more[taken[place] != more] if len(taken) else more
        found = np.concatenate([found, more])
        _, first = np.unique(found, return_index=True)
        found = found[np.sort(first)]
    return found[:many]


def near_pairs(
    codes: Codes, sketches: Sketches, queries: Rows, *, most: int = MOST_NEAR, threads: int = 1
) -> tuple[tuple[Rows, Rows], Rows]:
    """The pairs that a cheap search finds near, (position among the queries, row) sorted, and the stratum of each.

    Near pairs are codes within a radius of 20 bits, less if that gives more than `most` pairs, and sketches that share
    a loose band; bands that very many documents share are skipped.
    """
    asked = codes.take(queries)
    by_distance = np.cumsum(count_distances(asked, codes, threads=threads))
    radius = max(0, int(np.searchsorted(by_distance, most, side="right")) - 1)
    hits = Scan(min(WIDEST, radius)).index(codes).search(asked, threads=threads)
    rows = len(codes)
    found = hits.query * rows + hits.row
    keys = LOOSE.band_keys(sketches, threads=threads)
    cap = max(64, most // max(1, len(queries)) // 4)
    pending = [found]
    for band in range(LOOSE.bands):
        column = keys[band]
        order = np.argsort(column, kind="stable")
        start, end = (
            np.searchsorted(column[order], column[queries], side=side) for side in ("left", "right")
        )
        many = np.where((end - start <= cap) & ~sketches.empty[queries], end - start, 0)
        places = np.repeat(np.arange(len(queries)), many)
        within = np.arange(len(places)) - np.repeat(np.cumsum(many) - many, many)
        pending.append(places * rows + order[np.repeat(start, many) + within])
        if sum(map(len, pending)) > 2 * most or band == LOOSE.bands - 1:
            found = np.unique(np.concatenate(pending))
            pending = [found]
            if len(found) > 2 * most:
                break
    found = found[found % rows != queries[found // rows]]
    pairs = found // rows, found % rows
    near = measure.hamming(codes, queries[pairs[0]], pairs[1], threads=threads)
    similarity = measure.sketch_similarity(sketches, queries[pairs[0]], pairs[1], threads=threads)
    strata = np.digitize(similarity, ESTIMATES) * (len(DISTANCES) + 1) + np.digitize(near, DISTANCES)
    return pairs, strata.astype(np.int64)


def exact_similarity(
    texts: list[str | bytes],
    features: TextFeatures,
    left: Rows,
    right: Rows,
    *,
    kind: str = "jaccard",
    threads: int = 1,
) -> Floats:
    """The exact Jaccard or cosine of each pair of rows, by brute force; only the features of few documents are in
    memory."""
    if kind not in ("jaccard", "cosine"):
        raise ConfigError(f'a similarity is "jaccard" or "cosine", not {kind!r}')
    found = np.zeros(len(left))
    here, left_place = np.unique(left, return_inverse=True)
    there, right_place = np.unique(right, return_inverse=True)
    compare = measure.jaccard if kind == "jaccard" else measure.cosine
    order = np.argsort(right_place, kind="stable")
    for first in range(0, len(here), DOCUMENTS_AT_ONCE):
        ours = features.extract(
            [texts[row] for row in here[first : first + DOCUMENTS_AT_ONCE]], threads=threads
        )
        for second in range(0, len(there), DOCUMENTS_AT_ONCE):
            some = there[second : second + DOCUMENTS_AT_ONCE]
            ends = np.searchsorted(right_place[order], [second, second + len(some)])
            pairs = order[ends[0] : ends[1]]
            pairs = pairs[(left_place[pairs] >= first) & (left_place[pairs] < first + len(ours))]
            if not len(pairs):
                continue
            theirs = features.extract([texts[row] for row in some], threads=threads)
            found[pairs] = compare(
                ours, left_place[pairs] - first, right_place[pairs] - second, theirs, threads=threads
            )
    return found


@dataclass(frozen=True)
class DrawnPairs:
    """Pairs with the exact cosine of each, and a weight: the number of pairs that each represents."""

    left: Rows
    right: Rows
    similarity: Floats
    weight: Floats

    def __len__(self) -> int:
        return len(self.left)


def draw_pairs(
    texts: list[str | bytes],
    features: TextFeatures,
    *,
    queries: int = 1000,
    pairs: int = 200_000,
    seed: int = 0,
    threads: int = 1,
) -> DrawnPairs:
    """Pairs of a corpus with their exact cosine, with many near ones; documents without words are left out."""
    codes = fingerprint(texts, features, Simhash(64, margins="none"), threads=threads)
    rows = np.flatnonzero(~codes.empty)
    if len(rows) < 2:
        raise DataError("a corpus of two documents with words or more is needed to compare any")
    chosen = draw_queries(len(rows), queries, seed)
    used = [texts[row] for row in rows]
    sketches = fingerprint(used, Shingles(), MinHash(LOOSE.values), threads=threads)
    near, strata = near_pairs(codes.take(rows), sketches, chosen, threads=threads)
    sample = sample_pairs(chosen, len(rows), near, strata, pairs, seed)
    # A pair drawn from both of its ends is one pair with twice the weight, not two independent cases.
    keys = np.minimum(sample.left, sample.right) * len(rows) + np.maximum(sample.left, sample.right)
    keys, place = np.unique(keys, return_inverse=True)
    left, right = keys // len(rows), keys % len(rows)
    similarity = exact_similarity(used, features, left, right, kind="cosine", threads=threads)
    return DrawnPairs(
        rows[left], rows[right], similarity, np.bincount(place, sample.weight).astype(np.float64)
    )


def draw_documents(documents: Iterable[Any], limit: int, seed: int) -> tuple[list[Any], int]:
    """All documents of a stream, or `limit` of them at random in their order; no more are kept in memory. Also returns
    how many there were."""
    held: list[tuple[int, Any]] = []
    draw = np.random.default_rng([seed, 3])
    read = 0
    for read, document in enumerate(documents, 1):
        if len(held) < limit:
            held.append((read, document))
        elif (place := int(draw.integers(0, read))) < limit:
            held[place] = (read, document)
    return [document for _, document in sorted(held, key=lambda item: item[0])], read


def draw_queries(documents: int, many: int, seed: int) -> Rows:
    """`many` random rows, or all of them, ascending; the same rows for the same seed."""
    if many >= documents:
        return np.arange(documents)
    return np.sort(np.random.default_rng([seed, 0]).choice(documents, many, replace=False))
