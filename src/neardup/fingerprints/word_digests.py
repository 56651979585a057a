"""Digests of the words of a document as a fingerprint: equal for documents with the same words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neardup import _core
from neardup.errors import DataError
from neardup.features.features import Features
from neardup.features.shingles import TextFeatures
from neardup.fingerprints.fingerprints import Digests
from neardup.fingerprints.one_pass import digest
from neardup.fingerprints.printer import Printer, Reading
from neardup.values.seeds import DEFAULT_SEED, Seed

__all__ = ["WordDigests"]

BYTES = 16


@dataclass(frozen=True)
class WordDigests(Printer):
    """128 bits of the normalised words of a text, before stop words and stems: see `digest`."""

    seed: int | Seed = DEFAULT_SEED

    makes = Digests

    @cached_property
    def blank(self) -> Digests:
        return Digests("", np.zeros(0, np.bool_), digests=np.zeros((0, BYTES), np.uint8))

    def scheme(self, features: str) -> str:
        """The scheme of word digests with the given normalisation."""
        return f"digest tokens-128/v1 seed={Seed.of(self.seed).identifier} | {features}"

    def compute(self, features: Features, threads: int = 1) -> Digests:
        raise DataError("word digests are made from texts, not from features")

    def read(
        self, texts: _core.Texts, features: TextFeatures, threads: int = 1, digests: bool = True
    ) -> Reading:
        how = features.normalize.without_words()
        # The digest is made of tokens, so native texts are enough.
        made = digest(texts, normalized=how, seed=self.seed, threads=threads)  # type: ignore[arg-type]
        none = np.empty(0, np.int64)
        return Reading(made, made.digests.view(np.uint64), made.empty, none, made.replaced)
