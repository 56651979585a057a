"""The most notable clusters on the page: keeper, members, and how the least similar one differs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup.clusters.selection import Cut
from neardup.findings import Findings
from neardup.findings.changes import pair_changes, pair_template
from neardup.pages.report.differences import compared
from neardup.pages.report.examples import NotableCluster, notable_clusters
from neardup.pages.report.markup import Html, raw, table, tag, text
from neardup.values.sizes import size_text
from neardup.values.wording import counted

__all__ = ["cluster_sections"]

MEMBERS = 8
ID, BEGINS, SOURCE = 120, 260, 60
BUDGET = 1_200_000  # characters of all clusters together
KINDS = {
    "suspicious": (
        "Suspicious clusters",
        "These documents may be similar without being duplicates: check these clusters first.",
        "warn",
    ),
    "largest": (
        "Largest clusters",
        "A very large cluster is often a template, an error page or a login page.",
        "accent",
    ),
    "borderline": (
        "Borderline clusters",
        "Their least similar member is just above the threshold: is it still a duplicate?",
        "",
    ),
}


def cluster_sections(found: Findings, cut: Cut, each: int) -> list[Html]:
    """The section with all shown clusters."""
    chosen = notable_clusters(found, cut, each)
    _, sizes = cut.clusters.sizes()
    parts, size = [], 0
    for kind, (title, why, badge) in KINDS.items():
        cards = []
        for one in chosen:
            if one.kind != kind:
                continue
            card = _card(found, cut, one, badge)
            size += len(card)
            if size > BUDGET:
                break
            cards.append(card)
        if cards:
            head = tag("div", tag("h3", raw(title)), tag("p", raw(why), class_="soft small"))
            parts.append(tag("div", head, *cards, class_="kind stack"))
    shown = sum(part.count("<article") for part in parts)
    lead = f"{shown:,} of {counted(len(sizes), 'cluster')}, the most notable ones."
    if not parts:
        lead = "No clusters are shown." if len(sizes) else "There are no clusters at this threshold."
    title = tag("div", tag("h2", raw("Clusters")), tag("p", raw(lead), class_="soft small"))
    return [tag("section", title, *parts, id="clusters")]


def _card(found: Findings, cut: Cut, one: NotableCluster, badge: str) -> Html:
    clusters, rows = cut.clusters, one.rows
    # Always show a few of the least similar, which are at the end.
    shown = rows if len(rows) <= MEMBERS else np.concatenate([rows[: MEMBERS - 3], rows[len(rows) - 3 :]])
    ids = found.ids(shown)
    known = clusters.similarity[rows[1:]]
    least = float(np.nanmin(known)) if not np.isnan(known).all() else None
    similarity = "no pair with the keeper" if least is None else f"least similar {least:.3f}"
    head = [
        tag("h4", raw(f"{len(rows):,} documents")),
        tag("span", raw(similarity), class_="soft small"),
    ]
    left: list[Html] = []
    if one.why:
        left.append(tag("p", raw(one.why), class_=f"note {badge} small"))
    if found.has_text(int(rows[0])):
        begins = " ".join(found.text(int(rows[0]))[: 8 * BEGINS].split())
        begins = begins if len(begins) <= BEGINS else begins[: BEGINS - 1] + "…"
        left.append(tag("p", text(begins, BEGINS), class_="begins text"))
    left.append(_members(found, cut, shown, ids, len(rows)))
    right = _difference(found, rows, ids)
    return tag(
        "article",
        tag("header", *head),
        tag("div", *left, class_="half"),
        tag("div", *right, class_="half") if right else raw(""),
        class_="card cluster",
    )


def _members(found: Findings, cut: Cut, shown: NDArray[np.int64], ids: list[str], size: int) -> Html:
    several = len(found.source_names) > 1
    lines = []
    keepers = cut.clusters.keeper[shown]
    changes = pair_changes(found, shown, keepers)
    template = pair_template(found, shown, keepers)
    columns = (shown.tolist(), ids, cut.clusters.similarity[shown].tolist(), changes, template)
    for row, name, similarity, change, share in zip(*columns, strict=True):
        keeper = row == int(cut.clusters.keeper[row])
        outcome = "keeper" if keeper else "kept" if cut.kept[row] else "dropped"
        kind = "good" if cut.kept[row] else ""
        score = "" if keeper else "via others" if similarity != similarity else f"{similarity:.3f}"
        lines.append(
            [
                tag("span", text(name, ID), class_="id"),
                tag("span", raw(outcome), class_=f"badge {kind}".strip()),
                raw(score),
                raw("" if keeper else _change(change, share)),
                *([text(found.source_names[int(found.sources[row])], SOURCE)] if several else []),
                raw(size_text(int(found.sizes[row]))),
            ]
        )
    head = ["Document", "", "Similarity", "Differs in", *(["Source"] if several else []), "Size"]
    numbers = frozenset({2, len(head) - 1})
    body = table(head, lines, numbers)
    more = size - len(ids)
    rest = f"… and {more:,} more between the most similar and the least similar ones"
    return tag("div", body, tag("p", raw(rest), class_="soft tiny") if more else raw(""), class_="members")


def _change(kinds: str | None, template: float | None) -> str:
    """What differs from the keeper, and how much of what is shared is template."""
    said = [] if not kinds else [kinds.replace(",", ", ")]
    said += [] if template is None else [f"{template:.0%} template"]
    return "; ".join(said)


def _difference(found: Findings, rows: NDArray[np.int64], ids: list[str]) -> list[Html]:
    """The keeper compared with its least similar member."""
    keeper, last = int(rows[0]), int(rows[-1])
    if not (found.has_text(keeper) and found.has_text(last)):
        return []
    if found.first[keeper] == found.first[last]:
        return [tag("p", raw(f"All of them have the same {found.config.equal}."), class_="soft small")]
    left, right = found.texts(np.array([keeper, last]))
    title = raw(
        f"The keeper compared with {text(ids[-1], ID)}: <del>only the keeper</del> <ins>only the other</ins>"
    )
    return [tag("p", title, class_="legend"), compared(left, right)]
