"""Which clusters and removals the page lists: filters, their facets with counts, and the order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from neardup.compare.changes import KINDS
from neardup.errors import ConfigError, DataError
from neardup.findings.lanes import LANES
from neardup.pages.review.search import search_rows
from neardup.pages.review.session import View

__all__ = ["Chosen", "Order", "Wanted", "choose", "decided_removals", "doubtful_clusters", "facets_of"]

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]
Order = Literal["doubt", "size", "similarity"]
RATIOS = (
    "half",
    "shorter",
    "equal",
)  # of the words of the removed document and of its keeper: below .5, below .9
STATES = ("doubtful", "open", "decided", "unsure")
DOUBTFUL = 0.1  # a removal that is wrong with at least this probability, by what differs, needs a person
MOST_SEARCH = 1000  # characters
MOST_SOURCES = 100


@dataclass(frozen=True)
class Wanted:
    """Which clusters to list: those with a removal that all of `lane`, `change`, `ratio` and the similarities from
    `least` up to `most` match, and with a document of a `source`; `language` is that of the keeper. `show` is "all" or
    one of STATES; `search` is searched in ids and texts. Empty filters match everything."""

    order: str = "doubt"
    show: str = "all"
    lane: str = ""
    change: str = ""
    ratio: str = ""
    source: str | None = None
    language: str = ""
    search: str = ""
    least: float = 0.0
    most: float = 1.0
    offset: int = 0
    limit: int = 50

    @property
    def about_removals(self) -> bool:
        return bool(self.lane or self.change or self.ratio or self.least > 0 or self.most < 1)


@dataclass(frozen=True)
class Chosen:
    """The places of clusters in the table, in order; the matching removals; how many members of every cluster are
    decided; and whether the search ended before it had looked at all texts."""

    clusters: Rows
    removals: Mask
    decided: Rows
    partial: bool


def choose(view: View, wanted: Wanted) -> Chosen:
    """The wanted clusters and the removals in them."""
    table, findings = view.table, view.findings
    if wanted.order not in get_args(Order):
        raise ConfigError(f"order clusters by {', '.join(get_args(Order))}, not {wanted.order!r}")
    if wanted.order not in view.orders:
        by = {"doubt": -table.doubt, "size": -table.sizes, "similarity": table.least}[wanted.order]
        view.orders[wanted.order] = np.lexsort((table.labels, -table.sizes, by))
    removals = _and(_removal_masks(view, wanted).values(), len(table.removals))
    states = _states(view)
    there = np.ones(len(table), np.bool_)
    if wanted.about_removals:
        there = _with(table.places[removals], len(table))
    if wanted.show != "all":
        if wanted.show not in STATES:
            raise ConfigError(f"show all, {', '.join(STATES)}, not {wanted.show!r}")
        there &= states[wanted.show]
    partial = False
    if wanted.source is not None:
        if wanted.source not in findings.source_names:
            raise DataError(f"there is no source {wanted.source!r}")
        source = findings.source_names.index(wanted.source)
        there &= np.isin(table.labels, view.cut.clusters.labels[findings.sources == source])
        removals = removals & (findings.sources[table.removals.rows] == source)
    there &= _in_language(view, wanted.language)
    if search := wanted.search[:MOST_SEARCH].strip():
        rows, partial = search_rows(findings, search)
        there &= np.isin(table.labels, view.cut.clusters.labels[rows])
    order = view.orders[wanted.order]
    return Chosen(order[there[order]], removals & there[table.places], states["counts"], partial)


def decided_removals(view: View) -> Mask:
    """Which removals a person has decided about: they and their keeper were accepted, or a keeper was chosen."""
    removals, rows = view.table.removals, len(view.findings)
    keys = np.minimum(removals.rows, removals.keepers) * rows + np.maximum(removals.rows, removals.keepers)
    decided = np.array([a * rows + b for a, b in (*view.decisions.pairs, *view.decisions.choices)], np.int64)
    return np.isin(keys, decided)


def doubtful_clusters(view: View) -> Rows:
    """The places of the clusters with a doubtful removal that nobody has decided about."""
    table = view.table
    return np.unique(table.places[~decided_removals(view) & (table.removal_doubt >= DOUBTFUL)])


def facets_of(view: View, wanted: Wanted) -> dict[str, list[tuple[str, int]]]:
    """For every filter its values with the number of clusters that they would leave, given the other filters."""
    table = view.table
    masks = _removal_masks(view, wanted)
    states = _states(view)
    every = np.ones(len(table), np.bool_) if wanted.show == "all" else states[wanted.show]
    spoken = _in_language(view, wanted.language)
    shown = every & spoken
    found: dict[str, list[tuple[str, int]]] = {}
    for name, values in (("lane", LANES), ("change", KINDS), ("ratio", RATIOS)):
        others = _and((mask for other, mask in masks.items() if other != name), len(table.removals))
        found[name] = [
            (value, int((_with(table.places[others & _is(view, name, value)], len(table)) & shown).sum()))
            for value in values
        ]
    matching = np.ones(len(table), np.bool_)
    if wanted.about_removals:
        matching = _with(table.places[_and(masks.values(), len(table.removals))], len(table))
    found["show"] = [(state, int((states[state] & matching & spoken).sum())) for state in STATES]
    found["language"] = _languages(view, matching & every)
    found["source"] = _sources(view, matching & shown)
    return found


def _in_language(view: View, language: str) -> Mask:
    """Which clusters have a keeper in a language; all if none is given."""
    if not language:
        return np.ones(len(view.table), np.bool_)
    if view.languages is None:
        raise DataError("the languages of these clusters are not known")
    return np.asarray(view.languages == language)


def _languages(view: View, there: Mask) -> list[tuple[str, int]]:
    """The languages of these clusters, those with most clusters first; none if there is only one."""
    if view.languages is None or len(np.unique(view.languages)) < 2:
        return []
    names, counts = np.unique(view.languages[there], return_counts=True)
    order = np.argsort(-counts, kind="stable").tolist()
    return [(str(names[at]), int(counts[at])) for at in order]


def _sources(view: View, there: Mask) -> list[tuple[str, int]]:
    """The sources of these clusters, those with most clusters first."""
    findings = view.findings
    if len(findings.source_names) < 2:
        return []
    clusters, sources = view.cluster_sources
    counts = np.bincount(sources[there[clusters]], minlength=len(findings.source_names))
    order = np.argsort(-counts, kind="stable")[:MOST_SOURCES]
    return [(findings.source_names[at], int(counts[at])) for at in order.tolist() if counts[at]]


def _removal_masks(view: View, wanted: Wanted) -> dict[str, Mask]:
    """For each filter that is set, which removals match it."""
    masks = {
        name: _is(view, name, value)
        for name, value in (("lane", wanted.lane), ("change", wanted.change), ("ratio", wanted.ratio))
        if value
    }
    if wanted.least > 0 or wanted.most < 1:
        similarity = view.table.removals.similarity
        below = similarity < wanted.most if wanted.most < 1 else similarity <= 1
        masks["similarity"] = (similarity >= wanted.least) & below
    return masks


def _is(view: View, name: str, value: str) -> Mask:
    """Which removals have a value of a filter."""
    removals = view.table.removals
    values: tuple[Any, ...] = {"lane": LANES, "change": KINDS, "ratio": RATIOS}[name]
    if value not in values:
        raise ConfigError(f"{name} is one of {', '.join(values)}, not {value!r}")
    if name == "lane":
        return np.asarray(removals.lanes == values.index(value))
    if name == "change":
        return np.asarray(view.kinds >> values.index(value) & 1 == 1)
    low, high = ((0.0, 0.5), (0.5, 0.9), (0.9, np.inf))[values.index(value)]
    return np.asarray((view.ratios >= low) & (view.ratios < high))


def _states(view: View) -> dict[str, Any]:
    """Which clusters have a doubtful removal, an undecided member, a decision, or a mark; and how many decided members
    each has."""
    table = view.table
    counts = np.bincount(_places(view, view.decisions), minlength=len(table))
    unsure = _with(_places(view, view.decisions.marks.values()), len(table))
    open_ = counts < table.sizes - 1
    doubtful = _with(doubtful_clusters(view), len(table))
    return {"counts": counts, "doubtful": doubtful, "open": open_, "decided": counts > 0, "unsure": unsure}


def _places(view: View, decisions: Any) -> Rows:
    """The places of the clusters in which a member and its keeper are one of these pairs; once for each member."""
    keeper, table = view.cut.clusters.keeper, view.table
    rows = {
        row
        for decision in decisions
        for row in decision.pair
        if int(keeper[row]) in decision.pair and int(keeper[row]) != row
    }
    labels = view.cut.clusters.labels[np.array(sorted(rows), np.int64)]
    return np.searchsorted(table.labels, labels)


def _with(places: Rows, many: int) -> Mask:
    found = np.zeros(many, np.bool_)
    found[places] = True
    return found


def _and(masks: Any, many: int) -> Mask:
    found = np.ones(many, np.bool_)
    for mask in masks:
        found &= mask
    return found
