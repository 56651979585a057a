"""Which pairs of documents people would call near-duplicates: yes, no or unknown, from the sets' labels.

yes      versions of one page (same cluster), or judged 1 or more by a person
no       of different sets, of different clusters with less than half of their word 5-shingles shared, or judged 0
unknown  everything else: unjudged pairs, swapped pages, and pages labelled apart that share half their text or more
"""

from __future__ import annotations

import csv
from dataclasses import dataclass

import numpy as np
from benchmarks.corpus import data
from numpy.typing import NDArray

from neardup.compare.similarity import jaccard
from neardup.features import Shingles
from papers.corpus import VERSIONS, Collection

__all__ = ["HUMAN", "NO", "UNKNOWN", "YES", "Labels", "read_labels"]

HUMAN = "gov2_human"
YES, NO, UNKNOWN = 1, 0, -1
ALIKE = 0.5


@dataclass(frozen=True)
class Labels:
    """`cluster[i]` of row i, -1 where it is in none; `judged` are single pairs with a label of their own."""

    collection: Collection
    cluster: NDArray[np.int64]
    judged: dict[tuple[int, int], int]

    def of(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int8]:
        """A label for each pair of rows."""
        source, cluster = self.collection.source, self.cluster
        label = np.full(len(left), UNKNOWN, np.int8)
        label[source[left] != source[right]] = NO
        both = (cluster[left] >= 0) & (cluster[right] >= 0)
        label[both & (cluster[left] == cluster[right])] = YES
        apart = np.flatnonzero(both & (cluster[left] != cluster[right]) & (source[left] == source[right]))
        rows, place = np.unique(np.concatenate([left[apart], right[apart]]), return_inverse=True)
        shingles = Shingles(width=5).extract([self.collection.texts[row] for row in rows])
        similar = jaccard(shingles, place[: len(apart)], place[len(apart) :], threads=2) >= ALIKE
        label[apart[~similar]] = NO
        for i, pair in enumerate(
            zip(np.minimum(left, right).tolist(), np.maximum(left, right).tolist(), strict=True)
        ):
            label[i] = self.judged.get(pair, label[i])
        return label

    def positives(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All pairs of documents labelled yes whose documents have a code."""
        pairs = {pair for pair, label in self.judged.items() if label == YES}
        order = np.argsort(self.cluster, kind="stable")
        order = order[self.cluster[order] >= 0]
        for group in np.split(order, np.flatnonzero(np.diff(self.cluster[order])) + 1):
            members = np.sort(group).tolist()
            pairs |= {(a, b) for i, a in enumerate(members) for b in members[i + 1 :]}
        columns = np.array(sorted(pairs), np.int64)
        coded = ~self.collection.codes.empty
        columns = columns[coded[columns].all(axis=1)]
        return columns[:, 0], columns[:, 1]


def read_labels(collection: Collection) -> Labels:
    """The labels of the version sets and of the human judgements."""
    row_of = {identifier: row for row, identifier in enumerate(collection.ids)}
    cluster = np.full(len(collection), -1, np.int64)
    numbers: dict[tuple[str, str], int] = {}
    judged = {}
    for name in VERSIONS:
        for line in _table(f"{name}/truth_clusters.tsv"):
            cluster[row_of[line["id"]]] = numbers.setdefault((name, line["cluster"]), len(numbers))
    for name in (HUMAN, "wiki_html_variants"):
        for line in _table(f"{name}/truth_pairs.tsv"):
            a, b = sorted((row_of[line["id_a"]], row_of[line["id_b"]]))
            judged[a, b] = YES if int(line["label"]) >= 1 else NO
    return Labels(collection, cluster, judged)


def _table(name: str) -> list[dict[str, str]]:
    with open(data() / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
