"""Which documents take no part (too short, in another language, without a link), and which pairs are never compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ConfigError, MissingExtra
from neardup.values.checks import check_fields, checked_methods

__all__ = ["Filters", "languages_of"]

PASSED, SHORT, LANGUAGE, LINKS = 0, 1, 2, 3
REASONS = ("", "too short", "other language", "no links")

_LINK = re.compile(r"https?://|www\.|href\s*=", re.IGNORECASE)
_DETECTED = 20_000  # characters by which a language is recognised


@checked_methods
@dataclass(frozen=True)
class Filters:
    """What a document must have to be compared. Other documents are left out of the output too, and are counted.

    `min_words` and `min_bytes` are the least of its text; `languages` are two-letter codes, as resiliparse's detector
    finds them (extra `web`); with `links` it must hold a URL. Each filter reads the document as it was given; words are
    counted in the text that was extracted from it.

    Two documents are never compared if their numbers of words differ by more than the share `length` of the longer
    one's (0: any), or, with `same_language`, if their languages differ. `prune` sets aside, before the search,
    documents that share so few features with all others that none can be similar enough: it changes no answer.

    >>> import neardup as nd
    >>> texts = ["one two three four five six", "too short"]
    >>> nd.dedup(texts, nd.Config(filters=nd.Filters(min_words=3))).kept.tolist()
    [0]
    """

    EARLIER_NAMES: ClassVar[dict[str, str]] = {"words": "min_words", "bytes": "min_bytes"}

    min_words: int = 0
    min_bytes: int = 0
    languages: tuple[str, ...] = ()
    links: bool = False
    length: float = 0.0
    same_language: bool = False
    prune: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        if self.min_words < 0 or self.min_bytes < 0:
            raise ConfigError("a least length is 0 or more")
        if not 0 <= self.length < 1:
            raise ConfigError(f"lengths may differ by a share from 0 (any) to below 1, not {self.length}")
        if isinstance(self.languages, str):
            raise ConfigError(f"languages is a list; write languages=[{self.languages!r}]")
        for code in self.languages:
            if len(code) != 2 or not code.islower():
                raise ConfigError(f"a language is a code of two small letters such as en or de, not {code!r}")

    @property
    def active(self) -> bool:
        """Whether any filter of documents is set."""
        return bool(self.min_words or self.min_bytes or self.languages or self.links)

    def lengths_fit(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether documents of so many words may be compared: the shorter has at least 1 - `length` of the longer
        one's."""
        least, most = np.minimum(left, right), np.maximum(left, right)
        return np.asarray(least >= (1 - self.length) * most - 1e-9) if self.length else least >= 0

    def check(
        self, raw: Sequence[str], texts: Sequence[str], tokens: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> NDArray[np.uint8]:
        """For each document 0, or which of the REASONS keeps it out; the first that applies."""
        found = np.zeros(len(texts), np.uint8)
        if self.links:
            bare = [_LINK.search(text) is None for text in raw]
            found[np.array(bare, np.bool_)] = LINKS
        if self.languages:
            detect = _detector(self.languages)
            other = [detect(text[:_DETECTED]) not in self.languages for text in texts]
            found[np.array(other, np.bool_)] = LANGUAGE
        found[(tokens < self.min_words) | (sizes < self.min_bytes)] = SHORT
        return found


def languages_of(texts: Sequence[bytes]) -> list[str]:
    """The language of each text, a two-letter code, by its first characters."""
    detect = _detector()
    return [detect(text[: 4 * _DETECTED].decode("utf-8", "replace")[:_DETECTED]) for text in texts]


def _detector(wanted: Sequence[str] = ()) -> Callable[[str], str]:
    """Raises ConfigError for a language it never finds: it would leave every document out."""
    try:
        from resiliparse.parse.lang import detect_fast, supported_langs
    except ImportError:
        raise MissingExtra("recognising languages", "web") from None
    known = supported_langs()
    for code in wanted:
        if code not in known:
            raise ConfigError(
                f"the detector knows no language {code!r}; it knows: {', '.join(sorted(known))}"
            )
    return lambda text: str(detect_fast(text)[0])
