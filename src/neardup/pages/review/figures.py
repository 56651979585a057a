"""The numbers of the overview: the outcome of a threshold, the same as `neardup apply` would give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.clusters.selection import Cut
from neardup.findings.balance import balance_of, dropped_rows
from neardup.findings.folder import Findings
from neardup.findings.removal_alarms import alarms

__all__ = ["Figures", "figures_of", "histogram_of", "steps_of"]

SIZES = ((2, 2), (3, 3), (4, 4), (5, 5), (6, 10), (11, 20), (21, 50), (51, 100), (101, 1000), (1001, None))
MOST_SOURCES = 50


@dataclass(frozen=True)
class Figures:
    """Counts at one threshold. `identical` counts those of `exact` whose text is the same byte by byte. `sizes` has
    (label, clusters), `sources` (name, dropped documents, all documents), those that lose most first; `account` is the
    balance in words, if there is more to say than these counts."""

    threshold: float
    revision: int
    pairs: int
    kept: int
    exact: int
    identical: int | None
    near: int
    dropped: int
    clusters: int
    largest: int
    bytes_saved: int
    tokens_saved: int
    sizes: list[tuple[str, int]]
    sources: list[tuple[str, int, int]]
    losing: int
    alarms: list[str]
    account: list[str]


def figures_of(findings: Findings, cut: Cut, threshold: float, revision: int) -> Figures:
    dropped = dropped_rows(findings, cut)
    balance = balance_of(findings, cut, dropped)
    _, sizes = cut.clusters.sizes()
    names = findings.source_names
    lost = np.bincount(findings.sources[dropped], minlength=len(names))
    have = np.bincount(findings.sources[findings.reference :], minlength=len(names))
    most = np.argsort(-lost, kind="stable")[:MOST_SOURCES]
    return Figures(
        threshold=threshold,
        revision=revision,
        pairs=int((findings.pairs.similarity >= threshold).sum()),
        kept=balance.kept,
        exact=balance.exact,
        identical=None if findings.same_text is None else cut.exact(findings.same_text, dropped),
        near=balance.near,
        dropped=balance.dropped,
        clusters=len(sizes),
        largest=int(sizes.max(initial=0)),
        bytes_saved=int(findings.sizes[dropped].sum()),
        tokens_saved=int(findings.tokens[dropped].sum()),
        sizes=[
            (_size_label(low, high), int(((sizes >= low) & (sizes <= (high or sizes.max(initial=0)))).sum()))
            for low, high in SIZES
        ],
        sources=[(names[i] or "(none)", int(lost[i]), int(have[i])) for i in most.tolist() if lost[i]],
        losing=int((lost > 0).sum()),
        alarms=alarms(findings, cut),
        account=list(balance.lines()),
    )


def _size_label(low: int, high: int | None) -> str:
    return f"{low:,} or more" if high is None else f"{low}" if low == high else f"{low:,} to {high:,}"


def steps_of(findings: Findings) -> list[float]:
    """The thresholds of the slider: from the floor to 1 by hundredths, and the scan's own."""
    steps = {step / 100 for step in range(1, 101) if step / 100 > findings.floor}
    return sorted({findings.floor, findings.threshold, *steps})


def histogram_of(findings: Findings) -> list[dict[str, Any]]:
    """The number of stored pairs between each step and the next; a similarity of 1 is in the last."""
    edges = np.array(steps_of(findings))
    if len(edges) < 2:
        return [{"from": findings.floor, "to": 1.0, "count": len(findings.pairs)}]
    at = np.clip(np.searchsorted(edges, findings.pairs.similarity, "right") - 1, 0, len(edges) - 2)
    counts = np.bincount(at, minlength=len(edges) - 1)
    return [
        {"from": a, "to": b, "count": count}
        for a, b, count in zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
    ]
