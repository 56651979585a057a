"""Sizes of a shared index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from neardup.index.answers import Stats

__all__ = ["SharedStats"]


@dataclass(frozen=True)
class SharedStats(Stats):
    """`rows` have been given out, `documents` are alive, `keepers` lead clusters, `unlisted` entries of followers found
    their bucket full. The tables are laid out for `expected` documents; a query looks into `probes` buckets of `tables`
    tables. `memory_bytes` are those of the server, for all it holds. It has no database, cache or segments here."""

    unlisted: int
    expected: int
    tables: int
    probes: int

    def to_json(self) -> dict[str, Any]:
        """What there is of it, as plain JSON values."""
        absent = ("watermark", "database_bytes", "cache_bytes", "segments")
        return {name: value for name, value in super().to_json().items() if name not in absent}
