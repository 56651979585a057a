"""What differs in the pairs of findings: computed from their stored texts, once by the scan, and the kinds of change
between documents and their keepers. Findings of earlier versions have no such column, and scans compare most pairs
briefly; then it is computed when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neardup.compare.changes import COLUMNS, KINDS, Counts, kinds_of
from neardup.pipeline.template_shares import Recurring
from neardup.storage.column_file import ColumnFile

if TYPE_CHECKING:
    from neardup.clusters.selection import Cut
    from neardup.findings.folder import Findings

__all__ = [
    "COLUMN",
    "TEMPLATE",
    "ChangedKinds",
    "changed_kinds",
    "kind_names",
    "pair_changes",
    "pair_places",
    "pair_template",
    "read_changes",
    "read_template",
    "template_columns",
]

COLUMN = "changes"
TEMPLATE, SOURCES, ENDS = "template", "tsources", "tends"  # a name has eight letters at most
Rows = NDArray[np.int64]
# A title is more important than a number, and a number than a word.
_WEIGHTS = np.array([2 ** (len(KINDS) - 1 - place) for place in range(len(KINDS))], np.int64)


def template_columns(recurring: Recurring) -> dict[str, NDArray[Any]]:
    """What recurs in each source, as columns of the file of pairs."""
    sources = sorted(recurring)
    sizes = [len(recurring[source]) for source in sources]
    return {
        TEMPLATE: np.concatenate([np.empty(0, np.uint64), *(recurring[source] for source in sources)]),
        SOURCES: np.array(sources, np.int64),
        ENDS: np.cumsum(sizes).astype(np.int64),
    }


def read_template(file: ColumnFile) -> Recurring:
    """What recurs in each source; nothing if the file does not say."""
    if not file.has(TEMPLATE):
        return {}
    hashes, sources, ends = (
        file.read(name, 0, file.length(name)).view(kind)
        for name, kind in ((TEMPLATE, "<u8"), (SOURCES, "<i8"), (ENDS, "<i8"))
    )
    begins = np.concatenate([[0], ends])[:-1]
    if len(sources) != len(ends) or (ends < begins).any() or (len(ends) and int(ends[-1]) != len(hashes)):
        raise file.damage("what recurs in each source", "columns of other lengths")
    columns = zip(sources.tolist(), begins.tolist(), ends.tolist(), strict=True)
    return {source: np.sort(hashes[begin:end].astype(np.uint64)) for source, begin, end in columns}


def read_changes(file: ColumnFile, pairs: int) -> Counts | None:
    """The column of a file of pairs; None if it has none."""
    if not file.has(COLUMN):
        return None
    column = file.read(COLUMN, 0, file.length(COLUMN)).view("<u2")
    if len(column) != pairs * len(COLUMNS):
        raise file.damage(f"{pairs * len(COLUMNS)} counts of changes", f"{len(column)}")
    return column.reshape(pairs, len(COLUMNS)).astype(np.uint16, copy=False)


@dataclass(frozen=True)
class ChangedKinds:
    """For each row a bit for each of KINDS in which it differs from its keeper; `known` is False for keepers, and where
    the pair was not stored."""

    kinds: NDArray[np.uint8]
    known: NDArray[np.bool_]

    @property
    def weight(self) -> Rows:
        """How much a person should look at each row: a number for its kinds, the most important first."""
        bits = self.kinds[:, None] >> np.arange(len(KINDS)) & 1
        return np.asarray(bits.astype(np.int64) @ _WEIGHTS)

    def names(self, row: int) -> tuple[str, ...] | None:
        """The kinds of one row."""
        return kind_names(int(self.kinds[row])) if self.known[row] else None


def changed_kinds(findings: Findings, cut: Cut) -> ChangedKinds:
    """What differs between every document in a cluster and its keeper."""
    keeper, first = cut.clusters.keeper, findings.first
    kinds, known = np.zeros(len(findings), np.uint8), np.zeros(len(findings), np.bool_)
    members = np.flatnonzero(keeper != np.arange(len(findings)))
    same = first[members] == first[keeper[members]]
    known[members[same]] = True
    members = members[~same]
    at = pair_places(findings, first[members], first[keeper[members]])
    stored = at >= 0
    known[members[stored]] = True
    kinds[members[stored]] = kinds_of(findings.changes_at(at[stored]))
    return ChangedKinds(kinds, known)


def pair_places(findings: Findings, left: Rows, right: Rows) -> Rows:
    """Where the pairs of some first rows are among the stored ones; -1 if they are not."""
    rows, pairs = len(findings), findings.pairs
    keys = pairs.left * rows + pairs.right
    wanted = np.minimum(left, right) * rows + np.maximum(left, right)
    at = np.searchsorted(keys, wanted)
    there = at < len(keys)
    there[there] = keys[at[there]] == wanted[there]
    return np.where(there, at, -1)


def pair_changes(findings: Findings, left: Rows, right: Rows) -> list[str | None]:
    """The kinds of change of some pairs, joined by commas; empty for the same words, None where the pair was not
    stored."""
    first = findings.first
    at = pair_places(findings, first[left], first[right])
    kinds = np.zeros(len(at), np.uint8)
    kinds[at >= 0] = kinds_of(findings.changes_at(at[at >= 0]))
    same = first[left] == first[right]
    return [
        "" if equal else None if place < 0 else ",".join(kind_names(int(bits)))
        for equal, place, bits in zip(same.tolist(), at.tolist(), kinds.tolist(), strict=True)
    ]


def pair_template(findings: Findings, left: Rows, right: Rows) -> list[float | None]:
    """How much of what some pairs share is template; None where it is not known."""
    first = findings.first
    at = pair_places(findings, first[left], first[right])
    shares = np.full(len(at), np.nan)
    shares[at >= 0] = findings.template_at(at[at >= 0])
    return [None if share != share else share for share in shares.tolist()]


def kind_names(bits: int) -> tuple[str, ...]:
    """The names of the kinds in a bit mask."""
    return tuple(kind for place, kind in enumerate(KINDS) if bits >> place & 1)
