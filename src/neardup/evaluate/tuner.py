"""A few answers, and which rule and threshold follow from them.

Each rule (`evaluate/rules.py`) predicts an answer from its score of the pair: a ramp (`evaluate/labels.py`). The next
question is the pair on which rules and ramps disagree most. The rule is picked by cross-validation: by how well it
predicts answers that it was not fitted to. How good the pick is comes from a second cross-validation around the first,
so the figure pays for the picking. Pairs that share a document are never on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.config.config import Config
from neardup.evaluate.labels import Belief, histogram
from neardup.evaluate.metrics import Measure
from neardup.evaluate.rules import Floats, Page, Rows, Rule, rule_scores, rules_for
from neardup.values.intervals import wilson

__all__ = ["ENOUGH", "JudgedPairs", "Tuned", "Tuner"]

Flags = NDArray[np.bool_]
ENOUGH = 8
"""Fewer answers, or fewer than two of either kind, choose no rule."""
FOLDS = 5
MIDDLE = {"jaccard": 0.5, "containment": 0.7}
SPREAD = 0.25
LOWEST, HIGHEST = 0.15, 0.95
PER_DEPARTURE = 0.7
"""What a rule must be better by, in the logarithm of the chance of the answers, for each setting that is not usual."""


@dataclass(frozen=True)
class JudgedPairs:
    """Pairs that were judged: their rows, their scores by each rule, and whether they are duplicates."""

    left: Rows
    right: Rows
    scores: Floats
    same: Flags

    def __len__(self) -> int:
        return len(self.same)

    @property
    def enough(self) -> bool:
        right = int(self.same.sum())
        return len(self) >= ENOUGH and min(right, len(self) - right) >= 2

    @cached_property
    def groups(self) -> Rows:
        """Pairs that a chain of documents connects have the same number."""
        rows, at = np.unique(np.concatenate([self.left, self.right]), return_inverse=True)
        if not len(rows):
            return np.zeros(0, np.int64)
        ours, theirs = at[: len(self)], at[len(self) :]
        label = _core.labels_of_pairs(len(rows), np.minimum(ours, theirs), np.maximum(ours, theirs))
        return np.unique(label[ours], return_inverse=True)[1]

    def take(self, some: Flags) -> JudgedPairs:
        return JudgedPairs(self.left[some], self.right[some], self.scores[:, some], self.same[some])


@dataclass(frozen=True)
class Tuned:
    """The rule and the threshold that answers choose. `precision`, `recall` and `f1` are expected on the corpus, if the
    answers are right; `agrees` is the share of answers that the whole procedure predicts when it has not seen them, and
    `usual` the same for the default rule.

    >>> import neardup as nd
    >>> from neardup import sample
    >>> documents = list(nd.read(sample.path()).documents())
    >>> few = [(documents[0].id, documents[1].id, 0)]
    >>> nd.evaluate.calibrate(documents, labels=few).tuned is None
    True
    """

    rule: Rule
    threshold: float
    precision: Measure
    recall: Measure
    f1: float
    agrees: Measure
    usual: Measure
    answers: int

    @property
    def config(self) -> Config:
        """The settings, ready for `nd.dedup`."""
        return self.rule.config(self.threshold)

    @property
    def options(self) -> str:
        """The settings as options of `neardup scan`."""
        return self.rule.options(self.threshold)

    def __str__(self) -> str:
        return f"{self.rule}, threshold {self.threshold:g}"


@dataclass(frozen=True)
class Tuner:
    """The scores of a corpus's pairs by every rule; `weight[i]` is the number of pairs that pair i represents."""

    rules: tuple[Rule, ...]
    pages: Mapping[Page, Sequence[bytes]]
    rank: Rows
    left: Rows
    right: Rows
    weight: Floats
    scores: Floats
    threads: int = 1

    @classmethod
    def of(
        cls,
        pages: Mapping[Page, Sequence[bytes]],
        rank: Rows,
        left: Rows,
        right: Rows,
        weight: Floats,
        threads: int = 1,
    ) -> Tuner:
        """Score pairs of rows. A pair counts once, however often it was drawn."""
        documents = len(rank)
        keys = np.minimum(left, right) * documents + np.maximum(left, right)
        keys, at = np.unique(keys, return_inverse=True)
        left, right = keys // documents, keys % documents
        rules = rules_for(pages, documents)
        scores = rule_scores(pages, rank, left, right, rules, threads=threads)
        return cls(
            rules,
            pages,
            rank,
            left,
            right,
            np.bincount(at, weight, len(keys)).astype(np.float64),
            scores,
            threads,
        )

    def answers(self, left: Rows, right: Rows, same: Flags) -> JudgedPairs:
        """Judged pairs with their scores; they need not be among the pairs that were drawn. Of a pair, `left` is the
        smaller row."""
        documents = len(self.rank)
        keys, mine = left * documents + right, self.left * documents + self.right
        at = np.minimum(np.searchsorted(mine, keys), max(0, len(mine) - 1))
        drawn = mine[at] == keys if len(mine) else np.zeros(len(keys), np.bool_)
        new = [place for place in np.flatnonzero(~drawn).tolist() if int(keys[place]) not in self._others]
        if new:
            made = rule_scores(self.pages, self.rank, left[new], right[new], self.rules, threads=self.threads)
            self._others.update(zip(keys[new].tolist(), made.T, strict=True))
        scores = np.zeros((len(self.rules), len(keys)))
        scores[:, drawn] = self.scores[:, at[drawn]]
        for place in np.flatnonzero(~drawn).tolist():
            scores[:, place] = self._others[int(keys[place])]
        return JudgedPairs(left, right, scores, same)

    @cached_property
    def _others(self) -> dict[int, Floats]:
        """The scores of judged pairs that were not drawn."""
        return {}

    def doubt(self, given: JudgedPairs) -> Floats:
        """How much rules and ramps disagree on each pair after these answers."""
        beliefs = [_believe(rule, given, place) for place, rule in enumerate(self.rules)]
        weight = np.array([b.evidence for b in beliefs]) - PER_DEPARTURE * self._departures
        weight = np.exp(weight - weight.max())
        weight /= weight.sum()
        mean, square = np.zeros(len(self.left)), np.zeros(len(self.left))
        for place, belief in enumerate(beliefs):
            if weight[place] < 1e-4:
                continue
            said = belief.duplicate(self.scores[place])
            mean += weight[place] * said
            square += weight[place] * (belief.doubt(self.scores[place]) + said * said)
        return np.maximum(square - mean * mean, 0)

    @cached_property
    def _departures(self) -> Floats:
        return np.array([rule.departures for rule in self.rules], np.float64)

    def tuned(self, given: JudgedPairs) -> Tuned | None:
        """The rule and threshold that the answers choose; None if there are too few of them."""
        if not given.enough:
            return None
        place = self.pick(given)
        belief = _believe(self.rules[place], given, place)
        threshold = self.threshold(place, belief)
        found = self.scores[place] >= threshold
        mine, everything = (
            histogram(self.scores[place][some], self.weight[some]) for some in (found, found | True)
        )
        right, true, of = belief.ramps @ mine, belief.ramps @ everything, float(mine.sum())
        precision = Measure(*belief.spread(right / of if of else right), of)
        recall = Measure(
            *belief.spread(np.where(true > 0, right / np.where(true > 0, true, 1), 0)),
            float(belief.chance @ true),
        )
        total = precision.value + recall.value
        return Tuned(
            self.rules[place],
            threshold,
            precision,
            recall,
            2 * precision.value * recall.value / total if total else 0.0,
            self.validated(given),
            self.validated(given, usual=True),
            len(given),
        )

    def pick(self, given: JudgedPairs) -> int:
        """The rule that predicts the answers best which it was not fitted to; of equals the most usual one."""
        reached = -PER_DEPARTURE * self._departures
        for train, test in _split(given.groups, len(given)):
            for place, rule in enumerate(self.rules):
                said = _believe(rule, given.take(train), place).duplicate(given.scores[place, test])
                said = np.clip(said, 0.03, 0.97)
                reached[place] += np.where(given.same[test], np.log(said), np.log1p(-said)).sum()
        return int(np.argmax(reached))

    def threshold(self, place: int, belief: Belief) -> float:
        """The threshold with the largest expected F1 on the corpus, in hundredths."""
        # Of equally good thresholds the middle one: scores may have gaps.
        cuts = np.round(np.arange(LOWEST, HIGHEST + 0.001, 0.01), 2)
        at = histogram(self.scores[place], self.weight)
        chance = belief.chance @ belief.ramps
        from_top = [np.concatenate([np.cumsum(part[::-1])[::-1], [0]]) for part in (at, at * chance)]
        places = np.rint(cuts * (len(at) - 1)).astype(np.int64)
        found, right = from_top[0][places], from_top[1][places]
        f1 = 2 * right / np.maximum(found + from_top[1][0], 1e-12)
        best = np.flatnonzero(f1 >= f1.max() - 1e-9)
        return float(cuts[best[len(best) // 2]])

    def validated(self, given: JudgedPairs, usual: bool = False) -> Measure:
        """The share of answers that are predicted by what the others choose: rule and threshold again in each fold. The
        interval counts answers that share documents as one."""
        agreed = np.zeros(len(given), np.bool_)
        for train, test in _split(given.groups, FOLDS):
            seen = given.take(train)
            place = 0 if usual else self.pick(seen)
            cut = self.threshold(place, _believe(self.rules[place], seen, place))
            agreed[test] = (given.scores[place, test] >= cut) == given.same[test]
        share = float(agreed.mean())
        return Measure(share, *wilson(share, len(np.unique(given.groups))), len(given))


def _believe(rule: Rule, given: JudgedPairs, place: int) -> Belief:
    return Belief.around(
        MIDDLE[rule.measure], given.scores[place], given.same.astype(np.float64), spread=SPREAD
    )


def _split(groups: Rows, folds: int) -> Iterator[tuple[Flags, Flags]]:
    """The answers to fit and to test, fold by fold; a group is in one fold. The folds are always the same."""
    names = int(groups.max()) + 1 if len(groups) else 0
    fold = np.random.default_rng(7).permutation(names) % max(1, min(folds, names))
    for number in range(int(fold.max()) + 1 if names else 0):
        test = fold[groups] == number
        yield ~test, test
