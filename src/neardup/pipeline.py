"""The stages chained: documents in, clusters out, every pair verified. In memory; files are the caller's business."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup.clusters import Clusters, cluster, rank_by
from neardup.documents import Document
from neardup.errors import ConfigError
from neardup.features.extract import Shingles
from neardup.features.texts import Texts, raw_texts
from neardup.fingerprints.minhash import MinHash
from neardup.fused import digest, fingerprint
from neardup.search.lsh import LSH, BandCandidates
from neardup.threads import check_threads
from neardup.verify import Jaccard, Pairs

__all__ = ["Dropped", "Result", "dedup"]

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Dropped:
    """One document that can go: the row of its keeper, and how similar the two are (1: the same words)."""

    row: int
    keeper: int
    similarity: float


@dataclass(frozen=True)
class Result:
    """What `dedup` found. Rows are the documents' places in the input.

    `pairs` are the verified ones among documents of different words, down to the floor; `exact` counts the documents
    whose words equal those of a better one, `empty` those without words, which are always kept. `capped` counts the
    buckets of alike sketches that were too large to pair whole: 0 unless a corpus is very repetitive.
    """

    ids: tuple[str, ...]
    clusters: Clusters
    pairs: Pairs
    threshold: float
    exact: int
    empty: int
    candidates: int
    capped: int
    seconds: dict[str, float] = field(repr=False)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def kept(self) -> Rows:
        """Rows to keep, ascending."""
        return np.flatnonzero(self.clusters.kept)

    @property
    def dropped(self) -> list[Dropped]:
        """Rows that can go, ascending, each with the one that explains it."""
        keeper, similarity = self.clusters.keeper, self.clusters.similarity
        rows = np.flatnonzero(~self.clusters.kept)
        return [Dropped(int(row), int(keeper[row]), float(similarity[row])) for row in rows]

    def summary(self) -> str:
        """What a person wants to know first, in a few lines."""
        _, sizes = self.clusters.sizes()
        gone = len(self) - len(self.kept)
        share = gone / len(self) if len(self) else 0.0
        largest = f", the largest of {sizes.max()}" if len(sizes) else ""
        lines = [
            f"{len(self):,} documents: {len(self.kept):,} kept, {gone:,} can go ({share:.1%})",
            f"  {self.exact:,} have the same words as another, {gone - self.exact:,} are near-duplicates "
            f"(Jaccard >= {self.threshold:g})",
            f"  {len(sizes):,} clusters{largest}; {len(self.pairs):,} pairs verified of {self.candidates:,} candidates",
        ]
        if self.empty:
            lines.append(f"  {self.empty:,} have no words and were left alone")
        if self.capped:
            lines.append(
                f"  {self.capped:,} buckets of alike documents were too large to compare pair by pair"
            )
        return "\n".join(lines)


def dedup(
    documents: Texts,
    *,
    threshold: float = 0.8,
    floor: float | None = None,
    recall: float = 0.99,
    features: Shingles | None = None,
    keep: Literal["longest", "first", "last"] = "longest",
    threads: int = 1,
) -> Result:
    """Find duplicates and near-duplicates: documents that share `threshold` of their word shingles.

    Stages: equal words by digest; MinHash bands chosen for the threshold and the recall; every candidate verified by
    its exact Jaccard similarity, and kept down to `floor`; then the best-ranked document of each cluster stays and
    every other one is similar to it, not merely to a chain that leads there. Nothing is changed or written.
    """
    check_threads(threads)
    shingles = features if features is not None else Shingles()
    if not isinstance(shingles, Shingles) or shingles.select is not None:
        raise ConfigError("dedup compares whole sets of word shingles: give Shingles without a selection")
    verify = Jaccard(threshold, floor)
    bands = LSH.for_threshold(verify.least, recall, values=_values(verify.least))
    clock = _Clock()
    documents = documents if hasattr(documents, "__len__") else list(documents)
    ids, texts = _ids(documents), raw_texts(documents)
    rank = rank_by(np.fromiter(map(len, texts), np.int64, len(texts)), keep)
    clock.lap("read")

    digests = digest(texts, normalized=shingles.normalize.without_words(), threads=threads)
    first = _collapse(digests.digests, digests.empty, rank)
    clock.lap("exact")

    distinct = np.flatnonzero(first == np.arange(len(texts)))
    sketches = fingerprint([texts[row] for row in distinct], shingles, MinHash(bands.values), threads=threads)
    clock.lap("sketch")

    candidates = bands.candidates(sketches, rank=rank[distinct], threads=threads)
    clock.lap("candidates")

    pairs = _verify(candidates, texts, distinct, shingles, verify, threads)
    clock.lap("verify")

    found = cluster(pairs.at_least(threshold), len(distinct), rank[distinct])
    clusters = _expand(found, distinct, first)
    clock.lap("cluster")
    return Result(
        ids=ids,
        clusters=clusters,
        pairs=Pairs.of(distinct[pairs.left], distinct[pairs.right], pairs.similarity),
        threshold=threshold,
        exact=len(texts) - len(distinct),
        empty=int(digests.empty.sum()),
        candidates=len(candidates),
        capped=candidates.capped,
        seconds=clock.seconds,
    )


class _Clock:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage], self._last = now - self._last, now


def _values(threshold: float) -> int:
    """MinHash values to spend: lower thresholds need more bands for the same recall."""
    return 128 if threshold >= 0.75 else 256 if threshold >= 0.6 else 512


def _ids(documents: Iterable[object]) -> tuple[str, ...]:
    return tuple(d.id if isinstance(d, Document) else str(row) for row, d in enumerate(documents))


def _collapse(digests: NDArray[np.uint8], empty: NDArray[np.bool_], rank: Rows) -> Rows:
    """For each row the best-ranked row with the same digest; itself if it is alone or empty."""
    rows = np.arange(len(digests))
    words = np.ascontiguousarray(digests).view(np.uint64)
    order = np.lexsort((rank, words[:, 1], words[:, 0]))
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (words[order[1:]] != words[order[:-1]]).any(axis=1)
    first = np.empty(len(order), np.int64)
    first[order] = order[np.maximum.accumulate(np.where(fresh, np.arange(len(order)), 0))]
    first[empty] = rows[empty]
    return first


def _verify(
    candidates: BandCandidates,
    texts: list[str | bytes],
    distinct: Rows,
    shingles: Shingles,
    verify: Jaccard,
    threads: int,
) -> Pairs:
    """Features are made for the documents that met a candidate, and for no others."""
    met = np.unique(np.concatenate([candidates.left, candidates.right]))
    features = shingles.extract([texts[distinct[row]] for row in met], threads=threads)
    local = _Columns(np.searchsorted(met, candidates.left), np.searchsorted(met, candidates.right))
    pairs = verify.check(local, features, threads=threads)
    return Pairs(met[pairs.left], met[pairs.right], pairs.similarity)


@dataclass(frozen=True)
class _Columns:
    left: Rows
    right: Rows


def _expand(found: Clusters, distinct: Rows, first: Rows) -> Clusters:
    """Clusters of distinct documents, with those of the same words put back beside their best one."""
    rows = np.arange(len(first))
    place = np.zeros(len(rows), np.int64)
    place[distinct] = np.arange(len(distinct))
    keeper = distinct[found.keeper[place[first]]]
    similarity = found.similarity[place[first]]
    labels = rows.copy()
    np.minimum.at(labels, keeper, rows)
    return Clusters(labels[keeper], keeper, similarity)
