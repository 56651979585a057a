"""calibrate(): what each method and setting will do on a user's corpus, and which one to choose."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from os import PathLike
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup.compare.diff import difference
from neardup.errors import ConfigError
from neardup.evaluate.labels import Belief, Label, histogram, read_labels
from neardup.evaluate.measurements import Measured, MeasuredCorpus, measure_corpus
from neardup.evaluate.metrics import Measure, f1
from neardup.evaluate.outcomes import Borderline, CorpusCalibration, Outcome, RadiusRow
from neardup.evaluate.sample import draw_documents, exact_similarity
from neardup.evaluate.settings import RADII, Setting, all_settings
from neardup.features import Shingles
from neardup.features.shingles import TextFeatures
from neardup.features.texts import Texts, raw_texts
from neardup.readers.document import Document
from neardup.values.threads import check_threads

__all__ = [
    "Borderline",
    "Calibrator",
    "CorpusCalibration",
    "Outcome",
    "RadiusRow",
    "calibrate",
    "measure_documents",
]

Floats = NDArray[np.float64]
SCALE = {"jaccard": 1.0, "cosine": 0.35}


@dataclass(frozen=True)
class Calibrator:
    """A corpus that is measured once and can be judged again whenever labels are added."""

    ids: tuple[str, ...]
    texts: list[str | bytes]
    settings: tuple[Setting, ...]
    shingles: Shingles
    similarity: Literal["jaccard", "cosine"]
    threshold: float
    cosine: float
    measured: Measured
    notes: tuple[str, ...] = ()

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
        place = {id: row for row, id in reversed(list(enumerate(self.ids)))}
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


def calibrate(
    documents: Texts,
    *,
    similarity: Literal["jaccard", "cosine"] = "jaccard",
    threshold: float | None = None,
    cosine: float = 0.9,
    width: int = 5,
    features: TextFeatures | None = None,
    recall: float = 0.99,
    keep: Literal["longest", "first", "last"] = "longest",
    limit: int = 100_000,
    labels: str | PathLike[str] | Iterable[Label] = (),
    queries: int = 5000,
    pairs: int = 100_000,
    borderline: int = 10,
    seed: int = 0,
    threads: int = 1,
) -> CorpusCalibration:
    """Measure on this corpus what each method and setting finds, misses and removes; with labels, recommend one.

    A duplicate is a pair whose `similarity` (Jaccard of word shingles of `width`, or cosine of `features`) is at least
    `threshold`: 0.8, for cosine 0.9. With `labels`, a file or tuples (id, id, 0 or 1), the labels decide. `features`
    are those of simhash, by default TF-IDF words. At most `limit` documents are kept in memory, drawn at random.
    `queries` of them and about `pairs` of their pairs are compared exactly; in a small corpus all. The same seed draws
    the same documents.
    """
    made = measure_documents(
        documents,
        similarity=similarity,
        threshold=threshold,
        cosine=cosine,
        width=width,
        features=features,
        recall=recall,
        keep=keep,
        limit=limit,
        queries=queries,
        pairs=pairs,
        seed=seed,
        threads=threads,
    )
    known = read_labels(labels) if isinstance(labels, str | PathLike) else labels
    return made.calibrated(known, borderline=borderline)


def measure_documents(
    documents: Texts,
    *,
    similarity: Literal["jaccard", "cosine"] = "jaccard",
    threshold: float | None = None,
    cosine: float = 0.9,
    width: int = 5,
    features: TextFeatures | None = None,
    recall: float = 0.99,
    keep: Literal["longest", "first", "last"] = "longest",
    limit: int = 100_000,
    queries: int = 5000,
    pairs: int = 100_000,
    seed: int = 0,
    threads: int = 1,
) -> Calibrator:
    """The part of `calibrate` that reads texts; the result can be judged with other labels later."""
    check_threads(threads)
    if similarity not in ("jaccard", "cosine"):
        raise ConfigError(f'a similarity is "jaccard" or "cosine", not {similarity!r}')
    least = threshold if threshold is not None else 0.8 if similarity == "jaccard" else 0.9
    if not 0.1 <= least <= 1 or not 0 < cosine <= 1:
        raise ConfigError(f"a threshold is 0.1 to 1 and a cosine above 0, not {least} and {cosine}")
    if queries < 2:
        raise ConfigError(f"draw at least two queries, not {queries}")
    if limit < 2:
        raise ConfigError(f"hold at least two documents, not {limit}")
    given, read = draw_documents(documents, limit, seed)
    notes = (
        (
            f"{limit:,} of {read:,} documents were drawn, and counts are of those; in all of them there are more "
            "duplicates for each document",
        )
        if read > limit
        else ()
    )
    ids = tuple(d.id if isinstance(d, Document) else str(row) for row, d in enumerate(given))
    texts = raw_texts(given)
    shingles = Shingles(width)
    settings = all_settings(similarity, least, recall)
    measured = measure_corpus(
        MeasuredCorpus.of(texts, shingles, keep),
        settings,
        shingles=shingles,
        features=features,
        similarity=similarity,
        queries=queries,
        pairs=pairs,
        seed=seed,
        threads=threads,
    )
    return Calibrator(ids, texts, settings, shingles, similarity, least, cosine, measured, notes)
