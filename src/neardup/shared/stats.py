"""Sizes of a shared index."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["SharedStats"]


@dataclass(frozen=True)
class SharedStats:
    """`rows` have been given out, `documents` are alive, `keepers` lead clusters, `unlisted` entries of followers found
    their bucket full. `expected` documents is what the tables are laid out for; `tables` there are, in each of which a
    query looks into some buckets: `probes` in all. `memory_bytes` are those of the server for all it holds."""

    documents: int
    keepers: int
    rows: int
    unlisted: int
    expected: int
    tables: int
    probes: int
    memory_bytes: int
    store: str
    scheme: str

    def to_json(self) -> dict[str, Any]:
        """The same as plain JSON values."""
        return asdict(self)
