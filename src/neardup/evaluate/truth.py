"""Reads pairs, clusters and labels from files: what was found, and what is true. Ids become numbers and columns.

Columns are found by their names; case is ignored:

    pairs        id_a, id_b | left, right | id1, id2 | source, target ..., and similarity (or distance)
    labels       a pair and `label`: a number (from `positive` up the two are duplicates), or yes, no, unknown
    clusters     id and cluster | id and keeper
    similarity   a pair and jaccard, cosine, similarity ...: every pair from some similarity up
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ConfigError, DataError
from neardup.evaluate.tables import RowTable, bad_row

__all__ = ["Names", "PairTable", "TruthClusters", "distinct_pairs", "pair_keys", "read_table"]

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

PAIR_NAMES = (
    ("id_a", "id_b"),
    ("left", "right"),
    ("left_id", "right_id"),
    ("id_left", "id_right"),
    ("id1", "id2"),
    ("id_1", "id_2"),
    ("doc_a", "doc_b"),
    ("doc1", "doc2"),
    ("source", "target"),
    ("query", "match"),
    ("a", "b"),
)
ID_NAMES = ("id", "doc_id", "docid", "document_id", "document", "url", "uid")
CLUSTER_NAMES = ("cluster", "cluster_id", "keeper", "group", "group_id")
LABEL_NAMES = ("label", "duplicate", "is_duplicate", "same", "truth", "judgement", "judgment")
SIMILARITY_NAMES = ("similarity", "jaccard", "jaccard_w5", "score", "cosine", "tf_cosine", "containment")
DISTANCE_NAMES = ("distance", "hamming", "hamming_distance")
WORDS = {"yes": 1.0, "y": 1.0, "true": 1.0, "no": 0.0, "n": 0.0, "false": 0.0}
UNKNOWN = ("", "?", "unknown", "skip", "none", "null")

_KNOWN = frozenset(
    name
    for names in (*PAIR_NAMES, ID_NAMES, CLUSTER_NAMES, LABEL_NAMES, SIMILARITY_NAMES, DISTANCE_NAMES)
    for name in names
)


class Names:
    """Maps ids to numbers, 0, 1, 2 ... in the order of first occurrence. One for a whole evaluation, to make columns
    comparable."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.ids: list[str] = []

    def __len__(self) -> int:
        return len(self.ids)

    def number(self, id: str) -> int:
        found = self._numbers.get(id)
        if found is None:
            found = self._numbers[id] = len(self.ids)
            self.ids.append(id)
        return found

    def numbers(self, ids: Iterable[str]) -> Rows:
        return np.fromiter(map(self.number, ids), np.int64)


@dataclass(frozen=True)
class PairTable:
    """Distinct pairs, left < right, sorted by `keys`. `score` is a similarity, or a negated distance, so that larger
    always means more similar. `label` is NaN if unknown. `itself` counts the rows that paired an id with itself."""

    left: Rows
    right: Rows
    score: Floats | None = None
    score_name: str = ""
    label: Floats | None = None
    itself: int = 0
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.left)

    @property
    def keys(self) -> Rows:
        """One number for each pair, ascending."""
        return pair_keys(self.left, self.right)


@dataclass(frozen=True)
class TruthClusters:
    """Ids and the cluster each is in; ids ascend, each once. Clusters are numbered 0, 1, 2 ..."""

    id: Rows
    cluster: Rows
    notes: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.id)


def pair_keys(left: Rows, right: Rows) -> Rows:
    """Pairs of numbers below 2**31, in any order, as one number each."""
    return np.asarray(np.minimum(left, right) << 32 | np.maximum(left, right))


def read_table(
    path: str | PathLike[str],
    names: Names,
    *,
    format: str | None = None,
    similarity: str | None = None,
    strict_pairs: bool = True,
) -> PairTable | TruthClusters:
    """Pairs or clusters, depending on the columns of the file. `similarity` is the column to use if its name is
    unusual.

    `strict_pairs` is for truth: a pair of an id with itself, or one with two labels, is then an error. Found pairs may
    be repeated; the row with the highest similarity counts.
    """
    headless = () if strict_pairs else ("id_a", "id_b", "similarity")
    table = RowTable(path, format, known=_KNOWN, headless=headless)
    columns = table.columns
    pair = next((both for both in PAIR_NAMES if set(both) <= set(columns)), None)
    if pair is not None:
        return _pairs(table, pair, names, similarity, strict_pairs)
    id_name = _first(columns, ID_NAMES)
    cluster_name = _first(columns, CLUSTER_NAMES)
    if id_name is not None and cluster_name is not None:
        return _clusters(table, id_name, cluster_name, names)
    if not columns:
        raise DataError(f"{path}: is empty; write at least the line with the names of its columns")
    raise DataError(
        f"{path}, line 1: neither pairs (id_a, id_b or left, right) nor clusters (id, cluster) are among its "
        f"columns: {', '.join(columns[:20])}"
    )


