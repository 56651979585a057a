"""Rotate, sort, compare neighbours: codes that differ only in low bits are neighbours when sorted, and each
bit is a low one in some rotation.

A heuristic without any guarantee of recall: two codes within the radius are found only if in at least one rotation
no other code sorts between them (or few, with a wider window). O(rotations * rows * log rows).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError
from neardup.fingerprints.fingerprints import Codes
from neardup.search.codes import check_codes, width_for
from neardup.search.collapse import collapse
from neardup.search.hamming.method import HammingMethod
from neardup.search.interface import Candidates
from neardup.values.checks import check_fields, checked_methods

__all__ = ["Adjacent", "rotate"]


@checked_methods
@dataclass(frozen=True)
class Adjacent(HammingMethod):
    """Pairs within `radius` of codes that sort within `window` places of each other in some rotation.

    Codes may have any width from 1 to 128 bits; `bits` is the one to insist on, if any. `rotations` is how
    many turns to try, spread evenly over the width; by default every one. Equal codes are collapsed first, so
    that they do not fill the window.

    >>> import neardup as nd
    >>> texts = ["the ferry leaves at eight", "The ferry leaves, at eight!", "a recipe for a cake"]
    >>> codes = nd.fingerprint(texts, nd.Words(), nd.Simhash())
    >>> nd.search.Adjacent(radius=3).candidates(codes).distance.tolist()
    [0]
    """

    radius: int = 3
    bits: int | None = None
    window: int = 1
    rotations: int | None = None

    finds_all = False

    def __post_init__(self) -> None:
        check_fields(self)
        self._check(128 if self.bits is None else self.bits)

    def _check(self, bits: int) -> None:
        """Raise ConfigError unless the settings fit codes of this width."""
        if not 1 <= bits <= 128:
            raise ConfigError(f"codes have from 1 to 128 bits, not {bits}")
        if not 0 <= self.radius <= bits:
            raise ConfigError(f"radius must be from 0 to {bits} bits, not {self.radius}")
        if self.window < 1:
            raise ConfigError(f"window must be at least 1 place, not {self.window}")
        if self.rotations is not None and not 1 <= self.rotations <= bits:
            raise ConfigError(f"rotations must be from 1 to {bits}, not {self.rotations}")

    def candidates(self, codes: Codes, *, threads: int = 1) -> Candidates:
        """The pairs of first rows it finds, and each repeat with its first row; see Join.candidates."""
        bits = width_for(codes, self.bits)
        self._check(bits)
        words = check_codes(codes, bits)
        groups = collapse(codes, threads=threads)
        rows = groups.first_rows
        words = np.ascontiguousarray(words[rows])
        left, right, distance = groups.links()
        turns = self.rotations or bits
        # A distance costs less than looking a pair up in a set, so every pair is compared. Only pairs within the radius
        # are collected, and those of several rotations become one at the end.
        found = [(left, right, distance)]
        for turn in range(turns):
            order = sort_order(rotate(words, bits, turn * bits // turns))
            sorted_words, sorted_rows = words[order], rows[order]
            for step in range(1, min(self.window, len(rows) - 1) + 1):
                apart = _core.distances(sorted_words[:-step], sorted_words[step:])
                near = apart <= self.radius
                found.append((sorted_rows[:-step][near], sorted_rows[step:][near], apart[near]))
        left, right, distance = (np.concatenate(columns) for columns in zip(*found, strict=True))
        return Candidates.of(left, right, distance)


def rotate(words: NDArray[np.uint64], bits: int, by: int) -> NDArray[np.uint64]:
    """Codes of this width with every bit moved `by` places up, the highest ones coming in below."""
    by %= bits
    if by == 0:
        return words
    if bits <= 64:
        mask = np.uint64((1 << bits) - 1)
        return (words << np.uint64(by) | words >> np.uint64(bits - by)) & mask
    turned = _shift(words, by) | _shift(words, by - bits)
    turned[:, 1] &= np.uint64((1 << (bits - 64)) - 1)
    return turned


def _shift(words: NDArray[np.uint64], up: int) -> NDArray[np.uint64]:
    """Two-word codes moved up (down when negative) by fewer than 128 places; what leaves 128 bits is lost."""
    out = np.zeros_like(words)
    near, far = (0, 1) if up >= 0 else (1, 0)
    whole, part = divmod(abs(up), 64)
    shift, back = (np.left_shift, np.right_shift) if up >= 0 else (np.right_shift, np.left_shift)
    if whole:
        out[:, far] = shift(words[:, near], np.uint64(part))
        return out
    out[:, near] = shift(words[:, near], np.uint64(part))
    out[:, far] = shift(words[:, far], np.uint64(part))
    if part:
        out[:, far] |= back(words[:, near], np.uint64(64 - part))
    return out


def sort_order(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The order that sorts codes as numbers, equal ones by row."""
    if words.shape[1] == 1:
        return np.argsort(words[:, 0], kind="stable")
    return np.lexsort((words[:, 0], words[:, 1]))
