"""Candidate pairs in a shuffle: grouped by their later row, each once, with all earlier rows it is paired with.

The rows that are paired with one row are its neighbours. In a group of similar documents the first neighbour is mostly
the same for all of them: it is the label by which pairs are verified together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from neardup.spark.packed import binary, flat, part_of, runs, split

__all__ = ["BUNDLES", "NEIGHBOURS", "PairBundles", "Sieve", "bundled", "neighbours", "pairs_of"]

BUNDLES = "part int, rights binary, counts binary, lefts binary"
NEIGHBOURS = "right bigint, label bigint, lefts binary"
_HELD = 1 << 20  # pairs held before they are put into bundles
_MERGED = 1 << 23  # pairs gathered before repeats among them are dropped
_LEFTS = 1 << 16  # neighbours in one row
Longs = NDArray[np.int64]


def unique(left: Longs, right: Longs) -> tuple[Longs, Longs]:
    """Pairs in the order of (right, left), each once."""
    if len(left) and max(int(left.max()), int(right.max())) < 1 << 32:
        packed = np.unique(right.astype(np.uint64) << np.uint64(32) | left.astype(np.uint64))
        return (packed & np.uint64(0xFFFFFFFF)).astype(np.int64), (packed >> np.uint64(32)).astype(np.int64)
    order = np.lexsort((left, right))
    left, right = left[order], right[order]
    fresh = np.ones(len(left), np.bool_)
    fresh[1:] = (left[1:] != left[:-1]) | (right[1:] != right[:-1])
    return left[fresh], right[fresh]


def _begins(right: Longs) -> Longs:
    """Where each row begins in a sorted column, with the end as last number."""
    change = np.flatnonzero(right[1:] != right[:-1]) + 1
    return np.concatenate([[0], change, [len(right)]]) if len(right) else np.zeros(1, np.int64)


@dataclass
class PairBundles:
    """Collects pairs in any order and makes bundles by the part of their later row."""

    parts: int
    _held: list[tuple[Longs, Longs]] = field(default_factory=list)
    _count: int = 0

    def add(self, left: Longs, right: Longs) -> Iterator[pa.RecordBatch]:
        self._held.append((np.minimum(left, right), np.maximum(left, right)))
        self._count += len(left)
        if self._count >= _HELD:
            yield from self.end()

    def end(self) -> Iterator[pa.RecordBatch]:
        """Bundles of the pairs that are still held."""
        if not self._count:
            return
        left, right = unique(*(np.concatenate(side) for side in zip(*self._held, strict=True)))
        self._held, self._count = [], 0
        order, ends = split(part_of(right, self.parts), self.parts)
        left, right = left[order], right[order]
        part = np.flatnonzero(np.diff(ends))
        begins = _begins(right)
        # Rows are sorted by part, and a row belongs to one part only.
        rows = np.searchsorted(begins[:-1], np.append(ends[part], len(right)))
        yield pa.record_batch(
            [
                pa.array(part.astype(np.int32)),
                binary(right[begins[:-1]], rows),
                binary(np.diff(begins), rows),
                binary(left, np.append(ends[part], len(left))),
            ],
            ["part", "rights", "counts", "lefts"],
        )


@dataclass(frozen=True)
class _Bundled:
    parts: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        made = PairBundles(self.parts)
        for batch in batches:
            sides = (batch.column(name).to_numpy(zero_copy_only=False) for name in ("left", "right"))
            yield from made.add(*sides)
        yield from made.end()


def bundled(pairs: DataFrame, parts: int) -> DataFrame:
    """Pairs (left, right) as BUNDLES."""
    return pairs.select("left", "right").mapInArrow(_Bundled(parts), BUNDLES)


def unbundled(batch: pa.RecordBatch) -> tuple[Longs, Longs]:
    """The pairs of some bundles."""
    rights, _ = flat(batch.column("rights"), np.int64)
    counts, _ = flat(batch.column("counts"), np.int64)
    lefts, _ = flat(batch.column("lefts"), np.int64)
    return lefts, np.repeat(rights, counts)


@dataclass(frozen=True)
class Sieve:
    """Keeps the pairs that contain one of these rows, or (without `holding`) those that do not."""

    rows: Any  # a broadcast column, sorted
    holding: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        known: Longs = self.rows.value
        for batch in batches:
            for row in range(batch.num_rows):
                one = batch.slice(row, 1)
                left, right = unbundled(one)
                found = _among(left, known) | _among(right, known)
                if not found.any():
                    if not self.holding:
                        yield one
                    continue
                chosen = found if self.holding else ~found
                left, right = left[chosen], right[chosen]
                if len(left):
                    yield _bundle(one.column("part"), left, right)


def _among(rows: Longs, known: Longs) -> NDArray[np.bool_]:
    at = np.minimum(np.searchsorted(known, rows), len(known) - 1)
    return np.asarray(known[at] == rows)


def _bundle(part: pa.Array, left: Longs, right: Longs) -> pa.RecordBatch:
    begins = _begins(right)
    whole = np.array([0, len(begins) - 1])
    return pa.record_batch(
        [
            part,
            binary(right[begins[:-1]], whole),
            binary(np.diff(begins), whole),
            binary(left, np.array([0, len(left)])),
        ],
        ["part", "rights", "counts", "lefts"],
    )


@dataclass(frozen=True)
class _Gather:
    """Makes NEIGHBOURS of bundles that are sorted by part, without pairs of two rows below `reference`."""

    reference: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        none = np.empty(0, np.int64)
        part, lefts, rights, count, kept = None, [none], [none], 0, 0
        for (here,), batch in runs(batches, "part"):
            if here != part:
                yield from _rows(np.concatenate(lefts), np.concatenate(rights))
                part, lefts, rights, count, kept = here, [none], [none], 0, 0
            left, right = unbundled(batch)
            if self.reference:
                counts = right >= self.reference
                left, right = left[counts], right[counts]
            lefts.append(left)
            rights.append(right)
            count += len(left)
            if count > 2 * kept + _MERGED:
                left, right = unique(np.concatenate(lefts), np.concatenate(rights))
                lefts, rights, count, kept = [left], [right], len(left), len(left)
        yield from _rows(np.concatenate(lefts), np.concatenate(rights))


def _rows(left: Longs, right: Longs) -> Iterator[pa.RecordBatch]:
    if not len(left):
        return
    left, right = unique(left, right)
    begins = _begins(right)
    counts = np.diff(begins)
    label, starts = left[begins[:-1]], begins[:-1]
    if counts.max() > _LEFTS:  # then they are split into several rows
        label = np.repeat(label, -(-counts // _LEFTS))
        starts = np.concatenate([np.arange(a, b, _LEFTS) for a, b in pairwise(begins.tolist())])
    ends = np.append(starts, len(left))
    # A column of bytes holds less than 2 GiB, and a part of pairs may be larger.
    cuts = np.flatnonzero(np.diff(starts // _MERGED)) + 1
    for a, b in pairwise([0, *cuts.tolist(), len(starts)]):
        some = left[ends[a] : ends[b]]
        yield pa.record_batch(
            [pa.array(right[starts[a:b]]), pa.array(label[a:b]), binary(some, ends[a : b + 1] - ends[a])],
            ["right", "label", "lefts"],
        )


def neighbours(bundles: DataFrame, partitions: int, reference: int = 0) -> DataFrame:
    """The pairs of BUNDLES, each once, as NEIGHBOURS; the result does not depend on how they were bundled. Two rows
    below `reference` are not a pair."""
    placed = bundles.repartition(partitions, "part").sortWithinPartitions("part")
    return placed.mapInArrow(_Gather(reference), NEIGHBOURS)


def _spelled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        left, ends = flat(batch.column("lefts"), np.int64)
        right = np.repeat(batch.column("right").to_numpy(zero_copy_only=False), np.diff(ends))
        yield pa.record_batch([pa.array(left), pa.array(right)], ["left", "right"])


def pairs_of(rows: DataFrame) -> DataFrame:
    """NEIGHBOURS as single pairs: left, right."""
    return rows.select("right", "lefts").mapInArrow(_spelled, "left bigint, right bigint")
