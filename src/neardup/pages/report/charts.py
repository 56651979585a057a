"""Plots as inline SVG that look like those of charts.js: positions are percentages, so that letters keep their size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from neardup.pages.report.markup import Html, label, raw, tag

__all__ = ["Bar", "Bin", "bars", "ceiling", "curves", "histogram"]

PLOT = 84.0  # percent of the height; the labels of the axis are below it
TOP = 4.0


class Bin(NamedTuple):
    low: float
    high: float
    many: int


class Bar(NamedTuple):
    """A value, and optionally the total it is a part of."""

    name: str
    value: int
    of: int | None = None


def _at(percent: float) -> str:
    return f"{percent:.2f}".rstrip("0").rstrip(".") + "%"


def ceiling(value: float) -> float:
    """A round number at or above the value; half of it is a whole number."""
    if value <= 10:
        return max(2.0, 2.0 * math.ceil(value / 2 - 1e-9))
    power = 10.0 ** math.floor(math.log10(value))
    steps = (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10)
    return next(step * power for step in steps if step * power >= value - 1e-9)


def _steps(low: float, high: float) -> int:
    """The number of parts of an axis that gives round labels."""
    span = round(100 * (high - low))
    for unit in (5, 1):
        for steps in (4, 5, 3, 6, 2):
            if span % (unit * steps) == 0:
                return steps
    return 4


def _axes(picture: Html, across: str, up: str, meanings: Sequence[tuple[str, str]]) -> Html:
    """A picture with the titles of its axes and a legend of (class, meaning)."""
    sample = '<svg class="sample" aria-hidden="true">{}</svg>'
    shape = {
        "bar": '<rect class="{}" width="100%" height="100%"/>',
        "curve": '<line class="{}" x1="0" x2="100%" y1="50%" y2="50%"/>',
    }
    items = (
        tag("li", raw(sample.format(shape[name.split()[0]].format(name))), raw(label(meaning)))
        for name, meaning in meanings
    )
    return tag(
        "div",
        tag("p", raw(f"↑ {label(up)}"), class_="axis-up"),
        picture,
        tag("p", raw(f"{label(across)} →"), class_="axis-across"),
        tag("ul", *items, class_="meanings"),
        class_="axes",
    )


def _figure(
    title: str, note: str, picture: Html, head: tuple[str, ...], rows: Sequence[Sequence[str]]
) -> Html:
    from neardup.pages.report.markup import table

    cells = [[raw(cell) for cell in row] for row in rows]
    numbers = table(list(head), cells, frozenset(range(1, len(head))))
    return tag(
        "figure",
        tag("figcaption", raw(label(title, 200)), raw(f" <span>{label(note, 200)}</span>" if note else "")),
        picture,
        tag("details", tag("summary", raw("As a table")), numbers) if rows else raw(""),
        class_="chart",
    )


def _grid(top: float) -> Html:
    lines = []
    for part in (0.5, 1.0):
        y = PLOT * (1 - part) + TOP
        lines.append(f'<line class="gridline" x1="0" x2="100%" y1="{_at(y)}" y2="{_at(y)}"/>')
        lines.append(f'<text x="0" y="{_at(y)}" dy="-0.3em">{top * part:,g}</text>')
    return raw("".join(lines))


def _axis(low: float, high: float) -> Html:
    steps = _steps(low, high)
    lines = [f'<line class="axis" x1="0" x2="100%" y1="{_at(PLOT + TOP)}" y2="{_at(PLOT + TOP)}"/>']
    for step in range(steps + 1):
        anchor = "start" if step == 0 else "end" if step == steps else "middle"
        value = low + (high - low) * step / steps
        lines.append(
            f'<text x="{_at(100 * step / steps)}" y="100%" text-anchor="{anchor}">{value:.2f}</text>'
        )
    return raw("".join(lines))


def _cut(place: float, value: float) -> Html:
    side = 'dx="-0.4em" text-anchor="end"' if place > 70 else 'dx="0.4em"'
    return raw(
        f'<line class="cut" x1="{_at(place)}" x2="{_at(place)}" y1="{_at(TOP)}" y2="{_at(PLOT + TOP)}"/>'
        f'<text class="cut-label" x="{_at(place)}" y="{_at(TOP)}" dy="0.9em" {side}>threshold {value:g}</text>'
    )


def histogram(title: str, bins: Sequence[Bin], cut: float, unit: str, note: str = "") -> Html:
    """Bars side by side; bars below the cut are pale."""
    low, high = bins[0].low, bins[-1].high
    span = (high - low) or 1.0
    top = ceiling(max(one.many for one in bins))
    parts = [_grid(top)]
    for one in bins:
        x, width = 100 * (one.low - low) / span, 100 * (one.high - one.low) / span
        height = max(PLOT * one.many / top, 0.8 if one.many else 0.0)
        off = " off" if one.high <= cut + 1e-9 else ""
        parts.append(
            raw(
                f'<rect class="bar{off}" x="{_at(x + 0.08 * width)}" width="{_at(0.84 * width)}" '
                f'y="{_at(PLOT + TOP - height)}" height="{_at(height)}">'
                f"<title>{one.low:.2f} to {one.high:.2f}: {one.many:,} {unit}</title></rect>"
            )
        )
    parts.append(_axis(low, high))
    parts.append(_cut(100 * (cut - low) / span, cut))
    total = sum(one.many for one in bins)
    description = f"{title}: {total:,} {unit} from {low:.2f} to {high:.2f}, threshold {cut:g}"
    picture = tag("svg", *parts, class_="tall", role="img", aria_label=description)
    rows = [[f"{one.low:.2f} – {one.high:.2f}", f"{one.many:,}"] for one in bins]
    meanings = (("bar", f"{cut:g} or more"), ("bar off", "below the threshold"))
    return _figure(
        title, note, _axes(picture, "similarity", f"number of {unit}", meanings), ("similarity", unit), rows
    )


def bars(title: str, rows: Sequence[Bar], unit: str, note: str = "") -> Html:
    """Horizontal bars, each with its name and number above it."""
    top = max([1, *(row.value if row.of is None else row.of for row in rows)])
    height, parts, cells = 2.6, [], []
    for place, row in enumerate(rows):
        y = place * height
        number = f"{row.value:,}" if row.of is None else f"{row.value:,} of {row.of:,}"
        whole = 100.0 * (top if row.of is None else row.of) / top
        cells.append([label(row.name, 80), number])
        parts.append(
            raw(
                f"<g><title>{label(row.name, 80)}: {number} {unit}</title>"
                f'<text class="label" x="0" y="{y + 1.1:.2f}em">{label(row.name, 40)}</text>'
                f'<text x="100%" y="{y + 1.1:.2f}em" text-anchor="end">{number}</text>'
                f'<rect class="track" x="0" width="{_at(whole)}" y="{y + 1.45:.2f}em" height="0.5em" rx="3"/>'
                f'<rect class="bar" x="0" width="{_at(100.0 * row.value / top)}" y="{y + 1.45:.2f}em" '
                f'height="0.5em" rx="3"/></g>'
            )
        )
    description = f"{title}: {len(rows):,} bars, in {unit}; the table below has the numbers"
    picture = tag(
        "svg", *parts, role="img", aria_label=description, height=f"{max(1, len(rows)) * height:.2f}em"
    )
    return _figure(title, note, picture, ("", unit), cells)


def curves(
    title: str, points: Sequence[tuple[float, int, int]], cut: float, names: tuple[str, str], note: str = ""
) -> Html:
    """Two lines over a threshold: (threshold, first value, second value), ascending."""
    low, high = points[0][0], max(points[-1][0], points[0][0] + 1e-9)
    top = ceiling(max(max(first, second) for _, first, second in points))
    lines = []
    for column, kind in ((1, "curve"), (2, "curve second")):
        places = " ".join(
            f"{100 * (point[0] - low) / (high - low):.2f},{PLOT * (1 - point[column] / top) + TOP:.2f}"
            for point in points
        )
        lines.append(f'<polyline class="{kind}" points="{places}"/>')
    inner = raw(
        '<svg class="plane" viewBox="0 0 100 100" preserveAspectRatio="none" width="100%" height="100%">'
        f"{''.join(lines)}</svg>"
    )
    description = f"{title}: " + "; ".join(
        f"at {t:g} {a:,} {names[0]} and {b:,} {names[1]}" for t, a, b in points[:: max(1, len(points) // 6)]
    )
    marks = _cut(100 * (cut - low) / (high - low), cut)
    picture = tag(
        "svg", _grid(top), inner, _axis(low, high), marks, class_="tall", role="img", aria_label=description
    )
    rows = [[f"{t:g}", f"{a:,}", f"{b:,}"] for t, a, b in points]
    meanings = (("curve", names[0]), ("curve second", names[1]))
    return _figure(title, note, _axes(picture, "threshold", "number", meanings), ("threshold", *names), rows)
