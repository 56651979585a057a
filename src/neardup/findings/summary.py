"""The summary of a scan for people: counts, lines of text, and warnings before a mass removal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.protect import Guard
from neardup.clusters.selection import Cut
from neardup.compare.changes import AT
from neardup.config.filters import REASONS
from neardup.errors import NeardupError
from neardup.findings.changed import pair_places
from neardup.findings.decided import decided_cut
from neardup.findings.decisions import Decisions
from neardup.findings.folder import Findings
from neardup.values.sizes import size_text
from neardup.values.wording import counted, printable

__all__ = [
    "LargeCluster",
    "Summary",
    "alarms",
    "dropped_rows",
    "lossless_drops",
    "summarize",
    "thresholds_of",
]

# Above these limits, the cause is more often a template or an error page than true duplication.
MOST_DROPPED, MOST_IN_CLUSTER = 0.5, 0.01
SMALLEST_SOURCE, SMALLEST_CLUSTER = 20, 20
SPIKE = 1000
FEWEST_FILTERED = 10
_SNIPPET = 70


@dataclass(frozen=True)
class LargeCluster:
    """A cluster worth showing: the number of documents, the keeper's id, and the beginning of its text."""

    size: int
    keeper: str
    begins: str


@dataclass(frozen=True)
class Summary:
    """Counts of a scan at one threshold. `table` has (threshold, dropped documents, clusters).

    The counts add up: documents = kept + exact + near + filtered. `account` says what became of the files and rows
    before they were documents (readers/account.py); findings of earlier versions have none.
    `protected` counts the kept documents that a guard keeps, by reason. `lossless` counts the dropped documents all of
    whose passages of 8 words or more occur in their keeper; None if that is not known of all.
    """

    documents: int
    reference: int
    kept: int
    exact: int
    near: int
    clusters: int
    empty: int
    filtered: dict[str, int]
    rejected: dict[str, int]
    bytes: int
    bytes_saved: int
    tokens: int
    tokens_saved: int
    pairs: int
    candidates: int
    capped: int
    figures: int
    threshold: float
    floor: float
    measure: str
    largest: tuple[LargeCluster, ...]
    spikes: tuple[LargeCluster, ...]
    table: tuple[tuple[float, int, int], ...]
    sources: tuple[tuple[str, int, int], ...]
    seconds: float
    decisions: int = 0
    protected: dict[str, int] = field(default_factory=dict)
    lossless: int | None = None
    account: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        named = self.kept + self.exact + self.near + self.filtered_out
        if named != self.documents:
            raise NeardupError(
                f"the account does not add up: {self.documents:,} documents, {named:,} named. "
                "This is an error in neardup; please report it"
            )

    @property
    def filtered_out(self) -> int:
        """The number of documents that filters left out."""
        return sum(self.filtered.values())

    @property
    def dropped(self) -> int:
        """The number of documents dropped as duplicates."""
        return self.exact + self.near

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return asdict(self) | {"dropped": self.dropped}

    def _skipped(self) -> list[str]:
        """The files that were found and not read, and the rows that were read otherwise than they are written."""
        files = self.account.get("files", {})
        skipped: dict[str, int] = files.get("skipped", {})
        lines = []
        if skipped:
            total = sum(skipped.values())
            lines.append(
                f"{counted(files['found'], 'file')} found: {files['read']:,} read, {total:,} skipped"
            )
            for kind, many in sorted(skipped.items()):
                lines.append(f"  {many:,} {kind} ({_one_line(files['examples'].get(kind, ()), many)})")
        return lines + [f"{many:,} {note}" for note, many in self.account.get("notes", {}).items()]

    def lines(self) -> list[str]:
        """For people, the most important first."""
        removed = self.dropped + self.filtered_out
        share = removed / self.documents if self.documents else 0.0
        left_out = f", {self.filtered_out:,} left out by filters" if self.filtered_out else ""
        lines = [
            f"{counted(self.documents, 'document')}: {self.kept:,} kept, {self.dropped:,} dropped{left_out} "
            f"({share:.1%})",
            f"  {self.exact:,} {'has' if self.exact == 1 else 'have'} the same words as another, "
            f"{self.near:,} {'is a near-duplicate' if self.near == 1 else 'are near-duplicates'} "
            f"({self.measure} >= {self.threshold:g})",
        ]
        if self.bytes:
            lines.append(
                f"  that saves {size_text(self.bytes_saved)} of {size_text(self.bytes)} "
                f"({self.bytes_saved / self.bytes:.1%}) and {self.tokens_saved:,} of {self.tokens:,} tokens"
            )
        lines.append(
            f"  {counted(self.clusters, 'cluster')}; {counted(self.pairs, 'pair')} verified of "
            f"{counted(self.candidates, 'candidate')}"
        )
        for reason, count in self.protected.items():
            lines.append(f"  {count:,} kept although similar to another: {reason}")
        if self.lossless is not None and self.dropped:
            has = "has" if self.lossless == 1 else "have"
            lines.append(
                f"  {self.lossless:,} of the dropped ({self.lossless / self.dropped:.0%}) {has} no passage of 8 words "
                "or more that their keeper has not"
            )
        if self.reference:
            lines.append(
                f"  compared against {counted(self.reference, 'reference document')}, which are never dropped"
            )
        if self.decisions:
            lines.append(f"  with {counted(self.decisions, 'decision')} of a review")
        for reason, count in self.filtered.items():
            lines.append(f"  {count:,} left out by a filter: {reason}")
        if self.empty:
            lines.append(f"  {self.empty:,} have no words and are always kept")
        for reason, count in sorted(self.rejected.items()):
            lines.append(f"  {count:,} could not be read: {reason} (see documents.rejects.jsonl)")
        lines += [f"  {line}" for line in self._skipped()]
        if self.figures:
            lines.append(
                f"  warning: {self.figures:,} differ from another only in numbers, which these settings ignore"
            )
        if self.capped:
            lines.append(
                f"  {self.capped:,} groups of similar documents were too large to compare every pair"
            )
        if self.largest:
            lines += ["", "Largest clusters"]
            lines += [
                f"  {cluster.size:>7,}  {printable(cluster.keeper, 60)}  {cluster.begins}"
                for cluster in self.largest
            ]
        if self.spikes:
            lines += [
                "",
                f"Spikes: texts that occur {SPIKE:,} times or more, such as empty, error and login pages",
            ]
            lines += [
                f"  {cluster.size:>7,}  {printable(cluster.keeper, 60)}  {cluster.begins}"
                for cluster in self.spikes
            ]
        if len(self.table) > 1:
            lines += ["", "At another threshold", "  threshold  dropped   clusters"]
            lines += [
                f"  {'*' if threshold == self.threshold else ' '} {threshold:<6g} {dropped:>10,} {clusters:>10,}"
                for threshold, dropped, clusters in self.table
            ]
        return lines


