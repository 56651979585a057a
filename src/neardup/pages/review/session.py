"""One review: the findings, the decisions, and the cuts at recent thresholds."""

from __future__ import annotations

import shlex
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.keepers import Keep
from neardup.clusters.selection import Cut
from neardup.compare.changes import kinds_of
from neardup.errors import DataError, MissingExtra
from neardup.findings.cluster_table import ClusterTable, cluster_table
from neardup.findings.decided import decided_cut
from neardup.findings.decision_log import Asked, DecisionLog
from neardup.findings.decisions import Decision, Decisions, Kind
from neardup.findings.explain import measured, own_text, policy_of, text_of
from neardup.findings.folder import Findings
from neardup.findings.learned import Learned, learn
from neardup.findings.reread import input_change
from neardup.pages.review.figures import Figures, figures_of, histogram_of, steps_of
from neardup.pages.review.rows import Aligned, aligned

__all__ = ["OpenReview", "Review", "View"]

VIEWS = 3  # cuts kept in memory; one of a million documents takes 25 MB
MOST_LANGUAGES = 2000  # clusters whose languages are found out; takes about a third of a second
COMPARED = 4  # pairs of texts kept in memory with their alignment


@dataclass(frozen=True)
class Both:
    """The texts of two documents, and notes about where they come from."""

    texts: tuple[str, str]
    notes: tuple[str, ...]

    @cached_property
    def rows(self) -> Aligned:
        return aligned(*self.texts)


