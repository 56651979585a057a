"""Values as JSON holds them: the one place that says how times, bytes, arrays and NaN are written."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any

__all__ = ["finite", "json_value", "plain"]


def json_value(value: Any) -> Any:
    """What JSON has no type for: times as ISO 8601, bytes as base64, numpy's columns and numbers as lists and numbers.
    TypeError for anything else."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no form in it")


def finite(value: Any) -> Any:
    """The same without NaN and infinity, which JSON does not have: null is in their place."""
    return plain(value, None)


def plain(value: Any, digits: int | None = 6) -> Any:
    """Tables, lists and columns as JSON holds them; floats are rounded, those that are not finite are null."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return value if digits is None else round(value, digits)
    if isinstance(value, Mapping):
        return {key: plain(item, digits) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, digits) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist(), digits)
    return value
