"""From verified pairs to kept documents, by a threshold and a keep policy, without reading any text again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.clusters import Clusters, by_rank, cluster
from neardup.clusters.keepers import Among, Keep
from neardup.clusters.protect import Guard, GuardedPairs, Protected, held_pairs, protected_by
from neardup.compare.changes import Counts
from neardup.compare.verify import Pairs

__all__ = ["Cut", "cut", "keep_languages", "select"]

Rows = NDArray[np.int64]

# Most pairs listed between two sets of equal documents; above this, each document is paired only with the other
# set's best.
SPREAD = 1000


@dataclass(frozen=True)
class Cut:
    """The outcome at one threshold: clusters, and which rows are kept (more than the keepers if `many` is above 1).
    `protected` are those that guards keep; None if there are no guards."""

    clusters: Clusters
    kept: NDArray[np.bool_]
    protected: Protected | None = None

    @property
    def dropped(self) -> Rows:
        """The dropped rows, ascending."""
        return np.flatnonzero(~self.kept)

    def exact(self, first: Rows, dropped: Rows) -> int:
        """How many dropped rows have the same words as a kept row or as another dropped row. If all documents with the
        same words are dropped, one of them counts as a near-duplicate and the others as exact duplicates of it."""
        alone = np.zeros(len(first), np.bool_)
        alone[first[dropped]] = True
        alone[first[self.kept]] = False
        return len(dropped) - int(alone.sum())


def cut(
    pairs: Pairs,
    first: Rows,
    rank: Rows,
    *,
    threshold: float,
    many: int = 1,
    among: Among = "all",
    sources: NDArray[np.int32] | None = None,
    method: Literal["keepers", "components"] = "keepers",
    reference: int = 0,
) -> Cut:
    """Clusters of all rows: `first[i]` is the first row with the same words as row i, and `pairs` are between first
    rows. Rows below `reference` rank before all others, are never dropped and are not compared with each other."""
    rows = len(first)
    own = np.arange(rows)
    if reference:
        rank = _first_of_all(rank, reference)
    kind = sources.astype(np.int64) if among != "all" and sources is not None else np.zeros(rows, np.int64)
    units, unit = _units(first, 2 * kind + (own < reference))
    best = _best(unit, units, rank)
    near = pairs.at_least(threshold)
    if among == "all" and not reference:
        # Units are in the order of the first rows of their words, so pairs of first rows are in order too.
        in_order = bool((first[near.left] == near.left).all() and (first[near.right] == near.right).all())
        ties = (Pairs if in_order else Pairs.of)(unit[near.left], unit[near.right], near.similarity)
    else:
        ties = _ties(near, first[best], kind[best], rank[best], best < reference, across=among == "across")
    found = cluster(ties, units, rank[best], method)
    keeper = best[found.keeper[unit]]
    similarity = found.similarity[unit]
    if among == "across":
        # Rows with the same words and source are not duplicates here: if their unit is a keeper, each of them is a
        # keeper, unless a chain of other rows connects them.
        alone = found.keeper[unit] == unit
        similarity[alone] = np.nan
        if method == "components":
            alone &= np.bincount(found.keeper, minlength=units)[unit] == 1
        keeper[alone] = own[alone]
    keeper[:reference] = own[:reference]
    similarity[keeper == own] = 1.0
    labels = np.arange(rows)
    np.minimum.at(labels, keeper, np.arange(rows))
    clusters = Clusters(labels[keeper], keeper, similarity)
    kept = clusters.kept.copy()
    if many > 1:
        kept |= _best_of(clusters.labels, clusters.kept, rank, many)
    return Cut(clusters, kept)


def _best_of(groups: Rows, first: NDArray[np.bool_], rank: Rows, many: int) -> NDArray[np.bool_]:
    """The `many` best rows of each group: those marked `first`, then by rank."""
    order = np.lexsort((rank, ~first, groups))
    group = groups[order]
    starts = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]])) if len(order) else order
    inside = np.arange(len(order)) - np.repeat(starts, np.diff(np.concatenate([starts, [len(order)]])))
    best = np.zeros(len(order), np.bool_)
    best[order[inside < many]] = True
    return best


def keep_languages(made: Cut, rank: Rows, many: int, languages: Callable[[Rows], list[str]]) -> Cut:
    """The same clusters, but of each language of a cluster the `many` best documents are kept. `languages` gives the
    languages of some rows."""
    labels, sizes = made.clusters.sizes()
    rows = np.flatnonzero(np.isin(made.clusters.labels, labels[sizes > 1]))
    if not len(rows):
        return made
    codes = languages(rows)
    place = {code: i for i, code in enumerate(dict.fromkeys(codes))}
    language = np.array([place[code] for code in codes], np.int64)
    groups = made.clusters.labels[rows] * len(place) + language
    kept = made.kept.copy()
    kept[rows] |= _best_of(groups, made.clusters.kept[rows], rank[rows], many)
    return Cut(made.clusters, kept)


def select(
    pairs: Pairs,
    first: Rows,
    rank: Rows,
    keep: Keep,
    *,
    threshold: float,
    sources: NDArray[np.int32],
    method: Literal["keepers", "components"],
    reference: int = 0,
    languages: Callable[[Rows], list[str]] | None = None,
    guards: tuple[Guard, ...] = (),
    changes: Counts | None = None,
    held: GuardedPairs | None = None,
) -> Cut:
    """The cut by a keep policy; every run uses it, wherever its pairs were found. A policy by language needs the
    `languages` of rows.

    Pairs that `guards` hold because of their `changes` do not count. A caller that has chosen the pairs already gives
    those that are `held` instead.
    """
    if guards:
        held = held_pairs(pairs, changes, guards, first, rank)
        counts = held.counting
        pairs = Pairs(pairs.left[counts], pairs.right[counts], pairs.similarity[counts])
    made = cut(
        pairs,
        first,
        rank,
        threshold=threshold,
        many=keep.many,
        among=keep.among,
        sources=sources,
        method=method,
        reference=reference,
    )
    if keep.by_language:
        assert languages is not None
        made = keep_languages(made, rank, keep.many, languages)
    if held is None:
        return made
    return replace(made, protected=protected_by(made, held, threshold, first, rank))


def _first_of_all(rank: Rows, reference: int) -> Rows:
    """The same order of rows, but with those below `reference` before all others."""
    order = np.lexsort((rank, np.arange(len(rank)) >= reference))
    ranked = np.empty_like(rank)
    ranked[order] = np.arange(len(rank))
    return ranked


def _units(first: Rows, kind: Rows) -> tuple[int, Rows]:
    """Rows with the same words and the same kind are one unit: the number of units, and the unit of each row."""
    if not kind.any():
        there = np.zeros(len(first), np.bool_)
        there[first] = True
        return int(there.sum()), (np.cumsum(there) - 1)[first]
    names, unit = np.unique(first * (int(kind.max(initial=0)) + 1) + kind, return_inverse=True)
    return len(names), unit.astype(np.int64)


def _best(unit: Rows, units: int, rank: Rows) -> Rows:
    """The best-ranked row of each unit."""
    order = by_rank(rank)[::-1]
    best = np.empty(units, np.int64)
    best[unit[order]] = order  # the best is written last and overwrites the others
    return best


def _ties(
    near: Pairs, word: Rows, source: Rows, rank: Rows, fixed: NDArray[np.bool_], *, across: bool
) -> Pairs:
    """The pairs of units that count: those of the same source or, with `across`, of different sources; never two units
    of the reference (`fixed`). Columns are by unit; `word` is the first row with the words of the unit."""
    # Units with the same words are next to each other: the best first, or ordered by source.
    order = np.lexsort((rank, word) if across else (rank, source, word))
    word = word[order]
    begin, other = np.searchsorted(word, near.left), np.searchsorted(word, near.right)
    end, other_end = np.searchsorted(word, near.left, "right"), np.searchsorted(word, near.right, "right")
    single = (end - begin) * (other_end - other) == 1
    lefts, rights, which = [order[begin[single]]], [order[other[single]]], [np.flatnonzero(single)]
    for i in np.flatnonzero(~single).tolist():
        mine, theirs = order[begin[i] : end[i]], order[other[i] : other_end[i]]
        left, right = _crossed(mine, theirs, source) if across else _matched(mine, theirs, source)
        lefts.append(left)
        rights.append(right)
        which.append(np.full(len(left), i))
    similarity = [near.similarity[np.concatenate(which)]]
    # Units with the same words have similarity 1.
    starts = np.flatnonzero(np.concatenate([[True], word[1:] != word[:-1]])) if len(word) else order
    sizes = np.diff(np.append(starts, len(word)))
    for start, size in zip(starts[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        mine = order[start : start + size]
        left, right = _crossed(mine, mine, source) if across else (mine[:-1], mine[1:])
        lefts.append(left)
        rights.append(right)
        similarity.append(np.ones(len(left)))
    left, right, how = np.concatenate(lefts), np.concatenate(rights), np.concatenate(similarity)
    counts = (source[left] == source[right]) != across
    counts &= ~(fixed[left] & fixed[right]) & (left != right)
    return Pairs.of(left[counts], right[counts], how[counts])


def _matched(mine: Rows, theirs: Rows, source: Rows) -> tuple[Rows, Rows]:
    """All pairs of units of the same source; both sides are ordered by source."""
    low = np.searchsorted(source[theirs], source[mine])
    many = np.searchsorted(source[theirs], source[mine], "right") - low
    inside = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
    return np.repeat(mine, many), theirs[np.repeat(low, many) + inside]


def _crossed(mine: Rows, theirs: Rows, source: Rows) -> tuple[Rows, Rows]:
    """All pairs of units. If there are too many: only pairs with the best unit of either side, and with its best unit
    of another source."""
    if len(mine) * len(theirs) <= SPREAD:
        return np.repeat(mine, len(theirs)), np.tile(theirs, len(mine))
    lefts, rights = [], []
    for stars, others in ((mine, theirs), (theirs, mine)):
        apart = np.flatnonzero(source[stars] != source[stars[0]])[:1]
        for star in (stars[0], *stars[apart]):
            lefts.append(np.full(len(others), star))
            rights.append(others)
    return np.concatenate(lefts), np.concatenate(rights)
