"""Codes as input of Hamming searches: checked for width and scheme, without empty rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neardup.errors import ConfigError, DataError, SchemeError
from neardup.fingerprints.fingerprints import Codes
from neardup.values.checks import checked

__all__ = [
    "WIDTHS",
    "check_codes",
    "check_radius",
    "check_scheme",
    "rows_and_words",
    "to_codes",
    "top_bits",
    "width_for",
]

WIDTHS = (32, 64, 128)
"""The widths of code, in bits, that the native searches take."""

_WHOLE = {int, *(np.dtype(kind).type for kind in np.typecodes["AllInteger"])}


def check_radius(radius: int, bits: int) -> None:
    """Raise ConfigError unless 0 <= radius <= bits and the width is one the native searches take."""
    if bits not in WIDTHS:
        raise ConfigError(f"codes of {bits} bits cannot be searched: use 32, 64 or 128")
    if not 0 <= radius <= bits:
        raise ConfigError(f"radius must be from 0 to {bits} bits, not {radius}")


def check_scheme(codes: Codes, scheme: str) -> None:
    """Raise SchemeError unless these are codes of this scheme, DataError if they are no codes at all."""
    _are_codes(codes)
    if codes.scheme != scheme:
        raise SchemeError(scheme, codes.scheme)


def width_for(codes: Codes, bits: int | None) -> int:
    """The width a search of these codes is for: as it was given, or else their own."""
    _are_codes(codes)
    return codes.bits if bits is None else bits


@checked
def to_codes(numbers: ArrayLike, bits: int = 64, scheme: str | None = None) -> Codes:
    """Codes from bare numbers made elsewhere, none of them empty: a column of whole numbers from 0 up, one
    for each code, or their words of 64 bits, [n, words], lowest first."""
    # Numpy would make floats of a list such as [2**64 - 1, 0], and lose bits.
    given = np.asarray(numbers, object) if isinstance(numbers, (list, tuple)) else np.asarray(numbers)
    count = (bits + 63) // 64
    if given.ndim not in (1, 2) or (given.ndim == 2 and given.shape[1] != count):
        raise DataError(
            f"{bits}-bit codes are a column of whole numbers or an array [n, {count}] of words, "
            f"not {given.dtype}{list(given.shape)}"
        )
    if given.size:
        _check_whole(given, 64 * count if given.ndim == 1 else 64)
    if given.ndim == 1 and count > 1:
        words = np.stack([_word(given, word) for word in range(count)], axis=1)
    else:
        words = np.ascontiguousarray(_word(given.reshape(len(given), count), 0))
    return Codes(scheme or f"bare{bits}", np.zeros(len(words), dtype=bool), bits, words)


def _check_whole(numbers: NDArray[Any], room: int) -> None:
    """Raise DataError unless these are whole numbers from 0 up, of at most `room` bits."""
    kind = numbers.dtype.kind
    whole = kind in "iu" or (kind == "O" and {type(n) for n in numbers.flat} <= _WHOLE)
    if not whole or (kind != "u" and numbers.min() < 0):
        raise DataError(f"codes are whole numbers from 0 up, not {numbers.dtype} such as {numbers.flat[0]}")
    if kind == "O" and int(numbers.max()) >> room:
        raise DataError(f"some numbers need more than the {room} bits there are for each")


def _word(numbers: NDArray[np.generic], word: int) -> NDArray[np.uint64]:
    """One word of each number, the lowest being 0. Numbers that are too large for numpy are Python objects."""
    if numbers.dtype.kind == "O":
        part = [int(n) >> (64 * word) & (2**64 - 1) for n in numbers.flat]
        return np.array(part, np.uint64).reshape(numbers.shape)
    return np.zeros(numbers.shape, np.uint64) if word else numbers.astype(np.uint64, copy=False)


def _are_codes(codes: Codes) -> None:
    if not isinstance(codes, Codes):
        raise ConfigError(
            f"codes must be Codes, not {type(codes).__name__}; to_codes makes them of bare numbers"
        )


def check_codes(codes: Codes, bits: int) -> NDArray[np.uint64]:
    """The codes of all rows, empty ones too, as contiguous uint64[n, words]; any width from 1 to 128 bits.

    Raises DataError when they are not of this width or hold bits beyond it.
    """
    _are_codes(codes)
    words = codes.codes
    if not 1 <= bits <= 128:
        raise ConfigError(f"codes have from 1 to 128 bits, not {bits}")
    if codes.bits != bits:
        raise DataError(
            f"the search is for codes of {bits} bits, and these have {codes.bits}: make the search with "
            f"bits={codes.bits}, as in Compact(3, bits={codes.bits})"
        )
    shape = (len(codes), (bits + 63) // 64)
    if words.dtype != np.uint64 or words.shape != shape:
        raise DataError(f"{bits}-bit codes must be uint64{list(shape)}, not {words.dtype}{list(words.shape)}")
    if bits % 64 and words.size and int(words[:, -1].max()) >> (bits % 64):
        raise DataError(f"some codes have bits beyond the {bits} they should have")
    return np.ascontiguousarray(words)


def rows_and_words(codes: Codes, bits: int) -> tuple[NDArray[np.int64] | None, NDArray[np.uint64]]:
    """The rows that are not empty (None when no row is empty) and their codes, checked as check_codes
    does."""
    words = check_codes(codes, bits)
    if not codes.empty.any():
        return None, words
    rows = np.flatnonzero(~codes.empty)
    return rows, np.ascontiguousarray(words[rows])


@checked
def top_bits(words: NDArray[np.uint64], bits: int, count: int) -> NDArray[np.uint64]:
    """The `count` (at most 32) most significant bits of each code."""
    return words[:, -1] >> np.uint64((32 if bits == 32 else 64) - count)
