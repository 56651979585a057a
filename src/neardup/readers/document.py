"""Documents: what users bring. Inside, a document is its row number; ids come back only at the edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Document"]


@dataclass(frozen=True, slots=True)
class Document:
    """One text with its name and whatever else its owner knows about it."""

    id: str
    text: str
    meta: Mapping[str, Any] = field(default_factory=dict)
