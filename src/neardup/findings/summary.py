"""The summary of a scan for people: counts, and lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.keepers import Keep
from neardup.clusters.protect import Guard
from neardup.clusters.selection import Cut
from neardup.compare.changes import AT
from neardup.findings.balance import balance_of, dropped_rows
from neardup.findings.changes import pair_places
from neardup.findings.decided import decided_cut
from neardup.findings.decisions import Decisions
from neardup.findings.folder import Findings
from neardup.findings.lanes import removals_of
from neardup.findings.large_clusters import SPIKE, LargeCluster, largest, spikes
from neardup.findings.rejected import check_rejects
from neardup.pipeline.balance import Balance, exception_lines
from neardup.search.report import report_lines
from neardup.values.checks import check_fields, checked
from neardup.values.sizes import size_text
from neardup.values.wording import counted, printable

__all__ = [
    "Summary",
    "lossless_drops",
    "summarize",
    "thresholds_of",
    "unranked_line",
]


@dataclass(frozen=True)
class Summary:
    """Counts of a scan at one threshold. `table` has (threshold, dropped documents, clusters).

    The counts add up: documents = kept + exact + near + filtered. `account` says what became of the files and rows
    before they were documents (readers/account.py); findings of earlier versions have none.
    `unranked` counts the documents without a value in the field that the keep policy ranks by, by its name.
    `protected` counts the kept documents that a guard keeps, by reason. `lossless` counts the dropped documents all of
    whose passages of 8 words or more occur in their keeper; None if that is not known of all.
    `identical` counts those of `exact` whose text is the same byte by byte; None if that is not known. `lanes` counts
    the removals by what differs (findings/lanes.py). `equal` is what exact duplicates have in common: words, or the
    vector.

    reference             documents of `against`, which are never dropped
    empty                 documents without words
    rejected              rows that are no documents, by reason
    bytes, bytes_saved    of all texts, and of the dropped ones
    tokens, tokens_saved  the same in tokens
    pairs, candidates     verified pairs, and pairs that were compared
    capped                groups that were too large to compare every pair
    figures               documents that differ from another only in ignored numbers
    floor                 the lowest similarity of a stored pair
    measure               the name of the similarity
    largest, spikes       the largest clusters, and texts that occur very often
    sources               (source, dropped documents, all documents), for sources that lose any
    seconds               the time of the scan
    decisions             decisions of people that were applied
    search                what the search reports of its recall

    >>> import tempfile
    >>> import neardup as nd
    >>> from neardup import sample
    >>> findings = nd.scan(sample.path(), tempfile.mkdtemp() + "/found")
    >>> summary = nd.findings.summarize(findings)
    >>> summary.documents == summary.kept + summary.exact + summary.near + sum(summary.filtered.values())
    True
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
    unranked: dict[str, int] = field(default_factory=dict)
    account: dict[str, Any] = field(default_factory=dict)
    identical: int | None = None
    lanes: dict[str, int] = field(default_factory=dict)
    search: dict[str, Any] = field(default_factory=dict)
    equal: str = "words"

    def __post_init__(self) -> None:
        check_fields(self)
        self.balance  # noqa: B018  (raises if the counts do not add up)

    @property
    def balance(self) -> Balance:
        """What became of every file, row and document."""
        return Balance(self.documents, self.kept, self.exact, self.near, self.filtered, self.account)

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
        return asdict(self) | {"dropped": self.dropped, "account": self.balance.to_json()}

    @property
    def _identical(self) -> str:
        if self.identical is None or not self.exact:
            return ""
        return f" ({self.identical:,} byte-identical)"

    def notes(self) -> Iterator[str]:
        """What the figures were made with, and what is unusual in them: a sentence each."""
        if self.reference:
            yield f"compared against {counted(self.reference, 'reference document')}, which are never dropped"
        if self.decisions:
            yield f"made with {counted(self.decisions, 'decision')} of a review"
        yield from exception_lines(self.empty, self.figures, self.capped)

    def lines(self) -> list[str]:
        """The lines that people read, the most important first."""
        lines = [
            self.balance.headline(),
            f"  {self.exact:,} {'has' if self.exact == 1 else 'have'} the same {self.equal} as another"
            f"{self._identical}, "
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
        lines += [f"  {line}" for line in report_lines(self.search)]
        for reason, count in self.protected.items():
            lines.append(f"  {count:,} kept although similar to another: {reason}")
        if self.lossless is not None and self.dropped:
            has, whose = ("has", "its") if self.lossless == 1 else ("have", "their")
            lines.append(
                f"  {self.lossless:,} of the dropped ({self.lossless / self.dropped:.0%}) {has} no passage of 8 words "
                f"or more that {whose} keeper has not"
            )
        for name, count in self.unranked.items():
            lines.append(f"  {unranked_line(name, count)}")
        lines += [f"  {note}" for note in self.notes()]
        account = list(self.balance.lines())
        if account:
            lines += ["", "Account", *(f"  {line}" for line in account)]
        if self.rejected:
            lines.append("  the rejected rows are listed in documents.rejects.jsonl in the findings folder")
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
            lines += ["", "At another threshold", "  threshold    dropped   clusters"]
            lines += [
                f"  {'*' if threshold == self.threshold else ' '} {threshold:<6g} {dropped:>10,} {clusters:>10,}"
                for threshold, dropped, clusters in self.table
            ]
        return lines


def thresholds_of(findings: Findings) -> list[float]:
    """The thresholds of the table: from the floor to .95 in steps of .05, and the scan's own."""
    steps = [step / 100 for step in range(5, 100, 5) if step / 100 > findings.floor + 1e-9]
    return sorted({findings.floor, findings.threshold, *steps})


@checked
def summarize(
    findings: Findings,
    cut: Cut | None = None,
    threshold: float | None = None,
    decisions: Decisions | None = None,
    protect: tuple[Guard, ...] | None = None,
    keep: Keep | None = None,
) -> Summary:
    r"""The summary at a threshold, by default the scan's; `decisions` and `keep` are those the cut was made with.

    findings  the findings of a scan
    protect   the guards that keep documents; by default as in the config of the scan
    raises    ConfigError if `threshold` is below the floor of the scan; FormatError if a file of the folder is damaged

    >>> import pathlib, tempfile
    >>> import neardup as nd
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "pages.csv").write_text("id,text\na,The ferry leaves at eight!\nb,the ferry leaves at eight\n")
    >>> summary = nd.summarize(nd.scan(folder / "pages.csv", folder / "found"))
    >>> summary.documents, summary.kept, summary.dropped
    (2, 1, 1)
    """
    check_rejects(findings.path, findings.manifest)  # the summary names the list
    at = findings.threshold if threshold is None else threshold
    decisions = Decisions() if decisions is None else decisions
    cut = cut if cut is not None else decided_cut(findings, at, keep, decisions=decisions, protect=protect)
    counts, reference = findings.manifest["counts"], findings.reference
    dropped = dropped_rows(findings, cut)
    balance = balance_of(findings, cut, dropped)
    own = np.arange(len(findings)) >= reference
    labels, sizes = cut.clusters.sizes()
    rank = findings.rank(keep)
    table = []
    for threshold in thresholds_of(findings):
        other = (
            cut
            if threshold == at
            else decided_cut(findings, threshold, keep, decisions=decisions, rank=rank, protect=protect)
        )
        table.append((threshold, len(dropped_rows(findings, other)), len(other.clusters.sizes()[0])))
    lost = np.bincount(findings.sources[dropped], minlength=len(findings.source_names))
    have = np.bincount(findings.sources[own], minlength=len(findings.source_names))
    order = np.argsort(-lost, kind="stable")[:20]
    return Summary(
        documents=balance.documents,
        reference=reference,
        kept=balance.kept,
        exact=balance.exact,
        near=balance.near,
        clusters=len(sizes),
        empty=int((findings.empty & own & (findings.filtered == 0)).sum()),
        filtered=dict(balance.filtered),
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
        equal=findings.config.equal,
        largest=largest(findings, cut, labels, sizes),
        spikes=spikes(findings),
        table=tuple(table),
        sources=tuple(
            (findings.source_names[i], int(lost[i]), int(have[i])) for i in order.tolist() if lost[i]
        ),
        seconds=round(sum(findings.manifest["seconds"].values()), 3),
        decisions=len(decisions),
        protected={} if cut.protected is None else cut.protected.counts(),
        lossless=lossless_drops(findings, cut, dropped),
        unranked=_unranked(findings, keep or findings.config.keep),
        account=dict(balance.account),
        identical=None if findings.same_text is None else cut.exact(findings.same_text, dropped),
        lanes={lane: many for lane, many in removals_of(findings, cut).lane_counts.items() if many},
        search=findings.manifest.get("search", {}),
    )


def _unranked(findings: Findings, keep: Keep) -> dict[str, int]:
    if keep.score is None:
        return {}
    missing = int(np.isnan(findings.fields_of(keep)[0][findings.reference :]).sum())
    return {keep.score: missing} if missing else {}


def unranked_line(name: str, many: int) -> str:
    """Says that some documents have no value to keep them by."""
    have, are = ("has", "is") if many == 1 else ("have", "are")
    return (
        f"{counted(many, 'document')} {have} no number or ISO date in the field {printable(name)!r}, and {are} kept "
        "only if no duplicate has one"
    )


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
    lost = findings.changes_at(at)[np.arange(len(at)), side]
    return len(dropped) - int((lost > 0).sum())
