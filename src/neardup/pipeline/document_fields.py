"""Fields of documents as columns of a shard: sources, and the values that a keep policy ranks by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from neardup.clusters.keepers import Keep
from neardup.errors import DataError
from neardup.readers.document import Document

__all__ = ["fields_of", "numbered", "score_of"]


def numbered(names: list[str]) -> tuple[tuple[str, ...], Any]:
    """The different names, and the place of each given one among them, int32."""
    place = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return tuple(place), np.fromiter((place[name] for name in names), np.int32, len(names))


def fields_of(document: Document | None) -> Mapping[str, Any]:
    """What a document has beside its text."""
    assert document is not None, "documents whose fields are asked for come with them"
    return document.meta


def score_of(document: Document | None, keep: Keep) -> float:
    """The value that the keep policy ranks a document by; DataError if it is none to rank by."""
    assert keep.score is not None
    fields = fields_of(document)
    found, value = keep.value_of(fields), fields.get(keep.score)
    if keep.by == "score" and math.isnan(found) and value not in (None, "", True, False) and value == value:
        name = document.id if document is not None else ""
        raise DataError(f"{name}: {keep.score!r} is {value!r}, not a number or a date to keep by")
    return found
