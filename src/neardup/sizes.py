"""Amounts of memory as people write them."""

from __future__ import annotations

import re

from neardup.errors import ConfigError

__all__ = ["parse_size"]

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


def parse_size(size: str | float) -> int:
    """Bytes of "64GB", "512MiB", "1.5 TB" or a number; GB is a thousand million, GiB is 2**30."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?(?:e[0-9]+)?)\s*([kmgt]i?)?b?\s*", str(size).lower())
    if match is None or float(match[1]) * _UNITS[match[2] or ""] < 1:
        raise ConfigError(f"{size!r} is not an amount of memory; write for example 64GB or 512MiB")
    return int(float(match[1]) * _UNITS[match[2] or ""])
