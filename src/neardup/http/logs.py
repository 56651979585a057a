"""Structured logs: one JSON object a line on standard error."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import Any

__all__ = ["log"]


def log(event: str, **facts: Any) -> None:
    """Write one line. Values may be hostile: JSON escapes control characters, and long ones are cut."""
    line: dict[str, Any] = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event}
    for name, value in facts.items():
        line[name] = value[:500] if isinstance(value, str) else value
    try:
        sys.stderr.write(json.dumps(line, default=str) + "\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # nobody reads the logs any more; the service continues