def _pairs(
    table: RowTable, pair: tuple[str, str], names: Names, similarity: str | None, strict: bool
) -> PairTable:
    label_name = _first(table.columns, LABEL_NAMES)
    score_name = similarity.lower() if similarity else _first(table.columns, SIMILARITY_NAMES)
    if similarity and score_name not in table.columns:
        raise ConfigError(
            f"{table.name}: there is no column {similarity!r}; its columns are: {', '.join(table.columns)}"
        )
    distance = None if score_name else _first(table.columns, DISTANCE_NAMES)
    # Arrays, not lists: tables of found pairs may have tens of millions of rows.
    left, right, lines = (array("q") for _ in range(3))
    scores, labels = array("d"), array("d")
    itself = 0
    for line, record in table:
        a, b = (_id(record.get(name), name, table.name, line) for name in pair)
        if a == b:
            if strict:
                raise bad_row(table.name, line, f"{a!r} is paired with itself")
            itself += 1
            continue
        left.append(names.number(a))
        right.append(names.number(b))
        lines.append(line)
        if label_name:
            labels.append(_label(record.get(label_name), label_name, table.name, line))
        if score_name:
            scores.append(_number(record.get(score_name), score_name, table.name, line))
        elif distance:
            scores.append(-_number(record.get(distance), distance, table.name, line))
    columns = _column(left, np.int64), _column(right, np.int64)
    score = _column(scores, np.float64) if score_name or distance else None
    label = _column(labels, np.float64) if label_name else None
    note = (table.headless_note,) if table.headless_note else ()
    where = (table.name, _column(lines, np.int64)) if strict else None
    return distinct_pairs(
        *columns, score, score_name or distance or "", label=label, itself=itself, notes=note, where=where
    )


def _column(values: array[Any], kind: type[Any]) -> NDArray[Any]:
    return np.frombuffer(values, kind) if len(values) else np.zeros(0, kind)


def distinct_pairs(
    left: Rows,
    right: Rows,
    score: Floats | None = None,
    score_name: str = "",
    *,
    label: Floats | None = None,
    itself: int = 0,
    notes: tuple[str, ...] = (),
    where: tuple[str, Rows] | None = None,
) -> PairTable:
    """Each pair once, with its highest similarity. Two labels for one pair are an error if `where` has the line
    numbers."""
    keys = pair_keys(left, right)
    order = np.argsort(keys, kind="stable") if score is None else np.lexsort((-score, keys))
    keys = keys[order]
    fresh = np.ones(len(keys), np.bool_)
    fresh[1:] = keys[1:] != keys[:-1]
    if label is not None:
        label = label[order]
        if where is not None:
            first = np.maximum.accumulate(np.where(fresh, np.arange(len(keys)), 0))
            same = (label == label[first]) | (np.isnan(label) & np.isnan(label[first]))
            if not same.all():
                lines = np.sort(where[1][order][[first[~same][0], np.flatnonzero(~same)[0]]])
                raise bad_row(
                    where[0], int(lines[1]), f"this pair has another label than it has on line {lines[0]}"
                )
        label = label[fresh]
    keys = keys[fresh]
    kept = None if score is None else score[order][fresh]
    return PairTable(keys >> 32, keys & 0xFFFFFFFF, kept, score_name, label, itself, notes)


def _clusters(table: RowTable, id_name: str, cluster_name: str, names: Names) -> TruthClusters:
    ids: dict[int, int] = {}
    lines: dict[int, int] = {}
    clusters = Names()
    keepers = cluster_name == "keeper"
    for line, record in table:
        id = names.number(_id(record.get(id_name), id_name, table.name, line))
        named = _id(record.get(cluster_name), cluster_name, table.name, line)
        cluster = clusters.number(named)
        for member in (id, names.number(named)) if keepers else (id,):
            if ids.setdefault(member, cluster) != cluster:
                raise bad_row(
                    table.name,
                    line,
                    f"{names.ids[member]!r} is in another cluster on line {lines[member]}",
                )
            lines.setdefault(member, line)
    order = np.array(sorted(ids), np.int64)
    return TruthClusters(order, np.fromiter((ids[id] for id in order.tolist()), np.int64, len(order)))


def _first(columns: Iterable[str], names: Iterable[str]) -> str | None:
    there = set(columns)
    return next((name for name in names if name in there), None)


def _id(value: Any, column: str, where: str, line: int) -> str:
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    said = "missing or empty" if value is None or value == "" else f"{value!r}, which is not an id"
    raise bad_row(where, line, f"{column} is {said}")


def _number(value: Any, column: str, where: str, line: int) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number):
        raise bad_row(where, line, f"{column} is {value!r}, which is not a number")
    return number


def _label(value: Any, column: str, where: str, line: int) -> float:
    if value is None or (isinstance(value, str) and value.strip().lower() in UNKNOWN):
        return math.nan
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and value.strip().lower() in WORDS:
        return WORDS[value.strip().lower()]
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise bad_row(where, line, f"{column} is {value!r}: write a number, yes, no or unknown")
    return number
