"""The results of a calibration: one row for each setting, one for each radius, pairs to review, a recommendation."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from neardup.evaluate.metrics import Measure
from neardup.evaluate.settings import Setting
from neardup.values.plain import plain

__all__ = ["Borderline", "CorpusCalibration", "Outcome", "RadiusRow"]


@dataclass(frozen=True)
class Outcome:
    """The expected effect of one setting on the whole corpus: `pairs` it would report, documents `removed`, including
    those with the same words as another."""

    setting: Setting
    precision: Measure
    recall: Measure
    f1: float
    pairs: float
    removed: Measure


@dataclass(frozen=True)
class RadiusRow:
    """One radius of simhash against cosine: P(h) and R(h) (Sood and Loguinov 2011, eq. 24 and 25), the mean cosine of
    pairs at exactly that distance, and for PSM the flips k, its relative recall R' and the total recall R(h) R'."""

    bits: int
    radius: int
    precision: Measure
    recall: Measure
    mean_cosine: float
    flips: int | None = None
    relative_recall: float = math.nan
    total_recall: float = math.nan


@dataclass(frozen=True)
class Borderline:
    """A pair to review: its ids, similarity, and the words around the first difference."""

    left: str
    right: str
    similarity: float
    left_snippet: str
    right_snippet: str


@dataclass(frozen=True)
class CorpusCalibration:
    """The result of `calibrate`. `documents` were read, `exact` of them have the same words as another, `empty` none.

    `queries` documents and `pairs` of their pairs were compared exactly; with `census` these are all pairs.
    `duplicates` estimates how many pairs are duplicates: by similarity >= threshold or, with labels, by the labels.
    """

    documents: int
    exact: int
    empty: int
    queries: int
    pairs: int
    census: bool
    similarity: Literal["jaccard", "cosine"]
    threshold: float
    cosine: float
    labels: int
    begins: tuple[float, float, float] | None
    duplicates: float
    outcomes: tuple[Outcome, ...]
    radii: tuple[RadiusRow, ...]
    borderline: tuple[Borderline, ...]
    recommended: Outcome | None
    reason: str
    notes: tuple[str, ...] = ()

    def columns(self) -> dict[str, NDArray[Any]]:
        """The outcomes as columns, one row for each setting."""
        rows = self.outcomes
        settings = [asdict(row.setting) for row in rows]
        made: dict[str, NDArray[Any]] = {
            name: np.array([setting[name] for setting in settings]) for name in settings[0]
        }
        for name in ("precision", "recall", "removed"):
            for end in ("value", "low", "high"):
                key = name if end == "value" else f"{name}_{end}"
                made[key] = np.array([getattr(getattr(row, name), end) for row in rows])
        made["f1"] = np.array([row.f1 for row in rows])
        made["pairs"] = np.array([row.pairs for row in rows])
        return made

    def to_json(self) -> dict[str, Any]:
        """Everything as JSON values: NaN becomes null."""
        said: dict[str, Any] = plain(asdict(self))
        return said