def _one_line(names: Sequence[str], many: int) -> str:
    shown = ", ".join(printable(name, 60) for name in names)
    return f"{shown}, ..." if many > len(names) else shown


def thresholds_of(findings: Findings) -> list[float]:
    """The thresholds of the table: from the floor to .95 in steps of .05, and the scan's own."""
    steps = [step / 100 for step in range(5, 100, 5) if step / 100 > findings.floor + 1e-9]
    return sorted({findings.floor, findings.threshold, *steps})


def summarize(
    findings: Findings,
    cut: Cut | None = None,
    threshold: float | None = None,
    decisions: Decisions | None = None,
    protect: tuple[Guard, ...] | None = None,
) -> Summary:
    """The summary at a threshold, by default the scan's; `decisions` are those the cut was made with."""
    at = findings.threshold if threshold is None else threshold
    decisions = Decisions() if decisions is None else decisions
    cut = cut if cut is not None else decided_cut(findings, at, decisions=decisions, protect=protect)
    counts, reference = findings.manifest["counts"], findings.reference
    dropped = dropped_rows(findings, cut)
    exact = cut.exact(findings.first, dropped)
    own = np.arange(len(findings)) >= reference
    labels, sizes = cut.clusters.sizes()
    rank = findings.rank()
    table = []
    for threshold in thresholds_of(findings):
        other = (
            cut
            if threshold == at
            else decided_cut(findings, threshold, decisions=decisions, rank=rank, protect=protect)
        )
        table.append((threshold, len(dropped_rows(findings, other)), len(other.clusters.sizes()[0])))
    lost = np.bincount(findings.sources[dropped], minlength=len(findings.source_names))
    have = np.bincount(findings.sources[own], minlength=len(findings.source_names))
    order = np.argsort(-lost, kind="stable")[:20]
    return Summary(
        documents=int(own.sum()),
        reference=reference,
        kept=int((cut.kept & own).sum()),
        exact=exact,
        near=len(dropped) - exact,
        clusters=len(sizes),
        empty=int((findings.empty & own).sum()),
        filtered={REASONS[int(reason)]: count for reason, count in counts["filtered"].items()},
        rejected=counts["rejected"],
        bytes=int(findings.sizes[own].sum()),
        bytes_saved=int(findings.sizes[dropped].sum()),
        tokens=int(findings.tokens[own].sum()),
        tokens_saved=int(findings.tokens[dropped].sum()),
        pairs=len(findings.pairs),
        candidates=counts["candidates"],
        capped=counts["capped"],
        figures=counts.get("figures", 0),
        threshold=at,
        floor=findings.floor,
        measure=findings.config.verify.name,
        largest=_largest(findings, cut, labels, sizes),
        spikes=_spikes(findings),
        table=tuple(table),
        sources=tuple(
            (findings.source_names[i], int(lost[i]), int(have[i])) for i in order.tolist() if lost[i]
        ),
        seconds=round(sum(findings.manifest["seconds"].values()), 3),
        decisions=len(decisions),
        protected={} if cut.protected is None else cut.protected.counts(),
        lossless=lossless_drops(findings, cut, dropped),
        account=findings.manifest.get("account", {}),
    )


