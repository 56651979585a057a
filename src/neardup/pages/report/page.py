"""The report of a scan as one HTML file: numbers, plots, notable clusters, settings, and how to repeat the scan."""

from __future__ import annotations

import base64
import hashlib
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.selection import Cut
from neardup.errors import ConfigError
from neardup.findings import (
    Decisions,
    Findings,
    Summary,
    alarms,
    decided_cut,
    read_decisions,
    summarize,
)
from neardup.pages import page_text
from neardup.pages.report.charts import Bar, Bin, bars, curves, histogram
from neardup.pages.report.clusters import cluster_sections
from neardup.pages.report.markup import Html, label, raw, tag, text
from neardup.pages.report.settings import settings_section
from neardup.storage.output import open_output
from neardup.values.sizes import size_text
from neardup.values.wording import counted
from neardup.version import __version__

__all__ = ["report"]

LARGEST = 2_000_000  # bytes of a report
SIZES = (
    (2, 2),
    (3, 3),
    (4, 4),
    (5, 9),
    (10, 19),
    (20, 49),
    (50, 99),
    (100, 999),
    (1000, 9999),
    (10_000, None),
)
MARK = (
    '<svg viewBox="0 0 24 24" aria-hidden="true" fill="currentColor"><rect x="2" y="2" width="14" height="14" rx="3"/>'
    '<rect x="8" y="8" width="14" height="14" rx="3" fill-opacity=".4" stroke="var(--paper)"/></svg>'
)


def report(
    findings: Findings | str | PathLike[str],
    path: str | PathLike[str],
    *,
    threshold: float | None = None,
    clusters: int = 5,
    decisions: Decisions | None = None,
) -> Summary:
    """Write the findings of a scan as one HTML file under 2 MB that needs no other file, and return the summary that it
    shows.

    `threshold` replaces the scan's threshold, from the floor up; `clusters` (at most 20) of each kind are shown.
    `decisions` of a review are by default read from the findings folder. The same findings and decisions give the same
    bytes. The file appears only when it is complete.
    """
    found = findings if isinstance(findings, Findings) else Findings(findings)
    if not 0 <= clusters <= 20:
        raise ConfigError(f"a report shows 0 to 20 clusters of each kind, not {clusters}")
    found.check_target(path)
    decisions = read_decisions(found) if decisions is None else decisions
    cut = decided_cut(found, threshold, decisions=decisions)
    summary = summarize(found, cut, threshold, decisions)
    page = _page(found, cut, summary, clusters).encode("utf-8", "replace")
    assert len(page) < LARGEST, "every part of a report has a limit"
    with open_output(path) as whole:
        whole.write(page)
    return summary


def _page(found: Findings, cut: Cut, summary: Summary, clusters: int) -> str:
    style = page_text("style.css") + page_text("report.css")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    names = [entry["name"] for entry in found.manifest["inputs"]]
    subject = label(names[0] if names else "a corpus", 80)
    if len(names) > 1:
        subject += f" and {len(names) - 1:,} more"
    main = [
        tag(
            "div",
            tag("h1", raw(f"Duplicates in {subject}")),
            tag("p", raw(_lead(found, summary)), class_="lead"),
        ),
        _overview(found, cut, summary),
        _plots(found, cut, summary),
        *cluster_sections(found, cut, summary.threshold, clusters),
        settings_section(found, summary),
    ]
    links = (("numbers", "Numbers"), ("plots", "Plots"), ("clusters", "Clusters"), ("settings", "Settings"))
    navigation = "".join(f'<a href="#{name}">{shown}</a>' for name, shown in links)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>Duplicates in {subject} – neardup</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#numbers">Skip to the numbers</a>\n'
        f'<header class="bar-top"><div><span class="brand">{MARK}neardup</span>'
        f'<nav aria-label="Sections">{navigation}</nav></div></header>\n'
        f"<main>{''.join(main)}</main>\n"
        f'<footer class="foot">Made by neardup {label(__version__)} from findings of neardup '
        f"{label(str(found.manifest.get('neardup', '?')))}. "
        "This page needs no other file and sends no requests.</footer>\n"
        "</body>\n</html>\n"
    )


def _lead(found: Findings, summary: Summary) -> str:
    share = summary.dropped / summary.documents if summary.documents else 0.0
    when = label(str(found.manifest.get("created", ""))[:10])
    return (
        f"{counted(summary.documents, 'document')} {'was' if summary.documents == 1 else 'were'} compared on "
        f"<time>{when}</time>. "
        f"At a threshold of {summary.threshold:g} ({label(summary.measure)}) "
        f"{summary.dropped:,} of them, {share:.1%}, are duplicates of another and are dropped."
    )


