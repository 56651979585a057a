"""The report of a scan as one HTML file: numbers, plots, notable clusters, settings, and how to repeat the scan."""

from __future__ import annotations

import base64
import hashlib
from itertools import islice
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
from neardup.findings.protected import list_protected
from neardup.findings.trust import Trust, trust_of
from neardup.pages import page_text
from neardup.pages.report.charts import Bar, Bin, bars, curves, histogram
from neardup.pages.report.clusters import cluster_sections
from neardup.pages.report.markup import Html, label, raw, table, tag, text
from neardup.pages.report.settings import settings_section
from neardup.pages.report.verdict import verdict_section
from neardup.storage.output import open_output
from neardup.values.checks import checked
from neardup.values.sizes import size_text
from neardup.values.wording import counted
from neardup.version import __version__

__all__ = ["report"]

LARGEST = 2_000_000  # bytes of a report
ACCOUNT_LINES = 200
MOST_PROTECTED = 20
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


@checked
def report(
    findings: Findings | str | PathLike[str],
    path: str | PathLike[str],
    *,
    threshold: float | None = None,
    clusters: int = 5,
    decisions: Decisions | None = None,
) -> Summary:
    r"""Write the findings of a scan as one HTML file under 2 MB that needs no other file, and return its summary.

    `threshold` replaces the scan's threshold, from the floor up; `clusters` (at most 20) of each kind are shown.
    `decisions` of a review are by default read from the findings folder. The same findings and decisions give the same
    bytes. The file appears only when it is complete.

    path    the HTML file to write
    raises  ConfigError if `threshold` is below the floor or `clusters` not 0 to 20

    >>> import pathlib, tempfile
    >>> import neardup as nd
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "pages.csv").write_text("id,text\na,The ferry leaves at eight!\nb,the ferry leaves at eight\n")
    >>> _ = nd.scan(folder / "pages.csv", folder / "found")
    >>> nd.report(folder / "found", folder / "report.html").dropped
    1
    """
    found = findings if isinstance(findings, Findings) else Findings(findings)
    if not 0 <= clusters <= 20:
        raise ConfigError(f"a report shows 0 to 20 clusters of each kind, not {clusters}")
    found.check_target(path)
    decisions = read_decisions(found) if decisions is None else decisions
    cut = decided_cut(found, threshold, decisions=decisions)
    summary = summarize(found, cut, threshold, decisions)
    trust = trust_of(found, cut, decisions)
    page = _page(found, cut, summary, trust, clusters).encode("utf-8", "replace")
    assert len(page) < LARGEST, "every part of a report has a limit"
    with open_output(path) as whole:
        whole.write(page)
    return summary


def _page(found: Findings, cut: Cut, summary: Summary, trust: Trust, clusters: int) -> str:
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
        verdict_section(summary, trust),
        _overview(found, cut, summary),
        _plots(found, cut, summary),
        *cluster_sections(found, cut, clusters),
        *_guarded(found, cut, summary),
        settings_section(found, summary),
    ]
    links = ("verdict", "numbers", "plots", "clusters", "settings")
    navigation = "".join(f'<a href="#{name}">{name.capitalize()}</a>' for name in links)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>Duplicates in {subject} – neardup</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#verdict">Skip to the verdict</a>\n'
        f'<header class="bar-top"><div><span class="brand">{MARK}neardup</span>'
        f'<nav aria-label="Sections">{navigation}</nav></div></header>\n'
        f"<main>{''.join(main)}</main>\n"
        f'<footer class="foot">Made by neardup {label(__version__)} from findings of neardup '
        f"{label(str(found.manifest.get('neardup', '?')))}. "
        "This page needs no other file and sends no requests.</footer>\n"
        "</body>\n</html>\n"
    )


