"""Finds the passages of one text that also occur in another, with their places in both."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError
from neardup.features.normalize import Normalize, tokens
from neardup.features.texts import Texts, as_texts
from neardup.values.checks import check_fields

__all__ = ["UNSPACED", "Span", "matched_spans", "token_rows"]

# Character ranges, for a regular expression, of scripts without spaces between words: each letter counts as a word.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)

_SPREAD = 0x6E6561726475702F  # odd


@dataclass(frozen=True)
class Span:
    """A passage of `words` words that begins with word `left` of one text and word `right` of the other (from 0).

    >>> import neardup as nd
    >>> nd.explain("we saw the red ferry leave", "later the red ferry leave again", width=2).spans
    (Span(left=2, right=1, words=4, text='the red ferry leave'),)
    """

    left: int
    right: int
    words: int
    text: str

    def __post_init__(self) -> None:
        check_fields(self)


def matched_spans(left: Sequence[str], right: Sequence[str], width: int = 5) -> tuple[Span, ...]:
    """The passages of `width` words or more of the left text that occur in the right one, in the order of the left.

    Each passage is as long as possible. If two overlap in the left text, the longer one gets the shared words, so the
    longest passage is always complete, and the rest of another may be shorter than `width`. A text shorter than `width`
    has one passage or none. Time grows with the number of words in both texts.
    """
    if width < 1:
        raise ConfigError(f"width {width}: a passage has at least one word")
    width = min(width, len(left), len(right))
    if not width:
        return ()
    words, offsets = _numbered([left, right])
    row = np.zeros(1, np.int64)
    made = _core.shared_passages(words, offsets, row, row + 1, width, True)[3:]
    return tuple(
        Span(begin, place, count, " ".join(left[begin : begin + count]))
        for begin, place, count in zip(*(column.tolist() for column in made), strict=True)
    )


def token_rows(
    texts: Texts, how: Normalize, *, threads: int = 1
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The tokens of all texts in one column, as one number per word, and the offset where each text begins. The numbers
    differ from call to call: nobody can write words that are taken for others."""
    if how == how.without_words():
        seed = secrets.randbits(64)
        words, offsets, _, _ = _core.token_stream(as_texts(texts), how.native(), seed, False, threads)
        return words, offsets
    return _numbered(tokens(texts, how))


def _numbered(texts: Sequence[Sequence[str]]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    numbers: dict[str, int] = {}
    # Spread the numbers over all 64 bits, like hashes.
    words = [
        numbers.setdefault(word, (len(numbers) * _SPREAD) % (1 << 64)) for text in texts for word in text
    ]
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
    return np.array(words, np.uint64), offsets
