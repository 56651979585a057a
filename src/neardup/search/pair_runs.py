"""Pairs of many joins, each once: in memory while they fit, else in sorted runs on disk."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.values.distinct import distinct

__all__ = ["PairRuns", "pack_pairs", "unpack_pairs"]

Packed = NDArray[np.uint64]
Rows = NDArray[np.int64]


def pack_pairs(left: Rows, right: Rows) -> Packed:
    """Pairs of rows below 2**32 as one number each, the smaller row first; ascending, each once."""
    pairs = np.minimum(left, right).astype(np.uint64) << np.uint64(32)
    pairs |= np.maximum(left, right).astype(np.uint64)
    pairs.sort()
    if len(pairs) < 2:
        return pairs
    fresh = np.ones(len(pairs), np.bool_)
    np.not_equal(pairs[1:], pairs[:-1], out=fresh[1:])
    return pairs if fresh.all() else pairs[fresh]


def unpack_pairs(pairs: Packed) -> tuple[Rows, Rows]:
    """The rows of packed pairs."""
    return (pairs >> np.uint64(32)).astype(np.int64), (pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)


class PairRuns:
    """Packed pairs, unique and ascending. With a `folder`, at most about `most` of them are held in memory, and the
    rest in files of that folder, which `close` removes. The result is the same."""

    def __init__(self, folder: Path | None = None, most: int = 1 << 25) -> None:
        self._folder, self._most = folder, most
        self._name = f"pairs-{secrets.token_hex(4)}"  # several may be in one folder
        self._runs: list[
            Packed
        ] = []  # each more than twice as long as the next, so that a pair is merged few times
        self._files: list[Path] = []

    def add(self, pairs: Packed) -> None:
        """More pairs, ascending and unique among themselves."""
        self._runs.append(np.ascontiguousarray(pairs))
        while len(self._runs) > 1 and len(self._runs[-2]) <= 2 * len(self._runs[-1]):
            self._merge()
        if self._folder is not None and sum(map(len, self._runs)) > self._most:
            held = self._held
            if len(held) > self._most:
                path = self._folder / f"{self._name}-{len(self._files):04}.run"
                held.tofile(path)
                self._files.append(path)
                self._runs = []

    def _merge(self) -> None:
        last = self._runs.pop()
        self._runs[-1] = _core.merge_pairs(self._runs[-1], last)

    @property
    def _held(self) -> Packed:
        """All pairs in memory."""
        while len(self._runs) > 1:
            self._merge()
        return self._runs[0] if self._runs else np.empty(0, np.uint64)

    def chunks(self, most: int = 1 << 22) -> Iterator[Packed]:
        """All pairs in ascending order, about `most` at a time."""
        held = self._held
        if not self._files:
            for start in range(0, len(held), most):
                yield held[start : start + most]
            return
        # The mapping is used only to find where a chunk begins. Slices are read from the file, because mapped pages
        # would count as memory in use.
        runs: list[Packed] = [np.memmap(path, np.uint64, "r") for path in self._files]
        step = max(1, most // (2 * len(runs) + 2))
        samples = np.sort(np.concatenate([*(run[step - 1 :: step] for run in runs), held[step - 1 :: step]]))
        cuts = distinct(samples[:: max(1, most // step)])
        places = [np.concatenate([[0], np.searchsorted(run, cuts), [len(run)]]) for run in [*runs, held]]
        del runs
        for part in range(len(cuts) + 1):
            chunk = held[places[-1][part] : places[-1][part + 1]]
            for path, place in zip(self._files, places[:-1], strict=True):
                count = int(place[part + 1] - place[part])
                slice_ = np.fromfile(path, np.uint64, count, offset=8 * int(place[part]))
                chunk = _core.merge_pairs(chunk, slice_)
            if len(chunk):
                yield chunk

    def close(self) -> None:
        """Remove the files."""
        for path in self._files:
            path.unlink(missing_ok=True)
        self._files, self._runs = [], []
