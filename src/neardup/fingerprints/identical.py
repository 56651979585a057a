"""Finds identical texts in several ways: by comparison, or by a hash of the beginning, of all, or of some
positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError, DataError
from neardup.fingerprints.exact import Exact
from neardup.values.checks import check_fields, checked
from neardup.values.seeds import DEFAULT_SEED, Seed

__all__ = ["Identical", "identical"]

Way = Literal["characters", "prefix", "hash", "positions", "digest"]


@dataclass(frozen=True)
class Identical:
    """For each text the `first` row with an identical text, int64[n], and how many pairs of texts were `compared`
    character by character.

    >>> import neardup as nd
    >>> nd.fingerprints.identical(["a ferry", "a cake", "a ferry"]).first.tolist()
    [0, 1, 0]
    """

    first: NDArray[np.int64]
    compared: int

    def __post_init__(self) -> None:
        check_fields(self)


@checked
def identical(
    texts: Sequence[str | bytes],
    way: Way = "digest",
    *,
    many: int = 64,
    reach: int = 4096,
    algorithm: str = "sha256",
    seed: int | Seed = DEFAULT_SEED,
) -> Identical:
    """Which texts are the same, byte by byte in UTF-8.

    "characters" compares every text with all different texts before it: quadratic, the baseline for the others.
    "prefix" hashes the first `many` bytes, "positions" the bytes at `many` fixed random positions below `reach`; both
    then compare texts in the same bucket, so they are exact, and slow if all pages have the same beginning. "hash"
    (64 bits) and "digest" (`algorithm`) hash the whole text and compare nothing.

    way     "characters", "prefix", "positions", "hash" or "digest"
    seed    of the positions and of the hash
    raises  ConfigError for another way, or unless 1 <= `many` <= `reach`

    >>> import neardup as nd
    >>> found = nd.fingerprints.identical(["a ferry", "a cake", "a ferry"], "characters")
    >>> found.first.tolist(), found.compared
    ([0, 1, 0], 2)
    """
    if many < 1 or reach < many:
        raise ConfigError("many is 1 or more, and reach at least as much")
    if isinstance(texts, str | bytes):
        raise DataError("expected a column of texts, got one text; put it in a list: [text]")
    raw = [text.encode("utf-8", "surrogatepass") if isinstance(text, str) else bytes(text) for text in texts]
    number = Seed.of(seed).value
    exact = Exact(algorithm)
    keys: dict[str, Callable[[bytes], object]] = {
        "characters": lambda text: 0,
        "prefix": lambda text: _core.hash_bytes(text[:many], number),
        "positions": lambda text: _core.hash_bytes(_at(text, places), number),
        "hash": lambda text: _core.hash_bytes(text, number),
        "digest": exact.digest,
    }
    places = sorted(np.random.default_rng(number).choice(reach, many, replace=False).tolist())
    return _grouped(raw, keys[way], compare=way not in ("hash", "digest"))


def _at(text: bytes, places: list[int]) -> bytes:
    """The bytes at those positions that are inside the text."""
    return bytes(text[place] for place in takewhile(lambda place: place < len(text), places))


def _grouped(raw: list[bytes], key: Callable[[bytes], object], compare: bool) -> Identical:
    buckets: dict[object, list[int]] = {}
    first, compared = np.arange(len(raw), dtype=np.int64), 0
    for row, text in enumerate(raw):
        bucket = buckets.setdefault(key(text), [])
        for earlier in bucket:
            compared += compare
            if not compare or raw[earlier] == text:
                first[row] = earlier
                break
        else:
            bucket.append(row)
    return Identical(first, compared)
