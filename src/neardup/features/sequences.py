"""Texts as sequences: every word or character with its place. Measures that depend on the order compare these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from neardup.features.shingles import Characters, Words

__all__ = ["CharacterSequence", "WordSequence"]


@dataclass(frozen=True)
class WordSequence(Words):
    """The words of a text in their order. A feature is a place, in its upper 24 bits, and 40 bits of a word's hash. Of
    a text of more than 2^24 words the first ones count."""

    ordered: ClassVar[bool] = True


@dataclass(frozen=True)
class CharacterSequence(Characters):
    """The characters of a text in their order, white space as single spaces; otherwise as WordSequence."""

    width: int = 1
    per_word: ClassVar[int] = 8
    ordered: ClassVar[bool] = True
