"""Weights: how much a feature counts. Document frequencies are fitted once, frozen, and named in the scheme."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError, DataError, SchemeError
from neardup.features.features import Features
from neardup.features.texts import as_texts
from neardup.storage.frozen_file import read_frozen, write_frozen
from neardup.values.checks import check_fields, check_whole, checked, checked_methods

if TYPE_CHECKING:
    from neardup.features.shingles import TextFeatures
    from neardup.features.texts import Texts

__all__ = ["COUNTS", "Common", "Frequencies", "Idf", "check_features", "counting", "in_batches", "weigh"]

MOST_COUNT = 2**32 - 1  # documents that a count can hold
Counting = Literal["constant", "count", "log"]
COUNTS: dict[str, _core.Count] = {
    "constant": _core.Count.constant,
    "count": _core.Count.linear,
    "log": _core.Count.logarithm,
}
BATCH = 4096


def counting(name: str) -> _core.Count:
    """The core's name for a way to count repeated features."""
    if name not in COUNTS:
        raise ConfigError(f"weights {name!r}: choose one of {', '.join(COUNTS)}, or an Idf")
    return COUNTS[name]


def check_features(features: object) -> None:
    """Raise ConfigError unless these are features of texts."""
    from neardup.features.shingles import TextFeatures

    if not isinstance(features, TextFeatures):
        raise ConfigError(f"features must be those of texts, such as nd.Words(), not {features!r:.80}")


def in_batches(texts: Texts, size: int = BATCH) -> Iterable[_core.Texts]:
    """A column of texts as native batches; streams are read piece by piece, complete columns are one batch."""
    if not isinstance(texts, Iterable | _core.Texts):
        raise DataError(f"texts must be a list or a stream of texts, not {texts!r:.80}")
    if hasattr(texts, "__len__") or isinstance(texts, _core.Texts):
        yield as_texts(texts)
        return
    batch: list[object] = []
    for text in texts:
        batch.append(text)
        if len(batch) == size:
            yield as_texts(batch)  # type: ignore[arg-type]
            batch = []
    if batch:
        yield as_texts(batch)  # type: ignore[arg-type]


@checked_methods
@dataclass(frozen=True, eq=False)
class Frequencies:
    """In how many of `documents` documents each feature occurs; hashes ascend. `features` is the scheme of the
    counted features: the frequencies do not apply to features of another scheme.

    hashes  the features, uint64
    counts  in how many documents each of them occurs

    >>> import neardup as nd
    >>> frequencies = nd.features.Frequencies.count(["a ferry", "a cake"], nd.Words())
    >>> frequencies.documents, sorted(frequencies.counts.tolist())
    (2, [1, 1, 2])
    """

    documents: int
    hashes: NDArray[np.uint64] = field(repr=False)
    counts: NDArray[np.uint64] = field(repr=False)
    features: str

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    def count(
        cls, texts: Texts, features: TextFeatures, *, at_least: int = 1, threads: int = 1
    ) -> Frequencies:
        """Count a corpus; features that occur in fewer than `at_least` documents are left out."""
        check_features(features)
        plain = features.unweighted()
        tally = _core.Tally()
        documents = 0
        for batch in in_batches(texts):
            tally.add_documents(batch, plain.recipe(batch), threads)
            documents += len(batch)
        hashes, counts, _, _ = tally.columns(check_whole(at_least, "at_least", 0, MOST_COUNT))
        return cls(documents, hashes, counts, plain.scheme)

    @cached_property
    def identifier(self) -> str:
        """Eight hex digits that identify these frequencies in a scheme."""
        digest = hashlib.blake2b(f"{self.documents}|{self.features}".encode(), digest_size=4)
        digest.update(self.hashes.astype("<u8").tobytes())
        digest.update(self.counts.astype("<u8").tobytes())
        return digest.hexdigest()

    def write(self, path: str | Path, kind: str, **facts: object) -> None:
        facts |= {"documents": self.documents, "features": self.features}
        write_frozen(path, kind, facts, {"hashes": self.hashes, "counts": self.counts})

    @classmethod
    def read(cls, path: str | Path, kind: str) -> tuple[Frequencies, dict[str, object]]:
        facts, columns = read_frozen(path, kind)
        return cls(facts["documents"], columns["hashes"], columns["counts"], facts["features"]), facts


