"""Two documents of a scan: their texts, which of them is kept, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.keepers import FIELD_POLICIES, Keep
from neardup.clusters.selection import Cut
from neardup.compare.similarity import cosine
from neardup.errors import DataError
from neardup.findings.changes import pair_template
from neardup.findings.decided import decided_cut
from neardup.findings.decision_log import read_decisions
from neardup.findings.decisions import Decisions
from neardup.findings.folder import Findings
from neardup.findings.reread import input_change, input_reader
from neardup.readers.document import Document
from neardup.readers.layout import is_html
from neardup.values.checks import check_fields, checked
from neardup.values.wording import printable

__all__ = ["ExplainedPair", "explain_pair", "measured", "own_text", "policy_of", "text_of"]


@dataclass(frozen=True)
class ExplainedPair:
    """Two documents of a scan: their texts as they were compared, sentences that say why each is kept or dropped, and
    their similarity by the scan's own measure. `template` is the share of what they have in common that recurs in many
    documents of their source, None where it is not known.

    texts                the two texts
    reasons              why each of the two is kept or dropped, a sentence each
    measure, similarity  the scan's measure and its value for the pair

    >>> import tempfile
    >>> import neardup as nd
    >>> from neardup import sample
    >>> findings = nd.scan(sample.path(), tempfile.mkdtemp() + "/found")
    >>> print(nd.findings.explain_pair(findings, "page-208", "page-038").reasons[1])
    page-038 is dropped: 0.936 similar to page-208, which is kept (pages.jsonl.gz, row 38)
    """

    texts: tuple[str, str]
    reasons: tuple[str, ...]
    measure: str
    similarity: float
    template: float | None = None

    def __post_init__(self) -> None:
        check_fields(self)


@checked
def explain_pair(
    findings: Findings,
    left: str,
    right: str,
    threshold: float | None = None,
    decisions: Decisions | None = None,
) -> ExplainedPair:
    """Explain the outcome of a scan, with decisions, for two of its documents; by default at the scan's threshold.

    findings     the findings of a scan
    left, right  the ids of two of its documents
    raises       DataError if there is no such document

    >>> import tempfile
    >>> import neardup as nd
    >>> from neardup import sample
    >>> findings = nd.scan(sample.path(), tempfile.mkdtemp() + "/found")
    >>> found = nd.findings.explain_pair(findings, "page-208", "page-038")
    >>> round(found.similarity, 2), found.measure
    (0.94, 'Jaccard')
    """
    rows = findings.row_of(left), findings.row_of(right)
    decisions = read_decisions(findings) if decisions is None else decisions
    cut = decided_cut(findings, threshold, decisions=decisions)
    decided = set(decisions.chosen).union(*(d.pair for d in decisions.of("reject")))
    reasons = list(_reasons(findings, cut, rows, decided))
    left_text, right_text = own_text(findings, rows[0], reasons), own_text(findings, rows[1], reasons)
    similarity = measured(findings, rows, (left_text, right_text))
    template = pair_template(findings, np.array(rows[:1]), np.array(rows[1:]))[0]
    name = findings.config.verify.name
    return ExplainedPair((left_text, right_text), tuple(reasons), name, similarity, template)


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


def measured(findings: Findings, rows: tuple[int, int], texts: tuple[str, str]) -> float:
    """The similarity of two documents by the scan's own measure, on their texts or on vectors, which are read again."""
    config = findings.config
    if config.vectors is None:
        return config.verify.of_texts(config.shown, *texts)
    features = config.vectors.extract(np.concatenate([_vector_of(findings, row) for row in rows]))
    return max(0.0, float(cosine(features, [0], [1])[0]))


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
                f"the same {findings.config.equal} as"
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


def _vector_of(findings: Findings, row: int) -> NDArray[np.float32]:
    """The vector of a document, as a matrix of one row, from the input it was read from."""
    vectors = findings.config.vectors
    assert vectors is not None
    document, _ = _read_again(findings, row)
    made, reasons = vectors.matrix([document.meta.get(vectors.column)])
    if reasons:
        raise DataError(f"{findings.place(row).file}: has changed since it was scanned: {reasons[0]}")
    return made


def text_of(findings: Findings, row: int) -> str:
    """The text of any document as it was compared: from the findings, or from the input it was read from. Findings
    store one text for documents with the same words, so the others are always read from their input."""
    if findings.first[row] == row and findings.has_text(row):
        return findings.text(row)
    document, page = _read_again(findings, row)
    return _extracted(findings, document.text) if page else document.text


def _read_again(findings: Findings, row: int) -> tuple[Document, bool]:
    """A document from the input it was read from, and whether it is a page."""
    place = findings.place(row)
    entry = next((e for e in findings.manifest["inputs"] if e["name"] == place.file), None)
    if entry is None:
        raise DataError(f"{place.file}: belongs to a reference; its text was not stored")
    if (change := input_change(entry)) is not None:
        raise DataError(f"{entry['path']}: {change}")
    for batch in input_reader(findings, entry):
        for document, number in zip(batch, batch.rows, strict=True):
            if number == place.row:
                return document, is_html(batch.layout) or entry["format"] in ("html", "warc")
    raise DataError(f"{entry['path']}: has changed since it was scanned")


def _extracted(findings: Findings, page: str) -> str:
    method = findings.config.html
    if method == "none":
        return page
    from neardup.web import HtmlExtractor

    with HtmlExtractor(method) as extractor:
        return extractor.extract([page]).texts[0] or ""
