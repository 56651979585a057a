"""Fingerprints: one compact column for each kind, with the scheme that made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError, DataError, SchemeError

__all__ = ["Codes", "Digests", "Fingerprints", "PackedSketches", "Sketches", "concatenate", "same_scheme"]

Kind = TypeVar("Kind", bound="Fingerprints")


@dataclass(frozen=True)
class Fingerprints:
    """The base of all kinds. `empty[i]` says that document i had no features and so has no fingerprint: its row holds
    zeros, which must never be compared. `replaced` counts the ill-formed UTF-8 sequences that were read as U+FFFD."""

    scheme: str
    empty: NDArray[np.bool_]
    replaced: int = field(default=0, kw_only=True)

    MAIN: ClassVar[str]
    """The column that is stored and compared, [n, width]."""

    def __len__(self) -> int:
        return len(self.empty)

    def take(self, rows: NDArray[np.int64] | slice) -> Self:
        """The fingerprints of some rows, in the given order."""
        changes: dict[str, Any] = {name: column[rows] for name, column in self._columns().items()}
        return replace(self, **changes)

    @property
    def main(self) -> NDArray[Any]:
        """The column named MAIN."""
        column: NDArray[Any] = getattr(self, self.MAIN)
        return column

    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns of the fingerprints themselves: all but `empty`."""
        columns = self._columns()
        del columns["empty"]
        return columns

    def _columns(self) -> dict[str, NDArray[Any]]:
        columns = {member.name: getattr(self, member.name) for member in fields(self)}
        return {name: value for name, value in columns.items() if isinstance(value, np.ndarray)}


@dataclass(frozen=True)
class Digests(Fingerprints):
    """Exact hashes: `digests` is uint8[n, bytes]."""

    digests: NDArray[np.uint8]

    MAIN: ClassVar[str] = "digests"


@dataclass(frozen=True)
class Codes(Fingerprints):
    """Bit codes, compared by Hamming distance: `codes` is uint64[n, words], bit j of a code is bit j % 64 of word j
    // 64; a 32-bit code uses the low half of its only word.

    The size of the vote behind each bit says how reliable the bit is. Votes may be stored in one of three forms:
    `margins`, float32[n, bits]; `margin_bytes`, uint8[n, bits], which multiplied by `margin_scales`, float32[n],
    gives their size (the sign is the bit); or `ranks`, uint8[n, r], the numbers of the r weakest bits, weakest first.
    """

    bits: int
    codes: NDArray[np.uint64]
    margins: NDArray[np.float32] | None = None
    margin_bytes: NDArray[np.uint8] | None = None
    margin_scales: NDArray[np.float32] | None = None
    ranks: NDArray[np.uint8] | None = None

    MAIN: ClassVar[str] = "codes"


@dataclass(frozen=True)
class PackedSketches(Fingerprints):
    """Sketches of b-bit MinHash: `packed` is uint8[n, bytes], the low `bits` bits of each of `values` values, lowest
    bit first."""

    bits: int
    values: int
    packed: NDArray[np.uint8]

    MAIN: ClassVar[str] = "packed"


@dataclass(frozen=True)
class Sketches(Fingerprints):
    """MinHash values: `values` is uint32[n, k]; the share of equal values estimates the Jaccard similarity."""

    values: NDArray[np.uint32]

    MAIN: ClassVar[str] = "values"

    def pack(self, bits: int, threads: int = 1) -> PackedSketches:
        """Keep only the low 1, 2, 4, 8 or 16 bits of each value: smaller, and noisier (Li and König 2010)."""
        if bits not in (1, 2, 4, 8, 16):
            raise ConfigError(f"a packed sketch keeps 1, 2, 4, 8 or 16 bits of each value, not {bits}")
        packed = _core.pack_low_bits(self.values, bits, threads)
        scheme = f"low{bits}/v1 | {self.scheme}"
        return PackedSketches(scheme, self.empty, bits=bits, values=self.values.shape[1], packed=packed)

    def code(self, bits: int = 64) -> Codes:
        """The 1-bit sketch of the first `bits` (64 or 128) values as a code, for Hamming search: two documents with
        similarity J differ in (1 - J) / 2 of the bits on average. It has no margins."""
        if bits not in (64, 128):
            raise ConfigError(f"a 1-bit sketch makes codes of 64 or 128 bits, not {bits}")
        if self.values.shape[1] < bits:
            raise ConfigError(f"{bits} bits need {bits} values, this sketch has {self.values.shape[1]}")
        codes = _core.one_bit_codes(self.values, bits)
        codes[self.empty] = 0
        return Codes(
            f"bits{bits}/v1 | {self.scheme}", self.empty, bits=bits, codes=codes, replaced=self.replaced
        )


def same_scheme(left: Fingerprints, right: Fingerprints) -> None:
    """SchemeError unless both have the same scheme."""
    if left.scheme != right.scheme:
        raise SchemeError(left.scheme, right.scheme)


def concatenate(parts: Sequence[Kind]) -> Kind:
    """Join fingerprints of the same scheme, row after row."""
    if not parts:
        raise DataError("there is nothing to concatenate")
    first = parts[0]
    columns = first._columns()
    for part in parts[1:]:
        same_scheme(first, part)
        if part._columns().keys() != columns.keys():
            raise DataError("these fingerprints keep their margins in different forms")
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in columns
    }
    return replace(first, replaced=sum(part.replaced for part in parts), **joined)
