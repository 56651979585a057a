"""Rules that are the same for every run, on one machine or on Spark."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from neardup.compare.verify import Jaccard
from neardup.config.config import Config
from neardup.errors import ConfigError
from neardup.features.shingles import Words
from neardup.search.short_documents import ShortJoin

__all__ = ["ShortRule", "check_prune", "features_with_digits", "plain_features"]

Rows = NDArray[np.int64]


def plain_features(config: Config, templates: bool = False) -> bool:
    """Whether a document has at most as many features as tokens were counted, and their weights do not matter;
    `templates` says that some were learnt."""
    made, measured = config.features, config.compared
    same = (made.unit, made.normalize) == (measured.unit, measured.normalize)
    return isinstance(config.verify, Jaccard) and not templates and same


def check_prune(config: Config, templates: bool = False) -> None:
    """ConfigError if the config prunes documents that pruning is not exact for."""
    if config.filters.prune and not plain_features(config, templates):
        raise ConfigError(
            "prune is for Jaccard on features without templates, fingerprinted and compared in the same way"
        )


@dataclass(frozen=True)
class ShortRule:
    """Documents of fewer than `short` tokens are short: they are found by an exact join of all documents of fewer than
    `joined` tokens, beyond which none is similar enough to a short one."""

    short: int
    joined: int
    join: ShortJoin

    @classmethod
    def of(cls, config: Config, templates: bool = False) -> ShortRule | None:
        """The rule of a config; None where short documents are searched as all others."""
        measured = config.compared
        # The join relies on a document having as many features as its tokens say, nearly.
        whole = measured.select is None and measured.common is None and config.templates is None
        if not config.short or not plain_features(config, templates) or not whole:
            return None
        # A document has at most as many features as tokens; shingles are fewer, but for the shortest texts.
        join = ShortJoin(config.verify.least, max(1, config.short - 1))
        return cls(config.short, join.largest + max(measured.width, 1), join)

    def covers(self, left: Rows, right: Rows) -> NDArray[np.bool_]:
        """Which pairs of documents with so many tokens the exact join has compared. Short documents are candidates of
        others all the same, for a long one that repeats itself may have as few features."""
        both = (left < self.joined) & (right < self.joined)
        return np.asarray(both & ((left < self.short) | (right < self.short)))


def features_with_digits(config: Config) -> Words | None:
    """Words with their digits, to recognise documents that differ only in figures; None if the config keeps digits."""
    features = config.features
    if features.normalize.digits == "keep":
        return None
    return Words(normalize=replace(features.normalize.without_words(), digits="keep"), seed=features.seed)