@dataclass(frozen=True)
class View:
    """The findings at one threshold, with the decisions of one revision."""

    findings: Findings
    decisions: Decisions
    threshold: float
    cut: Cut
    orders: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    known_languages: dict[int, str] = field(default_factory=dict)

    @cached_property
    def learned(self) -> Learned | None:
        return learn(self.findings, self.cut, self.decisions)

    @cached_property
    def table(self) -> ClusterTable:
        return cluster_table(self.findings, self.cut, None if self.learned is None else self.learned.weights)

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        """The kinds of change of each removal, a bit for each."""
        return kinds_of(self.table.removals.counts)

    @cached_property
    def cluster_sources(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Each source of each cluster once: places of clusters and of sources."""
        many = len(self.findings.source_names)
        inside = np.repeat(np.arange(len(self.table)), self.table.sizes)
        keys = np.sort(inside * many + self.findings.sources[self.table.members])
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys
        return keys // many, keys % many

    @cached_property
    def ratios(self) -> NDArray[np.float64]:
        """How many words each removed document has for each word of its keeper."""
        tokens, removals = self.findings.tokens, self.table.removals
        return np.asarray(tokens[removals.rows] / np.maximum(1, tokens[removals.keepers]))

    @cached_property
    def languages(self) -> NDArray[np.str_] | None:
        """The language of the keeper of each cluster, a two-letter code; None if there are too many clusters to find
        out while a person waits, or no extra that recognises languages."""
        keepers, known = self.table.keeper, self.known_languages
        if len(keepers) > MOST_LANGUAGES:
            return None
        fresh = np.array([row for row in keepers.tolist() if row not in known], np.int64)
        try:
            known.update(zip(fresh.tolist(), self.findings.languages(fresh), strict=True))
        except (MissingExtra, DataError):  # a text that was not stored cannot be looked at
            return None
        return np.array([known[row] for row in keepers.tolist()], np.str_)

    @property
    def has_table(self) -> bool:
        """Whether the table was computed already."""
        return "table" in self.__dict__

    def with_table(self) -> View:
        """Compute the table."""
        _ = self.table
        return self


class Review:
    """The state of a review. All methods may be called from several threads. The figures of every step of the slider
    are computed in the background, so that the slider never waits; requests of a person come first."""

    def __init__(self, findings: Findings, keep: Keep | None = None) -> None:
        self.findings, self.keep = findings, keep or findings.config.keep
        self.log = DecisionLog(findings)
        self.steps = steps_of(findings)
        self.rank = findings.rank(self.keep)
        self._lock = threading.Lock()  # protects the cached values; held only briefly
        self._work = threading.Lock()  # one cut at a time: two would only slow each other down
        self._source = self.log.refresh()
        self._decisions = _copy(self._source)
        self._views: OrderedDict[tuple[float, int], View] = OrderedDict()
        self._figures: dict[float, Figures] = {}
        self._languages: dict[int, str] = {}
        self._both: OrderedDict[tuple[int, int], Both] = OrderedDict()
        self._asked = 0
        self._wake, self._closing = threading.Event(), False
        self._thread = threading.Thread(target=self._precompute, name="figures", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._wake.set()

    def close(self) -> None:
        self._closing = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(5)

    def decisions(self) -> Decisions:
        """The decisions in force, made here or by another process; callers must not change them."""
        with self._lock:
            fresh = self.log.refresh()
            if fresh is not self._source or fresh.revision != self._decisions.revision:
                self._replace(fresh)
            return self._decisions

    def _replace(self, fresh: Decisions) -> None:
        if fresh is not self._source:  # another log, whose revisions start at 1 again
            self._source = fresh
            self._views.clear()
        self._decisions = _copy(fresh)
        self._figures.clear()
        self._wake.set()

    def decide(self, kind: Kind, left: int, right: int, name: str = "", note: str = "") -> Decision:
        """Save a decision; `left` is the document to keep."""
        similarity = None if kind == "clear" else self.similarity(left, right)
        return self.decide_all([Asked(kind, left, right, similarity, name, note)])[0]

    def decide_all(self, asked: Sequence[Asked]) -> list[Decision]:
        """Save decisions, all or none."""
        with self._lock:
            made = self.log.add_all(asked)
            self._replace(self.log.decisions)
        return made

    def take_back(self, first: int, last: int, name: str = "") -> list[Decision]:
        """Undo the decisions with these sequence numbers."""
        with self._lock:
            made = self.log.take_back(first, last, name)
            self._replace(self.log.decisions)
        return made

    def similarity(self, left: int, right: int) -> float | None:
        """The similarity by the scan's measure, stored or computed now; None if a text is missing."""
        findings = self.findings
        for row in (left, right):
            self.check_row(row)
        a, b = sorted((int(findings.first[left]), int(findings.first[right])))
        if a == b:
            return 1.0
        pairs = findings.pairs
        low, high = np.searchsorted(pairs.left, [a, a + 1])
        at = low + int(np.searchsorted(pairs.right[low:high], b))
        if at < high and pairs.right[at] == b:
            return float(pairs.similarity[at])
        try:
            return measured(findings, (left, right), (self._compared(left), self._compared(right)))
        except DataError:
            return None

    def _compared(self, row: int) -> str:
        """The text of a document, or another text with the same words, which has the same similarity."""
        return self.findings.text(row) if self.findings.has_text(row) else text_of(self.findings, row)

    def known_similarity(self, keeper: int, row: int) -> float | None:
        """The similarity, if it is stored or both texts are in the findings; None if an input would have to be read."""
        findings = self.findings
        stored = findings.has_text(keeper) and findings.has_text(row)
        return self.similarity(keeper, row) if stored else None

    def texts(self, left: int, right: int) -> Both:
        """The texts of two documents as they are in the input."""
        with self._lock:
            both = self._both.get((left, right))
        if both is None:
            notes: list[str] = []
            texts = own_text(self.findings, left, notes), own_text(self.findings, right, notes)
            both = Both(texts, tuple(notes))
            with self._lock:
                self._both[left, right] = both
                while len(self._both) > COMPARED:
                    self._both.popitem(last=False)
        return both

    def check_row(self, row: int) -> int:
        if not 0 <= row < len(self.findings):
            raise DataError(f"there is no row {row}")
        return row

    def view(self, threshold: float, *, table: bool = False) -> View:
        """The findings at a threshold from the floor up; with `table`, the table of clusters is computed too."""
        self.findings.check_threshold(threshold)
        decisions = self.decisions()
        key = threshold, decisions.revision
        with self._lock:
            view = self._views.get(key)
            if view is not None:
                self._views.move_to_end(key)
                if view.has_table or not table:
                    return view
            self._asked += 1
        try:
            with self._work:
                with self._lock:
                    view = self._views.get(key)
                view = view or self._view(threshold, decisions)
                return view.with_table() if table else view
        finally:
            with self._lock:
                self._asked -= 1
                self._wake.set()

    def _view(self, threshold: float, decisions: Decisions) -> View:
        view = self._made(threshold, decisions)
        with self._lock:
            self._views[threshold, decisions.revision] = view
            while len(self._views) > VIEWS:
                self._views.popitem(last=False)
        return view

    def _made(self, threshold: float, decisions: Decisions) -> View:
        cut = decided_cut(self.findings, threshold, self.keep, decisions=decisions, rank=self.rank)
        return View(self.findings, decisions, threshold, cut, known_languages=self._languages)

    def figures(self, threshold: float) -> Figures:
        """The numbers at a threshold."""
        revision = self.decisions().revision
        with self._lock:
            known = self._figures.get(threshold)
        if known is not None and known.revision == revision:
            return known
        view = self.view(threshold)
        made = figures_of(self.findings, view.cut, threshold, view.decisions.revision)
        self._remember(made)
        return made

    def _remember(self, made: Figures) -> None:
        with self._lock:
            if made.revision == self._decisions.revision and made.threshold in self.steps:
                self._figures[made.threshold] = made

    def ready(self) -> list[Figures]:
        """The figures of the steps that are ready, ascending."""
        self.decisions()
        with self._lock:
            return sorted(self._figures.values(), key=lambda made: made.threshold)

    def _precompute(self) -> None:
        """Make the figures of all steps, from the scan's threshold outwards, while no request is waiting."""
        outwards = sorted(self.steps, key=lambda step: (abs(step - self.findings.threshold), step))
        while not self._closing:
            self._wake.wait()
            self._wake.clear()
            while not self._closing:
                with self._lock:
                    if self._asked:
                        break  # the running request wakes this thread when it is done
                    decisions = self._decisions
                    missing = [step for step in outwards if step not in self._figures]
                if not missing:
                    break
                with self._work:
                    self._step(missing[0], decisions)

    def _step(self, threshold: float, decisions: Decisions) -> None:
        with self._lock:
            view = self._views.get((threshold, decisions.revision))
        first = threshold == self.findings.threshold and not decisions.revision
        if view is None:
            view = (self._view if first else self._made)(threshold, decisions)
        self._remember(figures_of(self.findings, view.cut, threshold, decisions.revision))
        if first:
            view.with_table()  # the page requests the list of clusters next

    def overview(self) -> dict[str, Any]:
        """The values that do not depend on the threshold."""
        findings = self.findings
        own = slice(findings.reference, None)
        counts = np.bincount(findings.sources[own], minlength=len(findings.source_names))
        return {
            "name": findings.path.name,
            "documents": len(findings) - findings.reference,
            "reference": findings.reference,
            "filtered": int((findings.filtered[own] != 0).sum()),
            "empty": int(findings.empty[own].sum()),
            "rejected": sum(findings.manifest["counts"]["rejected"].values()),
            "bytes": int(findings.sizes[own].sum()),
            "tokens": int(findings.tokens[own].sum()),
            "scan": findings.scan_id,
            "capped": int(findings.manifest["counts"].get("capped", 0)),
            "skipped": int(findings.manifest["counts"].get("skipped", 0)),
            "set_aside": [path.name for path in sorted(findings.path.glob("decisions-*.jsonl"))],
            "pairs": len(findings.pairs),
            "measure": findings.config.verify.name,
            "equal": findings.config.equal,
            "threshold": findings.threshold,
            "floor": findings.floor,
            "policy": policy_of(self.keep),
            "command": _command(findings, self.keep),
            "steps": self.steps,
            "histogram": histogram_of(findings),
            "sources": [
                name
                for name, count in zip(findings.source_names, counts.tolist(), strict=True)
                if count
            ][:1000],
            "changed": changed_inputs(findings),
        }  # fmt: skip


class OpenReview:
    """The review that is served. When another scan has replaced the findings, `reopen` opens the new ones."""

    def __init__(self, make: Callable[[], Review]) -> None:
        self._make, self._lock = make, threading.Lock()
        self.review = make()

    def reopen(self) -> Review:
        """The review of the findings as they are now."""
        with self._lock:
            if self.review.findings.replaced():
                old, self.review = self.review, self._make()
                self.review.start()
                old.close()
            return self.review


def changed_inputs(findings: Findings) -> list[str]:
    """The inputs that are missing or have another size than in the scan, at most ten."""
    entries = ((entry["name"], input_change(entry)) for entry in findings.manifest["inputs"])
    return list(islice((f"{name} {change}" for name, change in entries if change is not None), 10))


def _command(findings: Findings, keep: Keep) -> str:
    """The command that applies this page's numbers, with the keep policy but without the threshold."""
    words, own = ["neardup", "apply", str(findings.path)], findings.config.keep
    if (keep.by, keep.score) != (own.by, own.score):
        words += ["--keep", f"{keep.by}:{keep.score}" if keep.score else keep.by]
    if keep.source != own.source and keep.source is not None:
        words += ["--source", keep.source]
    if keep.by_language and not own.by_language:
        words += ["--by-language"]
    if keep.prefer != own.prefer:
        words += [word for name in keep.prefer for word in ("--prefer", name)]
    if keep.many != own.many:
        words += ["--many", str(keep.many)]
    if keep.among != own.among:
        words += ["--among", keep.among]
    return shlex.join(words)


def _copy(decisions: Decisions) -> Decisions:
    return Decisions(
        decisions.revision, dict(decisions.pairs), dict(decisions.choices), dict(decisions.marks)
    )
