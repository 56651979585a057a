"""Turns verified pairs into clusters in which every member is similar to the one that is kept.

Rows are ranked. The best-ranked free row becomes a keeper and takes all free rows that it has a pair with; then the
next free row follows. So a chain A-B-C never becomes one cluster if A and C are not similar. With connected components
it does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neardup import _core
from neardup.compare.verify import Pairs
from neardup.errors import ConfigError, DataError
from neardup.values.checks import check_fields, checked
from neardup.values.order import stable_order

__all__ = ["Clusters", "by_rank", "cluster", "keepers_in_rounds", "rank_by"]

Rows = NDArray[np.int64]
UNDECIDED, KEEPER, MEMBER = 0, 1, 2


@dataclass(frozen=True)
class Clusters:
    """Which rows belong together: `labels[i]` is the smallest row of row i's cluster, `keeper[i]` the row that is kept.

    `similarity[i]` is that of row i to its keeper: 1 for the keeper itself, NaN where only a chain of other rows
    connects them, which happens with components. Columns int64, int64 and float64.

    >>> import neardup as nd
    >>> result = nd.dedup(["one two three four five six", "One two three, four five six!", "seven eight"])
    >>> result.clusters.labels.tolist(), result.clusters.similarity.tolist()
    ([0, 0, 2], [1.0, 1.0, 1.0])
    """

    labels: Rows
    keeper: Rows
    similarity: NDArray[np.float64]

    def __post_init__(self) -> None:
        check_fields(self)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.labels)

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Whether each row is the keeper of its cluster; a row without duplicates is its own keeper."""
        return np.asarray(self.keeper == np.arange(len(self.keeper)))

    def sizes(self) -> tuple[Rows, Rows]:
        """The labels of the clusters with two rows or more, ascending, and the number of rows in each."""
        counts = np.bincount(self.labels)
        labels = np.flatnonzero(counts > 1)
        return labels, counts[labels].astype(np.int64)


@checked
def cluster(
    pairs: Pairs,
    rows: int,
    rank: ArrayLike | None = None,
    method: Literal["keepers", "components"] = "keepers",
) -> Clusters:
    """Clusters of `rows` rows by their verified pairs. O(rows + pairs).

    `rank`: one number for each row, smaller is better, and the smaller row wins a tie; by default the row itself. With
    `method="components"` rows connected by any chain of pairs are one cluster, and the best-ranked one is kept.

    returns  Clusters: a label, a keeper and a similarity for each row
    raises   DataError if a pair names a row that does not exist

    >>> import numpy as np
    >>> import neardup as nd
    >>> pairs = nd.compare.Pairs.of(np.array([0, 1]), np.array([1, 2]), np.array([0.9, 0.8]))
    >>> nd.cluster(pairs, rows=4).keeper.tolist()
    [0, 0, 2, 3]
    """
    order = _order(rows, rank)
    left, right = _checked(pairs, rows)
    if method == "keepers":
        keeper, tie = _core.first_keepers(left, right, order)
        return _clusters(keeper, np.where(tie < 0, 1.0, _at(pairs.similarity, tie)))
    if method != "components":
        raise ConfigError(f'clusters are made of "keepers" or "components", not {method!r}')
    labels = _core.labels_of_pairs(rows, left, right)
    best = np.full(rows, -1, dtype=np.int64)
    best[labels[order[::-1]]] = order[::-1]  # the best is written last and overwrites the others
    keeper = best[labels]
    similarity = np.where(keeper == np.arange(rows), 1.0, np.nan)
    for member, other in ((left, right), (right, left)):
        direct = keeper[member] == other
        similarity[member[direct]] = pairs.similarity[direct]
    return Clusters(labels, keeper, similarity)


