"""The file of a result: JSON with each row on its own line, so that a change shows in the history row by row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["write_rows"]


def write_rows(path: Path, result: dict[str, Any]) -> None:
    """Write a result that holds a list of rows; whole or not at all."""
    text = json.dumps(result, separators=(",", ":")).replace('},{"', '},\n{"')
    partial = path.with_suffix(".partial")
    partial.write_text(text + "\n", "utf-8")
    partial.replace(path)
