"""Normalisation: which differences between texts are ignored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError, MissingExtra
from neardup.features import date_words
from neardup.features.texts import Texts, as_texts
from neardup.values.checks import check_fields, checked, checked_methods

__all__ = ["Normalize", "normalize", "tokens"]

FOLDED = "0"  # the replacement of a folded number


@checked_methods
@dataclass(frozen=True)
class Normalize:
    """The steps that are applied to a text before features are made; each step can be switched.

    In order: NFKC (which also drops invisible format characters such as soft hyphens), full case folding, accents,
    digits. Then tokens: a run of letters, digits, underscores and combining marks; in scripts written without spaces
    (Chinese, Japanese, Thai, Lao, Khmer, Myanmar) every character is a token. Words in the stop word lists of the
    given languages are dropped (extra `text`), and the rest are stemmed if a language is given.

    `digits="fold"` replaces every run of digits by one 0, so that counters and dates are ignored: it also merges
    documents that differ only in numbers. `ids="fold"` does the same to words that mix letters with digits (session
    ids, hex digests), and `dates="fold"` to names of months and days in some thirty languages, even if they mean
    something else (may). Digests of equal words fold digits, but not ids and dates. `punctuation="keep"` makes each
    mark a token. `whitespace` affects only character features.

    nfkc, casefold  the first two steps, on by default
    stopwords  languages, such as ("en",), whose stop words are dropped
    stem       a language, such as "en", whose words are stemmed

    >>> import neardup as nd
    >>> nd.features.tokens(["Café, 12 CAFÉS!"], nd.Normalize(accents="strip", digits="fold"))
    [['cafe', '0', 'cafes']]
    """

    nfkc: bool = True
    casefold: bool = True
    accents: Literal["keep", "strip"] = "keep"
    digits: Literal["keep", "fold"] = "keep"
    punctuation: Literal["drop", "keep"] = "drop"
    whitespace: Literal["collapse", "keep", "drop"] = "collapse"
    stopwords: tuple[str, ...] = ()
    stem: str | None = None
    ids: Literal["keep", "fold"] = "keep"
    dates: Literal["keep", "fold"] = "keep"

    def __post_init__(self) -> None:
        check_fields(self)
        for name, allowed in (
            ("accents", ("keep", "strip")),
            ("digits", ("keep", "fold")),
            ("punctuation", ("drop", "keep")),
            ("ids", ("keep", "fold")),
            ("dates", ("keep", "fold")),
            ("whitespace", ("collapse", "keep", "drop")),
        ):
            if getattr(self, name) not in allowed:
                raise ConfigError(f"{name}={getattr(self, name)!r}: choose one of {', '.join(allowed)}")
        if isinstance(self.stopwords, str):
            object.__setattr__(self, "stopwords", (self.stopwords,))

    @property
    def scheme(self) -> str:
        """Everything that the result depends on, including the Unicode version."""
        parts = [f"unicode={_core.unicode_version}"]
        parts += [name for name in ("nfkc", "casefold") if getattr(self, name)]
        if self.accents == "strip":
            parts.append("accents=strip")
        if self.digits == "fold":
            parts.append("digits=fold")
        if self.punctuation == "keep":
            parts.append("punctuation=keep")
        if self.whitespace != "collapse":
            parts.append(f"whitespace={self.whitespace}")
        if self.ids == "fold":
            parts.append("ids=fold")
        if self.dates == "fold":
            parts.append(f"dates=fold:{date_words.DIGEST}")
        if self.stopwords:
            parts.append(f"stopwords={'+'.join(self.stopwords)}:{_stopword_digest(self.stopwords)}")
        if self.stem:
            parts.append(f"stem={self.stem}:{_stemmer_version()}")
        return ",".join(parts)

    def without_words(self) -> Normalize:
        """The same without stop words, stems and folded words, as used for a digest of the words."""
        return replace(self, stopwords=(), stem=None, ids="keep", dates="keep")

    def native(self) -> _core.Normalizer:
        """The same for the core, which has no language data."""
        how = _core.Normalizer()
        how.nfkc, how.casefold = self.nfkc, self.casefold
        how.accents, how.digits = self.accents == "keep", self.digits == "keep"
        how.punctuation = self.punctuation == "keep"
        return how

    def word_map(self, texts: _core.Texts, kind: _core.Hash, seed: int) -> _core.Words | None:
        """The table that the core uses: the replacement of each word of these texts (the hash of its stem), 0 if it is
        dropped.

        The stem of each distinct word is looked up once.
        """
        if not self.stopwords and self.stem is None and self.ids == self.dates == "keep":
            return None
        stops = _stopword_tokens(self.stopwords, self.native_key())
        if self.stem is None and self.ids == "keep":
            folded = sorted(_date_tokens(self.native_key()) - set(stops)) if self.dates == "fold" else []
            keys = _hash_words([*stops, *folded], kind, seed)
            values = np.zeros(len(keys), np.uint64)
            values[len(stops) :] = _hash_words([FOLDED], kind, seed)
            return _core.Words(keys, values)
        keys, words = _core.vocabulary(texts, self.native(), kind, seed)
        stems = words if self.stem is None else _stemmer(self.stem).stemWords(words)
        ends = [FOLDED if self.folds(word) else stem for word, stem in zip(words, stems, strict=True)]
        values = _hash_words(ends, kind, seed)
        stopped = frozenset(stops)
        values[np.fromiter((word in stopped for word in words), np.bool_, len(words))] = 0
        return _core.Words(keys, values)

    def folds(self, word: str) -> bool:
        """Whether a token counts as a number, by `ids` or `dates`."""
        if self.dates == "fold" and word in _date_tokens(self.native_key()):
            return True
        digits = sum(map(str.isdigit, word)) if self.ids == "fold" else 0
        return 0 < digits < len(word)

    def native_key(self) -> tuple[bool, bool, str, str, str]:
        """What the normaliser of the core depends on."""
        return (self.nfkc, self.casefold, self.accents, self.digits, self.punctuation)


@checked
def normalize(texts: Texts, how: Normalize | None = None) -> list[str]:
    """Each text's tokens joined by single spaces: equal results mean that the texts differ only in ignored
    details.

    texts   texts or bytes in UTF-8
    how     what is ignored; by default case, punctuation and compatibility forms
    raises  DataError for what is not a text

    >>> import neardup as nd
    >>> nd.features.normalize(["The  Ferry, at EIGHT!"])
    ['the ferry at eight']
    """
    how = how or Normalize()
    return [" ".join(words) for words in tokens(texts, how)]


@checked
def tokens(texts: Texts, how: Normalize | None = None) -> list[list[str]]:
    """Each text's tokens, without stop words and endings if `how` says so.

    texts   texts or bytes in UTF-8
    raises  DataError for what is not a text

    >>> import neardup as nd
    >>> nd.features.tokens(["Hello, World!"])
    [['hello', 'world']]
    """
    how = how or Normalize()
    found: list[list[str]] = _core.tokens(as_texts(texts), how.native())
    if how.stopwords:
        stops = frozenset(_stopword_tokens(how.stopwords, how.native_key()))
        found = [[word for word in words if word not in stops] for words in found]
    if how.stem or how.ids == "fold" or how.dates == "fold":
        stem = _stemmer(how.stem).stemWord if how.stem else str
        vocabulary = {w for words in found for w in words}
        stems = {word: FOLDED if how.folds(word) else stem(word) for word in vocabulary}
        found = [[stems[word] for word in words] for words in found]
    return found


def _hash_words(words: tuple[str, ...] | list[str], kind: _core.Hash, seed: int) -> NDArray[np.uint64]:
    column = _core.Texts()
    column.add(tuple(word.encode() for word in words))
    return _core.hash_texts(column, seed, kind)


@lru_cache(maxsize=64)
def _stopword_tokens(languages: tuple[str, ...], key: tuple[bool, bool, str, str, str]) -> tuple[str, ...]:
    """The stop words as the tokeniser splits them: the parts of "don't" are stop words too."""
    if not languages:
        return ()
    nfkc, casefold, accents, digits, punctuation = key
    how = Normalize(nfkc, casefold, accents, digits, punctuation)  # type: ignore[arg-type]
    words = sorted(_stopwords(languages))
    found = {token for parts in tokens(words, how) for token in parts}
    # Some lists contain a few numbers. With digits folded, these would remove all numbers.
    return tuple(sorted(token for token in found if digits == "keep" or "0" not in token))


@lru_cache(maxsize=64)
def _date_tokens(key: tuple[bool, bool, str, str, str]) -> frozenset[str]:
    """Names of months and days as single tokens; names that the tokeniser splits are left out."""
    nfkc, casefold, accents, digits, punctuation = key
    how = Normalize(nfkc, casefold, accents, digits, punctuation)  # type: ignore[arg-type]
    return frozenset(parts[0] for parts in tokens(date_words.names(casefold), how) if len(parts) == 1)


@lru_cache(maxsize=64)
def _stopwords(languages: tuple[str, ...]) -> frozenset[str]:
    try:
        import stopwordsiso
    except ImportError:
        raise MissingExtra("removing stop words", "text") from None
    for language in languages:
        if not stopwordsiso.has_lang(language):
            known = ", ".join(sorted(stopwordsiso.langs()))
            raise ConfigError(f"no stop words for language {language!r}; known: {known}")
    return frozenset(stopwordsiso.stopwords(list(languages)))


@lru_cache(maxsize=64)
def _stopword_digest(languages: tuple[str, ...]) -> str:
    import hashlib

    return hashlib.blake2b("\n".join(sorted(_stopwords(languages))).encode(), digest_size=4).hexdigest()


def _stemmer(language: str):  # type: ignore[no-untyped-def]
    try:
        import Stemmer
    except ImportError:
        raise MissingExtra("stemming", "text") from None
    try:
        return Stemmer.Stemmer(language)
    except KeyError:
        raise ConfigError(
            f"no stemmer for language {language!r}; known: {', '.join(Stemmer.algorithms())}"
        ) from None


def _stemmer_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("PyStemmer")
    except PackageNotFoundError:
        raise MissingExtra("stemming", "text") from None
