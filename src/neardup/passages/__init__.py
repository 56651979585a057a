"""Finds parts that occur more than once in a corpus, cuts them on request, and finds a passage."""

from neardup.passages.copies import Copied, Copies, find_copies
from neardup.passages.find import FoundPassage, PassageHits, find_passage
from neardup.passages.parts import Lines, Paragraphs
from neardup.passages.passages import Passages
from neardup.passages.repeats import Occurrence, Repeat, Repeats

__all__ = [
    "Copied",
    "Copies",
    "FoundPassage",
    "Lines",
    "Occurrence",
    "Paragraphs",
    "PassageHits",
    "Passages",
    "Repeat",
    "Repeats",
    "find_copies",
    "find_passage",
]
