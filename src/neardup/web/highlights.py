"""The words that a page sets apart: its text nodes are marked in the tree, and the marks found again in the text.

So only what is in the extracted text counts: the links of a menu do not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

__all__ = ["KINDS", "marked", "split_marks"]

KINDS = ("headings", "bold", "anchors")
_OF_TAG = {f"h{level}": 0 for level in range(1, 7)} | {"b": 1, "strong": 1, "a": 2}
# Control characters, which are no part of a text; of one byte, because the extractor looks at lengths.
_OPEN, _CLOSE = ("\x01", "\x02", "\x03"), "\x04"
_ANY = re.compile("[\x01-\x04]")
_PIECE = re.compile("([\x01-\x03])([^\x01-\x04]*)\x04")
_DEEPEST = 64  # elements above a text that are looked at
_NO_SPACES = (
    "\u0e00"  # scripts from here on are often written without spaces: a mark does not reach over its end
)


def marked(page: str, text: str, read: Callable[[Any], str]) -> tuple[str, ...]:
    """The words of each kind in the text that `read` makes of a page's tree. Marks make words longer, so it may read
    a little more or less: only what is in `text` counts. A page that contains marks has none."""
    from resiliparse.parse.html import HTMLTree, NodeType

    if _ANY.search(page):
        return ("",) * len(KINDS)
    tree = HTMLTree.parse(page)
    found = [
        (node, kind)
        for node in tree.body or ()
        if node.type == NodeType.TEXT and _is_words(node.value) and (kind := _kind(node)) is not None
    ]
    for node, kind in found:
        value = node.value
        begin, end = len(value) - len(value.lstrip()), len(value.rstrip())
        made = tree.create_text_node(f"{value[:begin]}{_OPEN[kind]}{value[begin:end]}{_CLOSE}{value[end:]}")
        node.parent.replace_child(made, node)
    pieces, plain = split_marks(read(tree))
    if plain != text:
        within = f" {' '.join(text.split())} "
        pieces = tuple([piece for piece in several if piece in within] for several in pieces)
    return tuple(" ".join(several) for several in pieces)


def _is_words(value: str) -> bool:
    """Whether a text node is marked. The extractor leaves out most single signs, such as those that close a box, by
    their three bytes; they remain as they are."""
    bare = value.strip()
    return bool(bare) and (bare.isascii() or len(bare.encode("utf-8", "replace")) > 3)


def _kind(node: Any) -> int | None:
    """The first of the kinds that has an element around the node."""
    best: int | None = None
    above = node.parent
    for _ in range(_DEEPEST):
        if above is None or best == 0:
            break
        kind = _OF_TAG.get(above.tag)
        if kind == 2 and not above.hasattr("href"):
            kind = None
        if kind is not None and (best is None or kind < best):
            best = kind
        above = above.parent
    return best


def split_marks(text: str) -> tuple[tuple[list[str], ...], str]:
    """The marked words of each kind, and the text without marks. A mark within a word takes all of it."""
    pieces: tuple[list[str], ...] = tuple([] for _ in KINDS)
    for found in _PIECE.finditer(text):
        words = found[2]
        if words[:1].isalnum():
            words = _ending(text, found.start()) + words
        if words[-1:].isalnum():
            words += _beginning(text, found.end())
        pieces[_OPEN.index(found[1])].append(" ".join(words.split()))
    return tuple([piece for piece in several if piece] for several in pieces), _ANY.sub("", text)


def _ending(text: str, end: int) -> str:
    """The letters and digits right before a place."""
    begin = end
    while begin and text[begin - 1].isalnum() and text[begin - 1] < _NO_SPACES:
        begin -= 1
    return text[begin:end]


def _beginning(text: str, begin: int) -> str:
    """The letters and digits right after a place."""
    end = begin
    while end < len(text) and text[end].isalnum() and text[end] < _NO_SPACES:
        end += 1
    return text[begin:end]
