"""Selections: keep a sample of the features, chosen by hash, so that similar documents keep similar features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError
from neardup.values.checks import check_fields, checked_methods

__all__ = ["Modulo", "Selection", "Smallest", "Winnow"]


@checked_methods
@dataclass(frozen=True)
class Modulo:
    """Keep the features that are 0 modulo `modulus` (0 mod 4 in the lecture slides, 0 mod 16 in Mitzenmacher's notes).

    The sample grows with the document. If fewer than `floor` would be kept, the smallest others are added.

    >>> import neardup as nd
    >>> text = " ".join(str(number) for number in range(1000))
    >>> len(nd.Words(select=nd.features.Modulo(4)).extract([text]).hashes) < 350
    True
    """

    modulus: int
    floor: int = 0

    def __post_init__(self) -> None:
        check_fields(self)
        if self.modulus < 1 or self.floor < 0:
            raise ConfigError("Modulo: modulus must be at least 1 and floor at least 0")

    @property
    def scheme(self) -> str:
        return f"modulo{self.modulus},floor{self.floor}"

    def select(self, hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The selected features of one document, given its distinct features, in their order."""
        kept = hashes % np.uint64(self.modulus) == 0
        missing = self.floor - int(kept.sum())
        if missing > 0:
            others = np.flatnonzero(~kept)
            kept[others[np.argsort(hashes[others], kind="stable")[:missing]]] = True
        chosen: NDArray[np.uint64] = hashes[kept]
        return chosen


@checked_methods
@dataclass(frozen=True)
class Smallest:
    """Keep the `many` smallest features: a sample of bounded size, however long the document.

    >>> import neardup as nd
    >>> len(nd.Words(select=nd.features.Smallest(2)).extract(["the ferry leaves at eight"]).hashes)
    2
    """

    many: int

    def __post_init__(self) -> None:
        check_fields(self)
        if self.many < 1:
            raise ConfigError("Smallest: keep at least 1")

    @property
    def scheme(self) -> str:
        return f"smallest{self.many}"

    def select(self, hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The selected features of one document, given its distinct features, in their order."""
        kept = np.zeros(len(hashes), np.bool_)
        kept[np.argsort(hashes, kind="stable")[: self.many]] = True
        return hashes[kept]


@checked_methods
@dataclass(frozen=True)
class Winnow:
    """Keep the smallest feature of every `window` successive ones (Schleimer, Wilkerson, Aiken 2003).

    Gaps are bounded: two texts that share `window + width - 1` successive tokens keep a common feature.

    >>> import neardup as nd
    >>> text = " ".join(str(number) for number in range(1000))
    >>> 300 < len(nd.Shingles(5, select=nd.features.Winnow(4)).extract([text]).hashes) < 500
    True
    """

    window: int

    def __post_init__(self) -> None:
        check_fields(self)
        if self.window < 1:
            raise ConfigError("Winnow: the window must be at least 1")

    @property
    def scheme(self) -> str:
        return f"winnow{self.window}"

    def select(self, sequence: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The selected features of a document, given in the order of its text; each selected position once."""
        return _core.winnow(np.ascontiguousarray(sequence, np.uint64), self.window)


Selection: TypeAlias = Modulo | Smallest | Winnow