def _lead(found: Findings, summary: Summary) -> str:
    balance = summary.balance
    share = balance.removed / balance.documents if balance.documents else 0.0
    left_out = f", and {balance.filtered_out:,} are left out by filters" if balance.filtered_out else ""
    when = label(str(found.manifest.get("created", ""))[:10])
    return (
        f"{counted(summary.documents, 'document')} {'was' if summary.documents == 1 else 'were'} compared on "
        f"<time>{when}</time>. "
        f"At a threshold of {summary.threshold:g} ({label(summary.measure)}) "
        f"{summary.dropped:,} of them are duplicates of another and are dropped{left_out}: {share:.1%} in all."
    )


def _overview(found: Findings, cut: Cut, summary: Summary) -> Html:
    share, left_out = (
        f"{many / summary.documents:.1%} of all" if summary.documents else "–"
        for many in (summary.dropped, summary.filtered_out)
    )
    saved = (
        f"{summary.bytes_saved / summary.bytes:.1%} of {size_text(summary.bytes)}" if summary.bytes else "–"
    )
    numbers = [
        ("Documents", f"{summary.documents:,}", size_text(summary.bytes)),
        ("Kept", f"{summary.kept:,}", "keepers and documents without duplicates"),
        ("Dropped", f"{summary.dropped:,}", share),
        *([("Left out by filters", f"{summary.filtered_out:,}", left_out)] if summary.filtered_out else []),
        (f"The same {summary.equal}", f"{summary.exact:,}", _identical(summary)),
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
            raw("<strong>Check this before you apply it.</strong> Very many documents would be dropped:"),
        )
        parts.append(tag("div", head, listed, class_="note bad"))
    notes = [tag("li", raw(note)) for note in summary.notes()]
    if notes:
        parts.append(tag("ul", *notes, class_="plain soft small"))
    parts += _account(summary)
    return tag("section", tag("h2", raw("Numbers"), class_="unseen"), *parts, id="numbers")


def _identical(summary: Summary) -> str:
    if summary.identical is None:
        return "as another document"
    return f"as another document; {summary.identical:,} byte-identical"


def _account(summary: Summary) -> list[Html]:
    """The balance: each sum, and under it its parts; nothing if there is no more to say than the numbers do."""
    sums: list[tuple[Html, list[Html]]] = []
    for line in islice(summary.balance.lines(), ACCOUNT_LINES):
        if line.startswith(" ") and sums:
            sums[-1][1].append(tag("li", text(line.strip(), 300)))
        else:
            sums.append((text(line, 300), []))
    items = (tag("li", head, *([tag("ul", *inside)] if inside else [])) for head, inside in sums)
    return [tag("h3", raw("Account")), tag("ul", *items, class_="plain small", id="account")] if sums else []


def _guarded(found: Findings, cut: Cut, summary: Summary) -> list[Html]:
    """The documents that guards keep although they are similar to another, and why; nothing if there are none."""
    total = sum(summary.protected.values())
    if not total:
        return []
    rows = [
        [
            tag("span", text(one.id, 60), class_="id"),
            tag("span", text(one.similar_to, 60), class_="id"),
            raw(f"{one.similarity:.3f}"),
            raw(one.reason),
        ]
        for one in list_protected(found, cut, MOST_PROTECTED)
    ]
    reasons = "; ".join(f"{reason} ({many:,})" for reason, many in summary.protected.items())
    more = f" The {len(rows)} most similar ones:" if total > len(rows) else ""
    are = counted(total, "document is", "documents are")
    said = f"{are} kept although similar to another: {reasons}.{more}"
    listed = table(["Is kept", "Similar to", "Similarity", "Why it is kept"], rows, frozenset({2}))
    return [
        tag(
            "section",
            tag("h2", raw("Kept by guards")),
            tag("p", raw(said)),
            listed,
            class_="card",
            id="guards",
        )
    ]


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
                f"verified, from the scan's floor up; documents with the same {summary.equal} are not included",
            )
        )
    if len(summary.table) > 1:
        plots.append(
            curves(
                "What another threshold would do",
                summary.table,
                summary.threshold,
                ("dropped documents", "clusters"),
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
