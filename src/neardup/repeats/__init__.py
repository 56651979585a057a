"""Parts that stand more than once in a corpus: lines, paragraphs and passages; listed, and cut on request."""

from neardup.repeats.found import Occurrence, Repeat, Repeats
from neardup.repeats.parts import Lines, Paragraphs
from neardup.repeats.passages import Passages

__all__ = ["Lines", "Occurrence", "Paragraphs", "Passages", "Repeat", "Repeats"]
