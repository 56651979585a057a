"""Compares documents: measures similarity, verifies candidates, and explains what two texts share."""

from neardup.compare.explain import Explanation
from neardup.compare.passages import Span
from neardup.compare.verify import Containment, Cosine, Jaccard, Pairs

__all__ = [
    "Containment",
    "Cosine",
    "Explanation",
    "Jaccard",
    "Pairs",
    "Span",
]
