"""Amounts of memory, as people write them."""

from __future__ import annotations

import re
from math import isfinite

from neardup.errors import ConfigError
from neardup.values.wording import counted

__all__ = ["parse_size", "size_text"]

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?(?:e\+?[0-9]+)?)\s*([kmgt]i?)?b?\s*")


def parse_size(size: str | float) -> int:
    """Bytes, at least 1, from a number (2**30) or from text ("64GB", "512 MiB", "1.5e9", "64g").

    KB, MB, GB and TB count in thousands: 1 GB is 10**9 bytes. KiB, MiB, GiB and TiB count in 1024s: 1 GiB is
    2**30. The B may be left out, and case does not matter.
    """
    if isinstance(size, str):
        match = _SIZE.fullmatch(size.lower())
        count = float(match[1]) * _UNITS[match[2] or ""] if match else 0.0
    else:
        count = size
    if not isfinite(count) or count < 1:
        raise ConfigError(f"{size!r} is not an amount of memory; write for example 64GB or 512MiB")
    return int(count)


def size_text(count: int) -> str:
    """Bytes as people read them, in thousands: 920 bytes, 119.1 KB."""
    size = float(count)
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1000:
            return counted(int(size), "byte") if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
