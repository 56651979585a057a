"""Permuted tables compressed in memory: sections 3.1 and 3.2 of Manku, Jain and Das Sarma (2007) together.

Each table holds all codes with the bits of its key in front, sorted, in blocks of differences as the compressed files
have them (docs/reference/format.md). A query's key is looked up among the first codes of the blocks, and only those
blocks that can hold it are unpacked. Tables hold no rows: what is found is a code, and one map from codes to rows
serves all of them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup import _core

__all__ = ["CompressedTables"]

BLOCK = 1024  # bytes, as of the files
Words = NDArray[np.uint64]
Rows = NDArray[np.int64]


class _BitRun(NamedTuple):
    """Bits that are together before and after a permutation, within one word."""

    source: int
    target: int
    length: int


class _Permutation:
    """The bits under a mask in front, those of the key and the others each in their order."""

    def __init__(self, mask: int, bits: int) -> None:
        order = [j for j in range(bits) if not mask >> j & 1] + [j for j in range(bits) if mask >> j & 1]
        cuts = [0, *(t for t in range(1, bits) if self._apart(order, t)), bits]
        self.runs = [_BitRun(order[a], a, b - a) for a, b in pairwise(cuts)]
        self.key_bits = mask.bit_count()

    @staticmethod
    def _apart(order: list[int], target: int) -> bool:
        return order[target] != order[target - 1] + 1 or target % 64 == 0 or order[target] % 64 == 0

    def permute(self, codes: Words) -> Words:
        return self._moved(codes, self.runs)

    def restore(self, codes: Words) -> Words:
        return self._moved(codes, [_BitRun(target, source, length) for source, target, length in self.runs])

    @staticmethod
    def _moved(codes: Words, runs: list[_BitRun]) -> Words:
        out = np.zeros_like(codes)
        for source, target, length in runs:
            part = codes[:, source // 64] >> np.uint64(source % 64) & np.uint64((1 << length) - 1)
            out[:, target // 64] |= part << np.uint64(target % 64)
        return out


class CompressedTables:
    """The codes of a design in compressed tables, with the interface of the core's tables."""

    def __init__(
        self, words: Words, bits: int, radius: int, masks: list[int], rows: NDArray[np.uint32] | None
    ) -> None:
        numbers = np.arange(len(words), dtype=np.uint32) if rows is None else rows
        order = _ascending(words)
        ordered = words[order]
        fresh = np.ones(len(ordered), np.bool_)
        fresh[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
        self._radius = radius
        self._codes, self._rows = np.ascontiguousarray(ordered[fresh]), numbers[order]
        self._starts = np.append(np.flatnonzero(fresh), len(ordered)).astype(np.int64)
        self._places = [_Permutation(mask, bits) for mask in masks]
        self._tables = [_blocks_of(place.permute(self._codes), bits) for place in self._places]
        self.header_bits = [place.key_bits for place in self._places]

    @property
    def bytes(self) -> int:
        """The bytes of the blocks, and of the key and start of each."""
        return sum(size for _, size in self._tables)

    @property
    def row_bytes(self) -> int:
        return self._codes.nbytes + self._rows.nbytes + self._starts.nbytes

    def search(self, queries: Words, mode: _core.Mode, threads: int) -> tuple[Rows, Rows, NDArray[np.uint8]]:
        """Query, row and distance, by query and row; of mode first one a query at most, that of the first table."""
        query, group, distance = self._found(queries, mode == _core.Mode.first, threads)
        if mode == _core.Mode.first:
            return query, self._rows[self._starts[group]].astype(np.int64), distance
        size = self._starts[group + 1] - self._starts[group]
        begin = np.repeat(self._starts[group] - np.cumsum(size) + size, size)
        row = self._rows[begin + np.arange(len(begin))].astype(np.int64)
        query, distance = np.repeat(query, size), np.repeat(distance, size)
        order = np.lexsort((row, query))
        return query[order], row[order], distance[order]

    def search_groups(self, queries: Words, threads: int) -> tuple[Rows, Rows, NDArray[np.uint8], Rows]:
        """The lowest row of each code, and how many rows have it."""
        query, group, distance = self._found(queries, False, threads)
        begin = self._starts[group]
        lowest = np.minimum.reduceat(self._rows, self._starts[:-1]) if len(self._rows) else self._rows
        row = lowest[group].astype(np.int64)
        order = np.lexsort((row, query))
        return query[order], row[order], distance[order], (self._starts[group + 1] - begin)[order]

    def probes(self, queries: Words, threads: int) -> int:
        """Blocks that the lookups of these queries unpack."""
        return sum(
            int(table.search(place.permute(queries), place.key_bits, 0, threads=threads)[4])
            for place, (table, _) in zip(self._places, self._tables, strict=True)
        )

    def _found(self, queries: Words, first: bool, threads: int) -> tuple[Rows, Rows, NDArray[np.uint8]]:
        """Query, number of a distinct code, and distance: each pair once, by query and table."""
        parts = []
        for turn, (place, (table, _)) in enumerate(zip(self._places, self._tables, strict=True)):
            asked = place.permute(queries)
            query, _, distance, codes, _, damaged = table.search(
                asked, place.key_bits, self._radius, threads=threads
            )
            assert damaged < 0, "these blocks were never written to a file"
            group = _place_of(self._codes, place.restore(codes))
            parts.append((query, group, distance, np.full(len(query), turn)))
        query, group, distance, number = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        order = np.lexsort((number, group, query))
        query, group, distance, number = query[order], group[order], distance[order], number[order]
        fresh = np.ones(len(query), np.bool_)
        fresh[1:] = (query[1:] != query[:-1]) | (group[1:] != group[:-1])
        query, group, distance, number = query[fresh], group[fresh], distance[fresh], number[fresh]
        if first:
            order = np.lexsort((group, number, query))
            query, group, distance = query[order], group[order], distance[order]
            fresh = np.ones(len(query), np.bool_)
            fresh[1:] = query[1:] != query[:-1]
            query, group, distance = query[fresh], group[fresh], distance[fresh]
        return query, group, distance


def _ascending(words: Words) -> Rows:
    """The order of codes by their number, rows of equal ones ascending."""
    return np.lexsort(tuple(words[:, word] for word in range(words.shape[1])))


def _place_of(codes: Words, wanted: Words) -> Rows:
    """Where each of some codes is among ascending distinct ones."""
    if codes.shape[1] == 1:
        return np.searchsorted(codes[:, 0], wanted[:, 0])
    kind = np.dtype([("high", np.uint64), ("low", np.uint64)])

    def numbers(words: Words) -> NDArray[np.void]:
        return np.ascontiguousarray(words[:, ::-1]).view(kind).reshape(-1)

    return np.searchsorted(numbers(codes), numbers(wanted))


def _blocks_of(permuted: Words, bits: int) -> tuple[_core.CompressedBlocks, int]:
    """Codes as compressed blocks, and their bytes."""
    ordered = np.ascontiguousarray(permuted[_ascending(permuted)])
    lengths = _core.huffman_lengths(_core.leading_counts(ordered, bits))
    encoder = _core.BlockEncoder(bits, BLOCK, lengths)
    parts = [encoder.add(ordered), encoder.finish()]
    blocks, keys, starts = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    which = np.arange(len(starts), dtype=np.int64)
    sums = _core.block_checksums(blocks, BLOCK, 0, which, 1)
    table = _core.CompressedBlocks(bits, BLOCK, len(ordered), lengths, blocks, keys, starts, sums, 0)
    return table, blocks.nbytes + keys.nbytes + starts.nbytes + sums.nbytes
