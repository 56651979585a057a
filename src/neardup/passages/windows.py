"""Finds repeated windows of words out of core, verifies them word by word, and joins them to letters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.passages.token_file import TokenFile
from neardup.storage.spill import PARTITIONS, Columns, Spill
from neardup.values.seeds import Seed

__all__ = ["Letters", "repeated_windows"]

Places = NDArray[np.int64]
# Two different windows share a 64-bit hash in one of 4,000 corpora of 100 million words; then another hash is used.
_ATTEMPTS = (64, 64, 64, 64, 64, 64, 64, 64)
_LARGEST_PIECE = 4 << 20
_AT_ONCE = 1 << 19  # windows that are checked before the memory pages of their words are released


@dataclass(frozen=True)
class Letters:
    """Repeated stretches of the corpus as words of few letters (core/passages/windows.hpp), and the cut stretches.

    Letter i begins at word `starts[i]` of the corpus and covers `sizes[i]` windows; stretches are separated by
    negative letters of size 0, all different. `cuts` is [n, 2]: begins and ends, in words.
    """

    letters: Places
    starts: Places
    sizes: Places
    cuts: Places
    spilled: int


def repeated_windows(
    corpus: TokenFile,
    width: int,
    least: int,
    most: int | None,
    apart: bool,
    seed: Seed,
    memory: int,
    threads: int,
    folder: Path,
) -> Letters:
    """Windows of `width` words that occur at least `least` times, joined to letters.

    The result does not depend on the hash, the memory or the threads. In addition to `memory`, one bit for each word of
    the corpus and the letters are held in memory.
    """
    for attempt, bits in enumerate(_ATTEMPTS):
        search = _WindowSearch(corpus, width, apart, seed.value + attempt & (1 << 64) - 1, bits, threads)
        here = folder / f"attempt{attempt}"
        here.mkdir()
        candidates = search.candidates(memory, here)
        windows = search.group(candidates, least, memory, here)
        chains = _core.Chains(corpus.words, width)
        if search.verify(windows, chains):
            for places, firsts, counts in _in_order(windows, threads):
                chains.join(places, firsts, counts, most or 0)
            letters, starts, sizes, cuts = chains.take()
            return Letters(letters, starts, sizes, cuts, candidates.bytes_written + windows.bytes_written)
    raise AssertionError("eight different hashes collided")  # once in 10**24 corpora


class _WindowSearch:
    def __init__(
        self, corpus: TokenFile, width: int, apart: bool, seed: int, bits: int, threads: int
    ) -> None:
        self._corpus, self._width, self._apart = corpus, width, apart
        self._seed, self._bits, self._threads = seed, bits, threads

    def candidates(self, memory: int, folder: Path) -> Spill:
        """Hashes and places of the windows that may occur more than once; reads the words twice."""
        filter_ = _core.WindowFilter(_slot_bits(self._corpus.words, memory))
        size = max(1, min(_LARGEST_PIECE, memory // 256))
        for tokens, offsets, _, documents in self._corpus.pieces(size):
            filter_.mark(
                tokens, offsets, self._width, self._seed, self._apart, documents, self._bits, self._threads
            )
        found = Spill((np.uint64, np.int64), _by_hash, folder / "hashes", memory // 8)
        for tokens, offsets, place, documents in self._corpus.pieces(size):
            columns = filter_.collect(
                tokens,
                offsets,
                self._width,
                self._seed,
                self._apart,
                documents,
                self._bits,
                place,
                self._threads,
            )
            found.add(*columns)
        return found

    def group(self, candidates: Spill, least: int, memory: int, folder: Path) -> Spill:
        """Places of the repeated windows, each with its first place and its count."""
        words = max(self._corpus.words, 1)

        def by_place(columns: Columns) -> NDArray[np.int64]:
            partitions: NDArray[np.int64] = columns[0] * PARTITIONS // words
            return partitions

        found = Spill((np.int64, np.int64, np.int64), by_place, folder / "places", memory // 8)
        for hashes, places in candidates:
            found.add(*_core.group_windows(hashes, places, least, self._threads))
        return found

    def verify(self, windows: Spill, chains: _core.Chains) -> bool:
        """Whether every window equals the first one with its hash, word by word; also finds where chains end."""
        tokens, offsets = self._corpus.mapped(), self._corpus.offsets
        wrong = 0
        for places, firsts, counts in _in_order(windows, self._threads):
            for begin in range(0, len(places), _AT_ONCE):
                part = slice(begin, begin + _AT_ONCE)
                wrong += chains.check(places[part], firsts[part], counts[part], tokens)
                self._corpus.forget()
            if self._apart:
                rows, owners = (np.searchsorted(offsets, at, side="right") for at in (places, firsts))
                wrong += int((rows != owners).sum())
        return wrong == 0


def _slot_bits(words: int, memory: int) -> int:
    """Size of the filter: a quarter of the memory at two bits per slot, and at most sixteen slots per word."""
    return max(6, min(memory.bit_length() - 1, (words * 16).bit_length(), 40))


def _by_hash(columns: Columns) -> NDArray[np.uint64]:
    partitions: NDArray[np.uint64] = columns[0] >> np.uint64(56)
    return partitions


def _in_order(windows: Spill, threads: int) -> Iterator[tuple[Places, Places, Places]]:
    for places, firsts, counts in windows:
        yield _core.in_order(places, firsts, counts, threads)
