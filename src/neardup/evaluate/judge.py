"""Compares found pairs with the truth: a pair is right, wrong, missed, similar but labelled apart, or unlabelled.

A pair is judged only if the truth covers it. Labelled pairs cover only themselves; labelled clusters cover all pairs
of their documents. A list of exact similarities is complete from its floor up, so that pairs it does not list are
below the floor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.errors import ConfigError, DataError
from neardup.evaluate.metrics import choose_2
from neardup.evaluate.truth import PairTable, TruthClusters, pair_keys

__all__ = [
    "APART",
    "RIGHT",
    "UNLABELLED",
    "WRONG",
    "Counts",
    "Truth",
    "judge_clusters",
    "judge_pairs",
    "partition",
]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

UNLABELLED, WRONG, APART, RIGHT = 0, 1, 2, 3
MOST_ENUMERATED = 20_000_000


@dataclass(frozen=True)
class Counts:
    """Numbers of pairs by kind, the first four by group (float64: a pair between two groups may count half for
    each)."""

    right: Floats
    wrong: Floats
    apart: Floats
    missed: Floats
    found: int
    unlabelled: int


@dataclass(frozen=True)
class Truth:
    """The truth about `ids` ids. `positive` are the keys of the true pairs, ascending; for clusters they are computed
    on demand. `groups[i]` is the group of id i. `similar` are keys of pairs that are similar, independent of their
    label."""

    kind: Literal["pairs", "clusters", "similarity"]
    ids: int
    groups: Rows
    positive: Rows | None = None
    negative: Rows | None = None
    cluster: Rows | None = None
    rest_is_wrong: bool = False
    similar: Rows | None = None

    @classmethod
    def of_pairs(cls, table: PairTable, ids: int, positive: float, similar: Rows | None) -> Truth:
        """Labels: pairs labelled `positive` or more are duplicates, others are not; unknown labels are ignored."""
        assert table.label is not None
        yes = table.label >= positive
        no = table.label < positive  # NaN is neither
        keys = table.keys
        if not yes.any():
            raise DataError(
                f"the truth has no pair of label {positive:g} or more, so there is nothing to find"
            )
        return cls("pairs", ids, _components(keys[yes], ids), keys[yes], keys[no], similar=similar)

    @classmethod
    def of_clusters(cls, table: TruthClusters, ids: int, similar: Rows | None) -> Truth:
        """Labelled clusters: -1 means no label."""
        cluster = np.full(ids, -1, np.int64)
        cluster[table.id] = table.cluster
        alone = np.flatnonzero(cluster < 0)
        groups = cluster.copy()
        groups[alone] = (cluster.max(initial=-1) + 1) + np.arange(len(alone))
        return cls("clusters", ids, groups, cluster=cluster, similar=similar)

    @classmethod
    def of_similarity(cls, table: PairTable, ids: int, threshold: float, floor: float | None) -> Truth:
        """Pairs with at least the threshold are true. Others are false if the list is complete down to the
        threshold."""
        assert table.score is not None
        least = floor if floor is not None else float(table.score.min(initial=np.inf))
        keys = table.keys
        yes = table.score >= threshold
        if not yes.any():
            raise DataError(f"the truth has no pair of similarity {threshold:g} or more")
        return cls(
            "similarity",
            ids,
            _components(keys[yes], ids),
            keys[yes],
            keys[~yes],
            rest_is_wrong=threshold >= least,
        )

    def positives(self) -> Rows:
        """The keys of all true pairs."""
        if self.positive is not None:
            return self.positive
        assert self.cluster is not None
        labelled = np.flatnonzero(self.cluster >= 0)
        order = labelled[np.argsort(self.cluster[labelled], kind="stable")]
        _, sizes = np.unique(self.cluster[order], return_counts=True)
        count = int(choose_2(sizes).sum())
        if count > MOST_ENUMERATED:
            raise ConfigError(f"the true clusters have {count:,} pairs: too many to list")
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        keys = [
            pair_keys(*(order[start + side] for side in np.triu_indices(size, 1)))
            for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
            if size > 1
        ]
        return np.sort(np.concatenate(keys)) if keys else np.zeros(0, np.int64)

    def positives_by_group(self) -> Floats:
        """The number of true pairs in each group."""
        width = int(self.groups.max(initial=-1)) + 1
        if self.cluster is not None:
            sizes = np.bincount(self.cluster[self.cluster >= 0], minlength=width)
            return choose_2(sizes.astype(np.int64)).astype(np.float64)
        assert self.positive is not None
        return np.bincount(self.groups[self.positive >> 32], minlength=width).astype(np.float64)

    def judge(self, keys: Rows) -> NDArray[np.int8]:
        """RIGHT, WRONG, APART (labelled apart, yet similar) or UNLABELLED, for each pair."""
        left, right = keys >> 32, keys & 0xFFFFFFFF
        if self.cluster is not None:
            a, b = self.cluster[left], self.cluster[right]
            yes, no = (a == b) & (a >= 0), (a != b) & (a >= 0) & (b >= 0)
        else:
            assert self.positive is not None and self.negative is not None
            yes, no = _among(keys, self.positive), _among(keys, self.negative)
            if self.rest_is_wrong:
                no = ~yes
        judged = np.zeros(len(keys), np.int8)
        judged[yes], judged[no] = RIGHT, WRONG
        if self.similar is not None:
            judged[no & _among(keys, self.similar)] = APART
        return judged


def judge_pairs(truth: Truth, keys: Rows) -> tuple[Counts, NDArray[np.int8]]:
    """Counts of found pairs, and the judgement on each."""
    judged = truth.judge(keys)
    group = truth.groups[keys >> 32]
    all_true = truth.positives_by_group()
    sums = [np.bincount(group[judged == kind], minlength=len(all_true)) for kind in (RIGHT, WRONG, APART)]
    right, wrong, apart = (column.astype(np.float64) for column in sums)
    counts = Counts(right, wrong, apart, all_true - right, len(keys), int((judged == UNLABELLED).sum()))
    return counts, judged


def judge_clusters(truth: Truth, labels: Rows) -> Counts:
    """Counts of all pairs within found clusters, given the cluster of each id, without listing the pairs."""
    found = int(choose_2(np.bincount(labels)).sum())
    all_true = truth.positives_by_group()
    if truth.cluster is not None:
        return _between_clusters(truth, labels, found, all_true)
    assert truth.positive is not None and truth.negative is not None
    hit = truth.positive[_together(truth.positive, labels)]
    right = np.bincount(truth.groups[hit >> 32], minlength=len(all_true)).astype(np.float64)
    known = truth.negative[_together(truth.negative, labels)]
    similar = np.zeros(len(known), np.bool_) if truth.similar is None else _among(known, truth.similar)
    apart, wrong = (
        np.bincount(truth.groups[known[flags] >> 32], minlength=len(all_true)).astype(np.float64)
        for flags in (similar, ~similar)
    )
    unlabelled = found - len(hit) - len(known)
    if truth.rest_is_wrong:
        # Pairs that the list does not contain count for the group of their cluster's first id.
        _, first = np.unique(labels, return_index=True)
        listed = np.bincount(labels[np.concatenate([hit, known]) >> 32], minlength=int(labels.max()) + 1)
        others = choose_2(np.bincount(labels)) - listed
        np.add.at(wrong, truth.groups[first], others[labels[first]])
        unlabelled = 0
    return Counts(right, wrong, apart, all_true - right, found, unlabelled)


def _between_clusters(truth: Truth, labels: Rows, found: int, all_true: Floats) -> Counts:
    assert truth.cluster is not None
    labelled = np.flatnonzero(truth.cluster >= 0)
    true, here = truth.cluster[labelled], labels[labelled]
    width = int(labels.max(initial=0)) + 1
    sizes = np.bincount(here, minlength=width)
    cells, together = np.unique(true * width + here, return_counts=True)
    groups = len(all_true)
    right: Floats = np.bincount(cells // width, choose_2(together), groups).astype(np.float64)
    wrong: Floats = np.bincount(
        cells // width, together * (sizes[cells % width] - together) / 2, groups
    ).astype(np.float64)
    apart = np.zeros(groups)
    if truth.similar is not None:
        near = truth.similar[_together(truth.similar, labels)]
        near = near[truth.judge(near) == APART]
        for side in (near >> 32, near & 0xFFFFFFFF):
            apart += np.bincount(truth.groups[side], minlength=groups) / 2
        wrong = wrong - apart
    unlabelled = found - int(choose_2(sizes).sum())
    return Counts(right, wrong, apart, all_true - right, found, unlabelled)


def partition(found: PairTable | TruthClusters, ids: int) -> Rows:
    """The cluster of each id: from the table, or the connected components of its pairs; other ids are single. Labels
    are 0, 1, 2 ..."""
    if isinstance(found, PairTable):
        labels = _core.labels_of_pairs(ids, found.left, found.right)
    else:
        labels = np.arange(len(found), len(found) + ids)
        labels[found.id] = found.cluster
    _, numbered = np.unique(labels, return_inverse=True)
    return numbered.astype(np.int64)


def _components(keys: Rows, ids: int) -> Rows:
    labels = _core.labels_of_pairs(
        ids, np.ascontiguousarray(keys >> 32), np.ascontiguousarray(keys & 0xFFFFFFFF)
    )
    _, numbered = np.unique(labels, return_inverse=True)
    return numbered.astype(np.int64)


def _together(keys: Rows, labels: Rows) -> Flags:
    return np.asarray(labels[keys >> 32] == labels[keys & 0xFFFFFFFF])


def _among(keys: Rows, those: Rows) -> Flags:
    """Which keys are in `those`, which is ascending."""
    if not len(those):
        return np.zeros(len(keys), np.bool_)
    return np.asarray(those[np.minimum(np.searchsorted(those, keys), len(those) - 1)] == keys)