def _overview(found: Findings, cut: Cut, summary: Summary) -> Html:
    share = f"{summary.dropped / summary.documents:.1%}" if summary.documents else "–"
    saved = (
        f"{summary.bytes_saved / summary.bytes:.1%} of {size_text(summary.bytes)}" if summary.bytes else "–"
    )
    numbers = [
        ("Documents", f"{summary.documents:,}", size_text(summary.bytes)),
        ("Kept", f"{summary.kept:,}", "keepers and documents without duplicates"),
        ("Dropped", f"{summary.dropped:,}", f"{share} of all"),
        ("The same words", f"{summary.exact:,}", "as another document"),
        ("Near-duplicates", f"{summary.near:,}", f"{label(summary.measure)} ≥ {summary.threshold:g}"),
        ("Clusters", f"{summary.clusters:,}", "of two documents or more"),
        ("Saved", size_text(summary.bytes_saved), saved),
        ("Pairs verified", f"{summary.pairs:,}", f"of {summary.candidates:,} candidates"),
    ]
    boxes = (
        tag("div", tag("dt", raw(name)), tag("dd", raw(value)), tag("dd", raw(more)))
        for name, value, more in numbers
    )
    parts = [tag("dl", *boxes, class_="numbers")]
    reasons = alarms(found, cut)
    if reasons:
        listed = tag("ul", *(tag("li", text(reason, 600)) for reason in reasons), class_="plain")
        head = tag(
            "p",
            raw(
                "<strong>Check this before you apply it.</strong> It looks more like an accident than like duplication:"
            ),
        )
        parts.append(tag("div", head, listed, class_="note bad"))
    notes = _notes(summary)
    if notes:
        parts.append(tag("ul", *(tag("li", note) for note in notes), class_="plain soft small"))
    return tag("section", tag("h2", raw("Numbers"), class_="unseen"), *parts, id="numbers")


def _notes(summary: Summary) -> list[Html]:
    notes = []
    if summary.decisions:
        notes.append(f"made with {counted(summary.decisions, 'decision')} of a review")
    if summary.reference:
        notes.append(
            f"compared against {counted(summary.reference, 'reference document')}, which are never dropped"
        )
    notes += [
        f"{count:,} left out by a filter: {label(reason)}" for reason, count in summary.filtered.items()
    ]
    if summary.empty:
        notes.append(f"{summary.empty:,} have no words and are always kept")
    rejected = sorted(summary.rejected.items())
    notes += [f"{count:,} could not be read: {label(reason, 200)}" for reason, count in rejected[:20]]
    if summary.figures:
        notes.append(f"{summary.figures:,} differ from another only in numbers, which these settings ignore")
    if summary.capped:
        notes.append(
            f"{counted(summary.capped, 'group')} of similar documents too large to compare every pair"
        )
    return [raw(note) for note in notes]


def _plots(found: Findings, cut: Cut, summary: Summary) -> Html:
    plots = []
    scores = found.pairs.similarity
    if len(scores):
        plots.append(
            histogram(
                "Similarities of pairs",
                _bins(scores, summary.floor),
                summary.threshold,
                "pairs",
                "verified, from the scan's floor up; documents with the same words are not included",
            )
        )
    if len(summary.table) > 1:
        plots.append(
            curves(
                "What another threshold would do",
                summary.table,
                summary.threshold,
                ("dropped documents", "clusters"),
                "line: dropped documents; dashes: clusters",
            )
        )
    _, sizes = cut.clusters.sizes()
    if len(sizes):
        plots.append(bars("Sizes of clusters", _sizes(sizes), "clusters", "documents in a cluster"))
    if summary.sources:
        rows = [Bar(name or "the corpus", lost, have) for name, lost, have in summary.sources[:8]]
        more = "the most first" if len(summary.sources) <= 8 else "the eight that lose most"
        plots.append(bars("What each source loses", rows, "documents", more))
    if not plots:
        nothing = tag("p", raw("No two documents are similar: there is nothing to plot."))
        plots.append(tag("div", nothing, class_="empty"))
    cards = (tag("div", plot, class_="card") for plot in plots)
    return tag(
        "section", tag("h2", raw("Plots"), class_="unseen"), tag("div", *cards, class_="two"), id="plots"
    )


def _bins(scores: NDArray[np.float64], floor: float) -> list[Bin]:
    """From the floor to 1 in steps of .01, or of .02 or .05 if there would be too many bins."""
    step = next(step for step in (1, 2, 5) if (1 - floor) * 100 / step <= 40 or step == 5)
    low = int(np.floor(floor * 100 / step + 1e-9)) * step
    edges = np.arange(low, 101, step) / 100
    if edges[-1] < 1:
        edges = np.append(edges, 1.0)
    if len(edges) == 1:
        edges = np.array([1.0 - step / 100, 1.0])
    # A similarity exactly on an edge belongs to the bin above it, however the edge is rounded.
    counts = np.histogram(np.minimum(scores + 1e-12, 1.0), edges)[0]
    return [Bin(float(a), float(b), int(n)) for a, b, n in zip(edges[:-1], edges[1:], counts, strict=True)]


def _sizes(sizes: NDArray[np.int64]) -> list[Bar]:
    rows = []
    for low, high in SIZES:
        inside = int(((sizes >= low) & (sizes <= (high or sizes.max()))).sum())
        name = f"{low:,}" if low == high else f"{low:,} or more" if high is None else f"{low:,} to {high:,}"
        if inside:
            rows.append(Bar(name, inside))
    return rows
