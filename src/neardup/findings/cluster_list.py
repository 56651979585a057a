"""Clusters and pairs of findings as rows, for tables in files and lists on a screen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.selection import Cut
from neardup.compare.verify import Pairs
from neardup.errors import ConfigError
from neardup.findings.changes import changed_kinds, pair_changes, pair_template
from neardup.findings.decided import decided_pairs
from neardup.findings.decision_log import read_decisions
from neardup.findings.decisions import Decisions
from neardup.findings.folder import Findings
from neardup.findings.passages import shared_words
from neardup.readers.writers import open_writer
from neardup.values.checks import checked

__all__ = ["ListedCluster", "Member", "list_clusters", "write_clusters", "write_pairs"]

_BATCH = 1 << 14
Order = Literal["size", "borderline", "span", "change", "sample"]


@dataclass(frozen=True)
class Member:
    """A document of a cluster, with its similarity to the keeper (None where only a chain connects them). `words`
    counts its words in passages that the keeper also contains; it is None unless clusters are ordered by "span".
    `changes` are the kinds of change from the keeper, None for the keeper and where their pair was not stored;
    `template` is the share of template in what the two have in common, None where it is not known."""

    row: int
    id: str
    similarity: float | None
    kept: bool
    words: int | None = None
    changes: tuple[str, ...] | None = None
    template: float | None = None


@dataclass(frozen=True)
class ListedCluster:
    """A keeper and the documents that are duplicates of it, the least similar last."""

    label: int
    keeper: str
    members: tuple[Member, ...]
    size: int

    @property
    def least(self) -> float:
        """The least similarity of a member to the keeper."""
        return min((m.similarity for m in self.members if m.similarity is not None), default=1.0)


@checked
def list_clusters(
    findings: Findings,
    cut: Cut,
    *,
    order: Order = "size",
    containing: str | None = None,
    smallest: int = 2,
    most: int = 20,
    members: int = 50,
    seed: int = 1,
) -> list[ListedCluster]:
    """List at most `most` clusters, or the one cluster with the document `containing`.

    `order`: the largest first ("size"), those with the least similar member first ("borderline"), those with the member
    that shares most words in passages with its keeper first ("span"), those whose members differ from the keeper in
    title, numbers, names, negation or language first ("change"), or a random "sample". At most `members` of each
    cluster are listed, the most similar first; by "span", those that share most words first.

    findings, cut  a scan, and its clusters at a threshold
    smallest  the fewest documents of a cluster that is listed
    seed      of the random sample
    raises    ConfigError for an unknown order, DataError if there is no document `containing`

    >>> import tempfile
    >>> import neardup as nd
    >>> from neardup import sample
    >>> findings = nd.scan(sample.path(), tempfile.mkdtemp() + "/found")
    >>> [len(one.members) for one in nd.findings.list_clusters(findings, findings.cut(), most=3)]
    [4, 4, 3]
    """
    clusters = cut.clusters
    labels, sizes = clusters.sizes()
    wanted = sizes >= smallest
    labels, sizes = labels[wanted], sizes[wanted]
    words = None
    if order == "span":
        inside = np.flatnonzero(np.isin(clusters.labels, labels))
        words = np.full(len(findings), -1, np.int64)
        words[inside] = shared_words(findings, inside, clusters.keeper[inside])
    if containing is not None:
        label = clusters.labels[findings.row_of(containing)]
        chosen = labels[labels == label]
    elif order == "size":
        chosen = labels[np.argsort(-sizes, kind="stable")][:most]
    elif order == "borderline":
        least = np.full(len(findings), 1.0)
        np.minimum.at(least, clusters.labels, np.nan_to_num(clusters.similarity, nan=0.0))
        chosen = labels[np.argsort(least[labels], kind="stable")][:most]
    elif words is not None:
        most_words = np.full(len(findings), -1, np.int64)
        others = np.flatnonzero(clusters.keeper != np.arange(len(findings)))
        np.maximum.at(most_words, clusters.labels[others], words[others])
        chosen = labels[np.argsort(-most_words[labels], kind="stable")][:most]
    elif order == "change":
        changed = changed_kinds(findings, cut)
        labelled = np.zeros(len(findings), np.int64)
        np.maximum.at(labelled, clusters.labels, changed.weight)
        # Of clusters with the same kinds of change, those that share most template come first.
        template = np.zeros(len(findings))
        dropped = np.flatnonzero(clusters.keeper != np.arange(len(findings)))
        shares = pair_template(findings, clusters.keeper[dropped], dropped)
        np.maximum.at(template, clusters.labels[dropped], [share or 0.0 for share in shares])
        chosen = labels[np.lexsort((-template[labels], -labelled[labels]))][:most]
    elif order == "sample":
        chosen = np.sort(np.random.default_rng(seed).permutation(labels)[:most])
    else:
        raise ConfigError(
            f'order clusters by "size", "borderline", "span", "change" or "sample", not {order!r}'
        )
    by_label = np.argsort(clusters.labels, kind="stable")
    sorted_labels = clusters.labels[by_label]
    return [
        _cluster(
            findings,
            cut,
            by_label[slice(*np.searchsorted(sorted_labels, [label, label + 1]))],
            members,
            words,
        )
        for label in chosen.tolist()
    ]


def _cluster(
    findings: Findings, cut: Cut, rows: NDArray[np.int64], most: int, words: NDArray[np.int64] | None
) -> ListedCluster:
    clusters = cut.clusters
    keeper = int(clusters.keeper[rows[0]])
    similarity = np.nan_to_num(clusters.similarity[rows], nan=-1.0)
    spans = words[rows] if words is not None else np.zeros(len(rows), np.int64)
    order = rows[np.lexsort((rows, -similarity, -spans, rows != keeper))]
    last = min(most // 2, 3)  # always list a few of the least similar
    shown = (
        order if len(order) <= most else np.concatenate([order[: most - last], order[len(order) - last :]])
    )
    ids = findings.ids(shown)
    kinds = changed_kinds(findings, cut)
    template = pair_template(findings, np.full(len(shown), keeper, np.int64), shown)
    members = tuple(
        Member(
            row,
            id_,
            None if np.isnan(s) else float(s),
            bool(cut.kept[row]),
            None if words is None or words[row] < 0 else int(words[row]),
            kinds.names(row),
            share,
        )
        for row, id_, s, share in zip(
            shown.tolist(), ids, clusters.similarity[shown].tolist(), template, strict=True
        )
    )
    return ListedCluster(int(clusters.labels[keeper]), members[0].id, members, len(rows))


@checked
def write_clusters(
    findings: Findings,
    cut: Cut,
    path: str | PathLike[str],
    format: str | None = None,
    *,
    overwrite: bool = True,
) -> int:
    """Write a row for every document in a cluster: its id, cluster, keeper, similarity to the keeper and whether it is
    kept. The name of the file gives the format: JSONL, CSV, Parquet or XLSX. Returns the number of rows.

    findings, cut  a scan, and its clusters at a threshold
    path       the file to write
    overwrite  whether the file may exist
    raises     ConfigError for an unknown format, DataError if the file cannot be written

    >>> import tempfile
    >>> import neardup as nd
    >>> from neardup import sample
    >>> folder = tempfile.mkdtemp()
    >>> findings = nd.scan(sample.path(), folder + "/found")
    >>> nd.findings.write_clusters(findings, findings.cut(), folder + "/clusters.csv")
    158
    """
    findings.check_target(path)
    clusters = cut.clusters
    labels, _ = clusters.sizes()
    rows = np.flatnonzero(np.isin(clusters.labels, labels))
    rows = rows[np.argsort(clusters.labels[rows], kind="stable")]
    with open_writer(path, format, overwrite=overwrite) as writer:
        for row in _cluster_rows(findings, cut, rows):
            writer.write(row)
    return len(rows)


def _cluster_rows(findings: Findings, cut: Cut, rows: NDArray[np.int64]) -> Iterator[dict[str, Any]]:
    clusters = cut.clusters
    for start in range(0, len(rows), _BATCH):
        part = rows[start : start + _BATCH]
        columns = zip(
            findings.ids(part),
            findings.ids(clusters.labels[part]),
            findings.ids(clusters.keeper[part]),
            clusters.similarity[part].tolist(),
            cut.kept[part].tolist(),
            strict=True,
        )
        for id_, label, keeper, similarity, kept in columns:
            known = similarity if similarity == similarity else None
            yield {"id": id_, "cluster": label, "keeper": keeper, "similarity": known, "keep": kept}


@checked
def write_pairs(
    findings: Findings,
    path: str | PathLike[str],
    *,
    threshold: float | None = None,
    implied: bool = False,
    decisions: Decisions | None = None,
    format: str | None = None,
    overwrite: bool = True,
) -> int:
    """Write the ids and the similarity of every verified pair from a threshold up, by default the scan's.

    `decisions` change the pairs; by default they are read from the findings folder. Of documents with the same words,
    only the first one appears in near-duplicate pairs; `implied` also writes the pairs of all the others, which can be
    very many.

    path       the file to write
    format     of the file, where it does not follow from its name
    overwrite  whether the file may exist
    returns    the number of pairs
    raises     ConfigError for an unknown format or a threshold below the floor

    >>> import tempfile
    >>> import neardup as nd
    >>> from neardup import sample
    >>> folder = tempfile.mkdtemp()
    >>> findings = nd.scan(sample.path(), folder + "/found")
    >>> nd.findings.write_pairs(findings, folder + "/pairs.csv")
    121
    """
    at = findings.check_threshold(findings.threshold if threshold is None else threshold)
    findings.check_target(path)
    decisions = read_decisions(findings) if decisions is None else decisions
    near = decided_pairs(findings, decisions, at)
    rejected = np.array(
        [a * len(findings) + b for a, b in (d.pair for d in decisions.of("reject"))], np.int64
    )
    with open_writer(path, format, overwrite=overwrite) as writer:
        for left, right, similarity in _all_pairs(findings, near, implied):
            wanted = ~np.isin(left * len(findings) + right, rejected)
            left, right, similarity = left[wanted], right[wanted], similarity[wanted]
            for start in range(0, len(left), _BATCH):
                part = slice(start, start + _BATCH)
                ids = zip(findings.ids(left[part]), findings.ids(right[part]), strict=True)
                changes = pair_changes(findings, left[part], right[part])
                template = pair_template(findings, left[part], right[part])
                columns = zip(ids, similarity[part].tolist(), changes, template, strict=True)
                for (a, b), s, c, t in columns:
                    writer.write({"left": a, "right": b, "similarity": s, "changes": c, "template": t})
        return writer.rows


def _all_pairs(
    findings: Findings, near: Pairs, implied: bool
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]:
    first = findings.first
    if not implied:
        repeats = np.flatnonzero(first != np.arange(len(first)))
        repeats = repeats[repeats >= findings.reference]  # two reference documents are not a pair
        yield first[repeats], repeats, np.ones(len(repeats))
        yield near.left, near.right, near.similarity
        return
    order = np.argsort(first, kind="stable")
    sorted_first = first[order]
    names = np.unique(sorted_first[1:][sorted_first[1:] == sorted_first[:-1]])

    def same(row: int) -> NDArray[np.int64]:
        return np.sort(order[slice(*np.searchsorted(sorted_first, [row, row + 1]))])

    for row in names.tolist():
        rows = same(row)
        for i in range(len(rows) - 1):
            others = rows[i + 1 :]
            others = others[others >= findings.reference]
            yield np.full(len(others), rows[i]), others, np.ones(len(others))
    for a, b, s in zip(near.left.tolist(), near.right.tolist(), near.similarity.tolist(), strict=True):
        mine, theirs = same(a), same(b)
        some, others = np.repeat(mine, len(theirs)), np.tile(theirs, len(mine))
        left, right = np.minimum(some, others), np.maximum(some, others)
        counts = right >= findings.reference
        yield left[counts], right[counts], np.full(int(counts.sum()), s)
