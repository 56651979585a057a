"""The cut with a person's decisions in it.

A person's word stands above the similarity, at every threshold:

- a rejected pair is none, the document that was to go for it stays, in a cluster of its own, and neither ever goes for
  the other, be it through third documents or because another keep policy turns them round;
- an accepted pair is one;
- a chosen keeper comes before all other documents, the last chosen first, and the one it was chosen over goes for it.

A document that was told to stay goes after all if the very pair it would go for was accepted. What a filter leaves out
is no document to go for, whatever was decided about it before.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.clusters import Clusters
from neardup.clusters.keepers import Keep
from neardup.clusters.selection import Cut, select
from neardup.compare.verify import Pairs
from neardup.findings.decisions import Decisions, read_decisions
from neardup.findings.folder import Findings

__all__ = ["decided_cut", "decided_pairs"]

Rows = NDArray[np.int64]


def decided_cut(
    findings: Findings,
    threshold: float | None = None,
    keep: Keep | None = None,
    *,
    decisions: Decisions | None = None,
    rank: Rows | None = None,
) -> Cut:
    """Clusters and what stays at a threshold, as decided; by default by what stands in the findings folder."""
    said = read_decisions(findings) if decisions is None else decisions
    if not len(said):
        return findings.cut(threshold, keep, rank=rank)
    keep = keep or findings.config.keep
    at = findings.check_threshold(findings.threshold if threshold is None else threshold)
    made = select(
        decided_pairs(findings, said, at),
        findings.first,
        _rank(findings, findings.rank(keep) if rank is None else rank, said),
        keep,
        threshold=0.0,  # the pairs that count are chosen already
        sources=findings.sources,
        method=findings.config.clusters,
        reference=findings.reference,
    )
    staying, kept = _staying(findings, said, made), made.kept.copy()
    kept[staying] = True
    return Cut(_apart(made.clusters, staying), kept & (findings.filtered == 0))


def _apart(clusters: Clusters, rows: Rows) -> Clusters:
    """The same clusters, but each of these rows that would go for another is alone."""
    keeper, similarity, own = clusters.keeper.copy(), clusters.similarity.copy(), np.arange(len(clusters))
    keeper[rows], similarity[rows] = rows, 1.0
    labels = own.copy()
    np.minimum.at(labels, keeper, own)
    return Clusters(labels[keeper], keeper, similarity)


def decided_pairs(findings: Findings, said: Decisions, threshold: float) -> Pairs:
    """The pairs that count: similar enough or accepted, and not rejected. Documents of the same words share a fate."""
    stored, first, rows = findings.pairs, findings.first, len(findings)
    verdicts: dict[tuple[int, int], tuple[bool, float]] = {}
    for decision in said:
        if findings.filtered[list(decision.pair)].any():
            continue
        a, b = int(first[decision.left_row]), int(first[decision.right_row])
        if a != b:
            known = threshold if decision.similarity is None else decision.similarity
            verdicts[min(a, b), max(a, b)] = decision.decision != "reject", known
    counts = stored.similarity >= threshold
    wanted = np.array([a * rows + b for a, b in verdicts], np.int64)
    accepted = np.array([yes for yes, _ in verdicts.values()], np.bool_)
    similarity = np.array([known for _, known in verdicts.values()], np.float64)
    keys = stored.left * rows + stored.right  # ascending, as pairs are sorted
    at = np.searchsorted(keys, wanted)
    there = at < len(keys)
    there[there] = keys[at[there]] == wanted[there]
    counts[at[there]] = accepted[there]
    new = accepted & ~there
    if not new.any():
        return Pairs(stored.left[counts], stored.right[counts], stored.similarity[counts])
    return Pairs.of(
        np.concatenate([stored.left[counts], wanted[new] // rows]),
        np.concatenate([stored.right[counts], wanted[new] % rows]),
        np.concatenate([stored.similarity[counts], similarity[new]]),
    )


def _rank(findings: Findings, rank: Rows, said: Decisions) -> Rows:
    """Chosen keepers before all others, the last chosen first, but none before one that was chosen over it."""
    over: dict[int, list[int]] = {}
    for decision in said.choices.values():
        over.setdefault(decision.right_row, []).append(decision.left_row)
    ordered: dict[int, None] = {}
    waiting = list(said.chosen)
    while waiting:
        # These never go in a circle: whoever another one is chosen over is no longer chosen.
        above = [row for row in over.get(waiting[-1], ()) if row not in ordered]
        if above:
            waiting += above
        else:
            ordered[waiting.pop()] = None
    chosen = np.array([row for row in ordered if not findings.filtered[row]], np.int64)
    if not len(chosen):
        return rank
    ranked = rank.copy()
    ranked[chosen] = int(rank.min()) - len(chosen) + np.arange(len(chosen))
    return ranked


def _staying(findings: Findings, said: Decisions, made: Cut) -> Rows:
    """Documents that were told to stay and are about to go for something nobody agreed to."""
    first, keeper = findings.first, made.clusters.keeper
    told = set(said.chosen)
    for d in said.of("reject"):
        told.add(d.right_row)
        # Its keeper may be the other one, or have the other one's words: components reach it through third documents.
        goes_for = int(keeper[d.left_row])
        words = {int(first[row]) for row in d.pair}
        if goes_for == d.right_row or (len(words) == 2 and first[goes_for] == first[d.right_row]):
            told.add(d.left_row)
    agreed = {d.pair for d in said if d.decision != "reject"}
    rows = np.array(sorted(told), np.int64)
    keepers = keeper[rows]
    pairs = zip(np.minimum(rows, keepers).tolist(), np.maximum(rows, keepers).tolist(), strict=True)
    return rows[[pair not in agreed for pair in pairs]]
