"""The cut, with the decisions of a person applied.

A decision overrides the similarity, at every threshold:

- A rejected pair does not count. The document that would have been dropped is kept, in a cluster of its own. Neither
  document is ever dropped as a duplicate of the other, not through third documents and not under another keep policy.
- An accepted pair always counts.
- A chosen keeper ranks before all other documents, the last chosen first. The document it was chosen over is dropped
  as its duplicate.

There is one exception: a document that a decision keeps is dropped if a person accepted the pair of it and its keeper.
Decisions about documents that a filter leaves out are ignored.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.clusters import Clusters
from neardup.clusters.keepers import Keep
from neardup.clusters.protect import Guard, GuardedPairs, held_pairs
from neardup.clusters.selection import Cut, select
from neardup.compare.verify import Pairs
from neardup.findings.decision_log import read_decisions
from neardup.findings.decisions import Decisions
from neardup.findings.folder import Findings
from neardup.values.checks import checked

__all__ = ["decided_cut", "decided_pairs"]

Rows = NDArray[np.int64]


@checked
def decided_cut(
    findings: Findings,
    threshold: float | None = None,
    keep: Keep | None = None,
    *,
    decisions: Decisions | None = None,
    rank: Rows | None = None,
    protect: tuple[Guard, ...] | None = None,
) -> Cut:
    """Clusters and kept documents at a threshold, with decisions applied; by default those in the findings folder.

    keep, rank  which document of a cluster is kept: a policy, or a number for each row (the smallest is the best)
    protect     the guards that keep documents; by default as in the config of the scan
    raises      ConfigError if `threshold` is below the floor of the scan

    >>> import tempfile
    >>> import neardup as nd
    >>> from neardup import sample
    >>> findings = nd.scan(sample.path(), tempfile.mkdtemp() + "/found")
    >>> int(nd.findings.decided_cut(findings, threshold=0.9).kept.sum())
    243
    """
    decisions = read_decisions(findings) if decisions is None else decisions
    if not len(decisions):
        return findings.cut(threshold, keep, rank=rank, protect=protect)
    keep = keep or findings.config.keep
    at = findings.check_threshold(findings.threshold if threshold is None else threshold)
    ranked = _rank(findings, findings.rank(keep) if rank is None else rank, decisions)
    guards = findings.config.protect if protect is None else protect
    held = None
    if guards:
        held = held_pairs(findings.pairs, findings.changes_for(guards), guards, findings.first, ranked)
        held = _undecided(findings, decisions, held, at)
    made = select(
        decided_pairs(findings, decisions, at, held),
        findings.first,
        ranked,
        keep,
        threshold=0.0,  # the pairs that count are chosen already
        sources=findings.fields_of(keep)[1],
        method=findings.config.clusters,
        reference=findings.reference,
        languages=findings.languages,
        held=held,
    )
    forced, kept = _forced_keeps(findings, decisions, made), made.kept.copy()
    kept[forced] = True
    return Cut(_isolated(made.clusters, forced), kept & (findings.filtered == 0), made.protected)


def _isolated(clusters: Clusters, rows: Rows) -> Clusters:
    """The same clusters, but each of these rows is moved to a cluster of its own."""
    keeper, similarity, own = clusters.keeper.copy(), clusters.similarity.copy(), np.arange(len(clusters))
    keeper[rows], similarity[rows] = rows, 1.0
    labels = own.copy()
    np.minimum.at(labels, keeper, own)
    return Clusters(labels[keeper], keeper, similarity)


def _undecided(
    findings: Findings, decisions: Decisions, held: GuardedPairs, threshold: float
) -> GuardedPairs:
    """The held pairs from this threshold up that no person has decided."""
    first, rows = findings.first, len(findings)
    decided = {tuple(sorted((int(first[d.left_row]), int(first[d.right_row])))) for d in decisions}
    keys = np.array([a * rows + b for a, b in decided], np.int64)
    out = np.isin(held.pairs.left * rows + held.pairs.right, keys) | (held.pairs.similarity < threshold)
    return GuardedPairs(held.pairs, np.where(out, 0, held.reasons).astype(np.uint8))


def decided_pairs(
    findings: Findings, decisions: Decisions, threshold: float, held: GuardedPairs | None = None
) -> Pairs:
    """The pairs that count: similar enough and not held by a guard, or accepted, and not rejected. A decision also
    holds for all documents with the same words."""
    stored, first, rows = findings.pairs, findings.first, len(findings)
    verdicts: dict[tuple[int, int], tuple[bool, float]] = {}
    for decision in decisions:
        if findings.filtered[list(decision.pair)].any():
            continue
        a, b = int(first[decision.left_row]), int(first[decision.right_row])
        if a != b:
            known = threshold if decision.similarity is None else decision.similarity
            verdicts[min(a, b), max(a, b)] = decision.decision != "reject", known
    counts = stored.similarity >= threshold
    if held is not None:
        counts &= held.counting
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


def _rank(findings: Findings, rank: Rows, decisions: Decisions) -> Rows:
    """Rank chosen keepers before all others, the last chosen first, but never before a document chosen over them."""
    over: dict[int, list[int]] = {}
    for decision in decisions.choices.values():
        over.setdefault(decision.right_row, []).append(decision.left_row)
    ordered: dict[int, None] = {}
    waiting = list(decisions.chosen)
    while waiting:
        # There are no cycles: a document that another one was chosen over is no longer a chosen keeper.
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


def _forced_keeps(findings: Findings, decisions: Decisions, made: Cut) -> Rows:
    """Documents that a decision keeps, although the cut would drop them for a pair that nobody accepted."""
    first, keeper = findings.first, made.clusters.keeper
    forced = set(decisions.chosen)
    for d in decisions.of("reject"):
        forced.add(d.right_row)
        # Through third documents, components can make the other document, or one with its words, the keeper.
        own_keeper = int(keeper[d.left_row])
        words = {int(first[row]) for row in d.pair}
        if own_keeper == d.right_row or (len(words) == 2 and first[own_keeper] == first[d.right_row]):
            forced.add(d.left_row)
    accepted = {d.pair for d in decisions if d.decision != "reject"}
    rows = np.array(sorted(forced), np.int64)
    keepers = keeper[rows]
    pairs = zip(np.minimum(rows, keepers).tolist(), np.maximum(rows, keepers).tolist(), strict=True)
    return rows[[pair not in accepted for pair in pairs]]
