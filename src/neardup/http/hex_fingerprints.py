"""Ready fingerprints as they travel: hexadecimal digits of the bytes an index stores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neardup.config.config import Config
from neardup.errors import DataError
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.fingerprints.printer import Printer
from neardup.fingerprints.word_digests import WordDigests

__all__ = ["PrintForm"]


class PrintForm:
    """Between bytes and the fingerprints of one index."""

    def __init__(self, config: Config, scheme: str) -> None:
        self.scheme = scheme
        self._printer: Printer = config.prints if config.near else WordDigests()
        self.width = self._printer.width
        self._bits: int = getattr(self._printer.blank, "bits", 0)  # of a code

    def bytes_of(self, digits: str, scheme: str | None) -> bytes:
        """The bytes of one fingerprint; a document without features has none."""
        if scheme is not None and scheme != self.scheme:
            raise DataError(f"these fingerprints are of another scheme; this index has {self.scheme}")
        try:
            found = bytes.fromhex(digits)
        except ValueError:
            raise DataError("a fingerprint is written in hexadecimal digits") from None
        if len(found) not in (0, self.width) or 2 * len(found) != len(digits):
            raise DataError(f"a fingerprint of this index has {2 * self.width} hexadecimal digits")
        if 0 < self._bits < 64 and any(found[self._bits // 8 :]):
            raise DataError(f"a code of this index has {self._bits} bits; the others must be 0")
        return found

    def column(self, digits: Sequence[str]) -> Fingerprints | None:
        """One column from the digits of many, or None if one of them is not plainly right or has no features."""
        size = 2 * self.width
        if any(len(one) != size for one in digits) or 0 < self._bits < 64:
            return None
        try:
            data = bytes.fromhex("".join(digits))
        except ValueError:
            return None
        if len(data) != self.width * len(digits):  # there were spaces
            return None
        return self._column(data, np.zeros(len(digits), bool))

    def joined(self, parts: Sequence[bytes]) -> Fingerprints:
        """One column from the bytes of many."""
        empty = np.fromiter((not part for part in parts), bool, len(parts))
        if empty.any():
            blank = bytes(self.width)
            parts = [part or blank for part in parts]
        return self._column(b"".join(parts), empty)

    def _column(self, data: bytes, empty: NDArray[np.bool_]) -> Fingerprints:
        return self._printer.from_bytes(self.scheme, data, empty)

    def split(self, prints: Fingerprints) -> list[str]:
        """Each fingerprint in digits; the inverse of `bytes_of` and `joined`."""
        digits = prints.main.astype(prints.main.dtype.newbyteorder("<")).tobytes().hex()
        size = 2 * self.width
        return [
            "" if none else digits[at * size : (at + 1) * size]
            for at, none in enumerate(prints.empty.tolist())
        ]