def dropped_rows(findings: Findings, cut: Cut) -> NDArray[np.int64]:
    """Documents of the corpus that are dropped as duplicates."""
    rows = cut.dropped
    return np.asarray(rows[(rows >= findings.reference) & (findings.filtered[rows] == 0)])


def lossless_drops(findings: Findings, cut: Cut, dropped: NDArray[np.int64]) -> int | None:
    """How many dropped documents have no passage of 8 words or more that their keeper has not; None if the pair of one
    of them and its keeper was not stored, as in chains."""
    first = findings.first
    own, keeper = first[dropped], first[cut.clusters.keeper[dropped]]
    near = own != keeper
    own, keeper = own[near], keeper[near]
    at = pair_places(findings, own, keeper)
    if (at < 0).any():
        return None
    side = np.where(own < keeper, AT["lost_left"], AT["lost_right"])
    lost = findings.changes[at, side] if len(at) else np.zeros(0)
    return len(dropped) - int((lost > 0).sum())


def _largest(
    findings: Findings, cut: Cut, labels: NDArray[np.int64], sizes: NDArray[np.int64], many: int = 5
) -> tuple[LargeCluster, ...]:
    order = np.argsort(-sizes, kind="stable")[:many]
    return tuple(
        _large_cluster(findings, int(cut.clusters.keeper[labels[i]]), int(sizes[i])) for i in order.tolist()
    )


def _spikes(findings: Findings, many: int = 5) -> tuple[LargeCluster, ...]:
    repeated = findings.first[findings.first != np.arange(len(findings))]
    rows, counts = np.unique(repeated, return_counts=True)
    often = np.flatnonzero(counts + 1 >= SPIKE)
    order = often[np.argsort(-counts[often], kind="stable")][:many]
    found = [_large_cluster(findings, int(rows[i]), int(counts[i]) + 1) for i in order.tolist()]
    empty = int(findings.empty.sum())
    if empty >= SPIKE:
        row = int(np.flatnonzero(findings.empty)[0])
        found.append(LargeCluster(empty, findings.ids(np.array([row]))[0], "(no words)"))
    return tuple(sorted(found, key=lambda cluster: -cluster.size))


def _large_cluster(findings: Findings, row: int, size: int) -> LargeCluster:
    begins = findings.text(row)[: 4 * _SNIPPET] if findings.has_text(row) else ""
    words = " ".join(begins.split())
    return LargeCluster(size, findings.ids(np.array([row]))[0], printable(words, _SNIPPET))


def alarms(findings: Findings, cut: Cut) -> list[str]:
    """Reasons why this looks like an accident, each with an example; empty if there is none."""
    found = []
    dropped = dropped_rows(findings, cut)
    documents = len(findings) - findings.reference
    lost = np.bincount(findings.sources[dropped], minlength=len(findings.source_names))
    own = findings.sources[findings.reference :]
    have = np.bincount(own, minlength=len(findings.source_names))
    heavy = np.flatnonzero((have >= SMALLEST_SOURCE) & (lost > MOST_DROPPED * have))
    for source in heavy[:3].tolist():
        row = int(dropped[findings.sources[dropped] == source][0])
        name, keeper = findings.ids(np.array([row, int(cut.clusters.keeper[row])]))
        where = printable(findings.source_names[source]) or "the corpus"
        found.append(
            f"{lost[source]:,} of the {have[source]:,} documents of {where} would be dropped, "
            f"such as {printable(name)}, a duplicate of {printable(keeper)}"
        )
    if not len(heavy) and documents >= SMALLEST_SOURCE and len(dropped) > MOST_DROPPED * documents:
        # Each source may be too small to judge, for example when every page is a file of its own.
        name, keeper = findings.ids(np.array([dropped[0], cut.clusters.keeper[dropped[0]]]))
        found.append(
            f"{len(dropped):,} of all {documents:,} documents would be dropped, "
            f"such as {printable(name)}, a duplicate of {printable(keeper)}"
        )
    filtered = int((findings.filtered[findings.reference :] != 0).sum())
    if filtered >= FEWEST_FILTERED and filtered + len(dropped) > MOST_DROPPED * documents:
        found.append(f"filters would leave out {filtered:,} of all {documents:,} documents")
    if len(heavy) > 3:
        found.append(f"more than half of {counted(len(heavy) - 3, 'other source')} would be dropped too")
    labels, sizes = cut.clusters.sizes()
    large = np.flatnonzero((sizes >= SMALLEST_CLUSTER) & (sizes > MOST_IN_CLUSTER * documents))
    for i in large[np.argsort(-sizes[large], kind="stable")][:3].tolist():
        cluster = _large_cluster(findings, int(cut.clusters.keeper[labels[i]]), int(sizes[i]))
        found.append(
            f"one cluster has {cluster.size:,} documents: {printable(cluster.keeper)}  {cluster.begins}"
        )
    return found
