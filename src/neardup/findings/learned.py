"""Learn from decisions: the weights of doubt (findings/doubt.py), moved by what a person decided about single pairs.

A logistic regression with a normal prior around the fixed weights, on the counts of changes. It runs on this machine in
milliseconds and is the same for the same decisions. Decisions about whole selections are not learned from: they are
what the model proposed, or nobody looked at each of them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.selection import Cut
from neardup.findings.audit import read_audit
from neardup.findings.decisions import Decisions
from neardup.findings.doubt import PRIOR, features_of
from neardup.findings.folder import Findings
from neardup.findings.lanes import described
from neardup.values.intervals import wilson

__all__ = ["FEWEST", "LIMIT", "Learned", "learn"]

FEWEST = 20  # judged pairs before anything is learned
STEP = 10  # learned again after so many more, so that the order does not change with every decision
LIMIT = 0.02  # a removal is proposed for acceptance if it is wrong with at most this probability
_TRUST = 1.0  # of the fixed weights: about as much as so many decisions
_FOLDS = 10

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Learned:
    """Weights after `examples` judged pairs, `wrong` of them not duplicates. Precision is measured on pairs of clusters
    that were left out when the weights were learned: of `accepted` that the model would have accepted, `right` were."""

    weights: Floats
    examples: int
    wrong: int
    accepted: int
    right: int

    @property
    def precision(self) -> tuple[float, float, float] | None:
        """The share of right ones with its 95% interval; None if it would have accepted nothing."""
        if not self.accepted:
            return None
        share = self.right / self.accepted
        return share, *wilson(share, self.accepted)

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values, without the weights."""
        found = asdict(self)
        del found["weights"]
        return found | {"precision": self.precision}


def learn(findings: Findings, cut: Cut, decisions: Decisions) -> Learned | None:
    """The model after these decisions and the answers of an audit; None if there are too few."""
    pairs = _examples(findings, decisions)
    pairs = pairs[: len(pairs) // STEP * STEP]
    if len(pairs) < FEWEST:
        return None
    rows, keepers, wrong = (np.array(column) for column in zip(*pairs, strict=True))
    features = features_of(described(findings, cut, rows.astype(np.int64), keepers.astype(np.int64)))
    target = wrong.astype(np.float64)
    clusters = cut.clusters.labels[keepers]
    left_out = _left_out(features, target, clusters)
    accepted = left_out <= LIMIT
    return Learned(
        _fit(features, target),
        len(pairs),
        int(target.sum()),
        int(accepted.sum()),
        int((target[accepted] == 0).sum()),
    )


def _examples(findings: Findings, decisions: Decisions) -> list[tuple[int, int, bool]]:
    """Removed row, keeper, and whether the removal is wrong; decisions in their order, then answers of an audit."""
    found: dict[tuple[int, int], tuple[int, int, bool]] = {}
    for decision in decisions:
        if decision.how == "one":
            found[decision.pair] = decision.right_row, decision.left_row, decision.decision == "reject"
    for answer in read_audit(findings):
        pair = (min(answer.row, answer.keeper), max(answer.row, answer.keeper))
        if answer.verdict != "unsure":
            found.setdefault(pair, (answer.row, answer.keeper, answer.verdict == "wrong"))
    return list(found.values())


def _fit(features: Floats, target: Floats) -> Floats:
    """The most likely weights, by Newton's method."""
    weights = PRIOR.copy()
    for _ in range(50):
        chance = 1 / (1 + np.exp(-np.clip(features @ weights, -30, 30)))
        slope = features.T @ (chance - target) + _TRUST * (weights - PRIOR)
        bend = (features * (chance * (1 - chance))[:, None]).T @ features + _TRUST * np.eye(len(weights))
        step = np.linalg.solve(bend, slope)
        weights = weights - np.clip(step, -2, 2)
        if float(np.abs(step).max()) < 1e-6:
            break
    return weights


def _left_out(features: Floats, target: Floats, clusters: Rows) -> Floats:
    """How likely each example is wrong, by weights that were learned without its cluster."""
    _, cluster = np.unique(clusters, return_inverse=True)
    fold = cluster % _FOLDS
    found = np.zeros(len(target))
    for part in np.unique(fold).tolist():
        mine = fold == part
        found[mine] = 1 / (1 + np.exp(-(features[mine] @ _fit(features[~mine], target[~mine]))))
    return found
