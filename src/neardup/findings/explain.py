"""Two documents of a scan: their texts, which of them is kept, and why."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neardup.clusters.keepers import FIELD_POLICIES, Keep
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

__all__ = ["ExplainedPair", "explain_pair", "measured", "own_text", "policy_of", "text_of"]

_LEAST = 1e-9


@dataclass(frozen=True)
class ExplainedPair:
    """Two documents of a scan: their texts as they were compared, sentences that say why each is kept or dropped, and
    their similarity by the scan's own measure."""

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
    """Explain the outcome of a scan, with decisions, for two of its documents; by default at the scan's threshold."""
    rows = findings.row_of(left), findings.row_of(right)
    decisions = read_decisions(findings) if decisions is None else decisions
    cut = decided_cut(findings, threshold, decisions=decisions)
    decided = set(decisions.chosen).union(*(d.pair for d in decisions.of("reject")))
    reasons = list(_reasons(findings, cut, rows, decided))
    left_text, right_text = own_text(findings, rows[0], reasons), own_text(findings, rows[1], reasons)
    similarity = measured(findings, left_text, right_text)
    return ExplainedPair((left_text, right_text), tuple(reasons), findings.config.verify.name, similarity)


def own_text(findings: Findings, row: int, notes: list[str]) -> str:
    """The text of a document. If it cannot be read again and another document has the same words, the text of that one,
    and a note that says so."""
    try:
        return text_of(findings, row)
    except DataError as error:
        if not findings.has_text(row):
            raise
        name, other = (printable(id) for id in findings.ids(np.array([row, findings.first[row]])))
        notes.append(
            f"{name} cannot be read again ({error}). The text of {other}, which has the same words, is used."
        )
        return findings.text(row)


def measured(findings: Findings, left: str, right: str) -> float:
    """The similarity of two texts by the scan's own measure."""
    config = findings.config
    features = config.compared.extract([left, right])
    both = Candidates(np.array([0]), np.array([1]), np.zeros(1, np.uint8))
    pairs = replace(config.verify, floor=_LEAST).check(both, features)
    return float(pairs.similarity[0]) if len(pairs) else 0.0


def _reasons(findings: Findings, cut: Cut, rows: tuple[int, int], decided: set[int]) -> Iterator[str]:
    """`decided` are the rows that a decision keeps."""
    clusters = cut.clusters
    guarded = {} if cut.protected is None else cut.protected.reasons_of(rows)
    names = [printable(name) for name in findings.ids(np.array(rows))]
    for row, name in zip(rows, names, strict=True):
        place = findings.place(row)
        where = f"({printable(place.file)}, row {place.row:,})"
        keeper = int(clusters.keeper[row])
        if findings.filtered[row]:
            yield f"{name} was left out by a filter {where}"
        elif keeper == row:
            size = int((clusters.labels == clusters.labels[row]).sum())
            of = (
                f" as the keeper of {size:,}: {policy_of(findings.config.keep)}"
                if size > 1
                else ": a person decided this"
                if row in decided
                else f", similar to another: {guarded[row]}"
                if row in guarded
                else ": it has no duplicate"
            )
            yield f"{name} is kept{of} {where}"
        else:
            other = printable(findings.ids(np.array([keeper]))[0])
            similarity = float(clusters.similarity[row])
            likeness = (
                "the same words as"
                if findings.first[row] == findings.first[keeper]
                else f"{similarity:.3f} similar to"
            )
            outcome = "is kept too" if cut.kept[row] else "is dropped"
            yield f"{name} {outcome}: {likeness} {other}, which is kept {where}"
    if clusters.labels[rows[0]] != clusters.labels[rows[1]]:
        yield "They are in different clusters."


def policy_of(keep: Keep) -> str:
    """The keep policy in words."""
    by = {
        "longest": "the longest is kept, and the first if several are equally long",
        "first": "the first is kept",
        "last": "the last is kept",
        **{name: f"the {name} {keep.score} is kept" for name in FIELD_POLICIES},
        "score": f"the highest {keep.score} is kept",
    }[keep.by]
    if keep.by_language:
        by = f"in each language, {by}"
    return f"{', then '.join(['a preferred source', by]) if keep.prefer else by}"


def text_of(findings: Findings, row: int) -> str:
    """The text of any document as it was compared: from the findings, or from the input it was read from. Findings
    store one text for documents with the same words, so the others are always read from their input."""
    if findings.first[row] == row and findings.has_text(row):
        return findings.text(row)
    place = findings.place(row)
    entry = next((e for e in findings.manifest["inputs"] if e["name"] == place.file), None)
    if entry is None:
        raise DataError(f"{place.file}: belongs to a reference; its text was not stored")
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
    if "://" not in entry["path"] and not _same_size(entry):
        raise DataError(f"{entry['path']}: has changed since it was scanned")
    for batch in reader:
        for document, number in zip(batch, batch.rows, strict=True):
            if number == place.row:
                page = is_html(batch.layout) or entry["format"] in ("html", "warc")
                return _extracted(findings, document.text) if page else document.text
    raise DataError(f"{entry['path']}: has changed since it was scanned")


def _same_size(entry: dict[str, Any]) -> bool:
    try:
        return bool(os.path.getsize(entry["path"]) == entry["bytes"])
    except OSError:
        return False


def _extracted(findings: Findings, page: str) -> str:
    method = findings.config.html
    if method == "none":
        return page
    from neardup.web import HtmlExtractor

    with HtmlExtractor(method) as extractor:
        return extractor.extract([page]).texts[0] or ""
