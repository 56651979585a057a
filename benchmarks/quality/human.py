"""How well rules agree with people: the human-judged pairs, by cross-validation.

A rule is a score and a threshold; the threshold, and the weights where a score has any, are chosen on the training
folds alone. Pairs that share a document are in one fold. `chosen` adds this: in each fold the rule itself is picked
from the list by a cross-validation inside the training pairs, so that its figure pays for the picking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from benchmarks.quality.scores import interval
from benchmarks.quality.sets import LabelledSet
from numpy.typing import NDArray

import neardup as nd
from neardup.compare import similarity
from neardup.evaluate.metrics import Measure

__all__ = ["RULES", "best_threshold", "cross_validated", "f1", "fit_logistic", "folds", "human", "measures"]

Json = dict[str, Any]
Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]
FOLDS, REPEATS, RESAMPLES = 10, 20, 2000
WIDTHS = (1, 2, 3, 5, 8, 12, 20)


@dataclass(frozen=True)
class Rule:
    """A score made of measures: one as it is, the mean of several, or a logistic regression on them."""

    name: str
    of: tuple[str, ...]
    how: str = "mean"

    def scores(self, measured: dict[str, Floats], truth: Truths, train: Truths) -> Floats:
        """The score of all pairs, fitted on the training pairs."""
        table = np.stack([measured[name] for name in self.of], axis=1)
        if self.how == "logistic":
            middle, spread = table[train].mean(axis=0), table[train].std(axis=0)
            table = (table - middle) / np.where(spread > 0, spread, 1)
            weights = fit_logistic(table[train], truth[train])
            return np.asarray(table @ weights[:-1] + weights[-1])
        return np.asarray(table.max(axis=1) if self.how == "max" else table.mean(axis=1))


RULES = (
    Rule("Jaccard of words", ("jaccard 1",)),
    *(Rule(f"Jaccard of {width} words", (f"jaccard {width}",)) for width in WIDTHS[1:]),
    Rule("Jaccard of 8 characters", ("characters 8",)),
    Rule("Jaccard of 5 words, digits folded", ("folded 5",)),
    Rule("Jaccard of 12 words, digits folded", ("folded 12",)),
    Rule("Jaccard of 5 words without the template", ("cut 5",)),
    Rule("Jaccard of 12 words without the template", ("cut 12",)),
    Rule("Jaccard of 2 words weighted by idf", ("idf jaccard 2",)),
    Rule("Jaccard of 5 words weighted by idf", ("idf jaccard 5",)),
    Rule("containment of 5 words", ("containment 5",)),
    Rule("containment of 12 words", ("containment 12",)),
    Rule("cosine of word counts", ("cosine",)),
    Rule("cosine of TF-IDF words", ("tf-idf",)),
    Rule("edit similarity of the first 20,000 characters", ("edit",)),
    Rule("mean of Jaccard at 1, 2, 3, 5 and 8 words", tuple(f"jaccard {width}" for width in (1, 2, 3, 5, 8))),
    Rule("mean of Jaccard at 5 and 12 words", ("jaccard 5", "jaccard 12")),
    Rule("larger of Jaccard at 12 words and idf-weighted at 2", ("jaccard 12", "idf jaccard 2"), "max"),
    Rule("logistic: Jaccard of 5 words, share of numbers", ("jaccard 5", "numbers"), "logistic"),
    Rule("logistic: Jaccard of 12 words, share of numbers", ("jaccard 12", "numbers"), "logistic"),
    Rule("logistic: Jaccard of 12 words, length", ("jaccard 12", "length"), "logistic"),
    Rule("logistic: Jaccard of 2 and 12 words, share of numbers", ("jaccard 2", "jaccard 12", "numbers"), "logistic"),
)  # fmt: skip


def measures(given: LabelledSet) -> tuple[dict[str, Floats], Truths, NDArray[np.int64]]:
    """Every measure of the judged pairs, whether they were judged the same, and their groups."""
    texts = list(given.texts)
    left, right, label = (np.array([pair[part] for pair in given.judged], np.int64) for part in range(3))
    found: dict[str, Floats] = {}
    for width in WIDTHS:
        features = nd.Shingles(width=width)
        made = features.extract(texts)
        found[f"jaccard {width}"] = similarity.jaccard(made, left, right)
        found[f"containment {width}"] = similarity.containment(made, left, right, of="smaller")
        folded = nd.Shingles(width=width, normalize=nd.Normalize(digits="fold")).extract(texts)
        found[f"folded {width}"] = similarity.jaccard(folded, left, right)
        common = nd.features.Common.fit(texts, features, share=0.02)
        found[f"cut {width}"] = similarity.jaccard(
            replace(features, common=common).extract(texts), left, right
        )
        found[f"idf jaccard {width}"] = _idf_jaccard(texts, features, left, right)
    found["characters 8"] = similarity.jaccard(nd.Characters(width=8).extract(texts), left, right)
    found["cosine"] = similarity.cosine(nd.Words(weights="count").extract(texts), left, right)
    found["tf-idf"] = similarity.cosine(nd.Words(weights=nd.Idf.fit(texts)).extract(texts), left, right)
    heads = [text[:20_000] for text in texts]
    found["edit"] = similarity.edit_similarity([heads[row] for row in left], [heads[row] for row in right])
    words = nd.features.tokens(texts)
    numbers = np.array([sum(word.isdigit() for word in row) / max(1, len(row)) for row in words])
    sizes = np.array([max(1, len(row)) for row in words])
    found["numbers"] = (numbers[left] + numbers[right]) / 2
    found["length"] = np.log(np.minimum(sizes[left], sizes[right]))
    return found, label >= 1, given.group[left]


def _idf_jaccard(
    texts: list[str], features: nd.Shingles, left: NDArray[np.int64], right: NDArray[np.int64]
) -> Floats:
    made, idf = features.extract(texts), nd.Idf.fit(texts, features, tf="constant")
    rows = [(made.row(a)[0], made.row(b)[0]) for a, b in zip(left, right, strict=True)]
    shared = np.array([idf.of(np.intersect1d(a, b)).sum(dtype=np.float64) for a, b in rows])
    whole = np.array([idf.of(np.union1d(a, b)).sum(dtype=np.float64) for a, b in rows])
    return np.divide(shared, whole, out=np.zeros(len(shared)), where=whole > 0)


def f1(said: Truths, truth: Truths) -> float:
    """F1 of pairs said to be the same."""
    return float(2 * (said & truth).sum() / max(1, said.sum() + truth.sum()))


def best_threshold(scores: Floats, truth: Truths) -> float:
    """The threshold of the highest F1: half way to the next score below, and the middle one of equally good ones."""
    values = np.unique(scores)[::-1]
    order = np.sort(scores), np.sort(scores[truth])
    said = len(scores) - np.searchsorted(order[0], values)
    right = truth.sum() - np.searchsorted(order[1], values)
    reached = 2 * right / (said + truth.sum())
    top = np.flatnonzero(reached >= reached.max() - 1e-12)
    at = int(top[len(top) // 2])
    below = values[at + 1] if at + 1 < len(values) else values[at]
    return float((values[at] + below) / 2)


def fit_logistic(table: Floats, truth: Truths, ridge: float = 1.0) -> Floats:
    """Weights of the columns and a constant, by Newton's method; `ridge` holds the weights down, not the constant."""
    columns = np.column_stack([table, np.ones(len(table))])
    hold = np.diag([ridge] * table.shape[1] + [1e-6])
    weights = np.zeros(columns.shape[1])
    for _ in range(50):
        said = 1 / (1 + np.exp(-np.clip(columns @ weights, -30, 30)))
        slope = columns.T @ (said - truth) + hold @ weights
        step = np.linalg.solve((columns.T * (said * (1 - said))) @ columns + hold, slope)
        weights = weights - step
        if np.abs(step).max() < 1e-9:
            break
    return weights


