"""Makes features from text, with one native call for a whole batch of texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError, DataError
from neardup.features.features import Features, combine
from neardup.features.normalize import Normalize
from neardup.features.phrases import Phrases
from neardup.features.select import Modulo, Selection, Smallest, Winnow
from neardup.features.texts import Texts, as_texts
from neardup.features.weights import Common, Counting, Idf, counting, weigh
from neardup.values.checks import check_fields, checked_methods
from neardup.values.seeds import DEFAULT_SEED, Seed
from neardup.values.threads import check_threads

__all__ = ["Characters", "Sentences", "Shingles", "TextFeatures", "Words"]

VERSION = 1
WIDEST = 1024


@checked_methods
@dataclass(frozen=True)
class TextFeatures:
    """The common base of all text features; use Words, Shingles, Characters or Sentences.

    A feature is a seeded 64-bit hash. The default seed is a fixed, documented number, so that features made on two
    machines can be compared.

    width      how many successive parts make a feature, 1 to 1024
    normalize  what is ignored in a text
    weights    "constant", "count", "log", or an Idf
    select     which features are kept: Winnow, Modulo or Smallest; by default all
    common     features that are left out, because too many documents have them
    phrases    pairs of words that count as one token

    >>> import neardup as nd
    >>> isinstance(nd.Shingles(3), nd.features.TextFeatures)
    True
    """

    width: int = 1
    normalize: Normalize = field(default_factory=Normalize)
    weights: Counting | Idf = "constant"
    select: Selection | None = None
    common: Common | None = None
    phrases: Phrases | None = None
    hash: Literal["xxh3", "murmur64a"] = "xxh3"
    seed: int | Seed = DEFAULT_SEED

    unit: ClassVar[_core.Unit]
    ordered: ClassVar[bool] = False
    per_word: ClassVar[int] = 1  # features of a word, about and at most, to plan memory with

    def __post_init__(self) -> None:
        check_fields(self)
        if not 1 <= self.width <= WIDEST:
            raise ConfigError(f"width {self.width}: must be 1 to {WIDEST}")
        if self.hash not in ("xxh3", "murmur64a"):
            raise ConfigError(f"hash {self.hash!r}: choose xxh3 or murmur64a")
        if not isinstance(self.weights, Idf):
            counting(self.weights)
        if self.phrases is not None and self.unit != _core.Unit.words:
            raise ConfigError("phrases are made of words: use Words or Shingles")
        if self.phrases is not None and self.phrases.features != self.words().scheme:
            raise ConfigError(
                f"Phrases was fitted on other words:\n  fitted: {self.phrases.features}\n"
                f"  these:  {self.words().scheme}\nFit it again with these features."
            )
        plain = self.unweighted().scheme
        for fitted in (self.weights, self.common):
            if isinstance(fitted, Idf | Common) and fitted.frequencies.features != plain:
                raise ConfigError(
                    f"{type(fitted).__name__} was fitted on other features:\n  fitted: {fitted.frequencies.features}\n"
                    f"  these:  {plain}\nFit it again with these features."
                )

    def unweighted(self) -> TextFeatures:
        """The same features before weights, selection and dropping of common ones: frequencies are fitted on
        these."""
        if self.weights == "constant" and self.select is None and self.common is None:
            return self
        return replace(self, weights="constant", select=None, common=None)

    def words(self) -> Words:
        """The single words that these features are made of; phrases are learnt on them."""
        return Words(normalize=self.normalize, hash=self.hash, seed=self.seed)

    @property
    def scheme(self) -> str:
        """Everything that these features depend on, in one line."""
        parts = [f"{self.unit.name}{self.width}/v{VERSION}", f"{self.hash}:{Seed.of(self.seed).identifier}"]
        parts.append(self.normalize.scheme)
        parts += [part.scheme for part in (self.phrases, self.common, self.select) if part is not None]
        if self.ordered:
            parts.append("ordered")
        if self.weights != "constant":
            parts.append(f"weights={self.weights.scheme if isinstance(self.weights, Idf) else self.weights}")
        return " ".join(parts)

    def recipe(self, texts: _core.Texts) -> _core.Recipe:
        """The settings as the core takes them. If words are stemmed, the vocabulary of the texts is needed."""
        recipe = _core.Recipe()
        recipe.normalizer = self.normalize.native()
        recipe.unit, recipe.width = self.unit, self.width
        recipe.space = _core.Space[self.normalize.whitespace]
        recipe.hash, recipe.seed = _core.Hash[self.hash], Seed.of(self.seed).value
        if self.unit != _core.Unit.characters:
            words = self.normalize.word_map(texts, recipe.hash, recipe.seed)
            if words is not None:
                recipe.words = words
        if self.phrases is not None:
            recipe.phrases = self.phrases.native
        if isinstance(self.select, Modulo):
            recipe.select, recipe.select_by = _core.Select.modulo, self.select.modulus
            recipe.select_floor = self.select.floor
        elif isinstance(self.select, Smallest):
            recipe.select, recipe.select_by = _core.Select.smallest, self.select.many
        elif isinstance(self.select, Winnow):
            recipe.select, recipe.select_by = _core.Select.winnow, self.select.window
        if isinstance(self.weights, Idf):
            recipe.count = counting(self.weights.tf)
            recipe.idf, recipe.unseen_idf = self.weights.native, self.weights.unseen
            recipe.unit_length = True
        else:
            recipe.count = counting(self.weights)
        if self.ordered:
            recipe.ordered = True
        if self.common is not None:
            recipe.common, recipe.common_floor = self.common.native, self.common.floor
        return recipe

    def extract(self, texts: Texts | _core.Texts, *, threads: int = 1) -> Features:
        """The features of each text. Ill-formed UTF-8 is read as U+FFFD and counted in `replaced`."""
        column = as_texts(texts)
        hashes, weights, offsets, replaced = _core.extract(
            column, self.recipe(column), check_threads(threads)
        )
        return Features(hashes, weights, offsets, self.scheme, replaced)

    def extract_sets(
        self,
        texts: Texts | _core.Texts,
        room: NDArray[np.int64],
        out: NDArray[np.uint64],
        *,
        threads: int = 1,
    ) -> NDArray[np.int64]:
        """Write the features of each text, without weights, one after another into `out`; returns their offsets.

        `room[i]` is the largest number of features that text i may have, such as its number of tokens. For callers
        that make features repeatedly and do not want to allocate new memory."""
        column = as_texts(texts)
        return _core.extract_sets(column, self.recipe(column), room, out, check_threads(threads))

    def extract_fields(
        self, fields: Mapping[str, Texts], multipliers: Mapping[str, float], *, threads: int = 1
    ) -> Features:
        """Features of documents that consist of fields (title, headings, anchor text ...), each with its multiplier.

        The count of a feature is the sum over the fields of multiplier x count; weights are computed from it. A
        selection or a list of common features cannot be used here.
        """
        if self.select is not None or self.common is not None:
            raise ConfigError("extract_fields takes no selection and no common features")
        missing = sorted(set(fields) ^ set(multipliers))
        if missing or not fields:
            raise ConfigError(
                f"fields and multipliers must name the same fields; differing: {', '.join(missing)}"
            )
        counts: Counting = "constant" if self.weights == "constant" else "count"
        plain = replace(self, weights=counts)
        parts = [plain.extract(texts, threads=threads) for texts in fields.values()]
        if len({len(part) for part in parts}) > 1:
            raise DataError(
                "all fields must have one text per document: " + str([len(part) for part in parts])
            )
        named = ",".join(f"{name}*{multipliers[name]:g}" for name in sorted(fields))
        together = combine(parts, [multipliers[name] for name in fields], self.unweighted().scheme)
        weighed = together if self.weights == "constant" else weigh(together, self.weights)
        return replace(weighed, scheme=f"{self.scheme} fields({named})")


@dataclass(frozen=True)
class Words(TextFeatures):
    """Single words, the features that simhash was proposed with. Stop words and stems are settings of `normalize`.

    width       always 1; use Shingles for runs of words
    weights     "constant", "count", "log", or an Idf
    select      which features are kept: Winnow, Modulo or Smallest; by default all
    common      features that are left out, because too many documents have them
    phrases     pairs of words that count as one token
    hash, seed  the hash function, "xxh3" or "murmur64a", and its seed

    >>> import neardup as nd
    >>> len(nd.Words().extract(["to be or not to be"]).hashes)
    4
    """

    unit: ClassVar[_core.Unit] = _core.Unit.words


@dataclass(frozen=True)
class Shingles(TextFeatures):
    """Runs of `width` successive words; a text shorter than that is one shingle.

    width       words of a shingle, 1 to 1024
    normalize   what is ignored in a text
    weights     "constant", "count", "log", or an Idf
    select      which features are kept: Winnow, Modulo or Smallest; by default all
    common      features that are left out, because too many documents have them
    phrases     pairs of words that count as one token
    hash, seed  the hash function, "xxh3" or "murmur64a", and its seed

    >>> import neardup as nd
    >>> len(nd.Shingles(2).extract(["to be or not to be"]).hashes)
    4
    """

    width: int = 5
    unit: ClassVar[_core.Unit] = _core.Unit.words


@dataclass(frozen=True)
class Characters(TextFeatures):
    """Runs of `width` successive characters. Punctuation counts as white space unless `normalize` keeps it.

    weights     "constant", "count", "log", or an Idf
    select      which features are kept: Winnow, Modulo or Smallest; by default all
    common      features that are left out, because too many documents have them
    phrases     pairs of words that count as one token
    hash, seed  the hash function, "xxh3" or "murmur64a", and its seed

    >>> import neardup as nd
    >>> len(nd.Characters(3).extract(["banana"]).hashes)
    3
    """

    width: int = 5
    unit: ClassVar[_core.Unit] = _core.Unit.characters


@dataclass(frozen=True)
class Sentences(TextFeatures):
    """Whole sentences, or runs of `width` of them. A sentence ends at . ! ? before white space, at an ideographic full
    stop or at a line break; punctuation inside does not count.

    normalize   what is ignored in a text
    weights     "constant", "count", "log", or an Idf
    select      which features are kept: Winnow, Modulo or Smallest; by default all
    common      features that are left out, because too many documents have them
    phrases     pairs of words that count as one token
    hash, seed  the hash function, "xxh3" or "murmur64a", and its seed

    >>> import neardup as nd
    >>> len(nd.features.Sentences().extract(["It rains. The ferry leaves at eight!"]).hashes)
    2
    """

    unit: ClassVar[_core.Unit] = _core.Unit.sentences
