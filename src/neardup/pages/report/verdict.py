"""The first page of a report, for a person who decides: is it safe to delete these documents?"""

from __future__ import annotations

from neardup.findings.audit import Audit
from neardup.findings.lanes import lane_titles
from neardup.findings.summary import Summary
from neardup.findings.trust import Trust
from neardup.pages.report.markup import Html, label, raw, table, tag, text
from neardup.values.sizes import size_text
from neardup.values.wording import counted

__all__ = ["verdict_section"]

ID = 60
MOST_PEOPLE = 10
DONE = {"accept": "accepted", "reject": "rejected", "keep": "with another keeper"}


def verdict_section(summary: Summary, trust: Trust) -> Html:
    """Question, estimate with its interval, savings, what is removed, the worst cases, and who decided what."""
    question = (
        f"Delete {summary.dropped:,} of {counted(summary.documents, 'document')}?"
        if summary.dropped
        else "Nothing would be deleted"
    )
    parts = [tag("h2", raw(question))]
    if summary.dropped:
        saved = f"{summary.bytes_saved / summary.bytes:.1%}" if summary.bytes else "–"
        parts += [
            tag("p", raw(_estimate(trust.audit)), class_="large"),
            _interval(trust.audit),
            tag(
                "p", raw(f"It saves {size_text(summary.bytes_saved)}, {saved} of the corpus.{_loss(summary)}")
            ),
            tag("div", _lanes(summary), _people(trust), class_="two"),
        ]
    if trust.worst:
        parts += [tag("h3", raw("The most doubtful removals")), _worst(trust, summary.equal)]
    return tag("section", *parts, class_="verdict card", id="verdict")


def _estimate(audit: Audit) -> str:
    if audit.share is None:
        return (
            "Nobody has judged a random sample yet, so it is not known how many of these removals are right. "
            "<code>neardup review</code> and <code>neardup audit</code> ask about random ones."
        )
    if not audit.judged:
        return "All of them are byte-identical to a document that is kept."
    who = f" by {', '.join(label(name) for name in audit.names[:MOST_PEOPLE])}" if audit.names else ""
    corrected = f" ({audit.corrected:,} corrected since)" if audit.corrected else ""
    return (
        f"<strong>Estimated {audit.share:.0%} right</strong> (95% interval {audit.low:.0%} to {audit.high:.0%}), from "
        f"{counted(audit.judged, 'random removal')} judged{who}, the last on {label(audit.last[:10])}: {audit.right:,} "
        f"right, {audit.wrong:,} wrong{corrected}, {audit.unsure:,} unsure."
    )


def _loss(summary: Summary) -> str:
    """How many removed documents have a passage that is lost with them."""
    if summary.lossless is None:
        return ""
    some = summary.dropped - summary.lossless
    if not some:
        return " Nothing is lost: every passage of 8 words or more is in the document that is kept."
    has = "removed document has" if some == 1 else "removed documents have"
    return f" {some:,} {has} a passage of 8 words or more that the kept document has not; it would be lost."


def _interval(audit: Audit) -> Html:
    """The interval on a line from 0 to 100%."""
    bar = ""
    said = "nothing is known yet"
    if audit.share is not None:
        said = f"between {audit.low:.0%} and {audit.high:.0%} of the removals are right"
        width = max(0.4, 100 * (audit.high - audit.low))
        bar = (
            f'<rect class="bar" x="{100 * audit.low:.2f}%" y="0.6em" width="{width:.2f}%" height="0.6em" rx="4"/>'
            f'<circle class="point" cx="{100 * audit.share:.2f}%" cy="0.9em" r="0.4em"/>'
        )
    anchors = ((0, "start"), (25, "middle"), (50, "middle"), (75, "middle"), (100, "end"))
    marks = "".join(f'<text x="{at}%" y="2.6em" text-anchor="{side}">{at}%</text>' for at, side in anchors)
    picture = (
        f'<svg role="img" aria-label="{said}" height="3.2em">'
        f'<rect class="track" x="0" y="0.6em" width="100%" height="0.6em" rx="4"/>{bar}{marks}</svg>'
    )
    return tag("figure", raw(picture), class_="chart interval")


def _lanes(summary: Summary) -> Html:
    titles: dict[str, str] = {str(lane): title for lane, title in lane_titles(summary.equal).items()}
    rows = [[raw(titles[lane]), raw(f"{many:,}")] for lane, many in summary.lanes.items()]
    return tag(
        "div",
        tag("h3", raw("What differs")),
        table(["From the kept document", "Removals"], rows, frozenset({1})),
    )


def _people(trust: Trust) -> Html:
    lines = []
    for name, counts in list(trust.people.items())[:MOST_PEOPLE]:
        what = ", ".join(f"{many:,} {DONE[kind]}" for kind, many in sorted(counts.items()))
        lines.append(tag("li", raw(f"{label(name) if name else 'without a name'}: {what}")))
    how, model = trust.how, trust.learned
    several = [f"{how[kind]:,} {what}" for kind, what in _HOW if how.get(kind)]
    if several:
        lines.append(tag("li", raw(f"of these {', '.join(several)}")))
    if model is not None:
        measured = (
            f"; of {model.accepted:,} that it would have accepted, {model.right:,} were right"
            if model.accepted
            else ""
        )
        lines.append(tag("li", raw(f"a model learned from {model.examples:,} judged pairs{measured}")))
    said = tag("ul", *lines, class_="plain") if lines else tag("p", raw("Nobody has decided anything yet."))
    return tag("div", tag("h3", raw("Who decided what")), said)


_HOW = (
    ("one", "about single pairs"),
    ("bulk", "about whole lists"),
    ("model", "accepted as the model proposed"),
)


def _worst(trust: Trust, equal: str) -> Html:
    titles = lane_titles(equal)
    rows = [
        [
            tag("span", text(one.id, ID), class_="id"),
            tag("span", text(one.keeper, ID), class_="id"),
            raw("–" if one.similarity is None else f"{one.similarity:.3f}"),
            raw(_difference(titles[one.lane], one.changes)),
        ]
        for one in trust.worst
    ]
    return table(["Would be deleted", "Is kept", "Similarity", "What differs"], rows, frozenset({2}))


def _difference(title: str, changes: tuple[str, ...]) -> str:
    return f"{title}: {', '.join(changes)}" if changes else title
