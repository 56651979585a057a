"""What deduplication found, for people and programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.clusters import Clusters
from neardup.clusters.protect import Protected
from neardup.clusters.selection import Cut
from neardup.compare.verify import Pairs
from neardup.errors import DataError
from neardup.pipeline.balance import Balance, exception_lines
from neardup.pipeline.inputs import Rejected
from neardup.pipeline.pairs import FoundPairs
from neardup.readers.document import Document
from neardup.readers.frames import ResultColumn, arrow_table, pandas_table, polars_table
from neardup.readers.objects import keep_rows
from neardup.search.report import report_lines
from neardup.values.checks import checked_methods
from neardup.values.wording import counted

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["Dropped", "Rejected", "Result"]

Rows = NDArray[np.int64]
Table = Literal["decisions", "pairs"]
_Given = TypeVar("_Given")
_SHOWN = 10  # dropped documents in a notebook


@dataclass(frozen=True)
class Dropped:
    """One dropped document: the row of its keeper, and how similar the two are (1: the same words).

    row, keeper  the rows of the document and of the one that is kept instead
    similarity   of the two, 0 to 1

    >>> import neardup as nd
    >>> nd.dedup(["one two three four five six", "One two three four five six!"]).dropped
    [Dropped(row=0, keeper=1, similarity=1.0)]
    """

    row: int
    keeper: int
    similarity: float


@checked_methods
@dataclass(frozen=True, repr=False)
class Result:
    """What `dedup` found. Rows are positions in what was given, also in `clusters` and `pairs`: `table.iloc[kept]`.

    `pairs` are the verified ones among documents of different words, down to the floor. `exact` counts the documents
    that are dropped because their words equal those of another. `empty_rows` have no words: they are kept unless a
    filter leaves them out. `filtered_rows` did not pass the filters and are not kept; `rejected` lists the rows that
    are no documents, and `failed` counts those of them that are pages without text. `capped` counts the buckets of
    similar documents that were too large to pair whole: 0 unless a corpus is very repetitive. `balance` says what
    became of every file, row and document, and `account` what became of files and rows before they were documents.

    ids          the ids of the documents, by row
    cut          clusters and keepers at the threshold
    threshold    the smallest similarity of two duplicates
    filtered_by  the name of the filter for each of `filtered_rows`
    seconds      seconds by stage
    source       a function that reads the documents again, or None
    measure      the name of the similarity

    >>> import neardup as nd
    >>> result = nd.dedup(["The ferry leaves at eight!", "the ferry leaves at eight", "Whisk the eggs"])
    >>> result.kept.tolist(), [(one.row, one.keeper) for one in result.dropped]
    ([0, 2], [(1, 0)])
    """

    ids: tuple[str, ...]
    cut: Cut
    found: FoundPairs
    threshold: float
    empty_rows: Rows
    filtered_rows: Rows
    filtered_by: tuple[str, ...] = field(repr=False)
    rejected: tuple[Rejected, ...]
    failed: int
    account: dict[str, Any] = field(repr=False)
    seconds: dict[str, float] = field(repr=False)
    source: Callable[[], Iterator[Document]] | None = field(default=None, repr=False)
    measure: str = "Jaccard"
    equal: str = "words"  # what exact duplicates have in common: words or vector

    def __len__(self) -> int:
        """The number of rows that were given."""
        return len(self.ids)

    def __repr__(self) -> str:
        parts = [f"{len(self.kept):,} kept", f"{len(self._dropped):,} dropped"]
        parts += [f"{self.filtered:,} filtered"] if self.filtered else []
        parts += [f"{len(self.rejected):,} rejected"] if self.rejected else []
        return f"<Result: {counted(self.documents, 'document')}, {', '.join(parts)}>"

    @property
    def documents(self) -> int:
        """The number of rows that are documents: all but the rejected ones."""
        return len(self.ids) - len(self.rejected)

    @property
    def empty(self) -> int:
        return len(self.empty_rows)

    @property
    def filtered(self) -> int:
        return len(self.filtered_rows)

    @property
    def balance(self) -> Balance:
        """What became of every file, row and document."""
        exact = self.exact
        return Balance(
            self.documents,
            len(self.kept),
            exact,
            len(self._dropped) - exact,
            dict(Counter(self.filtered_by)),
            self.account,
        )

    @property
    def clusters(self) -> Clusters:
        return self.cut.clusters

    @property
    def pairs(self) -> Pairs:
        return self.found.pairs

    @property
    def protected(self) -> Protected | None:
        """The documents that are kept only because a guard of the config holds; None if there are no guards."""
        return self.cut.protected

    @property
    def candidates(self) -> int:
        return self.found.candidates

    @property
    def capped(self) -> int:
        return self.found.capped

    @property
    def exact(self) -> int:
        return self.cut.exact(self.found.first, self._dropped)

    @property
    def kept(self) -> Rows:
        """Rows to keep, ascending."""
        return np.flatnonzero(self.cut.kept)

    @property
    def kept_ids(self) -> list[str]:
        """The ids of the documents to keep."""
        return [self.ids[row] for row in self.kept]

    @property
    def dropped(self) -> list[Dropped]:
        """Rows that are dropped as duplicates, ascending, each with the one that explains it."""
        keeper, similarity = self.clusters.keeper, self.clusters.similarity
        return [Dropped(int(row), int(keeper[row]), float(similarity[row])) for row in self._dropped]

    @property
    def _dropped(self) -> Rows:
        rows = self.cut.dropped
        return np.asarray(rows[self.clusters.keeper[rows] != rows])

    def keep(self, given: _Given) -> _Given:
        """What was given to `dedup`, or anything of as many rows, with only the rows that are kept: of a table a table,
        of a list a list, of a dict a dict. Raises DataError for another number of rows."""
        return keep_rows(given, self.cut.kept)

    def write(self, path: str | PathLike[str], format: str | None = None) -> int:
        """Write the documents that are kept, and return how many; the file appears when it is whole."""
        if self.source is None:
            raise DataError(
                "the documents were not kept in memory; select them yourself by the rows in `kept`"
            )
        kept = self.cut.kept
        from neardup.readers.writers import open_writer  # seldom asked

        with open_writer(path, format) as writer:
            writer.write_all(d for row, d in enumerate(self.source()) if kept[row])
        return writer.rows

    def to_pandas(self, what: Table = "decisions") -> pandas.DataFrame:
        """The decisions, one row for each that was given, or the verified pairs, as a DataFrame of pandas.

        Decisions have the columns position, id, decision (kept, dropped, filtered or rejected), keeper and keeper_id
        (the document that is kept in its place, itself if it is kept), similarity to it, and reason. Pairs have left,
        right, similarity, left_id and right_id.
        """
        return pandas_table(self._columns(what))

    def to_polars(self, what: Table = "decisions") -> polars.DataFrame:
        """The same as a DataFrame of polars."""
        return polars_table(self._columns(what))

    def to_arrow(self, what: Table = "decisions") -> pyarrow.Table:
        """The same as a Table of pyarrow."""
        return arrow_table(self._columns(what))

    def _columns(self, what: Table) -> dict[str, ResultColumn]:
        if what == "pairs":
            pairs = self.pairs
            return {
                "left": ResultColumn(pairs.left),
                "right": ResultColumn(pairs.right),
                "similarity": ResultColumn(pairs.similarity),
                "left_id": ResultColumn(self._ids(pairs.left)),
                "right_id": ResultColumn(self._ids(pairs.right)),
            }
        if what != "decisions":
            raise DataError(f'a result has tables of "decisions" and of "pairs", not of {what!r}')
        decision, reason = self._decisions()
        none = np.isin(decision, ("filtered", "rejected"))
        keeper = self.clusters.keeper
        # Connected by a chain only, they have no similarity of their own.
        similarity = np.nan_to_num(self.clusters.similarity)
        return {
            "position": ResultColumn(np.arange(len(self))),
            "id": ResultColumn(self.ids),
            "decision": ResultColumn(decision.tolist()),
            "keeper": ResultColumn(keeper, none),
            "keeper_id": ResultColumn(self._ids(keeper), none),
            "similarity": ResultColumn(similarity, none | np.isnan(self.clusters.similarity)),
            "reason": ResultColumn(reason.tolist()),
        }

    def _ids(self, rows: Rows) -> list[str]:
        return [self.ids[row] for row in rows.tolist()]

    def _decisions(self) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
        """For each row what becomes of it, and why."""
        labels, first, keeper = self.clusters.labels, self.found.first, self.clusters.keeper
        own = keeper == np.arange(len(self))
        decision = np.where(self.cut.kept, "kept", "dropped").astype(object)
        clustered = np.bincount(labels, minlength=len(self))[labels] > 1 if len(self) else own
        reason = np.where(own, np.where(clustered, "keeper of its cluster", "no duplicates"), "").astype(
            object
        )
        same = first == first[keeper]
        reason[~own & same], reason[~own & ~same] = f"same {self.equal}", "near-duplicate"
        reason[~own & self.cut.kept] = "one of several kept"
        reason[self.empty_rows] = "no words"
        decision[self.filtered_rows] = "filtered"
        reason[self.filtered_rows] = self.filtered_by
        for one in self.rejected:
            decision[one.row], reason[one.row] = "rejected", one.reason
        return decision, reason

    def summary(self) -> str:
        """What a person wants to know first, in a few lines."""
        _, sizes = self.clusters.sizes()
        balance = self.balance
        exact, near = balance.exact, balance.near
        largest = f", the largest of {sizes.max()}" if len(sizes) else ""
        lines = [
            balance.headline(),
            f"  {exact:,} {'has' if exact == 1 else 'have'} the same {self.equal} as another, "
            f"{near:,} {'is a near-duplicate' if near == 1 else 'are near-duplicates'} "
            f"({self.measure} >= {self.threshold:g})",
            f"  {counted(len(sizes), 'cluster')}{largest}; {counted(len(self.pairs), 'pair')} verified of "
            f"{counted(self.candidates, 'candidate')}",
            *(f"  {line}" for line in self._exceptions()),
            *(f"  {line}" for line in balance.lines()),
        ]
        return "\n".join(lines)

    def _exceptions(self) -> Iterator[str]:
        """What did not go the usual way."""
        if self.found.search is not None:
            yield from report_lines(self.found.search.to_plain())
        if self.protected is not None:
            for reason, count in self.protected.counts().items():
                yield f"{count:,} kept although similar to another: {reason}"
        empty = len(np.setdiff1d(self.empty_rows, self.filtered_rows, assume_unique=True))
        yield from exception_lines(empty, self.found.figures, self.capped)

    def _repr_html_(self) -> str:
        """The summary and the first dropped documents, for a notebook."""
        dropped = self.dropped
        rows = "".join(
            f"<tr><td>{one.row}</td><td>{_short(self.ids[one.row])}</td><td>{one.keeper}</td>"
            f"<td>{_short(self.ids[one.keeper])}</td><td>{one.similarity:.3f}</td></tr>"
            for one in dropped[:_SHOWN]
        )
        head = "".join(f"<th>{name}</th>" for name in ("row", "dropped", "row", "kept for it", "similarity"))
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>" if dropped else ""
        more = f"<p>and {len(dropped) - _SHOWN:,} more</p>" if len(dropped) > _SHOWN else ""
        return f"<div><pre>{escape(self.summary())}</pre>{table}{more}</div>"


def _short(name: str) -> str:
    return escape(name if len(name) <= 80 else name[:79] + "\N{HORIZONTAL ELLIPSIS}")
