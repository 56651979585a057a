"""Plots of curves: SVG or PNG, the same bytes for the same numbers. Needs the extra `eval`."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from neardup.errors import ConfigError, MissingExtra
from neardup.evaluate.curves import Curve
from neardup.evaluate.outcomes import CorpusCalibration, Outcome
from neardup.storage.output import open_output

__all__ = ["COLOURS", "STYLE", "figure", "plot_calibration", "plot_curve", "save"]

# Colours that colour-blind readers can distinguish, also in greyscale (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.8,
    "axes.edgecolor": "#666666",
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "svg.hashsalt": "neardup",
    "svg.fonttype": "path",
}


def figure(panels: int = 1, width: float = 6.4, height: float = 4.0) -> tuple[Any, list[Any]]:
    """A figure with this many panels side by side, in our style; it belongs to no window."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("a plot", "eval") from error
    with matplotlib.rc_context(STYLE):
        drawn = Figure(figsize=(width * panels, height), layout="constrained")
        axes = drawn.subplots(1, panels, squeeze=False)[0]
    return drawn, list(axes)


def save(drawn: Any, path: str | PathLike[str]) -> None:
    """Write a figure in the format of its name, .svg or .png, completely or not at all, without a timestamp."""
    import matplotlib

    suffix = _check_name(path)
    with matplotlib.rc_context(STYLE), open_output(path) as file:
        metadata = {"Date": None} if suffix == ".svg" else {"Software": None}
        drawn.savefig(file.file, format=suffix[1:], dpi=150, metadata=metadata)


def plot_curve(curve: Curve, path: str | PathLike[str]) -> None:
    """Draw a curve: models as lines, measurements as points with their intervals."""
    _check_name(path)
    drawn, (axes,) = figure()
    colours: dict[str, str] = {}
    for line in curve.lines:
        subject = line.name.rpartition(", ")[0] or line.name
        colour = colours.setdefault(subject, COLOURS[len(colours) % len(COLOURS)])
        if line.low is None or line.high is None:
            style = ":" if line.name.startswith("expected") else "-"
            x, y = (
                (curve.x, line.y) if line.fine is None or curve.fine_x is None else (curve.fine_x, line.fine)
            )
            axes.plot(x, y, style, color=colour, label=line.name, linewidth=1.8)
            continue
        seen = ~np.isnan(line.y)
        reach = np.clip([(line.y - line.low)[seen], (line.high - line.y)[seen]], 0, None)
        axes.errorbar(
            curve.x[seen],
            line.y[seen],
            yerr=reach,
            fmt="o",
            color=colour,
            label=line.name,
            markersize=4,
            linewidth=1,
            capsize=2,
        )
    axes.set_title(curve.title, loc="left")
    axes.set(xlabel=curve.x_name, ylabel="probability", ylim=(-0.02, 1.02))
    if len(curve.lines) > 1:
        axes.legend(fontsize=9, frameon=False)
    save(drawn, path)


def plot_calibration(found: CorpusCalibration, path: str | PathLike[str]) -> None:
    """Draw precision and recall: of MinHash verified at each threshold, and of simhash at each radius."""
    _check_name(path)
    drawn, (left, right) = figure(2, width=5.2)
    name = {"jaccard": "Jaccard", "cosine": "cosine"}[found.similarity]
    verified = [row for row in found.outcomes if row.setting.method == "minhash" and row.setting.verified]
    _shares(left, [row.setting.threshold for row in verified], verified)
    left.set_title("MinHash, every pair verified", loc="left")
    left.set(xlabel=f"least {name} that is reported", ylabel="expected share", ylim=(-0.02, 1.02))
    if found.recommended is not None and found.recommended in verified:
        cut = found.recommended.setting.threshold
        left.axvline(cut, color="#777777", linewidth=1, linestyle=":", label="recommended")
    raw = [row for row in found.outcomes if row.setting.bits == 64 and not row.setting.verified]
    _shares(right, [row.setting.radius for row in raw], raw)
    right.set_title("Simhash of 64 bits, not verified", loc="left")
    right.set(xlabel="radius, bits", ylim=(-0.02, 1.02))
    left.legend(fontsize=9, frameon=False, loc="lower left")
    drawn.suptitle(
        f"{found.documents:,} documents; a duplicate is "
        + (f"what {found.labels} labels say" if found.labels else f"{name} >= {found.threshold:g}"),
        x=0.01,
        ha="left",
        fontsize=10,
    )
    save(drawn, path)


def _shares(axes: Any, x: list[float], rows: list[Outcome]) -> None:
    for colour, label in zip(COLOURS, ("precision", "recall"), strict=False):
        measures = [getattr(row, label) for row in rows]
        y, low, high = (np.array([getattr(m, end) for m in measures]) for end in ("value", "low", "high"))
        axes.plot(x, y, "o-", color=colour, label=label, linewidth=1.6, markersize=4)
        axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)


def _check_name(path: str | PathLike[str]) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in (".svg", ".png"):
        raise ConfigError(f"{path}: a plot is written to .svg or .png")
    return suffix