def folds(groups: NDArray[np.int64], count: int, seed: int) -> Iterator[Truths]:
    """Test pairs of each fold; a group is never cut."""
    names, at = np.unique(groups, return_inverse=True)
    fold = np.random.default_rng(seed).permutation(len(names)) % count
    for number in range(count):
        yield fold[at] == number


Chooser = Callable[[Truths], Rule]


def cross_validated(
    rule: Rule | Chooser,
    measured: dict[str, Floats],
    truth: Truths,
    groups: NDArray[np.int64],
    *,
    count: int = FOLDS,
    seed: int = 0,
    among: Truths | None = None,
) -> Truths:
    """What is said of each pair by a rule fitted without its fold; with `among` only those pairs take part."""
    said = np.zeros(len(truth), np.bool_)
    taken = np.ones(len(truth), np.bool_) if among is None else among
    for test in folds(groups, count, seed):
        train = taken & ~test
        used = rule if isinstance(rule, Rule) else rule(train)
        scores = used.scores(measured, truth, train)
        said[test] = scores[test] >= best_threshold(scores[train], truth[train])
    return said & taken


def human(given: LabelledSet) -> Json:
    """Every rule's F1 in sample and out of sample, and that of the rule picked inside the folds."""
    measured, truth, groups = measures(given)
    everything = np.ones(len(truth), np.bool_)
    rows = []
    for rule in RULES:
        said = [cross_validated(rule, measured, truth, groups, seed=seed) for seed in range(REPEATS)]
        scores = rule.scores(measured, truth, everything)
        threshold = best_threshold(scores, truth)
        rows.append(
            {
                "rule": rule.name,
                "in_sample": round(f1(scores >= threshold, truth), 4),
                "threshold": round(threshold, 4),
                **_out_of_sample(said, truth, groups),
            }
        )

    def picked(train: Truths) -> Rule:
        reached = [
            np.mean([
                f1(cross_validated(rule, measured, truth, groups, count=5, seed=seed, among=train), truth & train)
                for seed in range(2)
            ])
            for rule in RULES
        ]  # fmt: skip
        return RULES[int(np.argmax(reached))]

    nested = [cross_validated(picked, measured, truth, groups, seed=seed) for seed in range(5)]
    return {
        "pairs": len(truth),
        "same": int(truth.sum()),
        "groups": len(np.unique(groups)),
        "folds": FOLDS,
        "repeats": REPEATS,
        "rules": rows,
        "chosen": _out_of_sample(nested, truth, groups),
    }


def _out_of_sample(said: list[Truths], truth: Truths, groups: NDArray[np.int64]) -> Json:
    """Mean F1, precision and recall over the repeats; intervals by drawing whole groups of pairs again."""
    names, at = np.unique(groups, return_inverse=True)
    table = np.stack(said)
    draw = np.random.default_rng(0)
    right, wrong, missed = (
        np.stack([np.bincount(at, row, len(names)) for row in part.astype(float)])
        for part in (table & truth, table & ~truth, ~table & truth)
    )
    times = np.stack(
        [np.ones(len(names))]
        + [np.bincount(draw.integers(0, len(names), len(names)), minlength=len(names)) for _ in range(RESAMPLES)]
    )  # fmt: skip
    r, w, m = (part @ times.T for part in (right, wrong, missed))
    made = {}
    for name, values in (
        ("f1", 2 * r / (2 * r + w + m)),
        ("precision", r / (r + w)),
        ("recall", r / (r + m)),
    ):
        means = values.mean(axis=0)
        low, high = np.quantile(means[1:], [0.025, 0.975])
        made[name] = interval(Measure(float(means[0]), float(low), float(high), len(truth)))
    return {**made, "spread": round(float((2 * r / (2 * r + w + m))[:, 0].std()), 4)}
