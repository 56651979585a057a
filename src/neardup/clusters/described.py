"""What differs in verified pairs, as far as guards and a summary need it.

Titles, languages of 25 words or more and lost passages of 100 words or more are compared in every pair. Everything is
compared in the pairs that decide, those of a document and its keeper, and in all pairs if another guard asks for it.
Texts are read and looked at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from neardup import _core
from neardup.clusters.clusters import cluster
from neardup.clusters.protect import BRIEF, LOST_WORDS, Guard, best_ranks, held_reasons
from neardup.compare.changes import (
    AT,
    COLUMNS,
    LANGUAGE_WORDS,
    Counts,
    describe,
    facts_of,
    in_parts,
    is_brief,
)
from neardup.compare.verify import Pairs
from neardup.features.texts import Texts
from neardup.values.distinct import distinct
from neardup.values.threads import one_ahead

__all__ = ["describe_guarded"]

Rows = NDArray[np.int64]
Fetch = Callable[[Rows], Texts | _core.Texts]


def describe_guarded(
    pairs: Pairs,
    first: Rows,
    rank: Rows,
    guards: tuple[Guard, ...],
    sizes: Rows,
    fetch: Fetch,
    *,
    threshold: float,
    method: Literal["keepers", "components"] = "keepers",
    most: int = 32 << 20,
    threads: int = 1,
) -> Counts:
    """A row of `compare.changes.COLUMNS` for each pair; see `compare.changes.describe` for `sizes`, `fetch` and `most`,
    which change no count."""
    if not BRIEF.issuperset(guards):
        return describe(pairs, sizes, fetch, most=most, threads=threads)
    best = best_ranks(first, rank)
    found = np.zeros((len(pairs), len(COLUMNS)), np.uint16)

    def collect(some: Rows) -> tuple[Rows, _core.TextFacts]:
        rows = distinct(np.concatenate([pairs.left[some], pairs.right[some]]))
        return rows, facts_of(fetch(rows), threads)

    # Facts of the next part are collected while pairs of this one are compared.
    parts = in_parts(pairs.left, pairs.right, sizes, most)
    for some, (rows, facts) in one_ahead(parts, collect, threads):
        left, right = np.searchsorted(rows, pairs.left[some]), np.searchsorted(rows, pairs.right[some])
        found[some] = facts.titles_and_languages(left, right, threads)
        here = Pairs(left, right, pairs.similarity[some])
        deciding = _deciding(here, found[some], guards, best[rows], threshold, method)
        found[some[deciding]] = facts.changes(left[deciding], right[deciding], threads)
    # A part usually has all pairs of its texts, so that it decides as the whole does. If not, the whole counts: which
    # pairs are compared in full must not depend on the parts.
    wanted = np.zeros(len(pairs), np.bool_)
    wanted[_deciding(pairs, found, guards, best, threshold, method)] = True
    more = wanted & is_brief(found)
    some = np.flatnonzero(more)
    found[some] = describe(
        Pairs(pairs.left[some], pairs.right[some], pairs.similarity[some]),
        sizes,
        fetch,
        most=most,
        threads=threads,
    )
    _make_brief(found, ~wanted & ~is_brief(found))
    return found


def _deciding(
    pairs: Pairs,
    counts: Counts,
    guards: tuple[Guard, ...],
    best: Rows,
    threshold: float,
    method: Literal["keepers", "components"],
) -> Rows:
    """The places of the pairs of a document and its keeper."""
    held = held_reasons(counts, guards, best[pairs.left] <= best[pairs.right]) != 0
    near = np.flatnonzero(~held & (pairs.similarity >= threshold))
    left, right = pairs.left[near], pairs.right[near]
    keeper = cluster(Pairs(left, right, pairs.similarity[near]), len(best), best, method).keeper
    return np.asarray(near[(keeper[left] == right) | (keeper[right] == left)])


def _make_brief(counts: Counts, some: NDArray[np.bool_]) -> None:
    """Leave only what a brief comparison gives."""
    kept = [AT[name] for name in ("known", "title_left", "title_right")]
    many = [(AT["language"], LANGUAGE_WORDS), (AT["lost_left"], LOST_WORDS), (AT["lost_right"], LOST_WORDS)]
    rows = np.flatnonzero(some)[:, None]
    short = np.zeros((len(rows), len(COLUMNS)), np.uint16)
    short[:, kept] = counts[rows, kept]
    for place, least in many:
        column = counts[rows[:, 0], place]
        short[:, place] = np.where(column >= least, column, 0)
    short[:, 0] |= 16
    counts[some] = short