@checked_methods
@dataclass(frozen=True, eq=False)
class Idf:
    """TF-IDF weights from frequencies that never change.

    weight = tf * (ln((1 + documents) / (1 + frequency)) + 1), the row then scaled to length 1. tf is the count, its
    logarithm (1 + ln count) or 1.

    >>> import neardup as nd
    >>> idf = nd.Idf.fit(["the ferry", "the harbour", "the pier"])
    >>> idf.frequencies.documents
    3
    """

    frequencies: Frequencies
    tf: Counting = "count"

    def __post_init__(self) -> None:
        check_fields(self)
        counting(self.tf)

    @classmethod
    def fit(
        cls,
        texts: Texts,
        features: TextFeatures | None = None,
        *,
        tf: Counting = "count",
        at_least: int = 1,
        threads: int = 1,
    ) -> Idf:
        """Count a corpus and freeze the result; by default over single words."""
        if features is None:
            from neardup.features.shingles import Words

            features = Words()
        return cls(Frequencies.count(texts, features, at_least=at_least, threads=threads), tf)

    @property
    def scheme(self) -> str:
        return f"tf-idf({self.tf},{self.frequencies.identifier})"

    @cached_property
    def values(self) -> NDArray[np.float32]:
        """The idf of each of the frequencies' hashes."""
        counts = self.frequencies.counts.astype(np.float64)
        return (np.log((1 + self.frequencies.documents) / (1 + counts)) + 1).astype(np.float32)

    @property
    def unseen(self) -> float:
        """The idf of a feature that the fitted corpus did not have."""
        return float(np.float32(np.log(1 + self.frequencies.documents) + 1))

    @cached_property
    def native(self) -> _core.Weights:
        return _core.Weights(self.frequencies.hashes, self.values)

    def of(self, hashes: NDArray[np.uint64]) -> NDArray[np.float32]:
        """The idf of any features."""
        known = self.frequencies.hashes
        if len(known) == 0:
            return np.full(len(hashes), self.unseen, np.float32)
        place = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
        return np.where(known[place] == hashes, self.values[place], np.float32(self.unseen))

    def save(self, path: str | Path) -> None:
        """Write to a frozen file, completely or not at all."""
        self.frequencies.write(path, "idf", tf=self.tf)

    @classmethod
    def load(cls, path: str | Path) -> Idf:
        """Read a file written by `save`; FormatError if it is damaged or another file."""
        frequencies, facts = Frequencies.read(path, "idf")
        return cls(frequencies, facts["tf"])  # type: ignore[arg-type]


@checked_methods
@dataclass(frozen=True, eq=False)
class Common:
    """Features that occur in more than `share` of the documents: templates, menus, licence headers.

    They are dropped from every document; a document that has nothing else keeps the `floor` least common of them.

    frequencies  the counts that decide which features are common

    >>> import neardup as nd
    >>> texts = ["menu home about ferry", "menu home about cake", "menu home about rain"]
    >>> common = nd.features.Common.fit(texts, nd.Words(), share=0.5)
    >>> nd.Words(common=common).extract(texts).offsets.tolist()
    [0, 1, 2, 3]
    """

    frequencies: Frequencies
    share: float
    floor: int = 1

    def __post_init__(self) -> None:
        check_fields(self)
        if not 0 < self.share <= 1 or self.floor < 1:
            raise ConfigError("Common: share must be in (0, 1] and floor at least 1")

    @classmethod
    def fit(
        cls, texts: Texts, features: TextFeatures, *, share: float = 0.01, floor: int = 1, threads: int = 1
    ) -> Common:
        """Find the common features of a corpus."""
        if not 0 <= share <= 1:
            raise ConfigError(f"Common: share is from 0 to 1, not {share}")
        all_of_them = Frequencies.count(texts, features, threads=threads)
        common = all_of_them.counts > share * all_of_them.documents
        found = Frequencies(
            all_of_them.documents,
            all_of_them.hashes[common],
            all_of_them.counts[common],
            all_of_them.features,
        )
        return cls(found, share, floor)

    @property
    def scheme(self) -> str:
        return f"common({self.share:g},{self.floor},{self.frequencies.identifier})"

    @cached_property
    def native(self) -> _core.Words:
        return _core.Words(self.frequencies.hashes, self.frequencies.counts)

    def save(self, path: str | Path) -> None:
        """Write to a frozen file, completely or not at all."""
        self.frequencies.write(path, "common", share=self.share, floor=self.floor)

    @classmethod
    def load(cls, path: str | Path) -> Common:
        """Read a file written by `save`."""
        frequencies, facts = Frequencies.read(path, "common")
        return cls(frequencies, facts["share"], facts["floor"])  # type: ignore[arg-type]


@checked
def weigh(features: Features, weights: Counting | Idf) -> Features:
    """Compute weights from counts, as extraction does, for features made elsewhere.

    weights  "constant", "count", "log" or an Idf
    raises   ConfigError for other weights, SchemeError if the Idf was fitted on other features

    >>> import neardup as nd
    >>> counted = nd.Words(weights="count").extract(["a ferry and a cake"])
    >>> nd.features.weigh(counted, "constant").weights.tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    tf = weights.tf if isinstance(weights, Idf) else weights
    counting(tf)
    values = features.weights.astype(np.float64)
    if tf == "constant":
        values = np.ones_like(values)
    elif tf == "log":
        values = np.where(values > 1, 1 + np.log(np.maximum(values, 1)), values)
    values32 = values.astype(np.float32)
    scheme: str = tf
    if isinstance(weights, Idf):
        if weights.frequencies.features != features.scheme:
            raise SchemeError(weights.frequencies.features, features.scheme)
        scheme = weights.scheme
        values32 *= weights.of(features.hashes)
        rows = np.repeat(np.arange(len(features)), features.sizes)
        norms = np.sqrt(np.bincount(rows, np.square(values32, dtype=np.float64), len(features)))
        values32 = (values32 / norms[rows]).astype(np.float32)
    return Features(features.hashes, values32, features.offsets, f"{features.scheme} weights={scheme}")
