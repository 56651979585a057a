"""Decisions about a whole selection: what a filter lists, or what the learned model proposes. First a preview."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.keepers import FIELD_POLICIES, Keep
from neardup.errors import ConfigError, DataError
from neardup.findings.decision_log import Asked
from neardup.findings.decisions import How
from neardup.findings.learned import LIMIT
from neardup.pages.review.filters import Wanted, choose, decided_removals
from neardup.pages.review.session import Review, View

__all__ = ["BulkDecision", "decide_many", "preview", "proposal"]

ACTIONS = ("accept", "reject", "unsure", "keep")
EXAMPLES = 5


@dataclass(frozen=True)
class BulkDecision:
    """An action about the undecided removals that a filter lists. "keep" chooses keepers instead, in each listed
    cluster: those of `keep`, "source:NAME", "newest:FIELD" or another keep policy. `proposed` leaves only those that
    the learned model proposes."""

    wanted: Wanted
    action: str
    keep: str = ""
    proposed: bool = False
    name: str = ""


def preview(review: Review, view: View, bulk: BulkDecision) -> dict[str, Any]:
    """What a bulk decision would do: how many pairs, in how many clusters, and some of them."""
    asked = _asked(review, view, bulk)
    labels = view.cut.clusters.labels
    some = asked[:EXAMPLES]
    ids = view.findings.ids(np.array([row for one in some for row in (one.left, one.right)], np.int64))
    return {
        "revision": view.decisions.revision,
        "pairs": len(asked),
        "clusters": len({int(labels[one.right]) for one in asked}),
        "examples": [{"left": ids[2 * at], "right": ids[2 * at + 1]} for at in range(len(some))],
    }


def decide_many(review: Review, view: View, bulk: BulkDecision, expected: int) -> dict[str, Any]:
    """Save the decisions of a bulk; `expected` is the number of pairs of the preview."""
    asked = _asked(review, view, bulk)
    if len(asked) != expected:
        raise DataError(
            f"there are {len(asked):,} pairs now, not {expected:,}; nothing was decided. Look at the preview again."
        )
    made = review.decide_all(asked)
    return (
        {"first": made[0].sequence, "last": made[-1].sequence, "pairs": len(made)} if made else {"pairs": 0}
    )


def proposal(view: View) -> dict[str, Any] | None:
    """What the learned model proposes to accept: how many removals, and which share of them it takes to be right."""
    if view.learned is None:
        return None
    mask = _proposed(view)
    doubt = view.table.removal_doubt[mask]
    right = 1 - float(doubt.mean()) if len(doubt) else None
    return view.learned.to_json() | {"proposed": len(doubt), "estimated": right}


def _proposed(view: View) -> NDArray[np.bool_]:
    if view.learned is None:
        raise DataError("the model has not learned from enough decisions yet")
    return ~decided_removals(view) & (view.table.removal_doubt <= LIMIT)


def _asked(review: Review, view: View, bulk: BulkDecision) -> list[Asked]:
    if bulk.action not in ACTIONS:
        raise ConfigError(f"decide {', '.join(ACTIONS)}, not {bulk.action!r}")
    found = choose(view, bulk.wanted)
    if bulk.action == "keep":
        return _keepers(review, view, found.clusters.tolist(), bulk)
    mask = found.removals & ~decided_removals(view)
    if bulk.proposed:
        mask &= _proposed(view)
    removals, how = view.table.removals, _how(bulk)
    columns = (
        removals.rows[mask].tolist(),
        removals.keepers[mask].tolist(),
        removals.similarity[mask].tolist(),
    )
    return [
        Asked(bulk.action, keeper, row, None if known != known else known, bulk.name, how=how)  # type: ignore[arg-type]
        for row, keeper, known in zip(*columns, strict=True)
    ]


def _how(bulk: BulkDecision) -> How:
    return "model" if bulk.proposed else "bulk"


def _keepers(review: Review, view: View, clusters: list[int], bulk: BulkDecision) -> list[Asked]:
    """The best member of each cluster by a policy or of a source, if it is not the keeper already."""
    findings, table = view.findings, view.table
    source: int | None = None
    if bulk.keep.startswith("source:"):
        name = bulk.keep.removeprefix("source:")
        if name not in findings.source_names:
            raise DataError(f"there is no source {name!r}")
        source, rank = findings.source_names.index(name), review.rank
    else:
        rank = findings.rank(_policy(bulk.keep))
    asked = []
    for place in clusters:
        rows, keeper = table.rows(place), int(table.keeper[place])
        rows = rows[findings.sources[rows] == source] if source is not None else rows
        if not len(rows) or keeper < findings.reference or ((rows == keeper).any() and source is not None):
            continue
        best = int(rows[np.argmin(rank[rows])])
        if best != keeper and best >= findings.reference:
            asked.append(Asked("keep", best, keeper, name=bulk.name, how="bulk"))
    return asked


def _policy(given: str) -> Keep:
    by, _, field = given.partition(":")
    if by not in ("longest", "first", "last", *FIELD_POLICIES) or (by in FIELD_POLICIES and not field):
        names = ", ".join(f"{name}:FIELD" for name in FIELD_POLICIES)
        raise ConfigError(f"keep source:NAME, longest, first, last, {names}, not {given!r}")
    return Keep(by, score=field or None)  # type: ignore[arg-type]
