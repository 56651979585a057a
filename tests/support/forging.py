"""Words that have the 64-bit hash of another word, for a seed that is known: what an attacker makes in seconds.

XXH3 of 64 bytes is the sum of four hashes of 16 bytes each, mixed by a step that can be turned back. So a word of 64
letters is found by Wagner's algorithm: four lists of random parts, of which two pairs of lists are joined on 21 bits of
their sums, and the sums on all 64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup import _core

__all__ = ["forged_text", "forged_word"]

Words = NDArray[np.uint64]
_SECRET = (
    0xBE4BA423396CFEB8, 0x1CAD21F72C81017C, 0xDB979083E96DD4DE, 0x1F67B3B7A4A44072, 0x78E5C0CC4EE679CB,
    0x2172FFCC7DD05A82, 0x8E2443F7744608B8, 0x4C263A81E69035E0,
)  # fmt: skip
_PRIME = 0x9E3779B185EBCA87
_MASK = (1 << 64) - 1
_LIST, _BITS = 1 << 21, 21


def _mixed(parts: Words, secret: int, seed: int) -> Words:
    """XXH3's hash of 16 bytes, of many at a time."""
    keys = np.array([(_SECRET[secret] + seed) & _MASK, (_SECRET[secret + 1] - seed) & _MASK], np.uint64)
    a, b = (parts ^ keys).T
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    ll, lh, hl = (a & low) * (b & low), (a & low) * (b >> half), (a >> half) * (b & low)
    middle = (ll >> half) + (lh & low) + (hl & low)
    high = (a >> half) * (b >> half) + (lh >> half) + (hl >> half) + (middle >> half)
    return (a * b) ^ high


def _before_avalanche(hash_: int) -> int:
    """What XXH3 mixes into this hash in its last step."""
    hash_ ^= hash_ >> 32
    hash_ = hash_ * pow(0x165667919E3779F9, -1, 1 << 64) & _MASK
    return hash_ ^ hash_ >> 37


def _pairs(one: Words, two: Words, end: int) -> tuple[Words, NDArray[np.int64], NDArray[np.int64]]:
    """Sums of two lists that end in these bits, with the places that make them."""
    mask = np.uint64((1 << _BITS) - 1)
    order = np.argsort(two & mask, kind="stable")
    ends = (two & mask)[order]
    wanted = (np.uint64(end) - one) & mask
    first, last = (np.searchsorted(ends, wanted, side) for side in ("left", "right"))
    many = last - first
    left = np.repeat(np.arange(len(one)), many)
    place = np.arange(len(left)) - np.repeat(np.cumsum(many) - many, many) + np.repeat(first, many)
    right = order[place]
    return one[left] + two[right], left, right


def forged_word(word: str, seed: int, draw: int = 0) -> str:
    """64 letters with the hash that the word has under this seed; other draws give other letters."""
    target = (_before_avalanche(int(_core.hash_bytes(word.encode(), seed))) - 64 * _PRIME) & _MASK
    made = np.random.default_rng(draw)
    letters = [made.integers(97, 123, (_LIST, 16), np.uint8) for _ in range(4)]
    # The parts in the order of the text: the keys of the last two come the other way round.
    sums = [
        _mixed(part.view(np.uint64), 2 * key, seed) for part, key in zip(letters, (0, 2, 3, 1), strict=True)
    ]
    for end in range(1 << 10):
        one, a, b = _pairs(sums[0], sums[1], end)
        two, c, d = _pairs(sums[2], sums[3], target - end & _MASK)
        order = np.argsort(one)
        place = np.minimum(np.searchsorted(one[order], np.uint64(target) - two), len(one) - 1)
        found = np.flatnonzero(one[order][place] == np.uint64(target) - two)
        if len(found):
            i, j = order[place[found[0]]], found[0]
            chosen = (letters[0][a[i]], letters[1][b[i]], letters[2][c[j]], letters[3][d[j]])
            forged = b"".join(part.tobytes() for part in chosen).decode()
            assert _core.hash_bytes(forged.encode(), seed) == _core.hash_bytes(word.encode(), seed)
            return forged
    raise AssertionError("no word in this draw")


def forged_text(text: str, forged: dict[str, str]) -> str:
    """A text whose every word was replaced by its forged one, where there is one."""
    return " ".join(forged.get(word, word) for word in text.split())
