"""The labelled sets: texts, and for every pair of documents whether it is the same page, another one, or unknown."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import dataclass
from typing import Literal

import numpy as np
from benchmarks.corpus import data
from benchmarks.recall import load as load_texts
from numpy.typing import NDArray

from neardup.web import HtmlExtractor

__all__ = ["APART", "SAME", "SETS", "UNKNOWN", "VERSIONS", "LabelledSet", "load", "of_labels"]

VERSIONS = ("pydoc_html_versions", "k8s_docs_rev", "electron_i18n_rev")
"""The sets of successive versions of pages."""
SETS = ("gov2_human", "wiki_html_variants", *VERSIONS, "tldr_short", "licenses")
EVERY = {"licenses": 4}
"""Of a set this large only every so many documents are taken, so that all pairs can be compared by brute force."""
SAME, APART, UNKNOWN = 1, 0, -1

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class LabelledSet:
    """Documents and all their pairs, left < right.

    `label` of a pair is SAME, APART or UNKNOWN; `group` of a document ties it to those it is the same as: pairs of
    one group are counted together. `judged` holds the pairs that the set's file of pairs lists, with their notes.
    """

    name: str
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    left: Rows
    right: Rows
    label: NDArray[np.int8]
    group: Rows
    judged: tuple[tuple[int, int, int, str], ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def place(self, left: Rows, right: Rows) -> Rows:
        """The places of pairs of rows among all pairs."""
        low, high = np.minimum(left, right), np.maximum(left, right)
        return low * len(self) - low * (low + 1) // 2 + high - low - 1


def load(name: str, html: Literal["whole", "main"] = "whole") -> LabelledSet:
    """A set of NEARDUP_DATA; pages are reduced to the text of the whole page, or to their main text."""
    ids, texts = load_texts(name) if html == "whole" else _main_texts(name)
    step = EVERY.get(name, 1)
    ids, texts = ids[::step], texts[::step]
    row = {identifier: at for at, identifier in enumerate(ids)}
    clusters: dict[int, str] = {}
    if (data() / name / "truth_clusters.tsv").exists():
        clusters = {row[r["id"]]: r["cluster"] for r in _table(name, "truth_clusters.tsv") if r["id"] in row}
    judged = []
    if (data() / name / "truth_pairs.tsv").exists():
        for r in _table(name, "truth_pairs.tsv"):
            if r["id_a"] in row and r["id_b"] in row:
                a, b = sorted((row[r["id_a"]], row[r["id_b"]]))
                judged.append((a, b, int(r["label"]), r["note"]))
    return of_labels(name, ids, texts, clusters, judged)


def of_labels(
    name: str,
    ids: list[str],
    texts: list[str],
    clusters: dict[int, str],
    judged: list[tuple[int, int, int, str]],
) -> LabelledSet:
    """Labels for all pairs: documents of one cluster are the same, of two clusters apart; a judged pair is what its
    judge says (same from 1 up); all else is unknown."""
    count = len(ids)
    left, right = (side.astype(np.int64) for side in np.triu_indices(count, 1))
    numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(clusters.values()))}
    cluster = np.full(count, -1, np.int64)
    for at, value in clusters.items():
        cluster[at] = numbers[value]
    known = (cluster[left] >= 0) & (cluster[right] >= 0)
    label = np.where(known, cluster[left] == cluster[right], UNKNOWN).astype(np.int8)
    group = np.where(cluster >= 0, cluster, len(numbers) + np.arange(count))
    made = LabelledSet(name, tuple(ids), tuple(texts), left, right, label, group, tuple(judged))
    if judged:
        a, b, said = (np.array([pair[part] for pair in judged], np.int64) for part in range(3))
        label[made.place(a, b)] = said >= 1
        for one, other in zip(a, b, strict=True):
            # A judged pair is one case, whatever was judged: its documents belong to one group.
            group[group == group[other]] = group[one]
    return made


def _main_texts(name: str) -> tuple[list[str], list[str]]:
    with gzip.open(data() / name / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    with HtmlExtractor(method="main", workers=2) as extractor:
        texts = extractor.extract([row["html"] for row in rows]).texts
    return [row["id"] for row in rows], [text or "" for text in texts]


def _table(name: str, file: str) -> list[dict[str, str]]:
    with open(data() / name / file, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
