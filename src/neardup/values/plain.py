"""Values in JSON: the only place that defines how times, bytes, arrays and NaN are written."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any

__all__ = ["finite", "json_value", "plain"]


def json_value(value: Any) -> Any:
    """Convert values that JSON has no type for: times to ISO 8601, bytes to base64, numpy arrays and numbers to lists
    and numbers. TypeError for anything else."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no form in it")


def finite(value: Any) -> Any:
    """The same with null instead of NaN and infinity, which JSON does not have."""
    return plain(value, None)


def plain(value: Any, digits: int | None = 6) -> Any:
    """Convert tables, lists and columns for JSON; floats are rounded, and null if they are not finite."""
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
