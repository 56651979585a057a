"""What differs between two similar texts: title, numbers, names, negations, language, sentences and words.

Similarity counts what two texts share. What they do not share may be a typing error, or the one number that matters.
All counts come from one native pass over each text and one comparison for each pair.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.compare.verify import RowPairs
from neardup.features.texts import Texts, as_texts
from neardup.values.distinct import distinct, places_of_parts
from neardup.values.threads import check_threads

__all__ = [
    "COLUMNS",
    "KINDS",
    "LANGUAGE_WORDS",
    "Changes",
    "Kind",
    "changes_of",
    "describe",
    "facts_of",
    "in_parts",
    "is_brief",
    "kinds_of",
]

Kind = Literal["title", "numbers", "names", "negation", "language", "words"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LANGUAGE_WORDS = 25  # fewer words in another language are a quotation or a term

COLUMNS = (
    "known",
    *("title_left", "title_right", "numbers_left", "numbers_right", "names_left", "names_right"),
    *("negations", "language", "words_left", "words_right"),
    *("sentences_left", "sentences_right", "replaced", "moved", "lost_left", "lost_right"),
)
AT = {name: place for place, name in enumerate(COLUMNS)}
Counts = NDArray[np.uint16]
Rows = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class Changes:
    """What differs between two texts. A pair of numbers is (only in the left text, only in the right text).

    `title`: whether the titles differ in words; None if a text has no title. `numbers`: numbers, dates, prices and
    versions, not identifiers such as f17. `names`: capitalised words and identifiers; None if the script has no
    capitals. `negations`: replaced passages with another number of negations; None if those of the language are not
    known. `language`: how many words are in another language than the words that the other text has instead. `words`
    count as often as they are missing. `sentences` are those added or removed; `replaced` and `moved` count sentences.
    `lost`: words in the longest passage that the other text does not have; 0 if none has 8 words.
    """

    title: bool | None
    numbers: tuple[int, int]
    names: tuple[int, int] | None
    negations: int | None
    language: int
    words: tuple[int, int]
    sentences: tuple[int, int]
    replaced: int
    moved: int
    lost: tuple[int, int]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of change that there are, the most telling first."""
        there = {
            "title": self.title,
            "numbers": any(self.numbers),
            "names": self.names is not None and any(self.names),
            "negation": self.negations,
            "language": self.language >= LANGUAGE_WORDS,
            "words": any(self.words),
        }
        return tuple(kind for kind in KINDS if there[kind])

    @property
    def unknown(self) -> tuple[str, ...]:
        """What could not be compared in these texts, because they have none of it."""
        missing = {"title": self.title, "names": self.names, "negation": self.negations}
        return tuple(name for name, value in missing.items() if value is None)

    def __repr__(self) -> str:
        return f"<Changes: {self}>"

    def __str__(self) -> str:
        said = ["title"] if self.title else []
        for name, counts in (("numbers", self.numbers), ("names", self.names), ("words", self.words)):
            if counts is not None and any(counts):
                said.append(f"{name} -{counts[0]} +{counts[1]}")
        if self.negations:
            said.append(f"negations in {self.negations}")
        if self.language >= LANGUAGE_WORDS:
            said.append(f"language of {self.language} words")
        removed, added = self.sentences
        counted = (("replaced", self.replaced), ("removed", removed), ("added", added), ("moved", self.moved))
        sentences = ", ".join(f"{count} {what}" for what, count in counted if count)
        return ", ".join([*said, *([f"sentences: {sentences}"] if sentences else [])]) or "none"

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values, with the kinds."""
        return asdict(self) | {"kinds": list(self.kinds)}

    @classmethod
    def of(cls, counts: Counts) -> Changes:
        """The changes of one row of counts."""
        n = dict(zip(COLUMNS, counts.tolist(), strict=True))
        known = n["known"]
        return cls(
            title=bool(n["title_left"] or n["title_right"]) if known & 3 == 3 else None,
            numbers=(n["numbers_left"], n["numbers_right"]),
            names=(n["names_left"], n["names_right"]) if known & 4 else None,
            negations=n["negations"] if known & 8 else None,
            language=n["language"],
            words=(n["words_left"], n["words_right"]),
            sentences=(n["sentences_left"], n["sentences_right"]),
            replaced=n["replaced"],
            moved=n["moved"],
            lost=(n["lost_left"], n["lost_right"]),
        )


def facts_of(texts: Texts | _core.Texts, threads: int = 1) -> _core.TextFacts:
    """What is compared of texts, collected once for many comparisons of pairs of them."""
    # A fresh seed: nobody can write words that are taken for others.
    return _core.TextFacts(as_texts(texts), secrets.randbits(64), check_threads(threads))


def changes_of(texts: Texts | _core.Texts, left: Rows, right: Rows, threads: int = 1) -> Counts:
    """What differs between pairs of texts, named by their places: a row of COLUMNS for each pair."""
    left, right = (np.ascontiguousarray(side, np.int64) for side in (left, right))
    return facts_of(texts, threads).changes(left, right, threads)


def is_brief(counts: Counts) -> NDArray[np.bool_]:
    """Which pairs were compared by title and language alone; their other counts are 0."""
    return np.asarray(counts[:, AT["known"]] & 16 != 0)


def kinds_of(counts: Counts) -> NDArray[np.uint8]:
    """For each pair a bit for each of KINDS."""
    found = np.zeros(len(counts), np.uint8)
    column = {name: counts[:, place] for name, place in AT.items()}
    there: dict[Kind, NDArray[np.bool_]] = {
        "title": (column["title_left"] > 0) | (column["title_right"] > 0),
        "numbers": (column["numbers_left"] > 0) | (column["numbers_right"] > 0),
        "names": (column["names_left"] > 0) | (column["names_right"] > 0),
        "negation": column["negations"] > 0,
        "language": column["language"] >= LANGUAGE_WORDS,
        "words": (column["words_left"] > 0) | (column["words_right"] > 0),
    }
    for bit, kind in enumerate(KINDS):
        found |= there[kind].astype(np.uint8) << np.uint8(bit)
    return found


def describe(
    pairs: RowPairs,
    sizes: Rows,
    fetch: Callable[[Rows], Texts | _core.Texts],
    *,
    most: int = 32 << 20,
    threads: int = 1,
) -> Counts:
    """What differs between pairs of rows whose texts have these sizes in bytes. `fetch` gives the texts of some
    ascending rows. About `most` bytes are asked for at a time; of one group of similar texts up to eight times as many,
    and at least those of one pair."""
    found = np.zeros((len(pairs.left), len(COLUMNS)), np.uint16)
    for some in in_parts(pairs.left, pairs.right, sizes, most):
        left, right = pairs.left[some], pairs.right[some]
        rows = distinct(np.concatenate([left, right]))
        found[some] = changes_of(
            fetch(rows), np.searchsorted(rows, left), np.searchsorted(rows, right), threads=threads
        )
    return found


def in_parts(left: Rows, right: Rows, sizes: Rows, most: int) -> Iterator[Rows]:
    """Places of pairs in parts of few texts each; pairs of the same texts are in one part where they fit."""
    if not len(left):
        return
    rows = distinct(np.concatenate([left, right]))
    label = _core.labels_of_pairs(len(rows), np.searchsorted(rows, left), np.searchsorted(rows, right))
    whole = np.bincount(label, sizes[rows], len(rows)).astype(np.int64)
    part = (np.cumsum(whole) // max(1, most))[label[np.searchsorted(rows, left)]]
    for some in places_of_parts(part):
        yield from _halves(some, left, right, sizes, most)


def _halves(some: Rows, left: Rows, right: Rows, sizes: Rows, most: int) -> Iterator[Rows]:
    rows = distinct(np.concatenate([left[some], right[some]]))
    # A cut reads texts of both sides twice, so only large groups are cut.
    if len(some) == 1 or int(sizes[rows].sum()) <= 8 * most:
        yield some
        return
    middle = len(some) // 2
    yield from _halves(some[:middle], left, right, sizes, most)
    yield from _halves(some[middle:], left, right, sizes, most)
