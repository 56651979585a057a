"""Documents: the input of users. Inside, a document is its row number; ids are used again only in the output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Document"]


@dataclass(frozen=True, slots=True)
class Document:
    """One text with its name and any other fields that its owner has.

    `id` is any text, `text` the text or None, `meta` a dictionary of fields such as a date or a source.

    >>> import neardup as nd
    >>> nd.dedup([nd.Document("a", "some words"), nd.Document("b", "some words")]).ids
    ('a', 'b')
    """

    id: str
    text: str
    meta: Mapping[str, Any] = field(default_factory=dict)
