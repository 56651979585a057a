"""Docstrings on the site: lines such as `name    what it means` become a table, and examples become code."""

from __future__ import annotations

import re
from typing import Any

import griffe

__all__ = ["FieldTables", "with_tables"]

FIELD = re.compile(r"(`?[a-z_][\w, ]*?`?) {2,}(\S.*)")


class FieldTables(griffe.Extension):
    """What griffe calls for everything it has read."""

    def on_object(self, *, obj: Any, **others: Any) -> None:
        """Change the docstring before it is parsed."""
        if obj.docstring is not None:
            obj.docstring.value = with_tables(obj.docstring.value)


def with_tables(text: str) -> str:
    """Paragraphs of fields as Markdown tables, examples as blocks of code; other paragraphs as they are."""
    return "\n\n".join(_example(_table(paragraph)) for paragraph in text.split("\n\n"))


def _example(paragraph: str) -> str:
    return f"```pycon\n{paragraph}\n```" if paragraph.startswith(">>> ") else paragraph


def _table(paragraph: str) -> str:
    rows: list[list[str]] = []
    for line in paragraph.splitlines():
        field = FIELD.fullmatch(line)
        if field:
            rows.append([field[1], field[2]])
        elif rows and line.startswith("  "):
            rows[-1][1] += " " + line.strip()
        else:
            return paragraph
    if not rows:
        return paragraph
    cells = [f"| `{name.strip('`')}` | {meaning.replace('|', chr(92) + '|')} |" for name, meaning in rows]
    return "\n".join(["| name | meaning |", "|---|---|", *cells])
