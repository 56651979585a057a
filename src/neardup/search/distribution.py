"""How stored codes are distributed: check it before you use designs that assume uniform codes.

Manku, Jain and Das Sarma 2007, section 4.2 and figure 2: the places of the highest differing bits of
successive codes (clusters make the low places heavy), codes in equal intervals, and the codes shared by most
rows (empty pages, error pages, login pages).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import e, log2

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.codes import rows_and_words
from neardup.search.disk.segments import Chunk, StoredCodes, words_of
from neardup.values.checks import checked

__all__ = ["CodeDistribution", "code_distribution", "entropy_bound", "predicted_bits"]

_CHUNK = 1 << 20


@dataclass(frozen=True)
class CodeDistribution:
    """Columns about `count` codes of `bits` bits.

    `leading[h]` counts pairs of successive codes whose highest differing bit is h, the last entry equal ones.
    `buckets[i]` counts codes in the i-th of equal intervals of all codes there are. `spike_codes[j]`, one of
    the most frequent, is shared by `spike_rows[j]` rows, most first.
    """

    bits: int
    count: int
    leading: NDArray[np.uint64]
    buckets: NDArray[np.int64]
    spike_codes: NDArray[np.uint64]
    spike_rows: NDArray[np.int64]

    @property
    def uniform_leading(self) -> NDArray[np.float64]:
        """What `leading` would be if the codes were uniform: it falls by half to either side of its peak."""
        return _uniform_leading(self.bits, self.count)

    @property
    def entropy(self) -> float:
        """Bits that the places of the highest differing bits take at least, a code (3.25 when uniform)."""
        share = self.leading[self.leading > 0] / max(int(self.leading.sum()), 1)
        return float(-(share * np.log2(share)).sum())

    @property
    def compressed_bits(self) -> float:
        """Bits a code would take compressed, without the padding and whole codes of blocks."""
        total = max(int(self.leading.sum()), 1)
        below = float((self.leading[:-1] * np.arange(self.bits)).sum()) / total
        return self.entropy + below


@checked
def code_distribution(
    codes: StoredCodes | Codes, *, buckets: int = 128, spikes: int = 10
) -> CodeDistribution:
    """Look at all codes of a segment, a chunk at a time, or at codes in memory, empty documents left out."""
    if buckets < 1 or buckets & (buckets - 1) or buckets > 1 << 16:
        raise ConfigError(f"buckets must be a power of two up to 65,536, got {buckets}")
    if spikes < 0:
        raise ConfigError(f"spikes must not be negative, got {spikes}")
    bits = codes.bits
    shift = np.uint64((bits - 1) % 64 + 1 - (buckets.bit_length() - 1))
    counts = np.zeros(buckets, np.int64)
    leading = np.zeros(bits + 1, np.uint64)
    count = 0
    top = _Spikes(spikes, bits)
    last = np.empty((0, words_of(bits)), np.uint64)
    for chunk in _chunks(codes):
        if buckets > 1:
            counts += np.bincount((chunk.codes[:, -1] >> shift).astype(np.int64), minlength=buckets)
        else:
            counts += len(chunk.codes)
        leading += _core.leading_counts(np.concatenate([last, chunk.codes]), bits)
        top.add(chunk.codes)
        count += len(chunk.codes)
        last = chunk.codes[-1:]
    return CodeDistribution(bits, count, leading, counts, *top.finish())


@checked
def entropy_bound(bits: int, count: float) -> float:
    """Bits a code that no lossless form of `count` uniform codes in order can beat (erratum E43).

    8 billion codes of 64 bits need 32.4 of them, so the paper's "less than 32 GB" is possible only for clustered codes.
    """
    return max(bits - log2(max(count, 1)) + log2(e), 0.0)


@checked
def predicted_bits(bits: int, count: float, block: int = 1024) -> float:
    """Bits a code takes in compressed blocks if the `count` codes are uniform; measured ones are within .5 %."""
    leading = _uniform_leading(bits, count)
    share = leading / max(leading.sum(), 1e-300)
    words = _core.huffman_lengths(np.ceil(share * 2.0**40).astype(np.uint64))
    below = np.append(np.arange(bits), 0)
    code = float((share * (words + below)).sum())
    # The first code of a block is whole, and half a code does not fit at its end.
    return 8 * block / (1 + (8 * block - bits - code / 2) / code)


def _uniform_leading(bits: int, count: float) -> NDArray[np.float64]:
    # The top p bits of two successive codes differ once for each of the 2^p prefixes that occur, but the first.
    prefixes = np.ldexp(1.0, np.arange(bits + 1))
    distinct = -prefixes * np.expm1(-count / prefixes)
    return np.append(np.diff(distinct)[::-1], max(count - distinct[-1], 0.0))


def _chunks(codes: StoredCodes | Codes) -> Iterator[Chunk]:
    if not isinstance(codes, Codes):
        yield from codes.chunks(_CHUNK)
        return
    words = rows_and_words(codes, codes.bits)[1]
    if len(words):
        yield Chunk(*_core.sort_codes(words, np.arange(len(words))))


class _Spikes:
    """The most frequent of ascending codes. The last code of a chunk may continue in the next one."""

    def __init__(self, most: int, bits: int) -> None:
        self._most = most
        self._codes = np.empty((0, words_of(bits)), np.uint64)
        self._rows = np.empty(0, np.int64)
        self._open_code, self._open_rows = self._codes, 0

    def add(self, codes: NDArray[np.uint64]) -> None:
        """Count one more chunk."""
        if not len(codes):
            return
        fresh = np.ones(len(codes), bool)
        fresh[1:] = (codes[1:] != codes[:-1]).any(axis=1)
        starts = np.flatnonzero(fresh)
        distinct, rows = codes[starts], np.diff(np.append(starts, len(codes)))
        if len(self._open_code) and (self._open_code == distinct[:1]).all():
            rows[0] += self._open_rows
        else:
            self._keep(self._open_code, np.full(len(self._open_code), self._open_rows))
        self._keep(distinct[:-1], rows[:-1])
        self._open_code, self._open_rows = distinct[-1:], int(rows[-1])

    def finish(self) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """The codes and how many rows have them, most first, then the lower code."""
        self._keep(self._open_code, np.full(len(self._open_code), self._open_rows))
        return self._codes, self._rows

    def _keep(self, codes: NDArray[np.uint64], rows: NDArray[np.int64]) -> None:
        codes = np.concatenate([self._codes, codes])
        rows = np.concatenate([self._rows, rows])
        order = np.lexsort((*codes.T, -rows))[: self._most]
        self._codes, self._rows = codes[order], rows[order]
