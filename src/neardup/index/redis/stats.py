"""Statistics of a shared index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from neardup.index.answers import Stats

__all__ = ["SharedStats"]


@dataclass(frozen=True)
class SharedStats(Stats):
    """`rows` is the number of row numbers used so far, `documents` of live documents, `keepers` of clusters,
    `unlisted` of follower entries that found their bucket full. The tables are laid out for `expected` documents; a
    query reads `probes` buckets in `tables` tables. `memory_bytes` is the memory of the server for all its data. A
    shared index has no database, cache or segments."""

    unlisted: int
    expected: int
    tables: int
    probes: int

    def to_json(self) -> dict[str, Any]:
        """The fields that apply to a shared index, as plain JSON values."""
        absent = ("watermark", "database_bytes", "cache_bytes", "segments")
        return {name: value for name, value in super().to_json().items() if name not in absent}
