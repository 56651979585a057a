"""The interface of objects that make fingerprints, from features or directly from texts in one native pass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.features.features import Features
from neardup.features.shingles import TextFeatures
from neardup.features.weights import Frequencies
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.values.checks import checked_methods
from neardup.values.seeds import Seed

__all__ = ["Printer", "Reading", "read_words"]


@dataclass(frozen=True)
class Reading:
    """The result of one pass over texts: fingerprints (None if none were requested), `digests` uint64[n, 2] that are
    equal for equal tokens, `empty` for texts without features, and the number of `tokens` of each."""

    prints: Any  # the kind of Fingerprints that the printer makes
    digests: NDArray[np.uint64]
    empty: NDArray[np.bool_]
    tokens: NDArray[np.int64]
    replaced: int


@checked_methods
@dataclass(frozen=True, eq=False)
class Printer(ABC):
    """Makes fingerprints. A new subclass defines what it `makes`, its scheme, and how it computes them from
    features.

    >>> import neardup as nd
    >>> isinstance(nd.MinHash(), nd.fingerprints.Printer)
    True
    """

    makes: ClassVar[type[Fingerprints]]
    learns: ClassVar[bool] = False  # whether it must be fitted on the corpus first

    @abstractmethod
    def scheme(self, features: str) -> str:
        """The scheme of fingerprints made from features of the given scheme."""

    @abstractmethod
    def compute(self, features: Features, threads: int = 1) -> Fingerprints:
        """The fingerprints of all rows; the same for any order of features, threads and machine."""

    def read(
        self, texts: _core.Texts, features: TextFeatures, threads: int = 1, digests: bool = True
    ) -> Reading:
        """The fingerprints of texts, with digests if requested. A printer with a native pass overrides this."""
        prints = self.compute(features.extract(texts, threads=threads), threads)
        return replace(read_words(texts, features, threads, digests), prints=prints, empty=prints.empty)

    def with_margins(self) -> Printer | None:
        """The same, made with the size of the vote behind each bit; None if it has no votes."""
        return None

    @property
    def firmness(self) -> Literal["none", "order", "sizes"]:
        """What its fingerprints say about how firm each bit is: nothing, the order of the weakest, or the sizes."""
        return "none"

    def fit(self, frequencies: Frequencies) -> Printer:
        """The same, fitted on document frequencies."""
        return self

    def seeded(self, seed: int | Seed) -> Self:
        """The same with another seed, if it has one."""
        return replace(self, seed=seed) if any(f.name == "seed" for f in fields(self)) else self  # type: ignore[call-arg]

    @cached_property
    def blank(self) -> Fingerprints:
        """Fingerprints of no documents: they show which columns there are, and how wide each is."""
        none = Features(np.empty(0, np.uint64), np.empty(0, np.float32), np.zeros(1, np.int64), "")
        return self.compute(none)

    @property
    def width(self) -> int:
        """Size in bytes of the main column of one fingerprint, which an index stores."""
        column = self.blank.main
        return int(column.itemsize * column.shape[1])

    def restored(
        self, scheme: str, empty: NDArray[np.bool_], columns: Mapping[str, NDArray[Any]]
    ) -> Fingerprints:
        """Fingerprints from stored columns; columns that are not given are left out."""
        others: dict[str, Any] = dict.fromkeys(self.blank.columns())
        return replace(self.blank, scheme=scheme, empty=empty, **(others | dict(columns)))

    def from_bytes(self, scheme: str, data: bytes, empty: NDArray[np.bool_]) -> Fingerprints:
        """Fingerprints from their stored main column, one line of `width` bytes after the other."""
        like = self.blank.main
        column = np.frombuffer(data, like.dtype.newbyteorder("<")).reshape(-1, like.shape[1])
        return self.restored(scheme, empty, {self.makes.MAIN: column})


def read_words(
    texts: _core.Texts,
    features: TextFeatures,
    threads: int = 1,
    digests: bool = True,
    tally: _core.Tally | None = None,
) -> Reading:
    """Only digests and sizes. With a `tally`, the features of each document are counted, each once."""
    empty, tokens, replaced, made = _core.read_words(texts, features.recipe(texts), tally, threads, digests)
    return Reading(None, made, empty.astype(np.bool_), tokens, replaced)
