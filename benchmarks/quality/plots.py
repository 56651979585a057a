"""The plots of docs/inside/quality.md, in the style of those of the papers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from papers.plots import COLOURS, legend, panels, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw"]

FOLDER = Path(__file__).parents[2] / "docs" / "images"
MORE = (*COLOURS, "#c23b6b")
Json = dict[str, Any]


def draw(result: Json) -> None:
    """All plots, as docs/images/quality-*.svg."""
    thresholds(result)
    radii(result)
    jaccard_bands(result)
    cosine_bands(result)
    rewording(result)


def _axis(axis: Axes, title: str, across: str, up: str) -> None:
    axis.set_title(title)
    axis.set_xlabel(across)
    axis.set_ylabel(up)
    axis.set_ylim(0, 1.03)


def _values(columns: list[list[float | None]]) -> list[float]:
    return [np.nan if row[0] is None else row[0] for row in columns]


def thresholds(result: Json) -> None:
    """F1 against labels by threshold of exact Jaccard, for each kind of feature."""
    sets = result["sets"]
    figure, axes = panels(4, 2, width=3.4, height=2.9)
    for axis, given in zip(axes, sets, strict=False):
        rows = [r for r in given["jaccard"] if r["digits"] == "kept" and r["template"] == "none"]
        for colour, row in zip(MORE, rows, strict=True):
            axis.plot(row["cuts"], _values(row["f1"]), color=colour, label=row["features"])
        _axis(axis, given["set"], "Jaccard threshold", "F1 against labels")
    for axis in axes[len(sets) :]:
        axis.set_visible(False)
    legend(figure, axes[: len(sets)], columns=6)
    save(figure, "quality-thresholds", FOLDER)


def radii(result: Json) -> None:
    """Precision and recall of simhash by radius, unverified, for ways of weighing words."""
    sets = result["sets"]
    figure, axes = panels(4, 2, width=3.4, height=2.9)
    for axis, given in zip(axes, sets, strict=False):
        for colour, weights in zip(MORE, ("count", "log", "tf-idf", "cut"), strict=False):
            row = next(
                r
                for r in given["simhash"]
                if (r["features"], r["weights"], r["bits"], r["checked"]) == ("words", weights, 64, 0.0)
            )
            axis.plot(row["cuts"], _values(row["precision"]), color=colour, label=f"{weights}: precision")
            axis.plot(row["cuts"], _values(row["recall"]), "--", color=colour, label=f"{weights}: recall")
        _axis(axis, given["set"], "radius, of 64 bits", "share")
        axis.set_xticks(range(0, 13, 2))
    for axis in axes[len(sets) :]:
        axis.set_visible(False)
    legend(figure, axes[: len(sets)], columns=4)
    save(figure, "quality-radii", FOLDER)


def jaccard_bands(result: Json) -> None:
    """Recall of each method by exact Jaccard, on the version sets."""
    figure, axes = panels(3, width=4.2)
    for axis, given in zip(axes, result["jaccard_bands"], strict=True):
        for colour, (name, bands) in zip(MORE, given["methods"].items(), strict=True):
            middles = [(band["from"] + band["to"]) / 2 for band in bands]
            values, low, high = (
                np.array([np.nan if b["recall"][at] is None else b["recall"][at] for b in bands])
                for at in range(3)
            )
            axis.plot(middles, values, "o-", color=colour, label=name)
            axis.fill_between(middles, low, high, color=colour, alpha=0.12, linewidth=0)
        _axis(axis, given["set"], "exact Jaccard of 5 words", "share brought together")
    legend(figure, axes, columns=3)
    save(figure, "quality-jaccard-bands", FOLDER)


def cosine_bands(result: Json) -> None:
    """The share of pairs within radius 3 and 8 by their cosine, beside the binomial model."""
    figure, axes = panels(3, width=4.2)
    names = [given["set"] for given in result["jaccard_bands"]]
    for axis, name in zip(axes, names, strict=True):
        for colour, radius in zip(COLOURS, (3, 8, 12), strict=False):
            row = next(
                r
                for r in result["cosine_bands"]
                if (r["set"], r["weights"], r["radius"]) == (name, "tf-idf", radius)
            )
            middles = [(band["from"] + band["to"]) / 2 for band in row["bands"]]
            axis.plot(
                middles,
                _values([b["recall"] for b in row["bands"]]),
                "o-",
                color=colour,
                label=f"radius {radius}, measured",
            )
            axis.plot(
                middles,
                [np.nan if b["model"] is None else b["model"] for b in row["bands"]],
                ":",
                color=colour,
                label=f"radius {radius}, model",
            )
        axis.axvline(0.9, color="#888888", linewidth=1)
        _axis(axis, name, "exact cosine of TF-IDF words", "share within the radius")
    legend(figure, axes, columns=3)
    save(figure, "quality-cosine-bands", FOLDER)


def rewording(result: Json) -> None:
    """What methods still call the same when a share of the words is changed."""
    figure, axes = panels(3, width=4.2)
    skipped = "the same >= .8, digits folded"
    for axis, given in zip(axes, result["changed"], strict=True):
        rows = given["rows"][1:]
        shares = [float(row["change"].split("%")[0]) for row in rows]
        methods = [method for method in rows[0]["said"] if method != skipped]
        for colour, method in zip(MORE, methods, strict=True):
            axis.plot(shares, [row["said"][method] for row in rows], "o-", color=colour, label=method)
        _axis(axis, given["set"], "words changed, %", "called the same")
    legend(figure, axes, columns=3)
    save(figure, "quality-rewording", FOLDER)
