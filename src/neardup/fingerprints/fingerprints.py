"""Fingerprints: one compact column for each kind, with the scheme that made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError, DataError, SchemeError
from neardup.values.checks import advise, check_fields, checked, checked_methods

__all__ = ["Codes", "Digests", "Fingerprints", "PackedSketches", "Sketches", "concatenate", "same_scheme"]

Kind = TypeVar("Kind", bound="Fingerprints")


@checked_methods
@dataclass(frozen=True)
class Fingerprints:
    """The base of all kinds. `empty[i]` says that document i had no features and so has no fingerprint: its row holds
    zeros, which must never be compared. `replaced` counts the ill-formed UTF-8 sequences that were read as U+FFFD.

    scheme  the line of text that says how they were made; other schemes cannot be compared

    >>> import neardup as nd
    >>> prints = nd.fingerprint(["some words", ""], nd.Words(), nd.MinHash(16))
    >>> isinstance(prints, nd.fingerprints.Fingerprints), prints.empty.tolist()
    (True, [False, True])
    """

    scheme: str
    empty: NDArray[np.bool_]
    replaced: int = field(default=0, kw_only=True)

    MAIN: ClassVar[str]
    """The column that is stored and compared, [n, width]."""

    def __post_init__(self) -> None:
        check_fields(self)

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


@checked_methods
@dataclass(frozen=True)
class Digests(Fingerprints):
    """Exact hashes: `digests` is uint8[n, bytes].

    scheme    the line of text that says how they were made; other schemes cannot be compared
    empty     bool[n]: the documents without features, which have no fingerprint
    replaced  the number of ill-formed UTF-8 sequences that were read as U+FFFD

    >>> import neardup as nd
    >>> nd.fingerprints.digest_texts(["the ferry", "a cake"], "md5").digests.shape
    (2, 16)
    """

    digests: NDArray[np.uint8]

    MAIN: ClassVar[str] = "digests"


@checked_methods
@dataclass(frozen=True)
class Codes(Fingerprints):
    """Bit codes, compared by Hamming distance: `codes` is uint64[n, words], bit j of a code is bit j % 64 of word j
    // 64; a 32-bit code uses the low half of its only word.

    The size of the vote behind each bit says how reliable the bit is. Votes may be stored in one of three forms:
    `margins`, float32[n, bits]; `margin_bytes`, uint8[n, bits], which multiplied by `margin_scales`, float32[n],
    gives their size (the sign is the bit); or `ranks`, uint8[n, r], the numbers of the r weakest bits, weakest first.

    scheme    the line of text that says how they were made; other schemes cannot be compared
    empty     bool[n]: the documents without features, which have no fingerprint
    replaced  the number of ill-formed UTF-8 sequences that were read as U+FFFD

    >>> import neardup as nd
    >>> codes = nd.fingerprint(["the ferry leaves at eight", ""], nd.Words(), nd.Simhash(bits=64))
    >>> codes.codes.shape, codes.empty.tolist()
    ((2, 1), [False, True])
    """

    bits: int
    codes: NDArray[np.uint64]
    margins: NDArray[np.float32] | None = None
    margin_bytes: NDArray[np.uint8] | None = None
    margin_scales: NDArray[np.float32] | None = None
    ranks: NDArray[np.uint8] | None = None

    MAIN: ClassVar[str] = "codes"


advise(Codes, "neardup.search.codes.to_codes makes Codes of bare numbers")


@dataclass(frozen=True)
class PackedSketches(Fingerprints):
    """Sketches of b-bit MinHash: `packed` is uint8[n, bytes], the low `bits` bits of each of `values` values, lowest
    bit first.

    scheme    the line of text that says how they were made; other schemes cannot be compared
    empty     bool[n]: the documents without features, which have no fingerprint
    replaced  the number of ill-formed UTF-8 sequences that were read as U+FFFD

    >>> import neardup as nd
    >>> sketches = nd.fingerprint(["the ferry leaves at eight"], nd.Words(), nd.MinHash(64))
    >>> packed = sketches.pack(bits=2)
    >>> packed.bits, packed.values, packed.packed.shape
    (2, 64, (1, 16))
    """

    bits: int
    values: int
    packed: NDArray[np.uint8]

    MAIN: ClassVar[str] = "packed"


@checked_methods
@dataclass(frozen=True)
class Sketches(Fingerprints):
    """MinHash values: `values` is uint32[n, k]; the share of equal values estimates the Jaccard similarity.

    scheme    the line of text that says how they were made; other schemes cannot be compared
    empty     bool[n]: the documents without features, which have no fingerprint
    replaced  the number of ill-formed UTF-8 sequences that were read as U+FFFD

    >>> import neardup as nd
    >>> prints = nd.fingerprint(["the ferry leaves", "the ferry leaves"], nd.Words(), nd.MinHash(16))
    >>> prints.values.shape, float((prints.values[0] == prints.values[1]).mean())
    ((2, 16), 1.0)
    """

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


@checked
def same_scheme(left: Fingerprints, right: Fingerprints) -> None:
    """SchemeError unless both have the same scheme.

    left, right  two fingerprints
    raises       SchemeError, with both schemes

    >>> import neardup as nd
    >>> left, right = (nd.fingerprint(["some words"], nd.Words(), nd.MinHash(16)) for _ in range(2))
    >>> nd.fingerprints.same_scheme(left, right)
    """
    if left.scheme != right.scheme:
        raise SchemeError(left.scheme, right.scheme)


@checked
def concatenate(parts: Sequence[Kind]) -> Kind:
    """Join fingerprints of the same scheme, row after row.

    parts   one or more fingerprints of the same kind
    raises  DataError for no parts, SchemeError for different schemes

    >>> import neardup as nd
    >>> parts = [nd.fingerprint([text], nd.Words(), nd.MinHash(16)) for text in ("a ferry", "a cake")]
    >>> len(nd.fingerprints.concatenate(parts))
    2
    """
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
