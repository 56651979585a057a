"""A few yes and no answers on pairs, and what they say about the similarity at which duplicates begin.

The model: a pair of similarity s is a duplicate with probability 0 below some similarity, 1 above another, and rising
linearly between. The middle and the width of this ramp start near the given threshold and change with every answer
(Bayes, on a grid). Unlike a logistic curve, a ramp gives exactly 0 to the billions of unrelated pairs of a corpus.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neardup.errors import DataError
from neardup.evaluate.truth import Names, PairTable, read_table
from neardup.findings.decision_log import DECISIONS
from neardup.findings.decisions import decided_labels, is_log
from neardup.findings.folder import MANIFEST

__all__ = ["Belief", "Label", "append_label", "histogram", "read_labels"]

Floats = NDArray[np.float64]
Label = tuple[str, str, float]

PLACES = 1001
MIDDLES = np.round(np.arange(0.02, 1.001, 0.01), 2)
HALF_WIDTHS = np.array([0.01, 0.03, 0.06, 0.1, 0.15, 0.2])
PRIOR_SPREAD = 0.2
LOWEST = 0.1
MISTAKEN = 0.03
"""The share of answers that are mistakes."""


@dataclass(frozen=True)
class Belief:
    """Ramps with the probability of each. `ramps[g]` is P(duplicate) at similarities 0, 0.001 ... 1."""

    ramps: Floats
    squares: Floats
    middle: Floats
    chance: Floats
    evidence: float = 0.0
    """The logarithm of how probable the labels were before they were given."""

    @classmethod
    def around(
        cls,
        threshold: float,
        similarity: ArrayLike = (),
        label: ArrayLike = (),
        *,
        scale: float = 1.0,
        spread: float = PRIOR_SPREAD,
    ) -> Belief:
        """The belief around a threshold after these labels (1 duplicate, 0 not).

        Widths are for Jaccard similarity; `scale` makes them smaller for cosine, which is high even for unrelated
        texts. Far below the threshold the probability is exactly 0: there are too many pairs for even a small one.
        """
        ramps, squares, middle, log = _grid(threshold, scale, spread)
        said = np.asarray(label, np.float64)
        if len(said):
            p = MISTAKEN + (1 - 2 * MISTAKEN) * ramps[:, _places(similarity)]
            log = log + (np.log(p) * said + np.log1p(-p) * (1 - said)).sum(axis=1)
        top = float(log.max())
        chance = np.exp(log - top)
        whole = float(chance.sum())
        return cls(ramps, squares, middle, chance / whole, top + math.log(whole))

    def duplicate(self, similarity: ArrayLike) -> Floats:
        """P(duplicate) of pairs of these similarities."""
        places = _places(similarity)
        few = len(places) < PLACES // 4
        return np.asarray(
            self.chance @ self.ramps[:, places] if few else (self.chance @ self.ramps)[places], np.float64
        )

    def doubt(self, similarity: ArrayLike) -> Floats:
        """How much the beliefs differ at these similarities: an answer is worth most where they differ most."""
        mean = self.chance @ self.ramps
        return np.asarray((self.chance @ self.squares - mean**2)[_places(similarity)])

    def middle_between(self, share: float = 0.95) -> tuple[float, float, float]:
        """The expected middle of the ramp, and the interval that contains it with this probability."""
        by_middle = np.bincount(np.searchsorted(MIDDLES, self.middle), self.chance, len(MIDDLES))
        ends = np.searchsorted(np.cumsum(by_middle), [(1 - share) / 2, (1 + share) / 2])
        low, high = MIDDLES[np.minimum(ends, len(MIDDLES) - 1)]
        return float(self.chance @ self.middle), float(low), float(high)

    def spread(self, values: Floats) -> tuple[float, float, float]:
        """The mean and the 95% interval of a number that has another value for each ramp."""
        order = np.argsort(values, kind="stable")
        ends = np.searchsorted(np.cumsum(self.chance[order]), [0.025, 0.975])
        low, high = values[order][np.minimum(ends, len(order) - 1)]
        return float(self.chance @ values), float(low), float(high)


@lru_cache(maxsize=8)
def _grid(threshold: float, scale: float, spread: float) -> tuple[Floats, Floats, Floats, Floats]:
    """All ramps, their squares and middles, and the logarithm of the chance of each before any label."""
    middle, half = (column.ravel() for column in np.meshgrid(MIDDLES, HALF_WIDTHS * scale, indexing="ij"))
    places = np.linspace(0, 1, PLACES)
    ramps = np.clip((places - (middle - half)[:, None]) / (2 * half)[:, None], 0, 1)
    ramps[:, places < max(LOWEST, threshold - 3.5 * spread * scale)] = 0
    log = -((middle - threshold) ** 2) / (2 * (spread * scale) ** 2)
    log -= math.log(float(np.exp(log).sum()))
    squares = ramps * ramps
    for column in (ramps, squares, middle, log):
        column.flags.writeable = False
    return ramps, squares, middle, log


def histogram(similarity: ArrayLike, weight: ArrayLike) -> Floats:
    """The weight at each point of a ramp."""
    return np.bincount(_places(similarity), np.asarray(weight, np.float64), PLACES).astype(np.float64)


def read_labels(path: str | PathLike[str], *, missing_ok: bool = False) -> list[Label]:
    """Labelled pairs (CSV, TSV, JSONL or Parquet): ids and a label, 0, 1 or NaN for unknown; or the decisions of a
    review: a findings folder, or the decisions file in it."""
    log = Path(path) / DECISIONS if (Path(path) / MANIFEST).is_file() else Path(path)
    if log.name == DECISIONS and Path(path).is_dir() and not log.exists():
        raise DataError(f"{path}: there are no decisions yet; review the pairs with: neardup review {path}")
    if is_log(log):
        return decided_labels(log)
    if missing_ok and not Path(path).exists():
        return []
    if Path(path).is_file() and Path(path).stat().st_size == 0:
        return []
    names = Names()
    table = read_table(path, names)
    if not isinstance(table, PairTable) or table.label is None:
        raise DataError(f"{path}: should list pairs with a label (id_a, id_b, label)")
    rows = zip(table.left, table.right, table.label, strict=True)
    return [
        (names.ids[a], names.ids[b], label if np.isnan(label) else float(label >= 1)) for a, b, label in rows
    ]


def append_label(
    path: str | PathLike[str], left: str, right: str, label: int | None, similarity: float
) -> None:
    """Append one answer (None: unknown) to a JSONL file; it is on the disk before this returns."""
    row = {"left": left, "right": right, "label": label, "similarity": round(similarity, 6)}
    with open(path, "ab") as file:
        file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _places(similarity: ArrayLike) -> NDArray[np.int64]:
    values = np.clip(np.asarray(similarity, np.float64), 0, 1)
    return np.rint(values * (PLACES - 1)).astype(np.int64)
