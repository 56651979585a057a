"""The results of a calibration: one row for each setting, one for each radius, pairs to review, a recommendation."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from neardup.evaluate.metrics import Measure
from neardup.evaluate.settings import Setting
from neardup.evaluate.tuner import Tuned
from neardup.values.plain import plain

__all__ = ["Borderline", "CorpusCalibration", "Outcome", "RadiusRow"]


@dataclass(frozen=True)
class Outcome:
    """The expected effect of one setting on the whole corpus: `pairs` it would report, documents `removed`, including
    those with the same words as another.

    setting                the setting that was judged
    precision, recall, f1  what it would have on the whole corpus

    >>> import neardup as nd
    >>> from neardup import sample
    >>> outcome = nd.evaluate.calibrate(nd.read(sample.path()).documents()).outcomes[0]
    >>> outcome.setting.method, outcome.removed.value > 0.3
    ('minhash', True)
    """

    setting: Setting
    precision: Measure
    recall: Measure
    f1: float
    pairs: float
    removed: Measure


@dataclass(frozen=True)
class RadiusRow:
    """One radius of simhash against cosine: P(h) and R(h) (Sood and Loguinov 2011, eq. 24 and 25), the mean cosine of
    pairs at exactly that distance, and for PSM the flips k, its relative recall R' and the total recall R(h) R'.

    bits                           of the code
    radius                         the largest number of differing bits
    precision, recall              P(h) and R(h)
    mean_cosine                    of pairs at exactly this distance
    flips                          of PSM, or None
    relative_recall, total_recall  of PSM; NaN without it

    >>> import neardup as nd
    >>> from neardup import sample
    >>> row = nd.evaluate.calibrate(nd.read(sample.path()).documents()).radii[0]
    >>> row.bits, row.radius
    (64, 0)
    """

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
    """A pair to review: its ids, similarity, and the words around the first difference.

    left, right                  the ids of the two documents
    similarity                   0 to 1
    left_snippet, right_snippet  words of each text around the first difference

    >>> import neardup as nd
    >>> from neardup import sample
    >>> measured = nd.evaluate.calibrate(nd.read(sample.path()).documents(), borderline=1)
    >>> len(measured.borderline), measured.borderline[0].similarity < 0.8
    (1, True)
    """

    left: str
    right: str
    similarity: float
    left_snippet: str
    right_snippet: str


@dataclass(frozen=True)
class CorpusCalibration:
    """The result of `calibrate`. `documents` were read, `exact` of them have the same words as another, `empty` none.

    `queries` documents and `pairs` of their pairs were compared exactly; with `census` these are all pairs.
    `outcomes` are of one rule (the width and the similarity that were given); `recommended` is the best of them.
    `tuned` is what the labels choose among all rules, None with fewer than eight of them.
    `duplicates` estimates how many pairs are duplicates: by similarity >= threshold or, with labels, by the labels.

    cosine      the smallest cosine of two duplicates, for `radii`
    begins      the similarity at which labels say that duplicates begin, with its interval
    radii       simhash radii compared with the cosine
    borderline  pairs near the threshold, for a person
    reason      why a setting is recommended, in a sentence
    notes       remarks, a sentence each

    >>> import neardup as nd
    >>> from neardup import sample
    >>> measured = nd.evaluate.calibrate(nd.read(sample.path()).documents())
    >>> measured.documents, measured.exact, measured.labels
    (287, 15, 0)
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
    tuned: Tuned | None = None

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
        if self.tuned is not None:
            said["tuned"]["options"] = self.tuned.options
        return said
