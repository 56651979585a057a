"""A measured corpus: what each setting will do on it, which pairs to ask about, and what labels choose."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.keepers import Keep
from neardup.compare.diff import difference
from neardup.errors import DataError
from neardup.evaluate.labels import Belief, Label, histogram
from neardup.evaluate.measurements import Measured
from neardup.evaluate.metrics import Measure, f1
from neardup.evaluate.outcomes import Borderline, CorpusCalibration, Outcome, RadiusRow
from neardup.evaluate.rules import Page
from neardup.evaluate.sample import exact_similarity
from neardup.evaluate.settings import RADII, Setting
from neardup.evaluate.tuner import JudgedPairs, Tuned, Tuner
from neardup.features import Shingles
from neardup.values.checks import checked_methods

__all__ = ["Calibrator"]

Floats = NDArray[np.float64]
SCALE = {"jaccard": 1.0, "cosine": 0.35}
LEAST = 0.05  # pairs of less Jaccard similarity are duplicates by no rule
MOST = 20_000  # pairs that are scored by every rule
SURE = 0.002  # a pair of less doubt needs no question


@checked_methods
@dataclass(frozen=True)
class Calibrator:
    """A corpus that is measured once and can be judged again whenever labels are added.

    ids, texts  the documents
    settings    the settings that are judged
    shingles    how features are made
    similarity  the measure that defines a duplicate
    threshold   the smallest similarity of two duplicates
    cosine      the same for the cosine, for the radii of simhash
    measured    the sampled pairs with their similarities
    notes       remarks for the result, a sentence each
    whole       for HTML, the text of the whole page by id
    seed        of the random sample
    threads     for all measurements

    >>> import neardup as nd
    >>> texts = ["one two three four five six", "One two three four five six!", "seven"]
    >>> calibrator = nd.evaluate.measure_documents(texts)
    >>> calibrator.ids
    ('0', '1', '2')
    """

    ids: tuple[str, ...]
    texts: list[str | bytes]
    settings: tuple[Setting, ...]
    shingles: Shingles
    similarity: Literal["jaccard", "cosine"]
    threshold: float
    cosine: float
    measured: Measured
    notes: tuple[str, ...] = ()
    whole: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    threads: int = 1

    @cached_property
    def tuner(self) -> Tuner | None:
        """What chooses the rule from labels; None for cosine, of which there are no other rules. It scores the pairs
        that were drawn by every rule, when it is first asked for."""
        if self.similarity == "cosine":
            return None
        sample, facts, rows = self.measured.sample, self.measured.facts, self.measured.corpus.rows
        pairs = np.flatnonzero(facts.similarity >= LEAST)
        weight = sample.weight
        if len(pairs) > MOST:
            pairs = np.sort(np.random.default_rng([self.seed, 4]).choice(pairs, MOST, replace=False))
            weight = weight * ((facts.similarity >= LEAST).sum() / MOST)
        texts = [text if isinstance(text, bytes) else text.encode("utf-8", "replace") for text in self.texts]
        pages: dict[Page, list[bytes]] = {"main": texts}
        if self.whole:
            pages["whole"] = [
                self.whole[id].encode("utf-8", "replace") if id in self.whole else text
                for id, text in zip(self.ids, texts, strict=True)
            ]
        rank = Keep().rank(np.fromiter(map(len, texts), np.int64, len(texts)))
        left, right = rows[facts.left[pairs]], rows[facts.right[pairs]]
        return Tuner.of(pages, rank, left, right, weight[pairs], self.threads)

    def tuned(self, labels: list[tuple[Label, float]]) -> Tuned | None:
        """The rule and the threshold that labels choose; None if there are too few."""
        said = [label for label, _ in labels if not math.isnan(label[2])]
        if self.tuner is None or not said:
            return None
        return self.tuner.tuned(self._answers(said))

    def _answers(self, labels: list[Label]) -> JudgedPairs:
        assert self.tuner is not None
        rows = np.array([[self._place[a], self._place[b]] for a, b, _ in labels], np.int64).reshape(-1, 2)
        same = np.array([label >= 1 for _, _, label in labels], np.bool_)
        return self.tuner.answers(rows.min(axis=1), rows.max(axis=1), same)

    @cached_property
    def _place(self) -> dict[str, int]:
        """The row of each id; of several with one id the first."""
        return {id: row for row, id in reversed(list(enumerate(self.ids)))}

    def text(self, id: str) -> str | bytes:
        """The text of a document."""
        if id not in self._place:
            raise DataError(f"there is no document {id!r}")
        return self.texts[self._place[id]]

    def question(self, labels: list[tuple[Label, float]]) -> Borderline | None:
        """The pair whose answer says most about rule and threshold; None if no pair is in doubt."""
        tuner = self.tuner
        if tuner is None:
            return next(iter(self.ask(labels)), None)
        said = [label for label, _ in labels if not math.isnan(label[2])]
        doubt = tuner.doubt(self._answers(said))
        # A document that was in a question says little in another one.
        asked = [self._place[id] for label, _ in labels for id in label[:2]]
        doubt[np.isin(tuner.left, asked) | np.isin(tuner.right, asked)] = 0
        if not len(doubt) or doubt.max() < SURE:
            return None
        at = int(np.argmax(doubt))
        a, b = int(tuner.left[at]), int(tuner.right[at])
        pair = np.array([a]), np.array([b])
        near = float(exact_similarity(self.texts, self.shingles, *pair)[0])
        return Borderline(self.ids[a], self.ids[b], near, *difference(self.texts[a], self.texts[b]))

    def calibrated(self, labels: Iterable[Label] = (), *, borderline: int = 10) -> CorpusCalibration:
        """The outcome of every setting, given these labels."""
        known, notes = self.known(labels)
        belief = self.belief(known)
        sample, facts = self.measured.sample, self.measured.facts
        outcomes = self._outcomes(belief)
        begins = belief.middle_between() if belief is not None else None
        answers = sum(not math.isnan(label[2]) for label, _ in known)
        if belief is not None:
            duplicates = sample.total(belief.duplicate(facts.similarity))
        else:
            duplicates = sample.total(facts.similarity >= self.threshold)
        # Without labels a duplicate is what the threshold says; to recommend that threshold would say nothing.
        recommended = _recommended(outcomes) if belief is not None and duplicates > 0 else None
        tuned = self.tuned(known) if recommended is not None else None
        corpus = self.measured.corpus
        return CorpusCalibration(
            documents=len(self.texts),
            exact=corpus.exact,
            empty=corpus.empty,
            queries=len(sample.queries),
            pairs=len(sample),
            census=sample.census,
            similarity=self.similarity,
            threshold=self.threshold,
            cosine=self.cosine,
            labels=answers,
            begins=begins,
            duplicates=duplicates,
            outcomes=outcomes,
            radii=self._radii(),
            borderline=self.ask(known, borderline),
            recommended=recommended,
            reason=_reason(recommended, outcomes, self.similarity, duplicates, answers, begins),
            tuned=tuned,
            notes=(*self.notes, *self.measured.flips_notes, *notes),
        )

    def belief(self, labels: list[tuple[Label, float]]) -> Belief | None:
        """The belief that follows from labels and their similarities; None if all labels are unknown."""
        said = [(near, label[2]) for label, near in labels if not math.isnan(label[2])]
        if not said:
            return None
        similarity, answer = zip(*said, strict=True)
        return Belief.around(self.threshold, similarity, answer, scale=SCALE[self.similarity])

    def ask(self, labels: list[tuple[Label, float]], many: int = 1) -> tuple[Borderline, ...]:
        """The unlabelled pairs whose labels would say most, each document at most once."""
        belief = self.belief(labels) or Belief.around(self.threshold, scale=SCALE[self.similarity])
        facts = self.measured.facts
        doubt = belief.doubt(facts.similarity)
        answered = {frozenset(label[:2]) for label, _ in labels}
        rows = self.measured.corpus.rows
        used: set[int] = set()
        found: list[Borderline] = []
        seen_at: list[float] = []
        pool = np.lexsort((facts.right, facts.left, -doubt))[:5000]
        pool = pool[doubt[pool] > 0]
        # Several pairs with the same similarity teach little more than one, so pairs at other similarities come first.
        for apart in (0.02, 0.005, 0.0):
            for pair in pool.tolist():
                if len(found) == many:
                    break
                a, b = int(rows[facts.left[pair]]), int(rows[facts.right[pair]])
                near = float(facts.similarity[pair])
                if {a, b} & used or frozenset((self.ids[a], self.ids[b])) in answered:
                    continue
                if any(abs(near - other) < apart for other in seen_at):
                    continue
                used |= {a, b}
                seen_at.append(near)
                a, b = min(a, b), max(a, b)
                found.append(
                    Borderline(self.ids[a], self.ids[b], near, *difference(self.texts[a], self.texts[b]))
                )
        return tuple(sorted(found, key=lambda pair: -pair.similarity)) if many > 1 else tuple(found)

    def known(self, labels: Iterable[Label]) -> tuple[list[tuple[Label, float]], tuple[str, ...]]:
        """Labels of pairs of this corpus, with the similarity of each."""
        given = list(labels)
        for label in given:
            if not isinstance(label, tuple | list) or len(label) != 3:
                raise DataError(f"labels are (id, id, share of 1), not {label!r:.80}")
        place = self._place
        here = [label for label in given if label[0] in place and label[1] in place and label[0] != label[1]]
        pairs = np.array([[place[label[0]], place[label[1]]] for label in here], np.int64).reshape(-1, 2)
        if self.similarity == "jaccard":
            exact = exact_similarity(self.texts, self.shingles, pairs[:, 0], pairs[:, 1])
        else:
            exact = exact_similarity(self.texts, self.measured.words, pairs[:, 0], pairs[:, 1], kind="cosine")
        strangers = len(given) - len(here)
        notes = (
            (f"{strangers} labels belong to pairs that are not among these documents",) if strangers else ()
        )
        return list(zip(here, exact.tolist(), strict=True)), notes

    def _outcomes(self, belief: Belief | None) -> tuple[Outcome, ...]:
        """The outcome of every setting; labels also move the threshold at which simhash is verified."""
        minhash = [self._outcome(s, belief) for s in self.settings if s.method == "minhash"]
        cut = self.threshold if belief is None else _recommended(tuple(minhash)).setting.threshold
        simhash = [replace(s, threshold=cut) for s in self.settings if s.method == "simhash"]
        return (*minhash, *(self._outcome(setting, belief) for setting in simhash))

    def _outcome(self, setting: Setting, belief: Belief | None) -> Outcome:
        sample, facts = self.measured.sample, self.measured.facts
        found = setting.finds(facts)
        if belief is None:
            true = facts.similarity >= self.threshold
            precision, recall = sample.share(found & true, found), sample.share(found & true, true)
        else:
            precision, recall = _believed(belief, facts.similarity, sample.weight, found)
        near, exact = self.measured.removed(setting), self.measured.corpus.exact
        removed = Measure(near.value + exact, near.low + exact, near.high + exact, len(self.texts))
        score = f1(precision.value, recall.value)
        return Outcome(setting, precision, recall, score, sample.total(found), removed)

    def _radii(self) -> tuple[RadiusRow, ...]:
        sample, facts, flips = self.measured.sample, self.measured.facts, self.measured.flips
        true = facts.cosine >= self.cosine
        rows = []
        for bits, radii in RADII.items():
            distance = facts.distance[bits]
            for radius in radii:
                found, here = distance <= radius, distance == radius
                weight = float((sample.weight * here).sum())
                mean = float((sample.weight * here * facts.cosine).sum() / weight) if weight else math.nan
                row = RadiusRow(
                    bits, radius, sample.share(found & true, found), sample.share(found & true, true), mean
                )
                if bits == 64 and radius in flips:
                    near = flips[radius]
                    row = replace(
                        row,
                        flips=near.flips,
                        relative_recall=near.recall,
                        total_recall=near.recall * row.recall.value,
                    )
                rows.append(row)
        return tuple(rows)


def _believed(
    belief: Belief, similarity: Floats, weight: Floats, found: NDArray[np.bool_]
) -> tuple[Measure, Measure]:
    """Precision and recall if P(duplicate) is a belief, not known: means and intervals over the beliefs."""
    mine, everything = histogram(similarity[found], weight[found]), histogram(similarity, weight)
    right, true, of = belief.ramps @ mine, belief.ramps @ everything, float(mine.sum())
    precise = belief.spread(right / of) if of else (math.nan,) * 3
    with np.errstate(invalid="ignore"):
        complete = belief.spread(np.where(true > 0, right / np.where(true > 0, true, 1), 0.0))
    return Measure(*precise, of), Measure(*complete, float(belief.chance @ true))


def _recommended(outcomes: tuple[Outcome, ...]) -> Outcome:
    """The setting with the largest F1. Among those within a thousandth of it, the first verified one: MinHash before
    simhash, fewer bits before more."""
    scores = [0.0 if math.isnan(row.f1) else row.f1 for row in outcomes]
    best = max(scores)
    near = [row for row, score in zip(outcomes, scores, strict=True) if score >= best - 0.001]
    return (
        near[0]
        if near[0].setting.verified or len(near) == 1
        else min(near, key=lambda row: not row.setting.verified)
    )


def _reason(
    row: Outcome | None,
    outcomes: tuple[Outcome, ...],
    similarity: str,
    duplicates: float,
    labels: int,
    begins: tuple[float, float, float] | None,
) -> str:
    name = {"jaccard": "Jaccard", "cosine": "cosine"}[similarity]
    if not duplicates:
        return "There are no duplicates to calibrate on among these documents."
    if row is None or begins is None:
        return (
            "Nothing is recommended without labels: the table only says what each setting would find and remove. "
            "Answer 10 to 20 questions about borderline pairs first: --label --labels answers.tsv."
        )
    truth = (
        f"{labels} labels say that duplicates begin at {name} {begins[0]:.2f} "
        f"({begins[1]:.2f} to {begins[2]:.2f}); by them"
    )
    said = (
        f"{truth} it finds {row.recall.value:.1%} with precision {row.precision.value:.1%}, "
        "the largest F1 of all settings."
    )
    raw = [
        o
        for o in outcomes
        if o.setting.method == "simhash" and not o.setting.verified and not math.isnan(o.f1)
    ]
    if raw:
        other = max(raw, key=lambda o: o.f1)
        said += (
            f" Codes alone do best as {other.setting}: recall {other.recall.value:.1%}, "
            f"precision {other.precision.value:.1%}."
        )
    return said
