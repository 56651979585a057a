"""Finds lines, paragraphs and passages that occur more than once in a corpus, and cuts them on request."""

from neardup.passages.copies import Copied, Copies, find_copies
from neardup.passages.parts import Lines, Paragraphs
from neardup.passages.passages import Passages
from neardup.passages.repeats import Occurrence, Repeat, Repeats

__all__ = [
    "Copied",
    "Copies",
    "Lines",
    "Occurrence",
    "Paragraphs",
    "Passages",
    "Repeat",
    "Repeats",
    "find_copies",
]
