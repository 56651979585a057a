"""The measurements of a calibration: pairs drawn from a corpus, with everything that the settings use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.clusters import cluster
from neardup.clusters.keepers import Keep
from neardup.compare.similarity import hamming
from neardup.compare.verify import Pairs
from neardup.errors import DataError
from neardup.evaluate.metrics import Measure
from neardup.evaluate.sample import (
    LOOSE,
    PairSample,
    draw_queries,
    exact_similarity,
    near_pairs,
    sample_pairs,
)
from neardup.evaluate.settings import PairFacts, Setting, sketch_size
from neardup.features import Idf, Shingles, Words
from neardup.features.shingles import TextFeatures
from neardup.fingerprints import Codes, MinHash, Simhash
from neardup.fingerprints.one_pass import digest, fingerprint
from neardup.search.lsh import LSH
from neardup.search.psm.psm import PSM
from neardup.search.psm.recall import Calibration as Flips
from neardup.values.intervals import wilson

__all__ = ["Measured", "MeasuredCorpus", "measure_corpus"]

Rows = NDArray[np.int64]
PSM_RADII = range(1, 9)


@dataclass(frozen=True)
class MeasuredCorpus:
    """Texts with different words, without empty ones, ranked; `rows[i]` is the row of text i in the input."""

    texts: list[str | bytes]
    rows: Rows
    rank: Rows
    exact: int
    empty: int

    def __len__(self) -> int:
        return len(self.texts)

    @classmethod
    def of(
        cls, texts: list[str | bytes], shingles: Shingles, keep: Literal["longest", "first", "last"]
    ) -> MeasuredCorpus:
        """Documents with the same words are treated as one, as in every removal of duplicates."""
        digests = digest(texts, normalized=shingles.normalize.without_words())
        encoded = (
            text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass") for text in texts
        )
        rank = Keep(by=keep).rank(np.fromiter(map(len, encoded), np.int64, len(texts)))
        words = np.ascontiguousarray(digests.digests).view(np.uint64)
        order = np.lexsort((rank, words[:, 1], words[:, 0]))
        fresh = np.ones(len(order), np.bool_)
        fresh[1:] = (words[order[1:]] != words[order[:-1]]).any(axis=1)
        rows = np.sort(order[fresh & ~digests.empty[order]])
        if len(rows) < 2:
            raise DataError("a calibration needs at least two documents with different words")
        empty = int(digests.empty.sum())
        return cls([texts[row] for row in rows], rows, rank[rows], len(texts) - empty - len(rows), empty)


@dataclass(frozen=True)
class Measured:
    """Pairs that were drawn, with their facts; and queries with all of their near pairs, to count removals."""

    corpus: MeasuredCorpus
    sample: PairSample
    facts: PairFacts
    asked: Rows
    near: PairFacts
    words: TextFeatures
    flips: dict[int, Flips]
    flips_notes: tuple[str, ...]

    def removed(self, setting: Setting) -> Measure:
        """How many documents with different words a setting would remove, with a 95% interval.

        Clusters are made as in `dedup`, from the pairs of the queries. It is not known whether a neighbour that is not
        a query would be dropped itself: if chains form, the count is a little too high.
        """
        hit = setting.finds(self.near)
        left, right = self.near.left[hit], self.near.right[hit]
        many, n = len(self.corpus), len(self.asked)
        found = cluster(Pairs.of(left, right, np.ones(len(left))), many, self.corpus.rank)
        removed = int((~found.kept[self.asked]).sum())
        if n == many:
            return Measure(removed, removed, removed, many)
        share = removed / n
        low, high = wilson(share, n / max(1e-9, 1 - n / many))  # finite population: only the rest is unknown
        return Measure(share * many, low * many, high * many, many)


def measure_corpus(
    corpus: MeasuredCorpus,
    settings: Sequence[Setting],
    *,
    shingles: Shingles,
    features: TextFeatures | None,
    similarity: Literal["jaccard", "cosine"],
    queries: int,
    pairs: int,
    seed: int,
    threads: int,
) -> Measured:
    """Draw pairs and measure them. Time grows with documents x queries for the cheap search, and with the pairs."""
    texts = corpus.texts
    words = features if features is not None else Words(weights=Idf.fit(texts, threads=threads))
    codes = fingerprint(texts, words, Simhash(64), threads=threads)
    wide = fingerprint(texts, words, Simhash(128, margins="none"), threads=threads)
    loose = fingerprint(texts, shingles, MinHash(LOOSE.values), threads=threads)
    plain = Codes(codes.scheme, codes.empty, codes.bits, codes.codes)
    chosen = draw_queries(len(corpus), queries, seed)
    near, strata = near_pairs(plain, loose, chosen, threads=threads)
    sample = sample_pairs(chosen, len(corpus), near, strata, pairs, seed)

    sizes = {sketch_size(LSH(s.bands, s.rows)) for s in settings if s.method == "minhash"}
    sketches = {
        size: fingerprint(texts, shingles, MinHash(size), threads=threads).values for size in sorted(sizes)
    }

    def facts(left: Rows, right: Rows, *, cosines: bool) -> PairFacts:
        cosine = np.zeros(len(left))
        if cosines or similarity == "cosine":
            cosine = exact_similarity(texts, words, left, right, kind="cosine", threads=threads)
        exact = cosine
        if similarity == "jaccard":
            exact = exact_similarity(texts, shingles, left, right, threads=threads)
        distance = {64: hamming(plain, left, right), 128: hamming(wide, left, right)}
        return PairFacts(left, right, exact, cosine, distance, sketches)

    drawn = facts(sample.left, sample.right, cosines=True)
    if int(sample.sizes.sum()) == int(sample.drawn.sum()):
        asked, close = chosen, drawn
    else:
        # Use as many queries, in random order, as the budget allows, given the mean number of near pairs of a query.
        # This number does not depend on their order, so the queries are an unbiased sample.
        mixed = np.random.default_rng([seed, 2]).permutation(len(chosen))
        enough = int(np.clip(len(chosen) * pairs / max(1, len(near[0])), min(50, len(chosen)), len(chosen)))
        places = np.sort(mixed[:enough])
        asked = chosen[places]
        inside = np.isin(near[0], places)
        close = facts(chosen[near[0][inside]], near[1][inside], cosines=False)
    flips, notes = _flips(codes, len(corpus), threads)
    return Measured(corpus, sample, drawn, asked, close, words, flips, notes)


def _flips(codes: Codes, documents: int, threads: int) -> tuple[dict[int, Flips], tuple[str, ...]]:
    """R' of PSM for each radius, measured on these codes; a radius with too few neighbours is skipped."""
    found: dict[int, Flips] = {}
    missing = []
    for radius in PSM_RADII:
        try:
            found[radius] = PSM(radius, header_bits=PSM().header_for(documents)).calibrate(
                codes, threads=threads
            )
        except DataError:
            missing.append(radius)
    if not missing:
        return found, ()
    listed = ", ".join(map(str, missing))
    return found, (f"too few neighbours to measure PSM at radius {listed}",)