@checked
def keepers_in_rounds(pairs: Pairs, rows: int, rank: ArrayLike | None = None) -> Clusters:
    """The same clusters as `cluster(pairs, rows, rank)`, by rounds in which all rows decide at once.

    In each round a row looks at the better rows that it has a pair with. It becomes a keeper when none of them is
    undecided or a keeper, and a member when one of them is a keeper. A round needs only joins and minima over columns
    of pairs, so it can run on many machines. Real pairs need few rounds; the worst case is one round for each row of
    the longest chain in which every row ranks worse than the one before.
    """
    order = _order(rows, rank)
    place = np.empty(rows, dtype=np.int64)
    place[order] = np.arange(rows)
    left, right = _checked(pairs, rows)
    turned = place[left] > place[right]
    better, worse = np.where(turned, right, left), np.where(turned, left, right)
    state = np.zeros(rows, dtype=np.int8)
    open_better, open_worse = better, worse
    while True:
        held = np.zeros(rows, dtype=bool)
        held[open_worse] = True  # a better row is a keeper or may become one
        state[(state == UNDECIDED) & ~held] = KEEPER
        state[open_worse[state[open_better] == KEEPER]] = MEMBER
        still = (state[open_worse] == UNDECIDED) & (state[open_better] == UNDECIDED)
        open_better, open_worse = open_better[still], open_worse[still]
        if not (state == UNDECIDED).any():
            break
    # Each member joins its best keeper, which may be another one than the first that was decided.
    taking = np.flatnonzero(state[better] == KEEPER)
    taking = taking[np.argsort(-place[better[taking]], kind="stable")]
    keeper, similarity = np.arange(rows, dtype=np.int64), np.ones(rows)
    keeper[worse[taking]] = better[taking]
    similarity[worse[taking]] = pairs.similarity[taking]
    return _clusters(keeper, similarity)


def rank_by(lengths: ArrayLike, policy: Literal["longest", "first", "last"] = "longest") -> Rows:
    """The rank of each row by a keep policy, 0 the best: the longest document (the first of equally long ones), the
    first row, or the last row."""
    sizes = np.asarray(lengths)
    if sizes.ndim != 1:
        raise DataError("lengths must be a flat column with one number for each row")
    rows = np.arange(len(sizes), dtype=np.int64)
    if policy == "first":
        return rows
    if policy == "last":
        return rows[::-1].copy()
    if policy != "longest":
        raise ConfigError(f'keep the "longest", "first" or "last" document, not {policy!r}')
    # Negating the lengths would fail for unsigned numbers, so distinct lengths are numbered.
    distinct, which = np.unique(sizes, return_inverse=True)
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[np.lexsort((rows, len(distinct) - which))] = rows
    return rank


def _order(rows: int, rank: ArrayLike | None) -> Rows:
    if rows < 0:
        raise ConfigError(f"rows must be 0 or more, not {rows}")
    if rank is None:
        return np.arange(rows, dtype=np.int64)
    column = np.asarray(rank)
    if column.shape != (rows,):
        raise DataError(f"rank must have one number for each of {rows} rows, not shape {column.shape}")
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        raise DataError("a rank must be a finite number")
    return by_rank(column)


@checked
def by_rank(rank: NDArray[np.generic]) -> Rows:
    """The rows by ascending rank; rows of equal rank keep their order."""
    if len(rank) and rank.dtype.kind == "i":
        low, high = int(rank.min()), int(rank.max())
        if high - low < 4 * len(rank):
            # Ranks are usually distinct and not much larger than the number of rows: sort them by counting.
            place = np.full(high - low + 1, -1, np.int64)
            place[np.asarray(rank, np.int64) - low] = np.arange(len(rank))
            order = place[place >= 0]
            if len(order) == len(rank):
                return order
        return stable_order(np.asarray(rank, np.int64))
    return np.argsort(rank, kind="stable").astype(np.int64)


def _checked(pairs: Pairs, rows: int) -> tuple[Rows, Rows]:
    left = np.ascontiguousarray(pairs.left, dtype=np.int64)
    right = np.ascontiguousarray(pairs.right, dtype=np.int64)
    if len(left) and (min(left.min(), right.min()) < 0 or max(left.max(), right.max()) >= rows):
        raise DataError(f"a pair names a row outside of 0 to {rows - 1}")
    if np.any(left == right):
        raise DataError("a row cannot be paired with itself")
    return left, right


def _at(column: NDArray[np.float64], places: Rows) -> NDArray[np.float64]:
    return column[np.maximum(places, 0)] if len(column) else np.ones(len(places))


def _clusters(keeper: Rows, similarity: NDArray[np.float64]) -> Clusters:
    smallest = np.arange(len(keeper), dtype=np.int64)
    np.minimum.at(smallest, keeper, np.arange(len(keeper), dtype=np.int64))
    return Clusters(smallest[keeper], keeper, similarity)
