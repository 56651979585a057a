"""Two documents of a scan: their texts, which of them stays, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from neardup.clusters.keepers import Keep
from neardup.clusters.selection import Cut
from neardup.errors import DataError
from neardup.findings.decided import decided_cut
from neardup.findings.decisions import Decisions, read_decisions
from neardup.findings.folder import Findings
from neardup.readers.layout import is_html
from neardup.readers.limits import Limits
from neardup.readers.reader import read_again
from neardup.search.interface import Candidates
from neardup.values.wording import printable

__all__ = ["ExplainedPair", "explain_pair", "measured", "policy_of", "text_of"]

_LEAST = 1e-9


@dataclass(frozen=True)
class ExplainedPair:
    """The texts of two documents as they were compared, what becomes of each, in sentences, and their similarity by the
    scan's own measure."""

    texts: tuple[str, str]
    reasons: tuple[str, ...]
    measure: str
    similarity: float


def explain_pair(
    findings: Findings,
    left: str,
    right: str,
    threshold: float | None = None,
    decisions: Decisions | None = None,
) -> ExplainedPair:
    """What a scan, and what was decided about it, say of two of its documents at a threshold, by default its own."""
    rows = findings.row_of(left), findings.row_of(right)
    said = read_decisions(findings) if decisions is None else decisions
    cut = decided_cut(findings, threshold, decisions=said)
    told = set(said.chosen).union(*(d.pair for d in said.of("reject")))
    texts = text_of(findings, rows[0]), text_of(findings, rows[1])
    similarity = measured(findings, *texts)
    return ExplainedPair(
        texts, tuple(_reasons(findings, cut, rows, told)), findings.config.verify.name, similarity
    )


def measured(findings: Findings, left: str, right: str) -> float:
    """The similarity of two texts by the scan's own measure."""
    config = findings.config
    features = config.compared.extract([left, right])
    both = Candidates(np.array([0]), np.array([1]), np.zeros(1, np.uint8))
    pairs = replace(config.verify, floor=_LEAST).check(both, features)
    return float(pairs.similarity[0]) if len(pairs) else 0.0


def _reasons(findings: Findings, cut: Cut, rows: tuple[int, int], told: set[int]) -> Iterator[str]:
    """`told` are the rows that somebody spoke for."""
    clusters = cut.clusters
    names = [printable(name) for name in findings.ids(np.array(rows))]
    for row, name in zip(rows, names, strict=True):
        place = findings.place(row)
        where = f"({printable(place.file)}, row {place.row:,})"
        keeper = int(clusters.keeper[row])
        if findings.filtered[row]:
            yield f"{name} is left out by a filter {where}"
        elif keeper == row:
            size = int((clusters.labels == clusters.labels[row]).sum())
            of = (
                f" as the keeper of {size:,}: {policy_of(findings.config.keep)}"
                if size > 1
                else ": a person decided so"
                if row in told
                else ": it has no duplicate"
            )
            yield f"{name} stays{of} {where}"
        else:
            other = printable(findings.ids(np.array([keeper]))[0])
            similarity = float(clusters.similarity[row])
            alike = (
                "the same words"
                if findings.first[row] == findings.first[keeper]
                else f"{similarity:.3f} similar"
            )
            fate = "stays too" if cut.kept[row] else "goes"
            yield f"{name} {fate}: {alike} to {other}, which stays {where}"
    if clusters.labels[rows[0]] != clusters.labels[rows[1]]:
        yield "They are in different clusters."


def policy_of(keep: Keep) -> str:
    """The keep policy in words."""
    by = {
        "longest": "the longest stays, of equals the first",
        "first": "the first stays",
        "last": "the last stays",
        "score": f"the highest {keep.score} stays",
    }[keep.by]
    return f"{', then '.join(['a preferred source', by]) if keep.prefer else by}"


def text_of(findings: Findings, row: int) -> str:
    """The text of any document as it was compared: from the findings, or from the input it was read from."""
    if findings.has_text(row):
        return findings.text(row)
    place = findings.place(row)
    entry = next((e for e in findings.manifest["inputs"] if e["name"] == place.file), None)
    if entry is None:
        raise DataError(f"{place.file}: is a reference's; its text was not kept")
    columns = findings.manifest["columns"]
    reader = read_again(
        entry["path"],
        entry["name"],
        entry["format"],
        text=columns["text"],
        id=columns["id"],
        encoding=columns.get("encoding"),
        delimiter=columns.get("delimiter"),
        limits=Limits(**findings.manifest["limits"]),
    )
    for batch in reader:
        for document, number in zip(batch, batch.rows, strict=True):
            if number == place.row:
                page = is_html(batch.layout) or entry["format"] in ("html", "warc")
                return _extracted(findings, document.text) if page else document.text
    raise DataError(f"{entry['path']}: has changed since it was scanned")


def _extracted(findings: Findings, page: str) -> str:
    method = findings.config.html
    if method == "none":
        return page
    from neardup.web import HtmlExtractor

    with HtmlExtractor(method) as extractor:
        return extractor.extract([page]).texts[0] or ""
