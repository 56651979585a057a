"""Parts of pages that programs write. A part is between two marks: `<!-- NAME: begin -->` and `<!-- NAME: end -->`."""

from __future__ import annotations

from pathlib import Path

__all__ = ["write_part"]


def write_part(page: Path, name: str, text: str) -> None:
    """Put a text between the marks of this name, in place of what is there; ValueError unless each mark occurs once."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = page.read_text("utf-8").split(begin)
    _, after = rest.split(end)
    page.write_text(f"{before}{begin}\n{text.rstrip()}\n{end}{after}", "utf-8")
