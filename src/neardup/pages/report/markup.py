"""Makes markup from plain values. Foreign text is always escaped, and invisible characters are made visible."""

from __future__ import annotations

import re
from html import escape
from typing import NewType

__all__ = ["Html", "label", "raw", "table", "tag", "text"]

Html = NewType("Html", str)
"""Markup that is safe to put on the page."""

# Invisible characters with an effect: controls other than tab and line feed, direction marks, zero-width characters,
# tags; and lone surrogates, which no file can store.
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
MOST_MARKS = 200  # per text, because a mark is much longer than its character


def raw(markup: str) -> Html:
    """Declare that this string is markup made by us."""
    return Html(markup)


def text(given: str, most: int) -> Html:
    """A text as markup: at most `most` characters, with hidden characters shown by their code points."""
    cut = given[:most]
    seen = 0

    def mark(match: re.Match[str]) -> str:
        nonlocal seen
        seen += 1
        if seen > MOST_MARKS:
            return "\N{REPLACEMENT CHARACTER}"
        return f'<span class="mark">U+{ord(match[0]):04X}</span>'

    # Nothing that `escape` writes is hidden, so the order does not matter.
    shown = HIDDEN.sub(mark, escape(cut, quote=True))
    more = len(given) - len(cut)
    return Html(shown + (f' <span class="soft">… ({more:,} more characters)</span>' if more > 0 else ""))


def label(given: str, most: int = 60) -> str:
    """A text as plain text on one line, for places without markup: attributes, titles and pictures."""
    line = " ".join(given[: most + 1].split())
    shown = HIDDEN.sub(lambda match: f"[U+{ord(match[0]):04X}]", line)
    return escape(shown if len(given) <= most else shown[:most] + "…", quote=True)


def tag(name: str, *children: Html, **attributes: str | None) -> Html:
    """An element. Attributes are escaped; `class_` is `class`, and `aria_label` is `aria-label`."""
    pairs = (
        f' {key.rstrip("_").replace("_", "-")}="{escape(value, quote=True)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{''.join(pairs)}>{''.join(children)}</{name}>")


def table(head: list[str], rows: list[list[Html]], numbers: frozenset[int] = frozenset()) -> Html:
    """A table in its own scrolling box; `numbers` are the right-aligned columns."""

    def kind(column: int) -> str | None:
        return "number" if column in numbers else None

    heads = (
        tag("th", raw(escape(name)), scope="col", class_=kind(column)) for column, name in enumerate(head)
    )
    lines = (
        tag(
            "tr",
            *(
                tag("td", cell, class_=kind(column)) if column else tag("th", cell, scope="row")
                for column, cell in enumerate(row)
            ),
        )
        for row in rows
    )
    return tag(
        "div", tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *lines)), class_="scroll", tabindex="0",
        role="region", aria_label="table",
    )  # fmt: skip
