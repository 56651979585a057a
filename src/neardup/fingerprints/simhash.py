"""Simhash: similar feature vectors get codes that differ in few bits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError
from neardup.features import Features
from neardup.features.shingles import TextFeatures
from neardup.fingerprints.fingerprints import Codes
from neardup.fingerprints.printer import Printer, Reading
from neardup.values.checks import check_fields, checked_methods

__all__ = ["Simhash"]


@checked_methods
@dataclass(frozen=True)
class Simhash(Printer):
    """Codes of 32, 64 or 128 bits whose distance follows the angle between weighted feature vectors.

    Every feature votes with its weight on every bit. `tie` decides a bit without a majority: "ge" makes it 1 (Sood
    and Loguinov), "gt" makes it 0 (Manku and others). `gaussian` draws votes from N(0, 1) instead of {-1, +1}; then
    P(bit differs) is exactly angle / pi. `margins` is the form in which the votes are stored: "full", "bytes",
    "ranks" (the `ranks` weakest bits) or "none"; it does not change the codes, so it is not part of the scheme.

    >>> import neardup as nd
    >>> nd.fingerprint(["some text", "another text"], nd.Words(), nd.Simhash(64)).codes.shape
    (2, 1)
    """

    bits: int = 64
    tie: Literal["ge", "gt"] = "ge"
    gaussian: bool = False
    margins: Literal["full", "bytes", "ranks", "none"] = "full"
    ranks: int = 8

    makes = Codes

    def __post_init__(self) -> None:
        check_fields(self)
        if self.bits not in (32, 64, 128):
            raise ConfigError(f"simhash makes codes of 32, 64 or 128 bits, not {self.bits}")
        if self.tie not in ("ge", "gt"):
            raise ConfigError(f'tie is "ge" or "gt", not {self.tie!r}')
        if self.margins not in ("full", "bytes", "ranks", "none"):
            raise ConfigError(f'margins are "full", "bytes", "ranks" or "none", not {self.margins!r}')
        if not 1 <= self.ranks <= self.bits:
            raise ConfigError(f"ranks must be 1 to {self.bits}, not {self.ranks}")

    def with_margins(self) -> Simhash:
        """The same with full margins, or else with margins as bytes."""
        return self if self.firmness == "sizes" else replace(self, margins="bytes")

    @property
    def firmness(self) -> Literal["none", "order", "sizes"]:
        if self.margins in ("full", "bytes"):
            return "sizes"
        return "order" if self.margins == "ranks" else "none"

    def scheme(self, features: str) -> str:
        """The scheme of codes made from features of the given scheme."""
        gaussian = "yes" if self.gaussian else "no"
        return f"simhash{self.bits}/v1 tie={self.tie} gaussian={gaussian} | {features}"

    def native(self) -> tuple[int, _core.Tie, bool, _core.Margins, int]:
        """The same for the core: bits, tie, gaussian, margins, ranks."""
        return self.bits, _core.Tie[self.tie], self.gaussian, _core.Margins[self.margins], self.ranks

    def codes(
        self,
        features: str,
        empty: NDArray[np.bool_],
        columns: tuple[
            NDArray[np.uint64], NDArray[np.float32], NDArray[np.uint8], NDArray[np.float32], NDArray[np.uint8]
        ],
    ) -> Codes:
        """The codes that the core returned, with margins in the requested form."""
        codes, margins, margin_bytes, scales, ranks = columns
        return Codes(
            self.scheme(features),
            empty,
            bits=self.bits,
            codes=codes,
            margins=margins if self.margins == "full" else None,
            margin_bytes=margin_bytes if self.margins == "bytes" else None,
            margin_scales=scales if self.margins == "bytes" else None,
            ranks=ranks if self.margins == "ranks" else None,
        )

    def compute(self, features: Features, threads: int = 1) -> Codes:
        """The codes of all rows; exact, so the same for any order of features, threads and machine."""
        columns = _core.simhash(features.hashes, features.weights, features.offsets, *self.native(), threads)
        return replace(self.codes(features.scheme, features.empty, columns), replaced=features.replaced)

    def read(
        self, texts: _core.Texts, features: TextFeatures, threads: int = 1, digests: bool = True
    ) -> Reading:
        """Codes directly from text: the features of each document are dropped after use."""
        columns, facts = _core.simhash_texts(texts, features.recipe(texts), *self.native(), threads, digests)
        none, tokens, replaced, digest = facts
        empty = none.astype(np.bool_)
        codes = replace(self.codes(features.scheme, empty, columns), replaced=replaced)
        return Reading(codes, digest, empty, tokens, replaced)
