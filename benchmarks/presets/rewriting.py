"""Texts changed by rule: what authors, editors, senders and lawyers do to a text, each step with a fixed seed.

The levels of rewriting follow the public description of Clough and Stevenson's corpus of short answers (2011): near
copies are cut and pasted; light revision replaces words by others and changes grammar, and keeps the order; heavy
revision also splits, joins and reorders; the fourth kind knows the subject and has not seen the source.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable

__all__ = ["Rewriter", "sentences_of"]

_ENDS = re.compile(r"(?<=[.!?])\s+")
_WORD = re.compile(r"[^\W\d_]{4,}")
_FILLERS = (
    "indeed",
    "in fact",
    "as a rule",
    "for example",
    "of course",
    "in general",
    "at first",
    "to a degree",
)
_JOINS = ("This means that", "It follows that", "One may say that", "As we know,", "In other words,")


def sentences_of(text: str) -> list[str]:
    """Sentences of six words or more."""
    found = (" ".join(part.split()) for line in text.splitlines() for part in _ENDS.split(line))
    return [sentence for sentence in found if len(sentence.split()) >= 6]


class Rewriter:
    """Replaces words by others that are about as frequent in some texts: a dictionary of synonyms for any language."""

    def __init__(self, texts: Iterable[str], seed: int) -> None:
        counts = Counter(word.lower() for text in texts for word in _WORD.findall(text))
        self._words = [word for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
        self._rank = {word: place for place, word in enumerate(self._words)}
        self.draw = random.Random(seed)

    def other(self, word: str) -> str:
        """Another word of about the same frequency."""
        place = self._rank.get(word.lower())
        if place is None:
            return word
        near = self._words[max(0, place - 40) : place + 41]
        return self.draw.choice([one for one in near if one != word.lower()] or [word])

    def reworded(self, sentence: str, share: float) -> str:
        """A sentence in which about this share of all words is replaced; short words too, by leaving them out."""
        made = []
        for word in sentence.split():
            if self.draw.random() >= share:
                made.append(word)
            elif bare := "".join(_WORD.findall(word)):
                made.append(word.replace(bare, self.other(bare)))
            elif self.draw.random() < 0.5:
                made.append(word)
        return " ".join(made)

    def turned(self, sentence: str) -> str:
        """The part after a comma comes first."""
        head, comma, rest = sentence.rstrip(".!?").partition(", ")
        return f"{rest[:1].upper()}{rest[1:]}, {head[:1].lower()}{head[1:]}." if comma and rest else sentence

    def near_copy(self, source: list[str], words: int) -> str:
        """A stretch of the source; now and then a sentence is left out."""
        return " ".join(s for s in self._stretch(source, words) if self.draw.random() > 0.08)

    def light(self, source: list[str], words: int) -> str:
        """The same order; up to every fourth word is another one, and now and then a filler is put in."""
        made, share = [], self.draw.uniform(0.08, 0.25)
        for sentence in self._stretch(source, words):
            changed = self.reworded(sentence, share)
            made.append(f"{self.draw.choice(_FILLERS)} {changed}" if self.draw.random() < 0.15 else changed)
        return " ".join(made)

    def heavy(self, source: list[str], own: list[str], words: int) -> str:
        """Up to half of the words are others, clauses are turned, sentences joined and reordered, own ones put
        between."""
        share = self.draw.uniform(0.25, 0.5)
        parts = [self.turned(self.reworded(s, share)) for s in self._stretch(source, words)]
        for at in range(0, len(parts) - 3, 3):
            parts[at : at + 3] = self.draw.sample(parts[at : at + 3], 3)
        made = []
        for part in parts:
            made.append(f"{self.draw.choice(_JOINS)} {part}" if self.draw.random() < 0.25 else part)
            if own and self.draw.random() < 0.2:
                made.append(self.draw.choice(own))
        return " ".join(made)

    def own(self, sentences: list[str], words: int) -> str:
        """What the author knows of the subject: other sentences about it, in any order."""
        chosen = self._stretch(sentences, words)
        return " ".join(self.draw.sample(chosen, len(chosen)))

    def _stretch(self, sentences: list[str], words: int) -> list[str]:
        sizes = [len(sentence.split()) for sentence in sentences]
        start = self.draw.randrange(max(1, len(sentences) // 3))
        found: list[str] = []
        for sentence, size in zip(sentences[start:], sizes[start:], strict=True):
            if words <= 0:
                break
            found.append(sentence)
            words -= size
        return found
